package dbtest

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

var turnTests = []test{
	{"several texts are written together, and none for a settled turn", func(b *fixture) {
		t := b.running("hello", chat.RootCheckpoint)
		texts := must.Have(b.store.Texts(b.ctx, b.owner, t.ID))(b.t)
		b.Empty(texts)
		b.NoError(b.store.PutText(b.ctx, b.owner, t.ID, "a", "old"))
		b.NoError(b.store.PutTexts(b.ctx, b.owner, t.ID, []db.Text{{Key: "a", Text: "1"}, {Key: "b", Text: ""}}))
		texts = must.Have(b.store.Texts(b.ctx, b.owner, t.ID))(b.t)
		b.Equal(map[string]string{"a": "1", "b": ""}, texts)
		b.NoError(b.store.PutTexts(b.ctx, b.owner, t.ID, []db.Text{{Key: "twice", Text: "1"}, {Key: "twice", Text: "2"}}))
		texts = must.Have(b.store.Texts(b.ctx, b.owner, t.ID))(b.t)
		b.Equal("2", texts["twice"])
		b.ErrorIs(b.store.PutTexts(b.ctx, uuid.NewString(), t.ID, []db.Text{{Key: "a"}}), db.ErrNotFound)
		b.settle(b.ending(t, "x"))
		b.ErrorIs(b.store.PutTexts(b.ctx, b.owner, t.ID, []db.Text{{Key: "c"}}), db.ErrSettled)
	}},
	{"an earlier attempt overwrites neither a later attempt's text nor any other in the same call", func(b *fixture) {
		t := b.running("hello", chat.RootCheckpoint)
		put := func(order int64, text string, keys ...string) error {
			var texts []db.Text
			for _, key := range keys {
				texts = append(texts, db.Text{Key: key, Text: text, Order: order})
			}
			return b.store.PutTexts(b.ctx, b.owner, t.ID, texts)
		}
		b.NoError(put(1, "first", "shared", "own"))
		b.NoError(put(2, "second", "shared"))
		b.ErrorIs(put(1, "late", "new", "shared", "own"), db.ErrOutdated)
		b.NoError(put(2, "again", "shared"))
		b.NoError(put(1, "still", "own"))
		texts := must.Have(b.store.Texts(b.ctx, b.owner, t.ID))(b.t)
		b.Equal(map[string]string{"shared": "again", "own": "still"}, texts)
		b.NoError(b.store.PutText(b.ctx, b.owner, t.ID, "shared", "of no attempt"))
		b.ErrorIs(put(1, "late", "shared"), db.ErrOutdated)
		texts = must.Have(b.store.Texts(b.ctx, b.owner, t.ID))(b.t)
		b.Equal("of no attempt", texts["shared"])
	}},
	{"BeginTurn reads what the single reads return", func(b *fixture) {
		profile := chat.Profile{Industry: "banking", HideSamples: true, Instructions: "Be brief."}
		b.NoError(b.store.PutProfile(b.ctx, b.owner, profile))
		done := b.exchange("one", "1", chat.RootCheckpoint)
		for _, open := range []bool{false, true} {
			if open {
				b.running("two", done)
			}
			t := b.insert(b.newTurn("three"))
			b.NoError(b.store.Cancel(b.ctx, b.owner, db.CancelRef{ClientTurnID: t.ClientTurnID}, chat.UserCancelled))
			now := must.Have(b.store.BeginTurn(b.ctx, b.owner, t.ID, onlyRead))(b.t)
			b.Equal(t, now.Turn)
			b.True(now.Cancelled)
			head := must.Have(b.store.Head(b.ctx, b.owner, b.thread))(b.t)
			b.Equal(head, now.Head)
			b.Equal(!open, head == done)
			others := must.Have(b.store.OpenTurns(b.ctx, b.owner, b.thread))(b.t)
			b.Equal(ids(others, turnID), ids(now.Open, turnID))
			b.Equal(profile, now.Profile)
			newest := must.Have(b.store.Newest(b.ctx, b.owner, b.thread))(b.t)
			b.Equal(db.Newest{Any: true, Open: open, Content: newest.Content}, newest)
			b.Equal(map[bool]string{false: "one", true: "two"}[open], newest.Content.Message)
		}
		b.ErrorIs(must.ErrOf(b.store.BeginTurn(b.ctx, uuid.NewString(), done, onlyRead)), db.ErrNotFound)
		b.ErrorIs(must.ErrOf(b.store.Newest(b.ctx, uuid.NewString(), b.thread)), db.ErrNotFound)
	}},
	{"BeginTurn places a turn as MarkTurn does", func(b *fixture) {
		one := b.exchange("one", "1", chat.RootCheckpoint)
		rolledBack := b.running("two", one)
		end := b.ending(rolledBack, "2")
		end.Hidden = true
		b.settle(end)
		t := b.insert(b.newTurn("three"))
		under := func(parent string) (db.TurnContext, error) {
			return b.store.BeginTurn(b.ctx, b.owner, t.ID, func(now db.TurnContext) string {
				b.Equal(one, now.Head)
				return parent
			})
		}
		b.ErrorIs(must.ErrOf(under(uuid.NewString())), db.ErrNotFound)
		b.Equal(chat.TurnNew, must.Have(b.store.Turn(b.ctx, b.owner, t.ID))(b.t).Status, "nothing has changed")
		now := must.Have(under(rolledBack.ID))(b.t)
		b.Equal(one, now.Turn.Parent, "a turn that was rolled back is replaced by its parent")
		began := must.Have(b.store.Turn(b.ctx, b.owner, t.ID))(b.t)
		b.Equal(chat.TurnRunning, began.Status)
		b.Equal(3, began.Place)
		b.Equal(one, began.Parent)
		b.Equal(t.ID, must.Have(b.store.Head(b.ctx, b.owner, b.thread))(b.t))
		b.settle(b.ending(began, "3"))
		now = must.Have(b.store.BeginTurn(b.ctx, b.owner, t.ID, func(db.TurnContext) string { b.Fail("a settled turn does not begin"); return "" }))(b.t)
		b.Equal(chat.TurnCompleted, now.Turn.Status)
	}},
	{"a turn reads back as it was written", func(b *fixture) {
		t := b.newTurn("Grüße 🌍")
		t.Content.TipTap = json.RawMessage(`{"type":"doc"}`)
		t.Content.TaggedDocs, t.Content.TaggedSets = []string{uuid.NewString()}, []string{uuid.NewString()}
		t.Content.Action, t.Content.WebSearch, t.Content.ParentRequest = chat.Compare, true, chat.RootCheckpoint
		t.ContentHash = t.Content.Hash()
		stored, created, cancelled, err := b.store.InsertTurn(b.ctx, t)
		b.NoError(err)
		b.True(created)
		b.False(cancelled)
		t.Generation = 1
		b.Equal(t, stored)
		read := must.Have(b.store.Turn(b.ctx, b.owner, t.ID))(b.t)
		b.Equal(t, read)
		b.Equal(t.ContentHash, read.Content.Hash())
	}},
	{"a retry returns the turn of the first attempt", func(b *fixture) {
		t := b.insert(b.newTurn("hello"))
		retry := b.newTurn("hello")
		retry.ClientTurnID = t.ClientTurnID
		stored, created, _, err := b.store.InsertTurn(b.ctx, retry)
		b.NoError(err)
		b.False(created)
		b.Equal(t, stored)
	}},
	{"a client_turn_id with other content is a conflict", func(b *fixture) {
		t := b.insert(b.newTurn("hello"))
		other := b.newTurn("goodbye")
		other.ClientTurnID = t.ClientTurnID
		_, _, _, err := b.store.InsertTurn(b.ctx, other)
		b.ErrorIs(err, db.ErrTurnConflict)
	}},
	{"a client_turn_id is unique per thread only", func(b *fixture) {
		t := b.insert(b.newTurn("hello"))
		other := b.newTurn("goodbye")
		other.ThreadID, other.ClientTurnID = uuid.NewString(), t.ClientTurnID
		b.insert(other)
	}},
	{"a turn id is never used for two turns", func(b *fixture) {
		t := b.insert(b.newTurn("hello"))
		other := b.newTurn("hello")
		other.ID = t.ID
		_, _, _, err := b.store.InsertTurn(b.ctx, other)
		b.ErrorIs(err, db.ErrTurnConflict)
	}},
	{"a turn accepted during a database outage replaces its retry's row, and no other", func(b *fixture) {
		late, retry := b.newTurn("hello"), b.newTurn("hello")
		retry.ThreadID, retry.ClientTurnID = late.ThreadID, late.ClientTurnID
		b.insert(retry)
		late.Generation = 1
		for range 2 { // idempotent
			saved := b.save(late)
			b.Equal(late, saved)
		}
		b.ErrorIs(must.ErrOf(b.store.Turn(b.ctx, b.owner, retry.ID)), db.ErrNotFound)
		again, created, _, err := b.store.InsertTurn(b.ctx, retry)
		b.NoError(err)
		b.False(created)
		b.Equal(late.ID, again.ID, "a later retry returns it")
		b.ErrorIs(must.ErrOf(b.store.Turn(b.ctx, "somebody else", late.ID)), db.ErrNotFound)

		taken, other := b.newTurn("hello"), b.newTurn("hello")
		other.ThreadID, other.ClientTurnID = taken.ThreadID, taken.ClientTurnID
		b.insert(taken)
		b.NoError(b.store.MarkTurn(b.ctx, b.owner, taken.ID, chat.TurnAccepted, ""))
		stored := b.save(other)
		b.Equal(taken.ID, stored.ID, "an accepted turn is not replaced")
	}},
	{"a cancel that arrives before its submit is found by any id", func(b *fixture) {
		for name, ref := range map[string]func(t chat.Turn) db.CancelRef{
			"turn":      func(t chat.Turn) db.CancelRef { return db.CancelRef{TurnID: t.ID} },
			"client id": func(t chat.Turn) db.CancelRef { return db.CancelRef{ClientTurnID: t.ClientTurnID} },
			"client id and thread": func(t chat.Turn) db.CancelRef {
				return db.CancelRef{ThreadID: t.ThreadID, ClientTurnID: t.ClientTurnID}
			},
			"stream run": func(t chat.Turn) db.CancelRef { return db.CancelRef{StreamRunID: t.StreamRunID} },
		} {
			t := b.sentAt(time.Now())
			_, err := b.store.FindTurn(b.ctx, b.owner, ref(t))
			b.ErrorIs(err, db.ErrNotFound, name)
			for range 2 { // idempotent
				b.NoError(b.store.Cancel(b.ctx, b.owner, ref(t), chat.UserCancelled), name)
			}
			stored, created, cancelled, err := b.store.InsertTurn(b.ctx, t)
			b.NoError(err, name)
			b.True(created, name)
			b.True(cancelled, name)
			_, created, cancelled, err = b.store.InsertTurn(b.ctx, t)
			b.NoError(err, name)
			b.False(created, name)
			b.True(cancelled, name)
			got, err := b.store.FindTurn(b.ctx, b.owner, ref(t))
			b.NoError(err, name)
			b.Equal(stored, got, name)
		}
	}},
	{"a cancel is found for a turn that was accepted during an outage, before and when it is saved", func(b *fixture) {
		for name, ref := range map[string]func(t chat.Turn) db.CancelRef{
			"turn": func(t chat.Turn) db.CancelRef { return db.CancelRef{TurnID: t.ID} },
			"client id": func(t chat.Turn) db.CancelRef {
				return db.CancelRef{ThreadID: t.ThreadID, ClientTurnID: t.ClientTurnID}
			},
			"stream run": func(t chat.Turn) db.CancelRef { return db.CancelRef{StreamRunID: t.StreamRunID} },
		} {
			b.thread = uuid.NewString()
			b.insert(b.newTurn("first"))
			t := b.sentAt(time.Now())
			t.Generation = 1
			b.False(must.Have(b.store.Cancelled(b.ctx, t))(b.t), name)
			b.NoError(b.store.Cancel(b.ctx, b.owner, ref(t), chat.UserCancelled), name)
			b.True(must.Have(b.store.Cancelled(b.ctx, t))(b.t), name)
			foreign := t
			foreign.Owner = "somebody else"
			b.False(must.Have(b.store.Cancelled(b.ctx, foreign))(b.t), name)
			for range 2 { // idempotent
				saved, cancelled, err := b.store.SaveTurn(b.ctx, t)
				b.NoError(err, name)
				b.True(cancelled, name)
				b.Equal(t.ID, saved.ID, name)
			}
		}
	}},
	{"a cancel by stream run id matches turns sent around it; the newest cancel counts", func(b *fixture) {
		const run = "used again and again"
		cancelled := func(t chat.Turn) bool {
			t.StreamRunID = run
			_, created, cancelled, err := b.store.InsertTurn(b.ctx, t)
			b.NoError(err)
			b.True(created)
			later := must.Have(b.store.Cancelled(b.ctx, t))(b.t)
			b.Equal(cancelled, later)
			return cancelled
		}
		cancel := func(ref db.CancelRef) { b.NoError(b.store.Cancel(b.ctx, b.owner, ref, chat.UserCancelled)) }
		cancel(db.CancelRef{StreamRunID: run})
		now := time.Now()
		b.False(cancelled(b.sentAt(now.Add(-2 * time.Minute))))
		b.True(cancelled(b.sentAt(now.Add(-30 * time.Second))))
		b.True(cancelled(b.sentAt(now.Add(30 * time.Second))))
		b.False(cancelled(b.sentAt(now.Add(2 * time.Minute))))
		t := b.sentAt(now.Add(2 * time.Minute))
		cancel(db.CancelRef{ClientTurnID: t.ClientTurnID})
		b.True(cancelled(t), "other ids are never reused, so their cancel has no time limit")
	}},
	{"a cancel of one turn leaves the others", func(b *fixture) {
		t := b.newTurn("hello")
		for _, ref := range []db.CancelRef{
			{TurnID: uuid.NewString()}, {ClientTurnID: t.ID}, {StreamRunID: t.ClientTurnID},
			{ThreadID: uuid.NewString(), ClientTurnID: t.ClientTurnID},
		} {
			b.NoError(b.store.Cancel(b.ctx, b.owner, ref, chat.UserCancelled))
		}
		_, _, cancelled, err := b.store.InsertTurn(b.ctx, t)
		b.NoError(err)
		b.False(cancelled)
	}},
	{"a retry's stream run id finds and cancels its turn too", func(b *fixture) {
		t := b.insert(b.newTurn("hello"))
		retry := t
		retry.ID, retry.StreamRunID, retry.CreatedAt = uuid.NewString(), uuid.NewString(), time.Now()
		b.NoError(b.store.Cancel(b.ctx, b.owner, db.CancelRef{StreamRunID: retry.StreamRunID}, chat.UserCancelled))
		_, created, cancelled, err := b.store.InsertTurn(b.ctx, retry)
		b.NoError(err)
		b.False(created)
		b.True(cancelled)
		for _, run := range []string{t.StreamRunID, retry.StreamRunID} {
			got := must.Have(b.store.FindTurn(b.ctx, b.owner, db.CancelRef{StreamRunID: run}))(b.t)
			b.Equal(t.ID, got.ID)
		}
	}},
	{"a reference names a turn by exactly one id", func(b *fixture) {
		for _, ref := range []db.CancelRef{{}, {ThreadID: b.thread}, {TurnID: "a", StreamRunID: "b"}} {
			b.Error(b.store.Cancel(b.ctx, b.owner, ref, chat.UserCancelled))
			_, err := b.store.FindTurn(b.ctx, b.owner, ref)
			b.Error(err)
			b.NotErrorIs(err, db.ErrNotFound)
		}
	}},
	{"a turn moves between its open states and keeps its parent", func(b *fixture) {
		first := b.exchange("one", "1", chat.RootCheckpoint)
		t := b.insert(b.newTurn("two"))
		for _, step := range []struct {
			mark           chat.TurnStatus
			parent         string
			status         chat.TurnStatus
			expectedParent string
		}{
			{chat.TurnAccepted, "", chat.TurnAccepted, ""},
			{chat.TurnRunning, first, chat.TurnRunning, first},
			{chat.TurnAccepted, "", chat.TurnRunning, first}, // a late update
			{chat.TurnInterrupted, "", chat.TurnInterrupted, first},
			{chat.TurnInterrupted, first, chat.TurnInterrupted, first},
			{chat.TurnRunning, "", chat.TurnRunning, first},
		} {
			b.mark(t.ID, step.mark, step.parent)
			got := must.Have(b.store.Turn(b.ctx, b.owner, t.ID))(b.t)
			b.Equal(step.status, got.Status)
			b.Equal(step.expectedParent, got.Parent)
		}
	}},
	{"an unmarked turn has no place, and is new or accepted", func(b *fixture) {
		first := b.exchange("one", "1", chat.RootCheckpoint)
		before := first
		for _, status := range []chat.TurnStatus{chat.TurnNew, chat.TurnAccepted} {
			t := b.running("two", before)
			b.NoError(b.store.UnmarkTurn(b.ctx, b.owner, t.ID, status))
			got := must.Have(b.store.Turn(b.ctx, b.owner, t.ID))(b.t)
			b.Equal(status, got.Status)
			b.Empty(got.Parent)
			head := must.Have(b.store.Head(b.ctx, b.owner, b.thread))(b.t)
			b.Equal(before, head)
			open := must.Have(b.store.OpenTurns(b.ctx, b.owner, b.thread))(b.t)
			b.Equal(status == chat.TurnAccepted, len(open) == 1)
			b.mark(t.ID, chat.TurnRunning, before) // and begins again
			b.settle(b.ending(t, "2"))
			before = t.ID
		}
		b.NoError(b.store.UnmarkTurn(b.ctx, b.owner, first, chat.TurnNew))
		got := must.Have(b.store.Turn(b.ctx, b.owner, first))(b.t)
		b.Equal(chat.TurnCompleted, got.Status, "a settled turn stays")
		b.Error(b.store.UnmarkTurn(b.ctx, b.owner, first, chat.TurnRunning))
	}},
	{"turns that wait are dropped together, and none that has begun", func(b *fixture) {
		sent, waiting := b.insert(b.newTurn("sent")), b.insert(b.newTurn("waiting"))
		b.mark(waiting.ID, chat.TurnAccepted, "")
		running, done := b.running("running", chat.RootCheckpoint), b.exchange("done", "d", chat.RootCheckpoint)
		for _, want := range []error{nil, db.ErrNotFound} {
			b.ErrorIs(b.store.DropWaiting(b.ctx, b.owner, []string{sent.ID, waiting.ID, running.ID, done}), want)
			for id, want := range map[string]error{sent.ID: db.ErrNotFound, waiting.ID: db.ErrNotFound, running.ID: nil, done: nil} {
				b.ErrorIs(must.ErrOf(b.store.Turn(b.ctx, b.owner, id)), want)
			}
		}
	}},
	{"turns after an unmarked one follow its parent", func(b *fixture) {
		first := b.exchange("one", "1", chat.RootCheckpoint)
		lost := b.running("two", first)
		later := b.running("three", lost.ID)
		b.NoError(b.store.UnmarkTurn(b.ctx, b.owner, lost.ID, chat.TurnNew))
		b.mark(later.ID, chat.TurnRunning, first)
		b.settle(b.ending(later, "3"))
		said := must.Have(b.store.History(b.ctx, b.owner, b.thread, "", "", 10))(b.t)
		b.Len(said.Messages, 4, "the messages before it stay in the history")
	}},
	{"an interrupt as a parent stands for its turn", func(b *fixture) {
		first := b.exchange("one", "1", chat.RootCheckpoint)
		t := b.running("two", chat.InterruptID(first, 2))
		got := must.Have(b.store.Turn(b.ctx, b.owner, t.ID))(b.t)
		b.Equal(first, got.Parent)
	}},
	{"a parent is an earlier turn of the same thread", func(b *fixture) {
		here := b.exchange("one", "1", chat.RootCheckpoint)
		mine := b.thread
		b.thread = uuid.NewString()
		elsewhere := b.exchange("other", "o", chat.RootCheckpoint)
		b.thread = mine
		unaccepted := b.insert(b.newTurn("new")).ID
		t := b.insert(b.newTurn("two"))
		for _, parent := range []string{elsewhere, unaccepted, t.ID, uuid.NewString()} {
			b.ErrorIs(b.store.MarkTurn(b.ctx, b.owner, t.ID, chat.TurnRunning, parent), db.ErrNotFound)
		}
		b.mark(t.ID, chat.TurnRunning, here)
		later := b.running("three", t.ID).ID
		b.ErrorIs(b.store.MarkTurn(b.ctx, b.owner, t.ID, chat.TurnRunning, later), db.ErrNotFound)
	}},
	{"a turn is not marked with a status that only settling gives", func(b *fixture) {
		t := b.insert(b.newTurn("one"))
		for _, s := range []chat.TurnStatus{chat.TurnNew, chat.TurnCompleted, chat.TurnCancelled, chat.TurnFailed, "other"} {
			b.Error(b.store.MarkTurn(b.ctx, b.owner, t.ID, s, ""))
		}
	}},
	{"open turns are the accepted ones that are not settled, in their order", func(b *fixture) {
		done := b.exchange("done", "d", chat.RootCheckpoint)
		b.insert(b.newTurn("never accepted"))
		waiting := b.insert(b.newTurn("waiting"))
		b.mark(waiting.ID, chat.TurnAccepted, "")
		running := b.running("running", done)
		open := must.Have(b.store.OpenTurns(b.ctx, b.owner, b.thread))(b.t)
		b.Equal([]string{running.ID, waiting.ID}, ids(open, turnID))
		b.Equal(chat.TurnRunning, open[0].Status)
		b.Equal("running", open[0].Content.Message)
	}},
	{"texts are kept by key and the last one wins", func(b *fixture) {
		t := b.running("hello", chat.RootCheckpoint)
		texts := must.Have(b.store.Texts(b.ctx, b.owner, t.ID))(b.t)
		b.Empty(texts)
		b.NoError(b.store.PutText(b.ctx, b.owner, t.ID, "piece:1", "a"))
		b.NoError(b.store.PutText(b.ctx, b.owner, t.ID, "piece:1", "Grüße 🌍"))
		b.NoError(b.store.PutText(b.ctx, b.owner, t.ID, "web_query", ""))
		want := map[string]string{"piece:1": "Grüße 🌍", "web_query": ""}
		texts = must.Have(b.store.Texts(b.ctx, b.owner, t.ID))(b.t)
		b.Equal(want, texts)
	}},
	{"a draft of a lower attempt is ignored", func(b *fixture) {
		t := b.running("hello", chat.RootCheckpoint)
		b.ErrorIs(must.ErrOf(b.store.Draft(b.ctx, b.owner, t.ID, 1)), db.ErrNotFound)
		for _, step := range []struct {
			attempt    int
			text, want string
		}{{1, "a", "a"}, {1, "ab", "ab"}, {2, "x", "x"}, {1, "abc", "x"}, {2, "xy", "xy"}} {
			b.NoError(b.store.SaveDraft(b.ctx, b.owner, db.Draft{TurnID: t.ID, Piece: 1, Attempt: step.attempt, Text: step.text}))
			d := must.Have(b.store.Draft(b.ctx, b.owner, t.ID, 1))(b.t)
			b.Equal(step.want, d.Text)
		}
		d := must.Have(b.store.Draft(b.ctx, b.owner, t.ID, 1))(b.t)
		b.Equal(db.Draft{TurnID: t.ID, Piece: 1, Attempt: 2, Text: "xy"}, d)
		b.ErrorIs(must.ErrOf(b.store.Draft(b.ctx, b.owner, t.ID, 2)), db.ErrNotFound)
	}},
}

