package dbtest

import (
	"strings"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

func (b *fixture) conversation(title string) chat.Conversation {
	b.t.Helper()
	c := must.Have(b.store.CreateConversation(b.ctx, chat.Conversation{ID: uuid.NewString(), Owner: b.owner, Title: title, CreatedAt: b.now()}))(b.t)
	return c
}

func (b *fixture) listed(q string) []string {
	b.t.Helper()
	p := must.Have(b.store.ListConversations(b.ctx, b.owner, q, "", 100))(b.t)
	return ids(p.Items, conversationID)
}

func (b *fixture) archived() []string {
	b.t.Helper()
	p := must.Have(b.store.ArchivedConversations(b.ctx, b.owner, "", 100))(b.t)
	return ids(p.Items, conversationID)
}

func (b *fixture) change(id string, c db.ConversationChange) chat.Conversation {
	b.t.Helper()
	changed := must.Have(b.store.ChangeConversation(b.ctx, b.owner, id, c))(b.t)
	return changed
}

// title returns the title of the fixture's thread.
func (b *fixture) title() string {
	b.t.Helper()
	c := must.Have(b.store.Conversation(b.ctx, b.owner, b.thread))(b.t)
	return c.Title
}

// staysDeleted checks that late writes for a turn of a deleted conversation find no
// turn, and that its message, sent again, makes none.
func (b *fixture) staysDeleted(t chat.Turn) {
	b.t.Helper()
	again := t
	again.ID, again.StreamRunID = uuid.NewString(), uuid.NewString()
	for what, write := range map[string]func() error{
		"text": func() error { return b.store.PutText(b.ctx, b.owner, t.ID, "piece:2", "x") },
		"draft": func() error {
			return b.store.SaveDraft(b.ctx, b.owner, db.Draft{TurnID: t.ID, Piece: 1, Attempt: 1, Text: "x"})
		},
		"beginning":     func() error { return b.store.MarkTurn(b.ctx, b.owner, t.ID, chat.TurnRunning, chat.RootCheckpoint) },
		"settle":        func() error { _, err := b.store.Settle(b.ctx, b.ending(t, "late")); return err },
		"message again": func() error { _, _, _, err := b.store.InsertTurn(b.ctx, again); return err },
		"turn again":    func() error { _, _, _, err := b.store.InsertTurn(b.ctx, t); return err },
		"unsaved turn":  func() error { _, _, err := b.store.SaveTurn(b.ctx, t); return err },
		"read":          func() error { _, err := b.store.Turn(b.ctx, b.owner, t.ID); return err },
		"read texts":    func() error { _, err := b.store.Texts(b.ctx, b.owner, t.ID); return err },
		"read draft":    func() error { _, err := b.store.Draft(b.ctx, b.owner, t.ID, 1); return err },
		"read events":   func() error { _, err := b.store.Events(b.ctx, b.owner, t.ID, 0); return err },
		"find": func() error {
			_, err := b.store.FindTurn(b.ctx, b.owner, db.CancelRef{ThreadID: t.ThreadID, ClientTurnID: t.ClientTurnID})
			return err
		},
	} {
		b.ErrorIs(write(), db.ErrNotFound, what)
	}
}

var conversationTests = []test{
	{"creating twice returns the first one", func(b *fixture) {
		c := b.conversation("First")
		b.Equal("idle", c.Status)
		b.Equal(b.clock, c.CreatedAt)
		b.Equal(c.CreatedAt, c.LastMessageAt)
		again := must.Have(b.store.CreateConversation(b.ctx, chat.Conversation{ID: c.ID, Owner: b.owner, Title: "Second", CreatedAt: b.now()}))(b.t)
		b.Equal(c, again)
		read := must.Have(b.store.Conversation(b.ctx, b.owner, c.ID))(b.t)
		b.Equal(c, read)
	}},
	{"an unknown id is not found", func(b *fixture) {
		b.ErrorIs(must.ErrOf(b.store.Conversation(b.ctx, b.owner, b.thread)), db.ErrNotFound)
	}},
	{"the newest message is first in the list", func(b *fixture) {
		one, two := b.conversation("one"), b.conversation("two")
		b.Equal([]string{two.ID, one.ID}, b.listed(""))
		b.thread = one.ID
		b.exchange("hello", "hi", chat.RootCheckpoint)
		b.Equal([]string{one.ID, two.ID}, b.listed(""))
		c := must.Have(b.store.Conversation(b.ctx, b.owner, one.ID))(b.t)
		b.Equal(b.clock, c.LastMessageAt)
	}},
	{"pages of the list join without gap or overlap", func(b *fixture) {
		var want []string
		at := b.now()
		for range 7 { // all at the same time: ordered by id
			c := must.Have(b.store.CreateConversation(b.ctx, chat.Conversation{ID: uuid.NewString(), Owner: b.owner, CreatedAt: at}))(b.t)
			want = append(want, c.ID)
		}
		var got []string
		cursor := ""
		for range want {
			p := must.Have(b.store.ListConversations(b.ctx, b.owner, "", cursor, 3))(b.t)
			b.LessOrEqual(len(p.Items), 3)
			got = append(got, ids(p.Items, conversationID)...)
			if cursor = p.Next; cursor == "" {
				break
			}
		}
		b.Empty(cursor)
		b.ElementsMatch(want, got)
		b.Equal(b.listed(""), got)
	}},
	{"a list that ends with a full page has no next", func(b *fixture) {
		b.conversation("one")
		b.conversation("two")
		p := must.Have(b.store.ListConversations(b.ctx, b.owner, "", "", 2))(b.t)
		b.Len(p.Items, 2)
		b.Empty(p.Next)
	}},
	{"a cursor that the store did not create is refused", func(b *fixture) {
		for _, cursor := range []string{"x", "!!!", "bm90IGpzb24", "' OR 1=1 --"} {
			_, err := b.store.ListConversations(b.ctx, b.owner, "", cursor, 3)
			b.ErrorIs(err, db.ErrBadCursor, cursor)
			_, err = b.store.ListDocuments(b.ctx, b.owner, cursor, 3)
			b.ErrorIs(err, db.ErrBadCursor, cursor)
			b.ErrorIs(must.ErrOf(b.store.ListBoards(b.ctx, b.owner, cursor, 3)), db.ErrBadCursor)
			_, err = b.store.ListSets(b.ctx, b.owner, cursor, 3)
			b.ErrorIs(err, db.ErrBadCursor, cursor)
		}
	}},
	{"a search finds titles and messages in any case", func(b *fixture) {
		titled := b.conversation("Capital Überschuss 100%_x")
		b.thread = b.conversation("other").ID
		b.exchange("What of LIQUIDITY in İSTANBUL, at ΟΔΟΣ 5 or УЛИЦА ẞ?", "Étage deux", chat.RootCheckpoint)
		for q, want := range map[string][]string{
			"capital": {titled.ID}, "üBERSCHUSS": {titled.ID}, "liquidity": {b.thread}, "étage": {b.thread},
			"istanbul": {b.thread}, "İstanbul": {b.thread}, "οδοσ": {b.thread}, "ΟΔΟΣ": {b.thread}, "улица ß": {b.thread},
			"100%_": {titled.ID}, "0%x": {}, "c_pital": {}, "%": {titled.ID}, `\`: {}, "'": {}, "nowhere": {},
		} {
			b.ElementsMatch(want, b.listed(q), q)
		}
	}},
	{"a search shows the words around its match in the newest message that has it", func(b *fixture) {
		match := func(q string) string {
			p := must.Have(b.store.ListConversations(b.ctx, b.owner, q, "", 10))(b.t)
			b.Len(p.Items, 1, q)
			return p.Items[0].Match
		}
		long := strings.Repeat("Wörter davor 🌴 ", 10) + "the\nLIQUIDITY of funds" + strings.Repeat(" und danach", 20)
		first := b.exchange("What of liquidity?", long, chat.RootCheckpoint)
		b.Equal("…davor 🌴 Wörter davor 🌴 the LIQUIDITY of funds und danach und danach und danach und danach und danach und danach und danach und…", match("liquidity OF "))
		b.Equal("What of liquidity?", match("liquidity"))
		b.exchange("And liquidity now?", "No.", first)
		b.Equal("And liquidity now?", match("liquidity"))
		titled := b.conversation("Solvency")
		p := must.Have(b.store.ListConversations(b.ctx, b.owner, "solvency", "", 10))(b.t)
		b.Equal([]string{titled.ID, ""}, []string{p.Items[0].ID, p.Items[0].Match})
		p = must.Have(b.store.ListConversations(b.ctx, b.owner, "", "", 10))(b.t)
		for _, c := range p.Items {
			b.Empty(c.Match)
		}
	}},
	{"a search does not find messages that no history shows", func(b *fixture) {
		b.insert(b.newTurn("secret one"))
		t := b.running("secret two", chat.RootCheckpoint)
		s := b.ending(t, "secret answer")
		s.Status, s.Hidden = chat.TurnCancelled, true
		b.settle(s)
		b.Empty(b.listed("secret"))
	}},
	{"a conversation is listed once its first turn is accepted", func(b *fixture) {
		t := b.insert(b.newTurn("hello"))
		b.Empty(b.listed(""))
		b.Empty(b.listed("hello"))
		b.mark(t.ID, chat.TurnAccepted, "")
		b.Equal([]string{b.thread}, b.listed(""))
		b.Equal([]string{b.thread}, b.listed("hello"))
	}},
	{"a created conversation is listed even if its turn was rolled back or never accepted", func(b *fixture) {
		b.insert(b.newTurn("hello"))
		must.Have(b.store.CreateConversation(b.ctx, chat.Conversation{ID: b.thread, Owner: b.owner, Title: "Mine", CreatedAt: b.now()}))(b.t)
		b.Equal([]string{b.thread}, b.listed("mine"))
	}},
	{"a conversation's status follows its open turn", func(b *fixture) {
		status := func() string {
			c := must.Have(b.store.Conversation(b.ctx, b.owner, b.thread))(b.t)
			p := must.Have(b.store.ListConversations(b.ctx, b.owner, "", "", 1))(b.t)
			if len(p.Items) > 0 {
				b.Equal(c.Status, p.Items[0].Status)
			}
			return c.Status
		}
		t := b.insert(b.newTurn("hello"))
		b.Equal("idle", status())
		b.mark(t.ID, chat.TurnAccepted, "")
		b.Equal("running", status())
		b.mark(t.ID, chat.TurnRunning, chat.RootCheckpoint)
		b.Equal("running", status())
		b.mark(t.ID, chat.TurnInterrupted, "")
		b.Equal("interrupted", status())
		b.settle(b.ending(t, "hi"))
		b.Equal("idle", status())
	}},
	{"a conversation says whether its question is about tool calls", func(b *fixture) {
		t := b.running("delete it", chat.RootCheckpoint)
		asks := func(about chat.InterruptType) chat.Conversation {
			b.NoError(b.store.MarkAsking(b.ctx, b.owner, t.ID, about, ""))
			c := must.Have(b.store.Conversation(b.ctx, b.owner, b.thread))(b.t)
			b.Equal("interrupted", c.Status)
			p := must.Have(b.store.ListConversations(b.ctx, b.owner, "", "", 1))(b.t)
			b.Equal(c.Approval, p.Items[0].Approval)
			return c
		}
		b.False(asks(chat.DocChoice).Approval)
		b.True(asks(chat.ToolApproval).Approval)
		b.mark(t.ID, chat.TurnRunning, "")
		c := must.Have(b.store.Conversation(b.ctx, b.owner, b.thread))(b.t)
		b.Equal("running", c.Status)
		b.False(c.Approval)
	}},
	{"renaming shows everywhere", func(b *fixture) {
		c := b.conversation("old")
		renamed := must.Have(b.store.ChangeConversation(b.ctx, b.owner, c.ID, db.ConversationChange{Title: new("Neu")}))(b.t)
		b.Equal("Neu", renamed.Title)
		b.Equal([]string{c.ID}, b.listed("neu"))
		b.Empty(b.listed("old"))
	}},
	{"pinned conversations come first, and pages join without gap or overlap", func(b *fixture) {
		var all []string
		for range 7 {
			all = append(all, b.conversation("x").ID)
		}
		for _, pinned := range []string{all[0], all[3]} {
			b.True(b.change(pinned, db.ConversationChange{Pinned: new(true)}).Pinned)
		}
		want := []string{all[3], all[0], all[6], all[5], all[4], all[2], all[1]}
		b.Equal(want, b.listed(""))
		b.Equal(want, b.listed("x"))
		for limit := 1; limit < 9; limit++ {
			for _, q := range []string{"", "x"} {
				var got []string
				for cursor, more := "", true; more; more = cursor != "" {
					p := must.Have(b.store.ListConversations(b.ctx, b.owner, q, cursor, limit))(b.t)
					got, cursor = append(got, ids(p.Items, conversationID)...), p.Next
				}
				b.Equal(want, got, "%d at once, %q", limit, q)
			}
		}
		b.False(b.change(all[3], db.ConversationChange{Pinned: new(false)}).Pinned)
		b.Equal([]string{all[0], all[6]}, b.listed("")[:2])
	}},
	{"archived conversations have their own list, and a search finds them", func(b *fixture) {
		keep, away := b.conversation("one tax"), b.conversation("two tax")
		b.change(away.ID, db.ConversationChange{Pinned: new(true)})
		c := b.change(away.ID, db.ConversationChange{Archived: new(true)})
		b.True(c.Archived)
		b.False(c.Pinned, "an archived conversation is not pinned")
		b.Equal([]string{keep.ID}, b.listed(""))
		b.Equal([]string{away.ID}, b.archived())
		b.Equal([]string{away.ID, keep.ID}, b.listed("tax"))
		read := must.Have(b.store.Conversation(b.ctx, b.owner, away.ID))(b.t)
		b.True(read.Archived)
		b.False(b.change(away.ID, db.ConversationChange{Pinned: new(true)}).Archived, "a pinned conversation is not archived")
		b.change(away.ID, db.ConversationChange{Archived: new(true)})
		b.change(away.ID, db.ConversationChange{Archived: new(false)})
		b.Equal([]string{away.ID, keep.ID}, b.listed(""))
		b.Empty(b.archived())
	}},
	{"a new message makes an archived conversation listed again, the end of a turn does not", func(b *fixture) {
		t := b.running("hello", chat.RootCheckpoint)
		b.change(b.thread, db.ConversationChange{Archived: new(true)})
		b.settle(b.ending(t, "hi"))
		b.Equal([]string{b.thread}, b.archived())
		b.insert(b.newTurn("again"))
		b.Empty(b.archived())
		b.Equal([]string{b.thread}, b.listed(""))
	}},
	{"marks and title change together or not at all", func(b *fixture) {
		c := b.conversation("old")
		got := b.change(c.ID, db.ConversationChange{Title: new("new"), Pinned: new(true)})
		b.Equal([]any{"new", true, false}, []any{got.Title, got.Pinned, got.Archived})
		b.Equal(got, b.change(c.ID, db.ConversationChange{}))
		b.ErrorIs(must.ErrOf(b.store.ChangeConversation(b.ctx, b.owner, uuid.NewString(), db.ConversationChange{})), db.ErrNotFound)
	}},
	{"a title is replaced only while its owner has not chosen it", func(b *fixture) {
		t := b.running("hello", chat.RootCheckpoint)
		b.Equal("hello", b.title())
		b.NoError(b.store.RetitleConversation(b.ctx, b.owner, b.thread, "another", "Not this"))
		b.Equal("hello", b.title())
		b.NoError(b.store.RetitleConversation(b.ctx, b.owner, b.thread, "hello", "Greetings"))
		b.Equal("Greetings", b.title())
		b.Equal([]string{b.thread}, b.listed("greet"))
		b.change(b.thread, db.ConversationChange{Title: new("Greetings")}) // the same words, but chosen
		b.NoError(b.store.RetitleConversation(b.ctx, b.owner, b.thread, "Greetings", "Not this"))
		b.Equal("Greetings", b.title())
		b.settle(b.ending(t, "hi"))
	}},
	{"the end of the first turn replaces the title that was made from its message", func(b *fixture) {
		t := b.running("summarize this", chat.RootCheckpoint)
		end := b.ending(t, "It is about leave.")
		end.Title = "Leave Policy"
		b.settle(end)
		b.Equal("Leave Policy", b.title())
		second := b.running("summarize this", t.ID)
		end = b.ending(second, "It is about pay.")
		end.Title = "Pay"
		b.settle(end)
		b.Equal("Leave Policy", b.title())
	}},
	{"the end of the first turn leaves a title that its owner has chosen", func(b *fixture) {
		t := b.running("summarize this", chat.RootCheckpoint)
		b.change(b.thread, db.ConversationChange{Title: new("summarize this")})
		end := b.ending(t, "It is about leave.")
		end.Title = "Leave Policy"
		b.settle(end)
		b.Equal("summarize this", b.title())
	}},
	{"a deleted conversation is not found by any call", func(b *fixture) {
		t := b.running("hello", chat.RootCheckpoint)
		b.NoError(b.store.PutText(b.ctx, b.owner, t.ID, "piece:1", "x"))
		b.NoError(b.store.SaveDraft(b.ctx, b.owner, db.Draft{TurnID: t.ID, Piece: 1, Text: "x"}))
		b.NoError(b.store.DeleteConversation(b.ctx, b.owner, b.thread))

		b.Empty(b.listed(""))
		b.ErrorIs(must.ErrOf(b.store.Conversation(b.ctx, b.owner, b.thread)), db.ErrNotFound)
		b.ErrorIs(must.ErrOf(b.store.TurnsAfter(b.ctx, b.owner, b.thread, 0, 1)), db.ErrNotFound)
		b.ErrorIs(must.ErrOf(b.store.LastPlace(b.ctx, b.owner, b.thread)), db.ErrNotFound)
		b.ErrorIs(must.ErrOf(b.store.History(b.ctx, b.owner, b.thread, "", "", 10)), db.ErrNotFound)
		b.staysDeleted(t)
		b.ErrorIs(b.store.DeleteConversation(b.ctx, b.owner, b.thread), db.ErrNotFound)
	}},
	{"only its owner may use the id of a deleted conversation again", func(b *fixture) {
		b.exchange("old", "old answer", chat.RootCheckpoint)
		b.NoError(b.store.DeleteConversation(b.ctx, b.owner, b.thread))
		stranger := b.newTurn("mine now")
		stranger.Owner = uuid.NewString()
		begin := func() error { _, _, _, err := b.store.InsertTurn(b.ctx, stranger); return err }
		create := func() error {
			_, err := b.store.CreateConversation(b.ctx, chat.Conversation{ID: b.thread, Owner: stranger.Owner})
			return err
		}
		b.ErrorIs(begin(), db.ErrNotFound)
		b.ErrorIs(create(), db.ErrNotFound)

		for generation := 2; generation < 5; generation++ {
			next := b.insert(b.newTurn("new"))
			b.Equal(generation, next.Generation)
			b.Equal([]string{}, contents(b.history("", "", 10).Messages), "not accepted yet")
			b.mark(next.ID, chat.TurnRunning, chat.RootCheckpoint)
			next.Parent = chat.RootCheckpoint
			b.settle(b.ending(next, "new answer"))
			b.Equal([]string{"new", "new answer"}, contents(b.history("", "", 10).Messages))
			b.Equal([]string{b.thread}, b.listed(""))
			b.Empty(b.listed("old"))
			b.ErrorIs(begin(), db.ErrNotFound)
			b.NoError(b.store.DeleteConversation(b.ctx, b.owner, b.thread))
			b.ErrorIs(begin(), db.ErrNotFound)
			b.ErrorIs(create(), db.ErrNotFound)
		}
		made := must.Have(b.store.CreateConversation(b.ctx, chat.Conversation{ID: b.thread, Owner: b.owner, Title: "Again", CreatedAt: b.now()}))(b.t)
		b.Equal("Again", made.Title)
		b.Empty(b.history("", "", 10).Messages)
	}},
	{"late writes for a deleted conversation do not show up in a new one with its id", func(b *fixture) {
		first := b.exchange("old", "old answer", chat.RootCheckpoint)
		open := b.running("older", first)
		must.Have(b.store.PutRepo(b.ctx, b.owner, b.thread, []byte("repo"), "digest", nil))(b.t)
		b.NoError(b.store.DeleteConversation(b.ctx, b.owner, b.thread))
		b.staysDeleted(open)

		next := b.insert(b.newTurn("new"))
		b.staysDeleted(open)
		b.mark(next.ID, chat.TurnRunning, chat.RootCheckpoint)
		b.staysDeleted(open)
		b.Equal([]string{"new"}, contents(b.history("", "", 10).Messages))
		b.ErrorIs(b.store.MarkTurn(b.ctx, b.owner, next.ID, chat.TurnRunning, first), db.ErrNotFound, "an old parent")
		b.ErrorIs(must.ErrOf(b.store.Repo(b.ctx, b.owner, b.thread)), db.ErrNotFound)

		again := open // the same client_turn_id with other content is another message
		again.ID, again.Content.Message = uuid.NewString(), "another"
		again.ContentHash = again.Content.Hash()
		b.insert(again)
	}},
	{"a repo does not create a conversation under a deleted id", func(b *fixture) {
		put := func() error {
			_, err := b.store.PutRepo(b.ctx, b.owner, b.thread, []byte("repo"), "digest", nil)
			return err
		}
		b.NoError(put())
		b.NoError(b.store.DeleteConversation(b.ctx, b.owner, b.thread))
		b.ErrorIs(put(), db.ErrNotFound)
		b.insert(b.newTurn("new"))
		b.NoError(put())
	}},
	{"a turn accepted during a database outage is saved only in the conversation that accepted it", func(b *fixture) {
		taken := func(generation int) error {
			t := b.newTurn("unsaved")
			t.Generation = generation
			_, _, err := b.store.SaveTurn(b.ctx, t)
			return err
		}
		b.NoError(taken(0), "a thread that the database has lost")
		b.NoError(taken(0))
		b.NoError(taken(1))
		b.NoError(b.store.DeleteConversation(b.ctx, b.owner, b.thread))
		b.ErrorIs(taken(0), db.ErrNotFound)
		b.ErrorIs(taken(1), db.ErrNotFound)
		b.insert(b.newTurn("new"))
		b.ErrorIs(taken(0), db.ErrNotFound)
		b.ErrorIs(taken(1), db.ErrNotFound)
		b.NoError(taken(2))
	}},
	{"deleting one conversation leaves the others", func(b *fixture) {
		b.exchange("keep", "kept", chat.RootCheckpoint)
		keep := b.thread
		b.thread = uuid.NewString()
		b.exchange("drop", "dropped", chat.RootCheckpoint)
		b.NoError(b.store.DeleteConversation(b.ctx, b.owner, b.thread))
		b.thread = keep
		b.Equal([]string{"keep", "kept"}, contents(b.history("", "", 10).Messages))
		b.Equal([]string{keep}, b.listed(""))
	}},
	{"a profile is empty until it is put, and put replaces every field", func(b *fixture) {
		p := must.Have(b.store.Profile(b.ctx, b.owner))(b.t)
		b.Zero(p)
		for _, want := range []chat.Profile{{Industry: "banking", Location: "Wien", Instructions: "Be brief.", HideSamples: true}, {Location: "Graz"}} {
			b.NoError(b.store.PutProfile(b.ctx, b.owner, want))
			p = must.Have(b.store.Profile(b.ctx, b.owner))(b.t)
			b.Equal(want, p)
		}
	}},
	{"ended sessions raise their owner's generation and leave the profile as it is", func(b *fixture) {
		other := uuid.NewString()
		for want := range int64(3) {
			n := must.Have(b.store.SessionGeneration(b.ctx, b.owner))(b.t)
			b.Equal(want, n)
			n = must.Have(b.store.EndSessions(b.ctx, b.owner))(b.t)
			b.Equal(want+1, n)
			b.NoError(b.store.PutProfile(b.ctx, b.owner, chat.Profile{Industry: "banking"}))
		}
		p := must.Have(b.store.Profile(b.ctx, b.owner))(b.t)
		b.Equal(chat.Profile{Industry: "banking"}, p)
		n := must.Have(b.store.SessionGeneration(b.ctx, other))(b.t)
		b.Zero(n)
	}},
	{"limits out of range are clamped", func(b *fixture) {
		for range 3 {
			b.conversation("x")
		}
		for limit, want := range map[int]int{-1: 1, 0: 1, 1: 1, 1000: 3} {
			p := must.Have(b.store.ListConversations(b.ctx, b.owner, "", "", limit))(b.t)
			b.Len(p.Items, want)
		}
	}},
}
