package openai

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func gatherer(flush func() error) *textBatcher {
	if flush == nil {
		flush = func() error { return nil }
	}
	return &textBatcher{flush: flush}
}

// waited returns how long a gatherer delays a read.
func waited(t *testing.T, g *textBatcher) time.Duration {
	t.Helper()
	before := time.Now()
	if err := g.before(t.Context()); err != nil {
		t.Fatal(err)
	}
	return time.Since(before)
}

func TestLongStreamsAreReadAtTheSameMoments(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		one, two := gatherer(nil), gatherer(nil)
		if waited(t, one) != 0 {
			t.Error("the read of the first token was delayed")
		}
		one.began()
		time.Sleep(7 * time.Millisecond)
		two.began()
		if waited(t, one) != 0 || waited(t, two) != 0 {
			t.Error("the first tokens were delayed")
		}
		time.Sleep(gatherAfter)
		first := make(chan time.Time, 2)
		go func() { waited(t, one); first <- time.Now() }()
		time.Sleep(3 * time.Millisecond)
		go func() { waited(t, two); first <- time.Now() }()
		a, b := <-first, <-first
		if !a.Equal(b) || a.UnixNano()%int64(gatherEvery) != 0 {
			t.Errorf("read at %v and %v", a, b)
		}
	})
}

func TestFastAnswerIsNotDelayed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := gatherer(nil)
		g.began()
		time.Sleep(gatherAfter + time.Millisecond)
		g.after(true) // the buffer was full
		if d := waited(t, g); d != 0 {
			t.Errorf("waited %v", d)
		}
	})
}

func TestStopDoesNotWaitForTheNextRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := gatherer(nil)
		g.began()
		time.Sleep(gatherAfter + time.Millisecond)
		stopped := errors.New("stopped")
		ctx, stop := context.WithCancelCause(t.Context())
		stop(stopped)
		before := time.Now()
		if err := g.before(ctx); !errors.Is(err, stopped) || time.Since(before) != 0 {
			t.Errorf("%v after %v", err, time.Since(before))
		}
	})
}

func TestTextIsEmittedOnceBeforeTheNextRead(t *testing.T) {
	t.Parallel()
	var got []string
	a := answer{emit: func(s string) error { got = append(got, s); return nil }}
	a.gather.flush = a.flush
	for _, s := range []string{"one ", "two "} {
		a.text.WriteString(s)
	}
	for range 2 {
		if err := a.gather.before(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(got) != 1 || got[0] != "one two " {
		t.Errorf("%q", got)
	}
	full := errors.New("full")
	a.emit = func(string) error { return full }
	a.text.WriteString("three")
	for range 2 {
		if err := a.gather.before(t.Context()); !errors.Is(err.(*emitError).err, full) {
			t.Error(err)
		}
	}
}

// 100 tokens, one every 15 ms.
func TestSlowStreamIsReadTwentyTimesASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const tokens, each = 100, 15 * time.Millisecond
		g := gatherer(nil)
		began, arrived, reads := time.Now(), 0, 0
		for read := 0; read < tokens; reads++ {
			waited(t, g)
			if arrived = min(tokens, int(time.Since(began)/each)+1); arrived == read { // the read waits for the next token
				time.Sleep(time.Until(began.Add(time.Duration(read) * each)))
				arrived++
			}
			g.began()
			read = arrived
		}
		if most := int(gatherAfter/each) + 1 + int((tokens*each-gatherAfter)/gatherEvery) + 1; reads > most || most > 40 {
			t.Errorf("%d reads, of at most %d", reads, most)
		}
	})
}
