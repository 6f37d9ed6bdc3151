package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

// FuzzSearchWords checks that user input is searched for as words and never parsed as
// an FTS5 query.
func FuzzSearchWords(f *testing.F) {
	s, err := Open(f.Context(), filepath.Join(f.TempDir(), "palaver.db"))
	require.NoError(f, err)
	f.Cleanup(func() { _ = s.Close() })
	ctx := f.Context()
	require.NoError(f, s.CreateDocument(ctx, chat.Document{ID: "d", Owner: "o"}, nil))
	require.NoError(f, s.StoreText(ctx, "o", "d", "apple", []chat.Chunk{{Text: "apple", End: 5}}, nil))
	f.Add(`"`, "near")
	f.Add("\x00", `a" OR "b`)
	f.Add("col:", "*)")
	f.Fuzz(func(t *testing.T, one, two string) {
		hits := must.Have(s.SearchText(t.Context(), "o", db.Words(one, "apple", two), nil, 5))(t)
		require.Len(t, hits, 1)
		counts, total, err := s.WordCounts(t.Context(), "o", []string{one, two, "apple"})
		require.NoError(t, err)
		require.Equal(t, 1, total)
		require.Equal(t, 1, counts["apple"])
	})
}
