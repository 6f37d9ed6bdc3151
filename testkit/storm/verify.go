package storm

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// check compares, for one thread, what the person saw, the history, the replayed logs,
// the workflow's record and the model's calls.
func (s *storm) check(ctx context.Context, p *person, j *journal, book []call) error {
	r := s.report
	said, active, err := p.messages(ctx)
	if err != nil {
		return err
	}
	if active != "" {
		r.violation("stuck", "thread %d: turn %s never ends", p.index, active)
	}
	for _, problem := range j.broken {
		r.violation("workflow", "thread %d: a workflow task failed: %s", p.index, problem)
	}
	r.note(func() { r.Runs, r.Continued = r.Runs+j.runs, r.Continued+j.continued })

	known := map[string]*turn{}
	for _, t := range p.turns {
		if t.abandoned {
			if err := t.find(ctx, said); err != nil {
				return err
			}
		}
		if t.id == "" {
			continue // rejected, or its failure is reported already
		}
		if other := known[t.id]; other != nil {
			r.violation("doubled", "%s and %s are one turn", t.Mark, other.Mark)
		}
		known[t.id] = t
		s.checkOutcome(t, book)
		s.checkHistory(t, said)
		if err := s.checkReplay(ctx, t); err != nil {
			return err
		}
	}
	s.checkNotes(p)
	s.checkUnknownMessages(p, said, known)
	s.checkJournal(p, j, known, said)
	s.checkCalls(p, j, book)
	return nil
}

// checkOutcome checks that a turn ended in an expected way.
func (s *storm) checkOutcome(t *turn, book []call) {
	r := s.report
	outcome := t.end.Type
	if outcome == "cancelled" {
		outcome += "/" + t.end.Reason
	} else if outcome == "error" {
		outcome += "/" + t.end.Code
	}
	r.outcome(t.Kind, outcome)
	if t.end.Type == "" {
		r.violation("lost", "%s (%s) was accepted as turn %s and has no end", t.Mark, t.Kind, t.id)
		return
	}
	want := []string{"response"}
	if s.databaseWasUnavailable(t) { // the turn may have needed to read from it
		want = append(want, "error/database_unavailable")
	}
	switch t.Kind {
	case "stopped", "stopped in the queue":
		want = append(want, "cancelled/user_cancelled")
	case "question cancelled", "stopped before it came":
		want[0] = "cancelled/user_cancelled"
	case "superseding, the first", "question superseded", "gave up":
		want = append(want, "cancelled/superseded")
	case "rolling back, the first":
		want = append(want, "cancelled/rolled_back")
	}
	if !slices.Contains(want, outcome) {
		r.violation("outcome", "%s (%s, turn %s) ended %s: %s", t.Mark, t.Kind, t.id, outcome, t.end.Code)
	}
	if outcome == "response" && !t.stopped.IsZero() && !answeredBefore(book, t.Mark, t.stopped) {
		r.violation("stop", "%s (%s, turn %s) was stopped but answered afterwards", t.Mark, t.Kind, t.id)
	}
	if outcome == "response" {
		if !strings.Contains(t.end.Response, t.Mark) {
			r.violation("transcript", "%s (turn %s) was answered in other words: %q", t.Mark, t.id, t.end.Response)
		}
		if t.text != t.end.Response {
			r.violation("transcript", "%s (%s, turn %s): the tokens shown are not the answer: %q and %q", t.Mark, t.Kind, t.id, t.text, t.end.Response)
		}
	}
}

// databaseWasUnavailable reports whether the database had a fault while a turn ran.
func (s *storm) databaseWasUnavailable(t *turn) bool {
	until := time.Now()
	if t.ended() && len(t.at) > 0 {
		until = t.at[len(t.at)-1]
	}
	return slices.ContainsFunc(s.faults, func(f *fault) bool {
		return (f.kind.hits == hitsDatabase || f.HeldLock) && t.sent.Before(f.Repaired) && until.After(f.At)
	})
}

// answeredBefore reports whether the model's answer to a turn was complete at a time.
func answeredBefore(book []call, mark string, at time.Time) bool {
	return slices.ContainsFunc(book, func(c call) bool {
		return c.Mark == mark && c.Kind == streamKind && c.Finished && c.Said.Before(at)
	})
}

