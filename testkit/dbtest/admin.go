package dbtest

import (
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

// pages reads a whole list, two items at a time.
func pages[T any](b *fixture, read func(cursor string) (db.Page[T], error)) (all []T) {
	b.t.Helper()
	for cursor := ""; ; {
		page := must.Have(read(cursor))(b.t)
		b.LessOrEqual(len(page.Items), 2)
		all = append(all, page.Items...)
		if cursor = page.Next; cursor == "" {
			return all
		}
	}
}

var adminTests = []test{
	{"people with an account are listed by their last use, with what they have stored and spent today", func(b *fixture) {
		today := b.now()
		var want []db.Person
		for i := range 5 {
			owner := fmt.Sprint("person", i)
			at := b.now().Add(-time.Duration(i/2) * 24 * time.Hour)
			b.NoError(b.store.Met(b.ctx, owner, fmt.Sprint(i, "@example.com"), at))
			want = append(want, db.Person{Owner: owner, KnownAs: fmt.Sprint(i, "@example.com"), SeenAt: at})
		}
		b.NoError(b.store.Within(db.Bounds{Anonymous: true}).CreateSet(b.ctx, chat.DocumentSet{ID: uuid.NewString(), Owner: "nobody", Name: "x"}))
		b.NoError(b.store.PutProfile(b.ctx, "never seen", chat.Profile{Industry: "x"}))
		b.owner = want[2].Owner
		b.exchange("hello", "hello", chat.RootCheckpoint)
		must.Have(b.store.CreateConversation(b.ctx, chat.Conversation{ID: uuid.NewString(), Owner: b.owner}))(b.t)
		doc := b.upload(b.owner, "Notes", []byte("12345"))
		b.attachment(b.owner, "123")
		b.NoError(b.store.Spend(b.ctx, b.owner, "", db.Spending{Tokens: 7, CostUSD: 0.5}, today))
		b.NoError(b.store.Spend(b.ctx, b.owner, "", db.Spending{Tokens: 70}, today.Add(-48*time.Hour)))
		stored := must.Have(b.store.Stored(b.ctx, b.owner, ""))(b.t)
		want[2].Threads, want[2].Documents, want[2].Bytes, want[2].Today = 2, 1, stored.Bytes, db.Spending{Tokens: 7, CostUSD: 0.5}
		b.NotZero(stored.Bytes, doc.ID)
		slices.SortFunc(want, func(x, y db.Person) int { return y.SeenAt.Compare(x.SeenAt) })
		b.Equal(want, pages(b, func(cursor string) (db.Page[db.Person], error) { return b.store.People(b.ctx, today, cursor, 2) }))
		b.Equal(int64(1), must.Have(b.store.CountAnonymous(b.ctx))(b.t))
		must.Have(b.store.DeleteUser(b.ctx, b.owner))(b.t)
		b.Len(must.Have(b.store.People(b.ctx, today, "", 100))(b.t).Items, 4)
		_, err := b.store.People(b.ctx, today, "odd", 2)
		b.ErrorIs(err, db.ErrBadCursor)
	}},
	{"who was seen is known by the newest name, and the profile stays", func(b *fixture) {
		at := b.now()
		profile := chat.Profile{Industry: "banking", Location: "Köln"}
		b.NoError(b.store.PutProfile(b.ctx, b.owner, profile))
		for _, visit := range []struct {
			as    string
			after time.Duration
			want  string
			seen  time.Duration
		}{
			{"ann@example.com", 0, "ann@example.com", 0},
			{"", time.Minute, "ann@example.com", 0}, // a personal key, within an hour
			{"ann@new.example.com", 2 * time.Minute, "ann@new.example.com", 2 * time.Minute},
			{"", 2 * time.Hour, "ann@new.example.com", 2 * time.Hour},
			{"", time.Hour, "ann@new.example.com", 2 * time.Hour}, // it arrives late
		} {
			b.NoError(b.store.Met(b.ctx, b.owner, visit.as, at.Add(visit.after)))
			page := must.Have(b.store.People(b.ctx, at, "", 10))(b.t)
			b.Equal([]db.Person{{Owner: b.owner, KnownAs: visit.want, SeenAt: at.Add(visit.seen)}}, page.Items)
		}
		b.Equal(profile, must.Have(b.store.Profile(b.ctx, b.owner))(b.t))
	}},
	{"the usage of models is added up by day and model", func(b *fixture) {
		day := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
		one := db.ModelUsage{Day: day.Add(3 * time.Hour), Model: "m1", Calls: 1, TokensIn: 10, TokensOut: 2, CostUSD: 0.25}
		b.NoError(b.store.AddModelUsage(b.ctx, []db.ModelUsage{one, one, {Day: day, Model: "m2", Calls: 1, Unpriced: 1}}))
		one.Day = day.Add(24 * time.Hour)
		b.NoError(b.store.AddModelUsage(b.ctx, []db.ModelUsage{one}))
		want := []db.ModelUsage{
			{Day: one.Day, Model: "m1", Calls: 1, TokensIn: 10, TokensOut: 2, CostUSD: 0.25},
			{Day: day, Model: "m1", Calls: 2, TokensIn: 20, TokensOut: 4, CostUSD: 0.5},
			{Day: day, Model: "m2", Calls: 1, Unpriced: 1},
		}
		b.Equal(want, must.Have(b.store.ModelUsage(b.ctx, day.Add(time.Hour)))(b.t))
		b.Equal(want[:1], must.Have(b.store.ModelUsage(b.ctx, one.Day))(b.t))
	}},
	{"failed documents of every owner are listed without their names", func(b *fixture) {
		var want []db.FailedDocument
		for i := range 3 {
			doc := b.upload(fmt.Sprint("owner", i), "Secret plan", []byte("raw"))
			b.NoError(b.store.FailDocument(b.ctx, doc.Owner, doc.ID, "It is encrypted."))
			want = append(want, db.FailedDocument{ID: doc.ID, Owner: doc.Owner, Source: string(doc.SourceType), Format: doc.Format, Bytes: doc.Bytes, Reason: "It is encrypted.", CreatedAt: doc.CreatedAt})
		}
		b.document(b.owner, "Readable", "text")
		slices.Reverse(want)
		got := pages(b, func(cursor string) (db.Page[db.FailedDocument], error) {
			return b.store.FailedDocuments(b.ctx, cursor, 2)
		})
		b.Equal(want, got)
	}},
	{"the audit log is read backwards, page by page", func(b *fixture) {
		var mine []db.AuditEntry
		for i := range 5 {
			e := db.AuditEntry{At: b.now(), Kind: "export", Owner: b.owner, Times: 1, Detail: map[string]any{"n": float64(i)}}
			b.NoError(b.store.AppendAudit(b.ctx, []db.AuditEntry{e, {At: e.At, Kind: "deletion", Owner: uuid.NewString()}}))
			mine = append(mine, e)
		}
		slices.Reverse(mine)
		read := func(kind string) []db.AuditEntry {
			all := pages(b, func(cursor string) (db.Page[db.AuditEntry], error) {
				return b.store.AuditPage(b.ctx, b.owner, kind, cursor, 2)
			})
			for i := range all {
				b.NotZero(all[i].ID)
				all[i].ID = 0
			}
			return all
		}
		b.Equal(mine, read(""))
		b.Equal(mine, read("export"))
		b.Empty(read("deletion"))
	}},
	{"a page of the audit log looks through a bounded number of entries, and the next one goes on", func(b *fixture) {
		b.NoError(b.store.AppendAudit(b.ctx, []db.AuditEntry{{At: b.now(), Kind: "export", Owner: b.owner}}))
		many := make([]db.AuditEntry, db.AuditScan)
		for i := range many {
			many[i] = db.AuditEntry{At: b.now(), Kind: "deletion", Owner: "somebody"}
		}
		for part := range slices.Chunk(many, 1000) {
			b.NoError(b.store.AppendAudit(b.ctx, part))
		}
		first := must.Have(b.store.AuditPage(b.ctx, b.owner, "", "", 10))(b.t)
		b.Empty(first.Items)
		b.NotEmpty(first.Next)
		second := must.Have(b.store.AuditPage(b.ctx, b.owner, "", first.Next, 10))(b.t)
		b.Len(second.Items, 1)
	}},
	{"feedback is listed with its turn only where the person has shared it", func(b *fixture) {
		var want []db.RatedTurn
		for i, shared := range []bool{true, false, true} {
			b.owner, b.thread = uuid.NewString(), uuid.NewString()
			f := b.opinion(b.exchange(fmt.Sprint("question ", i), fmt.Sprint("answer ", i), chat.RootCheckpoint), i > 0, "because")
			f.Shared = shared
			b.NoError(b.store.PutFeedback(b.ctx, f))
			rated := db.RatedTurn{Feedback: f}
			if shared {
				rated.Question, rated.Answer = fmt.Sprint("question ", i), fmt.Sprint("answer ", i)
			}
			want = append(want, rated)
		}
		slices.Reverse(want)
		read := func() []db.RatedTurn {
			return pages(b, func(cursor string) (db.Page[db.RatedTurn], error) { return b.store.FeedbackPage(b.ctx, cursor, 2) })
		}
		b.Equal(want, read())
		f := want[0].Feedback
		f.Shared, f.UpdatedAt = false, b.now()
		b.NoError(b.store.PutFeedback(b.ctx, f))
		want[0] = db.RatedTurn{Feedback: f}
		b.Equal(want, read(), "taken back")
	}},
}
