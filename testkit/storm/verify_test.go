package storm

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/testkit/must"
)

// A storm without violations is only meaningful if its checks can find some.

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time { return noon.Add(time.Duration(seconds * float64(time.Second))) }

func newStorm() *storm {
	return &storm{report: &Report{}, options: Options{MaxGap: 10 * time.Second}, fleet: &fleet{desk: &desk{notes: map[string][]time.Time{}}}}
}

func kinds(r *Report) (all []string) {
	for _, v := range r.Violations {
		all = append(all, v.Kind)
	}
	return all
}

// answered is a correct turn with matching records.
func answered() (*turn, []message, *journal, []call) {
	t := &turn{Mark: "T01x0001", Kind: "plain", id: "turn-1", lastN: 5, text: "About T01x0001.",
		end: event{Type: "response", Response: "About T01x0001."}}
	said := []message{{TurnID: "turn-1", Role: "user", Content: "Question T01x0001"}, {TurnID: "turn-1", Role: "assistant", Content: "About T01x0001."}}
	j := &journal{submitted: []string{"turn-1"}, settled: []ending{{5, "response"}},
		work: map[string][]*work{"turn-1": {{Type: "Write", Scheduled: at(1), Closed: at(3), Completed: true, Chars: 15}}}}
	book := []call{{Mark: "T01x0001", Kind: streamKind, Arrived: at(1.1), Said: at(2.8), Ended: at(2.9), Finished: true}}
	return t, said, j, book
}

func checkAll(t *turn, said []message, j *journal, book []call) *Report {
	s := newStorm()
	p := &person{storm: s, turns: []*turn{t}}
	known := map[string]*turn{t.id: t}
	s.checkOutcome(t, book)
	s.checkHistory(t, said)
	s.checkUnknownMessages(p, said, known)
	s.checkJournal(p, j, known, said)
	s.checkCalls(p, j, book)
	return s.report
}

func TestConsistentTurnIsNoViolation(t *testing.T) {
	require.Empty(t, checkAll(answered()).Violations)
}

func TestEveryViolationIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		breaks func(t *turn, said *[]message, j *journal, book *[]call)
		want   string
	}{
		"a turn without an end":         {func(t *turn, _ *[]message, _ *journal, _ *[]call) { t.end = event{} }, "lost"},
		"not in the history":            {func(_ *turn, said *[]message, _ *journal, _ *[]call) { *said = nil }, "lost"},
		"twice in the history":          {func(_ *turn, said *[]message, _ *journal, _ *[]call) { *said = append((*said)[:1:1], *said...) }, "doubled"},
		"a message that was never sent": {func(_ *turn, said *[]message, _ *journal, _ *[]call) { *said = append(*said, message{TurnID: "x"}) }, "doubled"},
		"an answer to another": {func(t *turn, said *[]message, _ *journal, _ *[]call) {
			t.text, t.end.Response, (*said)[1].Content = "About T09x0009.", "About T09x0009.", "About T09x0009."
		}, "transcript"},
		"other tokens than the answer":   {func(t *turn, _ *[]message, _ *journal, _ *[]call) { t.text += " " }, "transcript"},
		"another answer in the history":  {func(_ *turn, said *[]message, _ *journal, _ *[]call) { (*said)[1].Content = "" }, "transcript"},
		"unknown to the workflow":        {func(_ *turn, _ *[]message, j *journal, _ *[]call) { j.submitted, j.settled = nil, nil }, "lost"},
		"not settled by the workflow":    {func(_ *turn, _ *[]message, j *journal, _ *[]call) { j.settled = nil }, "stuck"},
		"settled differently":            {func(_ *turn, _ *[]message, j *journal, _ *[]call) { j.settled[0].Type = "failed" }, "transcript"},
		"settled with a longer log":      {func(_ *turn, _ *[]message, j *journal, _ *[]call) { j.settled[0].N = 6 }, "transcript"},
		"another answer in the workflow": {func(_ *turn, _ *[]message, j *journal, _ *[]call) { j.work["turn-1"][0].Chars = 14 }, "transcript"},
		"a failure":                      {func(t *turn, _ *[]message, _ *journal, _ *[]call) { t.end = event{Type: "error", Code: "internal"} }, "outcome"},
		"answered after it was stopped":  {func(t *turn, _ *[]message, _ *journal, _ *[]call) { t.Kind, t.stopped = "stopped", at(2) }, "stop"},
		"a call after its end was written": {func(_ *turn, _ *[]message, _ *journal, book *[]call) {
			*book = append(*book, call{Mark: "T01x0001", Kind: streamKind, Arrived: at(4)})
		}, "repeated"},
		"the same call in a later step": {func(_ *turn, _ *[]message, j *journal, book *[]call) {
			j.work["turn-1"] = append(j.work["turn-1"], &work{Type: "Write", Scheduled: at(5)})
			*book = append(*book, call{Mark: "T01x0001", Kind: streamKind, Arrived: at(5.1)})
		}, "repeated"},
	} {
		t.Run(name, func(t *testing.T) {
			turn, said, j, book := answered()
			c.breaks(turn, &said, j, &book)
			require.Contains(t, kinds(checkAll(turn, said, j, book)), c.want)
		})
	}
}

