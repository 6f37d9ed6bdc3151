package api

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/audit"
	"github.com/palaver-chat/palaver/testkit/dbtest/litetest"
	"github.com/palaver-chat/palaver/testkit/must"
)

// audited starts an API with an audit log. Call entries after the requests were answered.
func audited(t *testing.T, change ...func(*Deps)) (_ *bundle, entries func(kind string) []db.AuditEntry) {
	t.Helper()
	store := litetest.Store(t)
	log := audit.Open(store, slog.New(slog.DiscardHandler))
	b := setup(t, append(change, func(d *Deps) { d.Audit = log })...)
	return b, func(kind string) []db.AuditEntry {
		log.Close()
		found := must.Have(store.AuditEntries(context.Background(), db.AuditFilter{Kind: kind}, 0, 1000))(t)
		return found
	}
}

func TestDecisionIsAuditedWithoutItsWords(t *testing.T) {
	t.Parallel()
	b, entries := audited(t)
	b.engine.script = painting
	c := b.client()
	c.ask(map[string]any{"thread_id": someThread, "agent": "assistant"}).rest()
	c.stream("POST", "/api/chat/resume", map[string]any{"thread_id": someThread, "resume_value": map[string]any{"type": "tool_approval", "value": nil,
		"decisions": []any{
			map[string]any{"id": "c1", "decision": "approved", "remember": true, "arguments": map[string]any{"prompt": "a marzipan cat"}},
			map[string]any{"id": "c2", "decision": "rejected", "reason": "no marzipan"}}}}).rest()
	all := entries("")
	i := slices.IndexFunc(all, func(e db.AuditEntry) bool { return e.Kind == audit.Decided })
	require.GreaterOrEqual(t, i, 0, "%+v", all)
	e := all[i]
	require.Equal(t, c.id(), e.Owner)
	require.Equal(t, "127.0.0.1", e.Address)
	require.NotEmpty(t, e.RequestID)
	require.NotEmpty(t, e.Channel)
	require.Equal(t, someThread, e.Detail["thread"])
	require.Equal(t, []any{
		map[string]any{"id": "c1", "tool": "generate_image", "decision": "approved", "remember": true, "edited": true},
		map[string]any{"id": "c2", "tool": "generate_image", "decision": "rejected"}}, e.Detail["calls"])
	raw := must.Have(json.Marshal(all))(t)
	require.NotContains(t, string(raw), "marzipan")
}

func TestRefusedSignInsLimitsDeletionsAndExportsAreAudited(t *testing.T) {
	t.Parallel()
	b, entries := audited(t)
	c := b.client()
	for range 3 {
		c.call(401, "GET", "/api/me", nil, "Authorization", "Bearer forged")
	}
	c.call(403, "GET", "/api/me", nil, "Userid", "somebody-else")
	c.call(404, "GET", "/api/conversations/"+someThread, nil) // no entry
	doc := c.call(202, "POST", "/api/documents", map[string]any{"title": "Notes", "text": "Some text."})["id"].(string)
	c.call(204, "DELETE", "/api/documents/"+doc, nil)
	c.call(404, "DELETE", "/api/documents/"+doc, nil)
	for i := range 7 {
		res := c.send("GET", "/api/me/export", nil)
		if i < 6 {
			require.Equal(t, 200, res.StatusCode)
			unzip(t, res)
			continue
		}
		require.Equal(t, 429, res.StatusCode)
		require.NotEmpty(t, res.Header.Get("Retry-After"))
	}
	all := entries("")
	count := map[string]int{}
	for _, e := range all {
		count[e.Kind] += e.Times
		require.Equal(t, "127.0.0.1", e.Address)
		require.WithinDuration(t, time.Now(), e.At, time.Minute)
	}
	require.Equal(t, map[string]int{audit.SignInRefused: 4, audit.Deleted: 1, audit.Exported: 6, audit.LimitHit: 1}, count)
	require.Len(t, all, 2+1+6+1, "the same refusal is one entry")
}
