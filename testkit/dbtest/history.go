package dbtest

import (
	"strconv"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

var summaryTests = []test{
	{"a branch has the newest summary before its end", func(b *fixture) {
		first := b.exchange("one", "1", chat.RootCheckpoint)
		second := b.exchange("two", "2", first)
		third := b.exchange("three", "3", second)
		branch := b.exchange("another two", "2b", first)
		b.ErrorIs(must.ErrOf(b.store.Summary(b.ctx, b.owner, b.thread, third)), db.ErrNotFound)
		at := b.now()
		b.NoError(b.store.PutSummary(b.ctx, b.owner, db.Summary{TurnID: first, Text: "one", At: at}))
		b.NoError(b.store.PutSummary(b.ctx, b.owner, db.Summary{TurnID: second, Text: "one and a half", At: at}))
		b.NoError(b.store.PutSummary(b.ctx, b.owner, db.Summary{TurnID: second, Text: "one, two", At: at}))
		for head, want := range map[string]db.Summary{
			third: {TurnID: second, Text: "one, two", At: at}, second: {TurnID: second, Text: "one, two", At: at},
			branch: {TurnID: first, Text: "one", At: at}, first: {TurnID: first, Text: "one", At: at},
		} {
			got := must.Have(b.store.Summary(b.ctx, b.owner, b.thread, head))(b.t)
			b.Equal(want, got)
		}
		all := must.Have(b.store.Summaries(b.ctx, b.owner, b.thread))(b.t)
		b.Equal([]db.Summary{{TurnID: first, Text: "one", At: at}, {TurnID: second, Text: "one, two", At: at}}, all)
	}},
	{"a summary belongs to its owner and is deleted with its conversation", func(b *fixture) {
		turn := b.exchange("one", "1", chat.RootCheckpoint)
		b.ErrorIs(b.store.PutSummary(b.ctx, "somebody else", db.Summary{TurnID: turn, Text: "x"}), db.ErrNotFound)
		b.NoError(b.store.PutSummary(b.ctx, b.owner, db.Summary{TurnID: turn, Text: "x"}))
		b.ErrorIs(must.ErrOf(b.store.Summary(b.ctx, "somebody else", b.thread, turn)), db.ErrNotFound)
		none := must.Have(b.store.Summaries(b.ctx, "somebody else", b.thread))(b.t)
		b.Empty(none)
		b.NoError(b.store.DeleteConversation(b.ctx, b.owner, b.thread))
		b.ErrorIs(must.ErrOf(b.store.Summary(b.ctx, b.owner, b.thread, turn)), db.ErrNotFound)
		b.ErrorIs(b.store.PutSummary(b.ctx, b.owner, db.Summary{TurnID: turn, Text: "x"}), db.ErrNotFound)
	}},
}

var historyTests = []test{
	{"a conversation without messages is empty", func(b *fixture) {
		b.thread = b.conversation("").ID
		h := b.history("", "", 10)
		b.Empty(h.Messages)
		b.Empty(h.Branches)
		b.Equal(chat.RootCheckpoint, h.Head)
		head := must.Have(b.store.Head(b.ctx, b.owner, b.thread))(b.t)
		b.Equal(chat.RootCheckpoint, head)
	}},
	{"an unknown thread, or a head of another thread, is not found", func(b *fixture) {
		b.ErrorIs(must.ErrOf(b.store.History(b.ctx, b.owner, b.thread, "", "", 10)), db.ErrNotFound)
		b.ErrorIs(must.ErrOf(b.store.Head(b.ctx, b.owner, b.thread)), db.ErrNotFound)
		elsewhere := b.exchange("other", "o", chat.RootCheckpoint)
		b.thread = uuid.NewString()
		b.exchange("one", "1", chat.RootCheckpoint)
		unaccepted := b.insert(b.newTurn("new")).ID
		for _, head := range []string{elsewhere, unaccepted, uuid.NewString(), "x"} {
			_, err := b.store.History(b.ctx, b.owner, b.thread, head, "", 10)
			b.ErrorIs(err, db.ErrNotFound, head)
			_, err = b.store.Recent(b.ctx, b.owner, b.thread, head, 10)
			b.ErrorIs(err, db.ErrNotFound, head)
			_, err = b.store.Registry(b.ctx, b.owner, b.thread, head)
			b.ErrorIs(err, db.ErrNotFound, head)
		}
	}},
	{"no history shows a turn that was never accepted", func(b *fixture) {
		one := b.exchange("one", "1", chat.RootCheckpoint)
		b.insert(b.newTurn("never"))
		h := b.history("", "", 10)
		b.Equal([]string{"one", "1"}, contents(h.Messages))
		b.Equal(one, h.Head)
		b.Equal(map[string][]string{chat.RootCheckpoint: {one}}, h.Branches)
	}},
	{"an open turn shows its message under the id that it has later, too", func(b *fixture) {
		one := b.exchange("one", "1", chat.RootCheckpoint)
		t := b.running("two", one)
		open := b.history("", "", 10)
		b.Equal([]string{"one", "1", "two"}, contents(open.Messages))
		b.Equal(t.ID, open.Head)
		b.Equal([]string{t.ID}, open.Branches[one])
		b.settle(b.ending(t, "2"))
		settled := b.history("", "", 10)
		b.Equal([]string{"one", "1", "two", "2"}, contents(settled.Messages))
		b.Equal(open.Messages, settled.Messages[:3])
	}},
	{"a queued turn is shown after the running one", func(b *fixture) {
		running := b.running("running", chat.RootCheckpoint)
		first, second := b.insert(b.newTurn("first")), b.insert(b.newTurn("second"))
		b.mark(first.ID, chat.TurnAccepted, "")
		b.mark(second.ID, chat.TurnAccepted, "")
		h := b.history("", "", 10)
		b.Equal([]string{"running", "first", "second"}, contents(h.Messages))
		b.Equal(second.ID, h.Head)
		b.Equal(map[string][]string{chat.RootCheckpoint: {running.ID}}, h.Branches)
		b.Equal([]string{"running", "first"}, contents(b.history(first.ID, "", 10).Messages))
		b.Equal([]string{"running", "first"}, contents(b.history("", h.Messages[2].ID, 10).Messages))
		b.Equal([]string{"running"}, contents(b.history("", h.Messages[1].ID, 10).Messages))
		b.Equal([]string{"second"}, contents(b.history("", "", 1).Messages))
		b.Equal([]string{"running"}, contents(b.history(running.ID, "", 10).Messages))
	}},
	{"the head is the turn that a waiting turn will follow, never the waiting turn", func(b *fixture) {
		one := b.exchange("one", "1", chat.RootCheckpoint)
		t := b.insert(b.newTurn("two"))
		b.mark(t.ID, chat.TurnAccepted, "")
		head := must.Have(b.store.Head(b.ctx, b.owner, b.thread))(b.t)
		b.Equal(one, head)
		b.mark(t.ID, chat.TurnRunning, head)
		head = must.Have(b.store.Head(b.ctx, b.owner, b.thread))(b.t)
		b.Equal(t.ID, head)
	}},
	{"a branch has its own history and the newest turn is the head", func(b *fixture) {
		one := b.exchange("one", "1", chat.RootCheckpoint)
		two := b.exchange("two", "2", one)
		edited := b.exchange("two, edited", "2e", one)
		other := b.exchange("from the start", "0", chat.RootCheckpoint)
		back := b.exchange("three", "3", two)
		for head, want := range map[string][]string{
			"":                          {"one", "1", "two", "2", "three", "3"},
			back:                        {"one", "1", "two", "2", "three", "3"},
			two:                         {"one", "1", "two", "2"},
			edited:                      {"one", "1", "two, edited", "2e"},
			chat.InterruptID(edited, 1): {"one", "1", "two, edited", "2e"},
			other:                       {"from the start", "0"},
			chat.RootCheckpoint:         {},
		} {
			h := b.history(head, "", 10)
			b.Equal(want, contents(h.Messages), head)
			b.Equal(map[string][]string{
				chat.RootCheckpoint: {one, other}, one: {two, edited}, two: {back},
			}, h.Branches)
			switch head {
			case "":
				b.Equal(back, h.Head)
			default:
				b.Equal(chat.TurnOf(head), h.Head)
			}
		}
		m := b.history(edited, "", 10).Messages
		b.Equal(chat.RootCheckpoint, m[0].Parent)
		b.Equal(one, m[2].Parent)
	}},
	{"a rolled back turn is in no history, head or branch, and another turn replaces it", func(b *fixture) {
		one := b.exchange("one", "1", chat.RootCheckpoint)
		t := b.running("oops", one)
		s := b.ending(t, "partial")
		s.Status, s.Hidden = chat.TurnCancelled, true
		b.settle(s)
		check := func(head string, messages ...string) {
			h := b.history("", "", 10)
			b.Equal(messages, contents(h.Messages))
			b.Equal(head, h.Head)
			b.NotContains(h.Branches[one], t.ID)
		}
		check(one, "one", "1")
		b.ErrorIs(must.ErrOf(b.store.History(b.ctx, b.owner, b.thread, t.ID, "", 10)), db.ErrNotFound)
		next := b.running("instead", t.ID)
		got := must.Have(b.store.Turn(b.ctx, b.owner, next.ID))(b.t)
		b.Equal(one, got.Parent)
		check(next.ID, "one", "1", "instead")
	}},
	{"pages of a history join without gap or overlap", func(b *fixture) {
		parent, want := chat.RootCheckpoint, []string{}
		for i := range 5 {
			q, a := "q"+strconv.Itoa(i), "a"+strconv.Itoa(i)
			parent = b.exchange(q, a, parent)
			want = append(want, q, a)
			b.exchange("side", "side", chat.RootCheckpoint) // on another branch, so on no page
		}
		for limit := 1; limit <= 11; limit++ {
			var got []string
			before := ""
			for {
				h := b.history(parent, before, limit)
				if len(h.Messages) == 0 {
					break
				}
				b.LessOrEqual(len(h.Messages), limit)
				got = append(contents(h.Messages), got...)
				before = h.Messages[0].ID
			}
			b.Equal(want, got, limit)
		}
	}},
	{"every message of a history names its turn", func(b *fixture) {
		one := b.exchange("one", "1", chat.RootCheckpoint)
		t := b.running("two", one)
		s := b.ending(t, "2")
		s.Prompts = []db.Prompt{{ID: "p", Message: "Which?", Answer: "both", At: b.now()}}
		b.settle(s)
		b.running("three", t.ID)
		messages := b.history("", "", 10).Messages
		b.Len(messages, 7)
		for _, m := range messages {
			got := must.Have(b.store.TurnOfMessage(b.ctx, b.owner, b.thread, m.ID))(b.t)
			b.Equal(m.TurnID, got.ID)
			b.Equal(m.Parent, got.Parent)
		}
	}},
	{"a message that no history shows has no turn", func(b *fixture) {
		one := b.exchange("one", "1", chat.RootCheckpoint)
		unaccepted := b.insert(b.newTurn("new")).ID
		t := b.running("oops", one)
		s := b.ending(t, "partial")
		s.Status, s.Hidden = chat.TurnCancelled, true
		b.settle(s)
		for _, id := range []string{"", "x", one, one + ".m2", one + ".m-1", one + ".m", ".m0", unaccepted + ".m0", t.ID + ".m0", uuid.NewString() + ".m0", "%.m0"} {
			_, err := b.store.TurnOfMessage(b.ctx, b.owner, b.thread, id)
			b.ErrorIs(err, db.ErrNotFound, id)
		}
		b.ErrorIs(must.ErrOf(b.store.TurnOfMessage(b.ctx, b.owner, uuid.NewString(), one+".m0")), db.ErrNotFound)
	}},
	{"a page before an unknown message is not found", func(b *fixture) {
		elsewhere := func() string {
			b.exchange("other", "o", chat.RootCheckpoint)
			return b.history("", "", 1).Messages[0].ID
		}()
		b.thread = uuid.NewString()
		b.exchange("one", "1", chat.RootCheckpoint)
		for _, before := range []string{elsewhere, "x", uuid.NewString(), ".m", "%"} {
			_, err := b.store.History(b.ctx, b.owner, b.thread, "", before, 10)
			b.ErrorIs(err, db.ErrNotFound, before)
		}
	}},
	{"recent messages are those of user and assistant, up to the turn", func(b *fixture) {
		one := b.exchange("one", "1", chat.RootCheckpoint)
		t := b.running("two", one)
		s := b.ending(t, "2")
		s.Prompts = []db.Prompt{{ID: "p", Message: "Which?", Answer: "both", At: b.now()}}
		b.settle(s)
		b.exchange("side", "side", one)
		recent := func(head string, n int) []string {
			m := must.Have(b.store.Recent(b.ctx, b.owner, b.thread, head, n))(b.t)
			return contents(m)
		}
		b.Equal([]string{"one", "1", "two", "both", "2"}, recent(t.ID, 9))
		b.Equal([]string{"1", "two", "both", "2"}, recent(t.ID, 4))
		b.Equal([]string{"2"}, recent(t.ID, 1))
		b.Empty(recent(t.ID, 0))
		b.Equal([]string{"one", "1"}, recent(one, 9))
		b.Empty(recent(chat.RootCheckpoint, 9))
	}},
	{"a thread of many turns and branches shows each along its branch", func(b *fixture) {
		th := LongThread(b.t, b.store, 200)
		b.owner, b.thread = th.Owner, th.ID
		h := b.history(th.Head, "", 50)
		b.Len(h.Messages, 50)
		b.Equal("a198", h.Messages[49].Content)
		several := 0
		for _, children := range h.Branches {
			if len(children) > 1 {
				several++
			}
		}
		b.Equal(19, several, "the last dead end has no sibling")
		b.Equal([]string{"q199", "a199"}, contents(b.history("", "", 2).Messages))
		for _, use := range th.Uses(b.t, b.store) {
			b.NoError(use.Call(), use.Name)
		}
	}},
}