// Nothing can hold a call back that its worker was about to send when it froze.
func TestCallThatAWorkerSendsAndDropsWhenItResumesIsNoViolation(t *testing.T) {
	for name, c := range map[string]struct {
		kind  faultKind
		call  call
		found bool
	}{
		"dropped":                   {faultKind{freezes: true}, call{Caller: "worker1", Arrived: at(30.1)}, false},
		"read to its end":           {faultKind{freezes: true}, call{Caller: "worker1", Arrived: at(30.1), Finished: true}, true},
		"made later":                {faultKind{freezes: true}, call{Caller: "worker1", Arrived: at(31.1)}, true},
		"made before":               {faultKind{freezes: true}, call{Caller: "worker1", Arrived: at(29)}, true},
		"by another worker":         {faultKind{freezes: true}, call{Caller: "worker2", Arrived: at(30.1)}, true},
		"its worker was not frozen": {faultKind{}, call{Caller: "worker1", Arrived: at(30.1)}, true},
	} {
		t.Run(name, func(t *testing.T) {
			one, _, j, book := answered()
			c.call.Mark, c.call.Kind = one.Mark, streamKind
			s := newStorm()
			s.faults = []*fault{{kind: c.kind, StalledWorker: "worker1", At: at(10), Repaired: at(30)}}
			s.checkCalls(&person{storm: s, turns: []*turn{one}}, j, append(book, c.call))
			require.Equal(t, c.found, !s.report.OK(), "%v", s.report.Violations)
		})
	}
}

// Its sender gave up before a response, and a later message rolled it back, so that
// no history has it.
func TestAbandonedTurnThatWasRolledBackIsNoViolation(t *testing.T) {
	for name, c := range map[string]struct {
		later map[string]any
		found bool
	}{
		"rolled back": {map[string]any{"on_busy": "rollback"}, false},
		"not so":      {map[string]any{"on_busy": "enqueue"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			one, said, j, book := answered()
			one.body = c.later
			j.submitted, j.settled = []string{"unseen", "turn-1"}, []ending{{3, "cancelled"}, {5, "response"}}
			s := newStorm()
			p := &person{storm: s, turns: []*turn{{Mark: "T01x0000", Kind: "gave up", abandoned: true}, one}}
			s.checkJournal(p, j, map[string]*turn{"turn-1": one}, said)
			s.checkCalls(p, j, book)
			require.Equal(t, c.found, !s.report.OK(), "%v", s.report.Violations)
		})
	}
}

func TestRepeatedOrRejectedSideEffectIsFound(t *testing.T) {
	for _, c := range []struct {
		notes  int
		reject bool
		again  int // repetitions that the person allowed
		result bool
		want   []string
	}{
		{1, false, 0, true, nil},
		{2, false, 0, true, []string{"repeated"}},
		{2, false, 1, true, nil},
		{1, true, 0, false, []string{"approval"}},
		{0, false, 0, true, []string{"lost"}},
	} {
		s := newStorm()
		one := &turn{id: "turn-1", reject: c.reject, again: map[string]int{"turn1c1": c.again}}
		if c.result {
			one.log = []event{{Type: "tool_result"}}
		}
		s.desk.notes["turn1c1"] = make([]time.Time, c.notes)
		s.checkNotes(&person{turns: []*turn{one}})
		require.Equal(t, c.want, kinds(s.report), "%+v", c)
	}
}

