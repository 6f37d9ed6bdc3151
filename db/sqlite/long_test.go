package sqlite

import (
	"context"
	"database/sql"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/db/sqlite/sqlcgen"
	"github.com/palaver-chat/palaver/testkit/dbtest"
	"github.com/palaver-chat/palaver/testkit/must"
)

// prepared records the statements that a store prepares.
type prepared struct {
	*sql.DB
	statements []string
}

func (p *prepared) PrepareContext(ctx context.Context, text string) (*sql.Stmt, error) {
	p.statements = append(p.statements, text)
	return p.DB.PrepareContext(ctx, text)
}

// scans matches a full scan of a table that grows with the number of threads.
var scans = regexp.MustCompile(`^SCAN (t|h|m|e|x|d|c|r|turns|messages|conversations|turn_events|turn_texts|drafts|stream_runs|attachments|repos|limits)\b`)

// goThrough are queries that may scan a whole table or index: a search of all texts,
// the deletion of a user, and the number of open turns, whose index has open turns only.
var goThrough = []string{"SearchConversations", "CountUserData", "UserThreads", "OpenTurnCounts"}

func TestQueriesOfAThreadScanNoWholeTable(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "palaver.db"))
	p := &prepared{DB: s.reader}
	q := must.Have(sqlcgen.Prepare(t.Context(), p))(t)
	t.Cleanup(func() { _ = q.Close() })
	checked := 0
	for _, text := range p.statements {
		name := strings.Fields(text)[2]
		if strings.Contains(text, "document") || strings.Contains(text, "chunk") || slices.Contains(goThrough, name) {
			continue
		}
		for _, step := range plan(t, s, text) {
			require.NotRegexp(t, scans, step, text)
			require.NotContains(t, step, "turns_client (owner=?)", "reads all turns of the owner: %s", text)
			if name == "Head" || name == "Tree" || name == "NextPlace" {
				require.NotContains(t, step, "TEMP B-TREE", text)
			}
		}
		checked++
	}
	require.Greater(t, checked, 40)
}

func plan(t *testing.T, s *Store, text string) (steps []string) {
	t.Helper()
	args := make([]any, strings.Count(text, "?"))
	rows, err := s.reader.Query("EXPLAIN QUERY PLAN "+text, args...)
	require.NoError(t, err, text)
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int
		var step string
		require.NoError(t, rows.Scan(&id, &parent, &unused, &step))
		steps = append(steps, step)
	}
	require.NoError(t, rows.Err())
	return steps
}

// BenchmarkNextTurn measures the queries of the next turn in a thread of 20 turns,
// and in one of 2,000 with 200 branches.
func BenchmarkNextTurn(b *testing.B) {
	for name, turns := range map[string]int{"20": 20, "2000": 2000} {
		b.Run(name, func(b *testing.B) {
			s, err := Open(b.Context(), filepath.Join(b.TempDir(), "palaver.db"))
			require.NoError(b, err)
			b.Cleanup(func() { _ = s.Close() })
			thread := dbtest.LongThread(b, s, turns)
			for b.Loop() {
				for _, use := range thread.Uses(b, s) {
					require.NoError(b, use.Call(), use.Name)
				}
			}
		})
	}
}
