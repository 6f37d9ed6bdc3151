package dbtest

import (
	"time"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

func (b *fixture) audited(f db.AuditFilter, after int64, limit int) []db.AuditEntry {
	b.t.Helper()
	entries := must.Have(b.store.AuditEntries(b.ctx, f, after, limit))(b.t)
	return entries
}

func kinds(entries []db.AuditEntry) []string {
	return ids(entries, func(e db.AuditEntry) string { return e.Kind })
}

// The log cannot be emptied between tests, so every test has its own owners and kinds.
var auditTests = []test{
	{"audit entries are read as they were written, oldest first", func(b *fixture) {
		e := db.AuditEntry{At: b.now(), Kind: "decision", Owner: b.owner, Channel: "api", Address: "2001:db8::1", RequestID: "r", Times: 3,
			Detail: map[string]any{"tool": "send", "remember": true}}
		b.NoError(b.store.AppendAudit(b.ctx, []db.AuditEntry{e, {At: b.now(), Kind: "started", Owner: b.owner}}))
		got := b.audited(db.AuditFilter{Owner: b.owner}, 0, 10)
		b.Equal([]string{"decision", "started"}, kinds(got))
		b.Positive(got[0].ID)
		b.Greater(got[1].ID, got[0].ID)
		e.ID = got[0].ID
		b.Equal(e, got[0])
		b.Equal(1, got[1].Times)
		b.NoError(b.store.AppendAudit(b.ctx, nil))
	}},
	{"audit entries are filtered and paged", func(b *fixture) {
		exported, deleted, stranger := "export of "+b.owner, "deletion of "+b.owner, uuid.NewString()
		early := b.now()
		later := early.Add(time.Hour)
		b.NoError(b.store.AppendAudit(b.ctx, []db.AuditEntry{
			{At: early, Kind: exported, Owner: b.owner}, {At: early, Kind: deleted, Owner: stranger},
			{At: later, Kind: exported, Owner: stranger}, {At: later, Kind: deleted, Owner: b.owner}}))
		b.Equal([]string{exported, deleted}, kinds(b.audited(db.AuditFilter{Owner: b.owner}, 0, 10)))
		b.Len(b.audited(db.AuditFilter{Kind: exported}, 0, 10), 2)
		b.Equal([]string{deleted}, kinds(b.audited(db.AuditFilter{Owner: b.owner, Since: later}, 0, 10)))
		b.Len(b.audited(db.AuditFilter{Kind: exported, Since: later}, 0, 10), 1)
		b.Empty(b.audited(db.AuditFilter{Kind: exported, Owner: b.owner, Since: later}, 0, 10))
		first := b.audited(db.AuditFilter{Kind: exported}, 0, 1)
		b.Len(first, 1)
		rest := b.audited(db.AuditFilter{Kind: exported}, first[0].ID, 10)
		b.Len(rest, 1)
		b.Equal(stranger, rest[0].Owner)
		b.Empty(b.audited(db.AuditFilter{Owner: "' OR 1=1 --"}, 0, 10))
	}},
	{"deleting a user leaves the audit log", func(b *fixture) {
		b.everything()
		b.NoError(b.store.AppendAudit(b.ctx, []db.AuditEntry{{Kind: "deletion", Owner: b.owner}}))
		must.Have(b.store.DeleteUser(b.ctx, b.owner))(b.t)
		b.Len(b.audited(db.AuditFilter{Owner: b.owner}, 0, 10), 1)
	}},
	{"pictures are listed for their owner only", func(b *fixture) {
		p := b.everything()
		list := must.Have(b.store.AttachmentIDs(b.ctx, b.owner))(b.t)
		b.ElementsMatch([]string{p.used.ID, p.unused.ID}, list)
		list = must.Have(b.store.AttachmentIDs(b.ctx, uuid.NewString()))(b.t)
		b.Empty(list)
	}},
}