func TestRepeatedOrUnorderedEventIsFound(t *testing.T) {
	fresh := func() *turn {
		return &turn{seen: map[string]bool{}, token: make(chan struct{}), asked: make(chan struct{})}
	}
	twice := fresh()
	require.NoError(t, twice.record(event{Type: "status", EventID: "turn-1.2"}))
	require.Error(t, twice.record(event{Type: "status", EventID: "turn-1.2"}))
	back := fresh()
	require.NoError(t, back.record(event{Type: "status", EventID: "turn-1.3"}))
	require.NoError(t, back.record(event{Type: "token", EventID: "turn-1.3.1.1.4", Content: "four"}))
	require.Error(t, back.record(event{Type: "status", EventID: "turn-1.2"}))
}

func TestTurnStalledAfterItsWorkerDiedIsFound(t *testing.T) {
	for _, c := range []struct {
		again time.Time // the next call of the turn whose call was cut at 10 s
		there time.Time // since when a worker runs
		gap   time.Duration
		slow  bool
	}{
		{at(15), at(0), 5 * time.Second, false},
		{at(21), at(0), 11 * time.Second, true},
		{at(21), at(20), time.Second, false},
		{at(51), at(0), 11 * time.Second, true}, // stalled by another fault until 40 s
	} {
		s := newStorm()
		s.faults = []*fault{{Name: "kill a worker", At: at(10), WorkerSince: c.there}, {At: at(30), Repaired: at(40)}}
		s.people = []*person{{turns: []*turn{{Mark: "T01x0001", at: []time.Time{at(60)}, end: event{Type: "response"}}}}}
		s.checkGaps([]call{{Mark: "T01x0001", Arrived: at(8), Ended: at(10.1)}, {Mark: "T01x0001", Arrived: c.again, Ended: at(24), Finished: true}})
		require.Equal(t, []time.Duration{c.gap}, s.report.Gaps)
		require.Equal(t, c.slow, !s.report.OK())
	}
}

func TestTurnStalledAfterItsWorkerStoppedAnsweringIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		calls []call
		gap   []time.Duration
		slow  bool
	}{
		"another worker continues": {[]call{
			{Mark: "T01x0001", Caller: "worker1", Arrived: at(8), Ended: at(12), Finished: true},
			{Mark: "T01x0001", Caller: "worker2", Arrived: at(15), Ended: at(16), Finished: true}}, []time.Duration{5 * time.Second}, false},
		"another worker continues late": {[]call{
			{Mark: "T01x0001", Caller: "worker1", Arrived: at(8)},
			{Mark: "T01x0001", Caller: "worker2", Arrived: at(21), Ended: at(22), Finished: true}}, []time.Duration{11 * time.Second}, true},
		"the thawed worker continues itself": {[]call{
			{Mark: "T01x0001", Caller: "worker1", Arrived: at(8), Ended: at(12)},
			{Mark: "T01x0001", Caller: "worker1", Arrived: at(31), Ended: at(32), Finished: true}}, []time.Duration{25 * time.Second}, true},
		"not its call":      {[]call{{Mark: "T01x0001", Caller: "worker2", Arrived: at(8), Ended: at(12), Finished: true}}, nil, false},
		"its call was over": {[]call{{Mark: "T01x0001", Caller: "worker1", Arrived: at(8), Ended: at(9), Finished: true}}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStorm()
			s.faults = []*fault{{Name: "freeze a worker", At: at(10), Repaired: at(30), StalledWorker: "worker1"}}
			s.people = []*person{{turns: []*turn{{Mark: "T01x0001", at: []time.Time{at(35)}, end: event{Type: "response"}}}}}
			s.checkGaps(c.calls)
			require.Equal(t, c.gap, s.report.StallGaps)
			require.Equal(t, c.slow, !s.report.OK())
		})
	}
}