// checkHistory checks that the history has the turn's message once, and its answer.
func (s *storm) checkHistory(t *turn, said []message) {
	r := s.report
	var user, assistant []message
	for _, m := range said {
		switch {
		case m.TurnID != t.id:
		case m.Role == "user" && strings.Contains(m.Content, t.Mark):
			user = append(user, m)
		case m.Role == "assistant":
			assistant = append(assistant, m)
		}
	}
	if t.end.Reason == "rolled_back" {
		if len(user)+len(assistant) > 0 {
			r.violation("transcript", "%s (turn %s) was rolled back and is in the history", t.Mark, t.id)
		}
		return
	}
	switch {
	case len(user) == 0:
		r.violation("lost", "%s (%s, turn %s) is not in the history", t.Mark, t.Kind, t.id)
	case len(user) > 1:
		r.violation("doubled", "%s (%s, turn %s) is in the history %d times", t.Mark, t.Kind, t.id, len(user))
	}
	want := t.end.Response + t.end.Partial // only one is set
	got := ""
	if len(assistant) > 0 {
		got = assistant[0].Content
	}
	if len(assistant) > 1 || got != want {
		r.violation("transcript", "%s (%s, turn %s): the history has %d answers, %q; the viewer saw %q", t.Mark, t.Kind, t.id, len(assistant), got, want)
	}
	interrupted := len(assistant) > 0 && assistant[0].Metadata["interrupted"] == true
	if len(assistant) > 0 && interrupted != (t.end.Type != "response") {
		r.violation("transcript", "%s (%s, turn %s) ended %s, and in the history interrupted is %v", t.Mark, t.Kind, t.id, t.end.Type, interrupted)
	}
}

