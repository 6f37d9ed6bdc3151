package fullstack

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/testkit/must"
)

// durable returns the log entries among a viewer's events, by number and type.
func durable(events []event) (log []string) {
	for _, e := range events {
		if e.Type != "token" && e.Code != "restarted" {
			log = append(log, strings.SplitN(e.EventID, ".", 3)[1]+" "+e.Type)
		}
	}
	return log
}

// gated returns an answer that waits before each chunk except the first.
func gated(t *testing.T, chunks ...string) (llmtest.Answer, []*llmtest.Gate) {
	a := llmtest.Answer{Chunks: chunks, Gates: map[int]*llmtest.Gate{}}
	gates := make([]*llmtest.Gate, len(chunks))
	for i := 1; i < len(chunks); i++ {
		gates[i] = llmtest.NewGate()
		a.Gates[i] = gates[i]
		t.Cleanup(gates[i].Release)
	}
	return a, gates
}

func TestReconnectNeitherLosesNorRepeatsEvents(t *testing.T) {
	t.Parallel()
	_, model, c := scripted(t)
	doc := c.upload("Liquidity circular", circular)
	chunks := []string{"A bank ", "must hold ", "a ratio ", "of at least ", "100 percent [1]."}
	answer, gates := gated(t, chunks...)
	model.On(answerCall, answer)

	// The viewer's connection breaks after every chunk.
	page := c.send("What is the ratio?", object{"tagged_doc_ids": []string{doc}})
	var seen []event
	shown := func() string { return text(seen) }
	for i := 1; i < len(chunks); i++ {
		want := strings.TrimSpace(strings.Join(chunks[:i], ""))
		for len(strings.TrimSpace(shown())) < len(want) {
			e, ok := page.next()
			require.True(t, ok)
			seen = append(seen, e)
		}
		require.Equal(t, want, strings.TrimSpace(shown()))
		page.close()
		page = c.attach("last_event_id=" + seen[len(seen)-1].EventID)
		gates[i].Release()
	}
	seen = append(seen, page.all()...)
	end := last(seen)
	require.Equal(t, end.Response, shown())

	// A later viewer gets the rest, from any event on.
	whole := c.attach("turn_id=" + end.TurnID).all()
	require.Equal(t, end.Response, text(whole))
	require.Equal(t, durable(whole), durable(seen))
	require.True(t, slices.IsSortedFunc(durable(seen), func(a, b string) int { return number(t, a) - number(t, b) }), "%v", durable(seen))
	for i := range seen[:len(seen)-1] {
		rest := c.attach(fmt.Sprintf("turn_id=%s&last_event_id=%s", end.TurnID, seen[i].EventID)).all()
		require.Equal(t, end.Response, text(seen[:i+1])+text(rest), "after event %d, %s", i, seen[i].EventID)
		require.Equal(t, durable(whole), append(durable(seen[:i+1]), durable(rest)...), "after event %d, %s", i, seen[i].EventID)
	}
}

func number(t *testing.T, entry string) int {
	n := must.Have(strconv.Atoi(strings.Fields(entry)[0]))(t)
	return n
}

// Nobody follows when the worker sends the first delta, so that the bus stops sending them for a
// while. A viewer attaches in that time: before the next delta, which the bus does not send either.
func TestViewerWhoAttachesWhileDeltasAreNotSentMissesNoText(t *testing.T) {
	t.Parallel()
	s, model := apart(t, onPostgres(t))
	s.Worker()
	api := s.API()
	c := newTalk(t, func() string { return api.URL }, s.NewUser())
	tags := object{"tagged_doc_ids": []string{c.upload("Liquidity circular", circular)}, "action": "inquire"}
	for range 3 {
		answer, gates := gated(t, "", "A bank ", "must hold ", "a ratio ", "of at least ", "100 percent [1].")
		gates[3].Release()
		model.On(answerCall, answer)
		page := c.send("What is the ratio?", tags)
		<-gates[1].Reached()
		page.close()
		require.Eventually(t, func() bool { return metric(t, c, `palaver_open_streams{dialect="native"}`) == 0 }, waitTimeout, 5*time.Millisecond)
		gates[1].Release()
		<-gates[2].Reached() // the worker has the first chunk
		viewer := c.attach("follow=turn")
		gates[2].Release()
		<-gates[4].Reached()
		var seen []event
		for strings.TrimSpace(text(seen)) != "A bank must hold a ratio" {
			e, open := viewer.next()
			require.True(t, open, "the stream ended after %q", text(seen))
			seen = append(seen, e)
		}
		gates[4].Release()
		gates[5].Release()
		seen = append(seen, viewer.all()...)
		require.Equal(t, last(seen).Response, text(seen))
		require.Equal(t, "A bank must hold a ratio of at least 100 percent [1].", text(seen))
	}
}