func TestThreadStalledAfterAWorkerStoppedAnsweringIsFound(t *testing.T) {
	open := func(sent float64, eventTimes ...float64) *turn {
		t := &turn{Mark: "T01x0001", sent: at(sent)}
		for _, h := range eventTimes {
			t.at = append(t.at, at(h))
		}
		return t
	}
	silent := &fault{Name: "freeze a worker", At: at(10), Repaired: at(30), StalledWorker: "worker1"}
	for name, c := range map[string]struct {
		turns []*turn
		later *fault
		found bool
	}{
		"it continues":                 {turns: []*turn{open(8, 9, 15, 16)}},
		"it does not":                  {turns: []*turn{open(8, 9, 21)}, found: true},
		"it was silent before":         {turns: []*turn{open(1, 2, 19)}},
		"it waits behind another turn": {turns: []*turn{open(8, 9, 15, 22, 23), open(8, 24)}},
		"nothing is open":              {turns: []*turn{open(8, 9), open(25, 26)}},
		"it runs after the fault only": {turns: []*turn{open(31, 32, 60)}},
		"its sender gave up":           {turns: []*turn{{abandoned: true, sent: at(8), at: []time.Time{at(9), at(40)}}}},
		"another fault delays it":      {turns: []*turn{open(28, 29, 42)}, later: &fault{At: at(31), Repaired: at(40)}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStorm()
			s.faults = []*fault{silent}
			if c.later != nil {
				s.faults = append(s.faults, c.later)
			}
			s.people = []*person{{turns: c.turns}}
			s.checkStalledThreads()
			require.Equal(t, c.found, !s.report.OK(), "%v", s.report.Violations)
		})
	}
}

// A worker that freezes in the middle of a write to SQLite holds its lock.
func TestThreadStalledByAFrozenWriteToSQLiteIsNoViolation(t *testing.T) {
	for held, found := range map[bool]bool{true: false, false: true} {
		s := newStorm()
		s.faults = []*fault{{Name: "freeze a worker", At: at(10), Repaired: at(30), StalledWorker: "worker1", HeldLock: held}}
		one := &turn{Mark: "T01x0001", sent: at(8), at: []time.Time{at(9), at(29)}, end: event{Type: "response"}}
		s.people = []*person{{turns: []*turn{one}}}
		s.checkStalledThreads()
		s.checkGaps([]call{{Mark: one.Mark, Caller: "worker1", Arrived: at(9)}})
		require.Equal(t, found, !s.report.OK(), "%v", s.report.Violations)
		require.Equal(t, held, s.databaseWasUnavailable(one))
	}
}

func TestModelCallCutByAShortOutageIsFound(t *testing.T) {
	hiccup := &fault{Name: "cut Temporal off for a moment", At: at(10), Repaired: at(12), kind: faultKind{hits: hitsNothing}}
	for name, c := range map[string]struct {
		call   call
		end    event
		stop   time.Time
		faults []*fault
		found  bool
	}{
		"during it":                 {call: call{Arrived: at(8), Ended: at(11)}, found: true},
		"after it":                  {call: call{Arrived: at(8), Ended: at(15)}, found: true},
		"before it":                 {call: call{Arrived: at(8), Ended: at(9)}},
		"long after it":             {call: call{Arrived: at(8), Ended: at(18)}},
		"by the next fault":         {call: call{Arrived: at(8), Ended: at(15)}, faults: []*fault{{Name: "kill a worker", At: at(14.9), Repaired: at(16)}}},
		"not at all":                {call: call{Arrived: at(8), Ended: at(11), Finished: true}},
		"because it was superseded": {call: call{Arrived: at(8), Ended: at(11)}, end: event{Type: "cancelled", Reason: "superseded"}},
		"the turn was stopped":      {call: call{Arrived: at(8), Ended: at(11)}, stop: at(10.5)},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStorm()
			s.faults = append([]*fault{hiccup}, c.faults...)
			if c.end.Type == "" {
				c.end = event{Type: "response"}
			}
			s.people = []*person{{turns: []*turn{{Mark: "T01x0001", end: c.end, stopped: c.stop}}}}
			c.call.Mark = "T01x0001"
			s.checkHiccups([]call{c.call})
			require.Equal(t, c.found, !s.report.OK())
		})
	}
}

func TestPlanDependsOnTheSeedAndHasEveryKindBeforeAnyIsRepeated(t *testing.T) {
	o := Options{Rounds: 40, Seed: 7, Calm: time.Second, Fault: time.Second, LongFault: time.Minute}
	require.Equal(t, names(plan(o)), names(plan(o)))
	other := o
	other.Seed = 8
	require.NotEqual(t, names(plan(o)), names(plan(other)))
	require.ElementsMatch(t, names(plan(o))[:len(FaultNames(false))], FaultNames(false))
	o.Only = []string{"kill a worker"}
	require.Equal(t, "kill a worker", names(plan(o))[19])
}

func names(faults []*fault) (all []string) {
	for _, f := range faults {
		all = append(all, f.Name)
	}
	return all
}

