package admin_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/app/admin"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/dbtest/litetest"
)

func TestAuditPrintsEveryEntryThatMatchesOldestFirst(t *testing.T) {
	store, ctx, began := litetest.Store(t), t.Context(), time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	var entries []db.AuditEntry
	for n := range 1100 { // more than one page
		e := db.AuditEntry{At: began.Add(time.Duration(n) * time.Second), Kind: "decision", Owner: "ann", Channel: "page", Address: "192.0.2.1", Times: 1, Detail: map[string]any{"n": n}}
		if n%2 == 1 {
			e.Kind, e.Owner = "deletion", "bob"
		}
		entries = append(entries, e)
	}
	require.NoError(t, store.AppendAudit(ctx, entries))

	var table bytes.Buffer
	require.NoError(t, admin.PrintAudit(ctx, store, db.AuditFilter{}, false, &table))
	lines := strings.Split(strings.TrimSpace(table.String()), "\n")
	require.Len(t, lines, 1+len(entries))
	require.Regexp(t, `^TIME +KIND +TIMES +OWNER +CHANNEL +ADDRESS +DETAIL$`, lines[0])
	require.Regexp(t, `^2026-05-01T12:00:00Z +decision +1 +ann +page +192\.0\.2\.1 +\{"n":0\}$`, lines[1])

	var raw bytes.Buffer
	require.NoError(t, admin.PrintAudit(ctx, store, db.AuditFilter{Owner: "bob", Since: began.Add(1000 * time.Second)}, true, &raw))
	var seen []float64
	for line := range strings.Lines(raw.String()) {
		var e db.AuditEntry
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		require.Equal(t, "deletion", e.Kind)
		seen = append(seen, e.Detail["n"].(float64))
	}
	require.Len(t, seen, 50)
	require.Equal(t, []float64{1001, 1003}, seen[:2])
}