// checkReplay compares the events that the viewer saw live with those that the
// database replays.
func (s *storm) checkReplay(ctx context.Context, t *turn) error {
	var replay []event
	for {
		resp, err := t.user.try(ctx, http.MethodGet, "/api/chat/stream/"+t.Thread+"?turn_id="+t.id, nil, "")
		if refused(err, http.StatusNotFound, "") && t.end.Reason == "rolled_back" {
			return nil
		}
		if err != nil {
			return err
		}
		replay = nil
		err = events(resp, func(e event) (bool, error) {
			if e.durable() {
				replay = append(replay, e)
			}
			return e.terminal(), nil
		})
		_ = resp.Body.Close()
		if err != nil {
			return err
		}
		if len(replay) > 0 && replay[len(replay)-1].terminal() {
			break
		}
		if pause(ctx, retryInterval); ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if t.end.Type != "" && !slices.Equal(ids(replay), ids(t.log)) {
		s.report.violation("transcript", "%s (%s, turn %s): seen live %v, replayed %v", t.Mark, t.Kind, t.id, ids(t.log), ids(replay))
	}
	return nil
}

// checkNotes checks the side effects of a thread's tool calls: none if rejected, else
// at most one, unless the person allowed a repetition.
func (s *storm) checkNotes(p *person) {
	r := s.report
	book := s.desk.book()
	for _, t := range p.turns {
		made := 0
		for call, notes := range book {
			if !strings.HasPrefix(call, strings.ReplaceAll(t.id, "-", "")) || t.id == "" {
				continue
			}
			made += len(notes)
			if allowed := 1 + t.again[call]; len(notes) > allowed {
				r.violation("repeated", "%s (%s, turn %s): tool call %s had its side effect %d times; %d were allowed", t.Mark, t.Kind, t.id, call, len(notes), allowed)
			}
		}
		r.note(func() { r.Notes += made })
		if t.reject && made > 0 {
			r.violation("approval", "%s (turn %s): a rejected tool call ran", t.Mark, t.id)
		}
		tool := slices.ContainsFunc(t.log, func(e event) bool { return e.Type == "tool_result" && !e.IsError })
		if tool && made == 0 {
			r.violation("lost", "%s (%s, turn %s): a tool call has a result but never ran", t.Mark, t.Kind, t.id)
		}
	}
}

// checkUnknownMessages looks for messages that were not sent, or were refused.
func (s *storm) checkUnknownMessages(p *person, said []message, known map[string]*turn) {
	for _, m := range said {
		if known[m.TurnID] == nil {
			s.report.violation("doubled", "thread %d has a message of turn %s, which was never sent: %q", p.index, m.TurnID, m.Content)
		}
	}
}

// checkJournal compares the workflow's own record with what was seen.
func (s *storm) checkJournal(p *person, j *journal, known map[string]*turn, said []message) {
	r := s.report
	for id, t := range known {
		if !slices.Contains(j.submitted, id) {
			r.violation("lost", "%s (%s, turn %s) was accepted, but its workflow does not know it", t.Mark, t.Kind, id)
		}
	}
	if len(j.settled) != len(j.submitted) {
		r.violation("stuck", "thread %d: its workflow accepted %d turns and settled %d", p.index, len(j.submitted), len(j.settled))
		return
	}
	var inTurn, aside []ending // a turn stopped in the queue settles out of order
	var order, early []string  // of the history; and turns that settled out of order
	hidden := p.hidden()
	for _, id := range j.submitted {
		t := known[id]
		if t == nil && hidden > 0 {
			hidden--
			aside = append(aside, ending{anyLength, "cancelled"})
			continue
		}
		if t == nil {
			r.violation("doubled", "thread %d: its workflow ran turn %s, which was never sent", p.index, id)
			continue
		}
		end := ending{t.lastN, t.end.Type}
		if end.Type == "error" {
			end.Type = "failed"
		}
		stopped := t.Kind == "stopped in the queue" && end.Type == "cancelled"
		if stopped {
			aside = append(aside, end)
		} else {
			inTurn = append(inTurn, end)
		}
		for _, w := range slices.Backward(j.work[id]) { // the last is the answer
			if w.Completed && w.Chars > 0 && t.end.Type == "response" && w.Chars != utf8.RuneCountInString(t.end.Response) {
				r.violation("transcript", "%s (turn %s): the workflow has an answer of %d characters, the transcript one of %d",
					t.Mark, id, w.Chars, utf8.RuneCountInString(t.end.Response))
			}
			if w.Completed && w.Chars > 0 {
				break
			}
		}
		switch {
		case t.end.Reason == "rolled_back" || slices.Contains(order, id):
		case stopped:
			early = append(early, id)
		default:
			order = append(order, id)
		}
	}
	if !interleaved(j.settled, inTurn, aside, ending.fits) {
		r.violation("transcript", "thread %d: the workflow settled its turns as %v; the viewers saw %v, and out of order %v", p.index, j.settled, inTurn, aside)
	}
	var shown []string
	for _, m := range said {
		if m.Role == "user" && !slices.Contains(shown, m.TurnID) {
			shown = append(shown, m.TurnID)
		}
	}
	if !interleaved(shown, order, early, func(a, b string) bool { return a == b }) {
		r.violation("transcript", "thread %d: the history has the turns in another order than the workflow: %v and %v, and out of order %v", p.index, shown, order, early)
	}
}

// hidden counts messages that may have become turns which no history shows: their
// senders gave up, so their ids are unknown, and a later message may have rolled
// them back.
func (p *person) hidden() (n int) {
	for i, t := range p.turns {
		rolledBack := slices.ContainsFunc(p.turns[i:], func(later *turn) bool { return later.body["on_busy"] == "rollback" })
		if t.abandoned && t.id == "" && rolledBack {
			n++
		}
	}
	return n
}

// anyLength stands for the unknown number of an ending.
const anyLength = -1

// fits reports whether e matches the ending that was seen.
func (e ending) fits(seen ending) bool {
	return e.Type == seen.Type && (e.N == seen.N || seen.N == anyLength)
}

// interleaved reports whether all consists of a and b, each in its order.
func interleaved[T any](all, a, b []T, same func(T, T) bool) bool {
	if len(all) != len(a)+len(b) {
		return false
	}
	// fits[j]: the first i of a and the first j of b interleave to the first i+j of all.
	fits := make([]bool, len(b)+1)
	for i := range len(a) + 1 {
		for j := range len(b) + 1 {
			fits[j] = i == 0 && j == 0 ||
				i > 0 && fits[j] && same(all[i+j-1], a[i-1]) ||
				j > 0 && fits[j-1] && same(all[i+j-1], b[j-1])
		}
	}
	return fits[len(b)]
}

// callers are the activities that make each kind of model call.
var callers = map[string][]string{
	"intent_classification": {"InferIntent"},
	"document_resolution":   {"InferDocs", "ReadAnswer"},
	streamKind:              {"Write", "Think"},
}

// clockSlack is how much the recorded times of calls and activities may differ.
const clockSlack = 250 * time.Millisecond

// checkCalls looks for model calls outside of any open activity, and for requests
// that were repeated after their answer was recorded.
func (s *storm) checkCalls(p *person, j *journal, book []call) {
	for _, t := range p.turns {
		var mine []call
		for _, c := range book {
			if c.Mark == t.Mark {
				mine = append(mine, c)
			}
		}
		for i, c := range mine {
			if s.resumed(c) {
				continue
			}
			doing := func(w *work) bool {
				return slices.Contains(callers[c.Kind], w.Type) && !w.Scheduled.After(c.Arrived.Add(clockSlack)) &&
					(w.Closed.IsZero() || !c.Arrived.After(w.Closed.Add(clockSlack)))
			}
			if !slices.ContainsFunc(j.work[t.id], doing) {
				s.report.violation("repeated", "%s (%s, turn %s): a %s call at %s, without an open activity that makes it",
					t.Mark, t.Kind, t.id, c.Kind, c.Arrived.Format(time.TimeOnly))
				continue
			}
			for _, before := range mine[:i] {
				ended := slices.IndexFunc(j.work[t.id], func(w *work) bool {
					return slices.Contains(callers[c.Kind], w.Type) && w.Completed && !w.Scheduled.After(before.Arrived.Add(clockSlack)) &&
						before.Finished && before.Ended.Before(w.Closed.Add(clockSlack)) && c.Arrived.After(w.Closed.Add(clockSlack))
				})
				if before.Body == c.Body && ended >= 0 {
					s.report.violation("repeated", "%s (%s, turn %s): a %s call was made again after its answer was recorded", t.Mark, t.Kind, t.id, c.Kind)
				}
			}
		}
	}
}

// resumption is how long after its worker resumed a call may still arrive that the worker was
// about to make when it froze.
const resumption = time.Second

// resumed reports whether a worker began the call before it froze, sent it when it resumed,
// and then dropped it: between its look at the lease and the request nothing can hold it back.
func (s *storm) resumed(c call) bool {
	return c.Caller != "" && !c.Finished && slices.ContainsFunc(s.faults, func(f *fault) bool {
		return f.kind.freezes && f.StalledWorker == c.Caller && !c.Arrived.Before(f.Repaired.Add(-clockSlack)) && c.Arrived.Before(f.Repaired.Add(resumption))
	})
}

// checkGaps measures how long turns stalled after the worker of their model call died
// or stopped answering, while another worker ran.
func (s *storm) checkGaps(book []call) {
	turns := map[string]*turn{}
	for _, p := range s.people {
		for _, t := range p.turns {
			turns[t.Mark] = t
		}
	}
	for i, f := range s.faults {
		if f.WorkerSince.IsZero() && f.StalledWorker == "" || f.HeldLock {
			continue
		}
		from := f.At
		if f.WorkerSince.After(from) {
			from = f.WorkerSince
		}
		seen := map[string]bool{}
		for _, c := range book {
			if !f.broke(c) || seen[c.Mark] {
				continue
			}
			seen[c.Mark] = true
			t := turns[c.Mark]
			on := f.next(c, book)
			if t != nil && !t.abandoned && len(t.at) > 0 && t.ended() { // for an abandoned turn the time of the end is unknown
				if end := t.at[len(t.at)-1]; end.After(f.At) && (on.IsZero() || end.Before(on)) {
					on = end
				}
			}
			if on.IsZero() || t == nil {
				continue // reported already: it has no end
			}
			since := from
			for _, later := range s.faults[i+1:] { // a later fault may also have stalled it
				if later.At.Before(on) && later.Repaired.After(since) {
					since = later.Repaired
				}
			}
			gap := max(0, on.Sub(since))
			s.report.gap(gap, f.StalledWorker != "")
			if gap > s.options.MaxGap {
				s.report.violation("slow", "%s (%s) stalled for %v after fault %d (%s) while a worker ran", c.Mark, t.Kind, gap.Round(time.Millisecond), i+1, f.Name)
			}
		}
	}
}

// checkStalledThreads looks for threads with an open turn but no event for too long
// after a worker stopped answering. The cause may be a workflow task or a lock, not
// only a model call.
func (s *storm) checkStalledThreads() {
	for i, f := range s.faults {
		if f.StalledWorker == "" || f.HeldLock {
			continue
		}
		for _, p := range s.people {
			var eventTimes []time.Time
			for _, t := range p.turns {
				if !t.abandoned {
					eventTimes = append(append(eventTimes, t.sent), t.at...)
				}
			}
			slices.SortFunc(eventTimes, time.Time.Compare)
			for j := 1; j < len(eventTimes); j++ {
				since, until := eventTimes[j-1], eventTimes[j]
				if until.Before(f.At) || since.After(f.Repaired) {
					continue
				}
				if since.Before(f.At) {
					since = f.At
				}
				open := slices.IndexFunc(p.turns, func(t *turn) bool {
					return !t.abandoned && len(t.at) > 0 && t.sent.Before(since) && !t.at[len(t.at)-1].Before(until)
				})
				for _, later := range s.faults[i+1:] { // a later fault may also have stalled it
					if later.At.Before(until) && later.Repaired.After(since) {
						since = later.Repaired
					}
				}
				if gap := until.Sub(since); open >= 0 && gap > s.options.MaxGap {
					t := p.turns[open]
					s.report.violation("slow", "thread %d stalled for %v after fault %d (%s), with %s (%s, turn %s) open", p.index, gap.Round(time.Millisecond), i+1, f.Name, t.Mark, t.Kind, t.id)
				}
			}
		}
	}
}

// broke reports whether a fault killed or stalled the worker of a model call.
func (f *fault) broke(c call) bool {
	if f.StalledWorker != "" {
		return c.Caller == f.StalledWorker && c.Arrived.Before(f.At) && (c.Ended.IsZero() || c.Ended.After(f.At))
	}
	return !c.Finished && !c.Ended.IsZero() && c.Ended.After(f.At) && c.Ended.Before(f.At.Add(time.Second)) && c.Arrived.Before(f.At.Add(time.Second))
}

// next returns the time at which the turn of the broken call c made its next call; zero
// when it made none.
func (f *fault) next(c call, book []call) time.Time {
	for _, later := range book {
		if later.Mark != c.Mark {
			continue
		}
		if f.StalledWorker == "" && later.Arrived.After(c.Ended) || f.StalledWorker != "" && later.Arrived.After(f.At) && later.Caller != f.StalledWorker {
			return later.Arrived
		}
	}
	return time.Time{}
}

// aftermath is how long after the end of an outage its effects may appear.
const aftermath = 5 * time.Second

// checkHiccups looks for model calls that were cut by an outage that should be too short
// to cut any. It looks only at turns that were answered, because nothing else cuts their
// calls.
func (s *storm) checkHiccups(book []call) {
	for i, f := range s.faults {
		if f.kind.hits != hitsNothing {
			continue
		}
		until := f.Repaired.Add(aftermath)
		if i+1 < len(s.faults) && s.faults[i+1].At.Before(until) {
			until = s.faults[i+1].At
		}
		for _, p := range s.people {
			for _, t := range p.turns {
				if t.end.Type != "response" || !t.stopped.IsZero() {
					continue
				}
				for _, c := range book {
					if c.Mark == t.Mark && !c.Finished && c.Arrived.Before(f.Repaired) && c.Ended.After(f.At) && c.Ended.Before(until) {
						s.report.violation("hiccup", "%s (%s, turn %s): a %s call was cut at %s, in or after fault %d (%s, %v)",
							t.Mark, t.Kind, t.id, c.Kind, c.Ended.Format(time.TimeOnly), i+1, f.Name, f.Repaired.Sub(f.At).Round(time.Millisecond))
					}
				}
			}
		}
	}
}

// count adds the statistics to the report.
func (s *storm) count(book []call) {
	r := s.report
	r.Calls = len(book)
	for _, c := range book {
		if !c.Finished {
			r.CallsCut++
		}
	}
	for _, f := range s.faults {
		if r.Faults == nil {
			r.Faults = map[string]int{}
		}
		r.Faults[f.Name]++
	}
	users := map[*user]bool{}
	for _, p := range s.people {
		if !users[p.user] {
			users[p.user] = true
			r.Unavailable += p.unavailable
		}
		for _, t := range p.turns {
			if t.rejected || t.abandoned && t.id == "" {
				r.outcome(t.Kind, "not taken")
				continue
			}
			r.Turns++
			r.Cuts += t.cuts
			r.Restarts += t.restarts
			r.Unknown += t.unknown
			r.Unsaved += t.unsaved
			for _, e := range t.log {
				if e.Type == "tool_result" && e.IsError && !t.reject {
					r.ToolErrors++
				}
			}
			for i := 1; i < len(t.at); i++ {
				if gap := t.at[i].Sub(t.at[i-1]); gap > r.Silence {
					r.Silence, r.SilentTurn = gap, fmt.Sprintf("%s, %s, from %v on", t.Mark, t.Kind, t.at[i-1].Sub(s.began).Round(100*time.Millisecond))
				}
			}
		}
	}
}