func TestSummaryOfEarlierMessagesIsNoCallOfTheirTurns(t *testing.T) {
	for last, want := range map[string]string{"T01x0001": "T01x0001", "<conversation>\nT01x0001\n</conversation>": ""} {
		l := &ledger{}
		l.begin("", must.Have(json.Marshal(map[string]any{"stream": true, "messages": []any{map[string]any{"role": "user", "content": last}}}))(t))
		require.Equal(t, want, l.book()[0].Mark)
	}
}

func TestModelCallIsFinishedWhenItsCallerReadItToTheEnd(t *testing.T) {
	l, err := openLedger()
	require.NoError(t, err)
	defer l.close()
	ask := func(mark string, stay bool) {
		resp, err := http.Post(l.urlFor("worker2")+"/chat/completions", "application/json",
			strings.NewReader(`{"stream":true,"messages":[{"role":"user","content":"`+mark+`"}]}`))
		require.NoError(t, err)
		if stay {
			_, err = io.ReadAll(resp.Body)
			require.NoError(t, err)
		}
		require.NoError(t, resp.Body.Close())
	}
	l.On(llmtest.Match{Contains: "T01x0002"}, llmtest.Silent("never "))
	ask("T01x0001", true)
	ask("T01x0002", false)
	l.waitIdle(t.Context())
	book := l.book()
	require.Len(t, book, 2)
	require.True(t, book[0].Finished)
	require.False(t, book[1].Finished)
	require.Equal(t, "worker2", book[0].Caller)
}

// answering is a user whose API process answers each request with what reply returns for its
// path.
func answering(t *testing.T, reply func(path string) string) *user {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, reply(r.URL.Path)) }))
	t.Cleanup(server.Close)
	u, err := newUser(&fleet{apis: []*member{{since: noon, captured: map[string]string{"address": server.URL}}}})
	require.NoError(t, err)
	return u
}

func TestImportMustEndWithOneDocument(t *testing.T) {
	for name, c := range map[string]struct{ imports, documents, says string }{
		"ready":       {`{"id":"i","state":"ready"}`, `{"title":"Page"},{"title":"Circular"}`, ""},
		"failed":      {`{"id":"i","state":"failed"}`, ``, "failed"},
		"never ends":  {`{"id":"other","state":"ready"},{"id":"i","state":"downloading"}`, ``, "has not ended"},
		"no document": {`{"id":"i","state":"ready"}`, `{"title":"Circular"}`, "made 0 documents"},
		"twice":       {`{"id":"i","state":"ready"}`, `{"title":"Page"},{"title":"Page"}`, "made 2 documents"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			u := answering(t, func(path string) string {
				if path == "/api/documents" {
					return `{"items":[` + c.documents + `]}`
				}
				if strings.Contains(c.imports, "downloading") {
					cancel()
				}
				return `{"imports":[` + c.imports + `]}`
			})
			err := u.waitForImport(ctx, "i", "Page")
			if c.says == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.says)
			}
		})
	}
}

func TestClaimIsRepeatedUntilNothingIsLeft(t *testing.T) {
	requests := 0
	u := answering(t, func(string) string {
		requests++
		return fmt.Sprintf(`{"left":%d}`, 2-requests)
	})
	u.switchOwner("")
	require.NoError(t, u.claim(t.Context(), "token"))
	require.Equal(t, 2, requests)
	require.Equal(t, "token", u.token)
	u.waitForClaim(t.Context())

	ctx, cancel := context.WithCancel(t.Context())
	u = answering(t, func(string) string {
		cancel()
		return `{"left":1}`
	})
	require.ErrorContains(t, u.claim(ctx, "token"), "claim")
}

func TestBackupMustHaveTheTurnsThatEndedBeforeIt(t *testing.T) {
	for name, c := range map[string]struct {
		ended float64
		saved bool
		want  []string
	}{
		"saved":                 {ended: 3, saved: true},
		"missing":               {ended: 3, want: []string{"lost", "transcript"}},
		"ended during a backup": {ended: 5},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStorm()
			one, said, _, _ := answered()
			one.at = []time.Time{at(c.ended)}
			if !c.saved {
				said = nil
			}
			s.checkSaved(&backup{began: at(4)}, []*turn{one}, said)
			require.Equal(t, c.want, kinds(s.report))
		})
	}
}