var settleTests = []test{
	{"the history holds the message, the prompts with their answers and the answer", func(b *fixture) {
		t := b.running("compare", chat.RootCheckpoint)
		s := b.ending(t, "the answer")
		s.Metadata = map[string]any{"action": "compare", "tokens_used": 12.0, "citations": []any{}}
		asked := b.now()
		s.Prompts = []db.Prompt{
			{ID: chat.InterruptID(t.ID, 1), Type: chat.DocChoice, Outcome: chat.OutcomeAnswered, Message: "Which?", Answer: "both", Channel: chat.ByPage, At: asked, AnsweredAt: asked.Add(time.Minute)},
			{ID: chat.InterruptID(t.ID, 2), Type: chat.RetrievalLow, Outcome: chat.OutcomeUnanswered, Message: "Sure?", At: b.now()},
			{ID: t.ID + ".n7", Code: chat.NoticeWebEmpty, Message: "Nothing.", At: b.now()},
		}
		b.settle(s)
		h := b.history("", "", 10)
		b.Equal([]string{"compare", "Which?", "both", "Sure?", "Nothing.", "the answer"}, contents(h.Messages))
		b.Equal([]string{"user", "system", "user", "system", "system", "assistant"}, ids(h.Messages, func(m chat.Message) string { return m.Role }))
		last := h.Messages[5]
		b.Equal(s.Metadata, last.Metadata)
		b.Equal(s.At, last.CreatedAt)
		b.Equal(asked, h.Messages[1].CreatedAt)
		b.Equal(map[string]any{"kind": "question", "interrupt_id": t.ID + ".q1", "interrupt_type": "doc_choice", "outcome": "answered"}, h.Messages[1].Metadata)
		b.Equal(asked.Add(time.Minute), h.Messages[2].CreatedAt, "an answer has its own time")
		b.Equal(map[string]any{"kind": "answer", "interrupt_id": t.ID + ".q1", "channel": "page"}, h.Messages[2].Metadata)
		b.Equal("unanswered", h.Messages[3].Metadata["outcome"])
		b.Equal(map[string]any{"kind": "notice", "code": chat.NoticeWebEmpty}, h.Messages[4].Metadata)
		for _, m := range h.Messages {
			b.Equal(t.ID, m.TurnID)
			b.Equal(chat.RootCheckpoint, m.Parent)
		}
		b.Equal(t.ClientTurnID, h.Messages[0].Metadata["client_turn_id"])
		b.Equal(t.StreamRunID, h.Messages[0].Metadata["stream_run_id"])
	}},
	{"a user's message has its tags in its metadata", func(b *fixture) {
		t := b.newTurn("hello")
		t.Content.TaggedDocs, t.Content.TipTap = []string{"d1"}, json.RawMessage(`{"type":"doc"}`)
		b.mark(b.insert(t).ID, chat.TurnRunning, chat.RootCheckpoint)
		m := b.history("", "", 10).Messages[0].Metadata
		b.Equal([]any{"d1"}, m["tagged_doc_ids"])
		b.Equal(map[string]any{"type": "doc"}, m["tiptap_json"])
	}},
	{"a completed turn without an answer leaves no assistant message", func(b *fixture) {
		t := b.running("hello", chat.RootCheckpoint)
		b.settle(b.ending(t, ""))
		b.Equal([]string{"hello"}, contents(b.history("", "", 10).Messages))
	}},
	{"a cancelled question is marked as cancelled, and its turn says why there is no answer", func(b *fixture) {
		t := b.running("compare", chat.RootCheckpoint)
		s := b.ending(t, "")
		s.Status, s.Metadata = chat.TurnCancelled, map[string]any{"finished_reason": "cancelled", "interrupted_reason": "user_cancelled"}
		s.Prompts = []db.Prompt{{ID: chat.InterruptID(t.ID, 1), Type: chat.DocChoice, Outcome: chat.OutcomeCancelled, Channel: chat.ByPage, Message: "Which?", At: b.now(), AnsweredAt: b.now()}}
		b.settle(s)
		h := b.history("", "", 10).Messages
		b.Equal([]string{"compare", "Which?", ""}, contents(h))
		b.Equal("cancelled", h[1].Metadata["outcome"])
		b.Equal("page", h[1].Metadata["channel"])
		b.Equal(s.Metadata, h[2].Metadata)
	}},
	{"a failed turn without an answer says why in its assistant message", func(b *fixture) {
		t := b.running("hello", chat.RootCheckpoint)
		s := b.ending(t, "")
		s.Status = chat.TurnFailed
		s.Metadata = map[string]any{"finished_reason": "error", "interrupted_reason": "turn_lost"}
		b.settle(s)
		h := b.history("", "", 10).Messages
		b.Equal([]string{"hello", ""}, contents(h))
		b.Equal("assistant", h[1].Role)
		b.Equal(s.Metadata, h[1].Metadata)
		got := must.Have(b.store.Turn(b.ctx, b.owner, t.ID))(b.t)
		b.Equal(chat.TurnFailed, got.Status)
		b.Equal(s.At, got.SettledAt)
	}},
	{"a second settle changes nothing and returns the stored terminal event", func(b *fixture) {
		t := b.running("hello", chat.RootCheckpoint)
		first := b.ending(t, "first")
		b.Equal(first.Terminal, b.settle(first))
		second := b.ending(t, "second")
		second.Status, second.Title, second.Registry = chat.TurnFailed, "T", []string{"d"}
		second.Terminal = chat.Event{N: 9, Type: chat.EventFailed}
		b.Equal(first.Terminal, b.settle(second))
		b.Equal([]string{"hello", "first"}, contents(b.history("", "", 10).Messages))
		events := must.Have(b.store.Events(b.ctx, b.owner, t.ID, 0))(b.t)
		b.Equal(append(first.Events, first.Terminal), events)
		got := must.Have(b.store.Turn(b.ctx, b.owner, t.ID))(b.t)
		b.Equal(chat.TurnCompleted, got.Status)
	}},
	{"the logs of several turns are returned in the order of ids; an open turn has none, an unknown id is left out", func(b *fixture) {
		over := b.running("over", chat.RootCheckpoint)
		s := b.ending(over, "x")
		b.settle(s)
		open := b.running("open", over.ID)
		logs := must.Have(b.store.Logs(b.ctx, b.owner, []string{open.ID, uuid.NewString(), over.ID}))(b.t)
		b.Len(logs, 2)
		for i, id := range []string{open.ID, over.ID} {
			turn := must.Have(b.store.Turn(b.ctx, b.owner, id))(b.t)
			b.Equal(turn, logs[i].Turn)
		}
		b.Empty(logs[0].Events)
		b.Equal(append(s.Events, s.Terminal), logs[1].Events)
		none := must.Have(b.store.Logs(b.ctx, b.owner, nil))(b.t)
		b.Empty(none)
	}},
	{"the log of a settled turn can be read from any event", func(b *fixture) {
		t := b.running("hello", chat.RootCheckpoint)
		b.ErrorIs(must.ErrOf(b.store.Events(b.ctx, b.owner, t.ID, 0)), db.ErrNotFound)
		s := b.ending(t, "x")
		value := "b"
		s.Events = []chat.Event{
			{N: 1, Type: chat.EventTurnStarted, TurnID: t.ID, ThreadID: t.ThreadID},
			{N: 2, Type: chat.EventStatus, Node: chat.NodeDocs, Message: "Finding…", DocsFound: []chat.DocRef{{ID: "d", Title: "D"}}},
			{N: 3, Type: chat.EventInterrupt, Interrupt: &chat.Interrupt{ID: "q", Type: chat.DocChoice, Options: []chat.Option{{ID: "b", Label: "B"}}}},
			{N: 4, Type: chat.EventResumed, Resume: &chat.ResumeValue{Type: chat.DocChoice, Value: &value}},
			{N: 5, Type: chat.EventText, Text: "Grüße 🌍", Piece: 1},
		}
		s.Terminal.N = 6
		b.settle(s)
		all := append(s.Events, s.Terminal)
		for after := range 7 {
			events := must.Have(b.store.Events(b.ctx, b.owner, t.ID, after))(b.t)
			b.Len(events, 6-after)
			if after < 6 {
				b.Equal(all[after:], events)
			}
		}
	}},
	{"a settled turn refuses texts, drafts and marks, and has no texts", func(b *fixture) {
		t := b.running("hello", chat.RootCheckpoint)
		b.NoError(b.store.PutText(b.ctx, b.owner, t.ID, "piece:1", "x"))
		b.NoError(b.store.SaveDraft(b.ctx, b.owner, db.Draft{TurnID: t.ID, Piece: 1, Attempt: 1, Text: "x"}))
		b.settle(b.ending(t, "x"))
		b.ErrorIs(b.store.PutText(b.ctx, b.owner, t.ID, "piece:1", "late"), db.ErrSettled)
		b.ErrorIs(must.ErrOf(b.store.Texts(b.ctx, b.owner, t.ID)), db.ErrSettled)
		b.ErrorIs(b.store.SaveDraft(b.ctx, b.owner, db.Draft{TurnID: t.ID, Piece: 1, Attempt: 9, Text: "late"}), db.ErrSettled)
		b.ErrorIs(must.ErrOf(b.store.Draft(b.ctx, b.owner, t.ID, 1)), db.ErrNotFound)
		b.mark(t.ID, chat.TurnRunning, "")
		got := must.Have(b.store.Turn(b.ctx, b.owner, t.ID))(b.t)
		b.Equal(chat.TurnCompleted, got.Status)
	}},
	{"an unknown turn, or one of another thread, is not settled", func(b *fixture) {
		t := b.running("hello", chat.RootCheckpoint)
		unknown := b.ending(t, "x")
		unknown.TurnID = uuid.NewString()
		b.ErrorIs(must.ErrOf(b.store.Settle(b.ctx, unknown)), db.ErrNotFound)
		other := b.ending(t, "x")
		other.ThreadID = uuid.NewString()
		b.ErrorIs(must.ErrOf(b.store.Settle(b.ctx, other)), db.ErrNotFound)
		open := b.ending(t, "x")
		open.Status = chat.TurnRunning
		_, err := b.store.Settle(b.ctx, open)
		b.Error(err)
		b.Equal([]string{"hello"}, contents(b.history("", "", 10).Messages))
	}},
	{"a turn that never began still gets its place", func(b *fixture) {
		first := b.exchange("one", "1", chat.RootCheckpoint)
		t := b.insert(b.newTurn("two"))
		s := b.ending(t, "")
		s.Status, s.Parent = chat.TurnCancelled, ""
		b.settle(s)
		h := b.history("", "", 10)
		b.Equal([]string{"one", "1", "two", ""}, contents(h.Messages))
		b.Equal(map[string][]string{chat.RootCheckpoint: {first}, first: {t.ID}}, h.Branches)
	}},
	{"an accepted first message gives the conversation its title, and the first title is kept", func(b *fixture) {
		t := b.insert(b.newTurn("hello"))
		b.Empty(b.title())
		b.mark(t.ID, chat.TurnAccepted, "")
		b.Equal("hello", b.title())
		b.mark(t.ID, chat.TurnRunning, chat.RootCheckpoint)
		b.settle(b.ending(t, "x"))
		b.exchange("goodbye", "y", t.ID)
		b.Equal("hello", b.title())
		b.Equal([]string{b.thread}, b.listed("HELLO"))
	}},
	{"a turn that was never marked gives its conversation a title when it ends", func(b *fixture) {
		s := b.ending(b.insert(b.newTurn("hello")), "x")
		s.Title = "Title"
		b.settle(s)
		b.Equal("Title", b.title())
	}},
	{"a conversation keeps the title it was given", func(b *fixture) {
		b.thread = b.conversation("Mine").ID
		t := b.running("hello", chat.RootCheckpoint)
		b.Equal("Mine", b.title())
		s := b.ending(t, "x")
		s.Title = "Another"
		b.settle(s)
		b.Equal("Mine", b.title())
	}},
	{"a rolled back turn removes the title it gave, and no other", func(b *fixture) {
		rollBack := func(t chat.Turn) {
			s := b.ending(t, "")
			s.Status, s.Hidden, s.Title = chat.TurnCancelled, true, "hello"
			b.settle(s)
		}
		rollBack(b.running("hello", chat.RootCheckpoint))
		b.Empty(b.title())
		first := b.exchange("hello", "x", chat.RootCheckpoint)
		b.Equal("hello", b.title())
		rollBack(b.running("hello", first))
		b.Equal("hello", b.title())
	}},
	{"the registry grows along a branch and never shrinks", func(b *fixture) {
		var doc [4]chat.Document
		for i := range doc {
			doc[i] = b.document(b.owner, "same title", "text")
		}
		known := func(head string) []string {
			refs := must.Have(b.store.Registry(b.ctx, b.owner, b.thread, head))(b.t)
			return ids(refs, func(r chat.DocRef) string { return r.ID })
		}
		say := func(parent string, add ...string) string {
			t := b.running("x", parent)
			s := b.ending(t, "y")
			s.Registry = add
			b.settle(s)
			return t.ID
		}
		one := say(chat.RootCheckpoint, doc[0].ID, doc[1].ID)
		two := say(one)
		three := say(two, doc[1].ID, doc[2].ID)
		side := say(one, doc[3].ID)
		b.Equal([]string{doc[0].ID, doc[1].ID}, known(one))
		b.Equal([]string{doc[0].ID, doc[1].ID}, known(two))
		b.Equal([]string{doc[0].ID, doc[1].ID, doc[2].ID}, known(three))
		b.Equal([]string{doc[0].ID, doc[1].ID, doc[3].ID}, known(side))
		b.Empty(known(chat.RootCheckpoint))
		b.Equal([]string{doc[0].ID, doc[1].ID, doc[3].ID}, known(b.running("open", side).ID))

		b.NoError(b.store.DeleteDocument(b.ctx, b.owner, doc[1].ID))
		b.Equal([]string{doc[0].ID, doc[2].ID}, known(three))
	}},
	{"remembered approvals hold along a branch, and on no other", func(b *fixture) {
		approved := func(head string) []string {
			tools := must.Have(b.store.Approvals(b.ctx, b.owner, b.thread, head))(b.t)
			return append([]string{}, tools...)
		}
		say := func(parent string, add ...string) string {
			t := b.running("x", parent)
			s := b.ending(t, "y")
			s.Approvals = add
			b.settle(s)
			return t.ID
		}
		one := say(chat.RootCheckpoint, "draw", "mail")
		two := say(one)
		three := say(two, "mail", "pay")
		side := say(one, "burn")
		b.Equal([]string{"draw", "mail"}, approved(one))
		b.Equal([]string{"draw", "mail"}, approved(two))
		b.Equal([]string{"draw", "mail", "pay"}, approved(three))
		b.Equal([]string{"draw", "mail", "burn"}, approved(side))
		b.Equal([]string{"draw", "mail"}, approved(say(one)), "a sibling made later knows what its parent knew")
		b.Empty(approved(chat.RootCheckpoint))
		open := b.running("open", side)
		b.Equal([]string{"draw", "mail", "burn"}, approved(open.ID))
		b.Equal([]string{"draw", "mail", "burn"}, approved(chat.InterruptID(open.ID, 1)))
		b.ErrorIs(must.ErrOf(b.store.Approvals(b.ctx, b.owner, uuid.NewString(), one)), db.ErrNotFound)
	}},
	{"the approvals of a rolled back turn are forgotten", func(b *fixture) {
		one := b.exchange("one", "1", chat.RootCheckpoint)
		t := b.running("oops", one)
		s := b.ending(t, "")
		s.Status, s.Hidden, s.Approvals = chat.TurnCancelled, true, []string{"pay"}
		b.settle(s)
		next := b.running("instead", t.ID)
		b.settle(b.ending(next, "x"))
		tools := must.Have(b.store.Approvals(b.ctx, b.owner, b.thread, next.ID))(b.t)
		b.Empty(tools)
	}},
	{"a turn that ran during a database outage is saved later, in its place", func(b *fixture) {
		first := b.exchange("one", "1", chat.RootCheckpoint)
		late, later := b.newTurn("two"), b.newTurn("three")
		late.Status, later.Status = chat.TurnRunning, chat.TurnCompleted // as its workflow knows them
		next := b.insert(b.newTurn("four"))                              // sent when the database was available again
		b.mark(next.ID, chat.TurnAccepted, "")
		before := must.Have(b.store.Conversation(b.ctx, b.owner, b.thread))(b.t)

		for _, t := range []*chat.Turn{&late, &later} {
			stored := b.insert(*t)
			b.Equal(chat.TurnNew, stored.Status)
			b.Equal(t.CreatedAt, stored.CreatedAt)
			again, created, _, err := b.store.InsertTurn(b.ctx, *t)
			b.NoError(err)
			b.False(created)
			b.Equal(stored, again)
		}
		// A turn cannot be saved before its parent.
		b.ErrorIs(b.store.MarkTurn(b.ctx, b.owner, later.ID, chat.TurnRunning, late.ID), db.ErrNotFound)
		b.mark(late.ID, chat.TurnRunning, first)
		b.NoError(b.store.PutText(b.ctx, b.owner, late.ID, "piece:1", "2"))
		late.Parent = first
		b.settle(b.ending(late, "2"))
		later.Parent = late.ID // it settles without having been marked
		b.settle(b.ending(later, "3"))
		b.mark(next.ID, chat.TurnRunning, later.ID)

		h := b.history("", "", 10)
		b.Equal([]string{"one", "1", "two", "2", "three", "3", "four"}, contents(h.Messages))
		b.Equal(late.CreatedAt, h.Messages[2].CreatedAt)
		b.Equal(next.ID, h.Head)
		after := must.Have(b.store.Conversation(b.ctx, b.owner, b.thread))(b.t)
		b.False(after.LastMessageAt.Before(before.LastMessageAt))
		b.Equal("one", after.Title)
	}},
	{"the registry shows only ready documents that the owner may see", func(b *fixture) {
		mine, public := b.document(b.owner, "Mine", "text"), b.document(chat.PublicOwner, "Public", "text")
		theirs := b.document(uuid.NewString(), "Theirs", "text")
		processing := chat.Document{ID: uuid.NewString(), Owner: b.owner, Title: "Later", CreatedAt: b.now()}
		b.NoError(b.store.CreateDocument(b.ctx, processing, nil))
		t := b.running("x", chat.RootCheckpoint)
		s := b.ending(t, "y")
		s.Registry = []string{theirs.ID, public.ID, processing.ID, uuid.NewString(), mine.ID}
		b.settle(s)
		refs := must.Have(b.store.Registry(b.ctx, b.owner, b.thread, t.ID))(b.t)
		b.Equal([]chat.DocRef{{ID: public.ID, Title: "Public"}, {ID: mine.ID, Title: "Mine"}}, refs)
	}},
}

// onlyRead lets BeginTurn change nothing.
func onlyRead(db.TurnContext) string { return "" }
