package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/testkit/must"
)

func TestComparingVectorsLeavesOutTheOldestBeyondTheBound(t *testing.T) {
	t.Parallel()
	s := openStore(t, filepath.Join(t.TempDir(), "palaver.db"))
	require.Equal(t, "exact: SQLite has no index of vectors; at most 50000 passages are compared", s.VectorSearch())
	s.compared = 5
	for n, id := range []string{"old", "middle", "new"} {
		require.NoError(t, s.CreateDocument(t.Context(), chat.Document{ID: id, Owner: "ann", Title: id, CreatedAt: time.Unix(int64(1000+n), 0)}, nil))
		require.NoError(t, s.StoreText(t.Context(), "ann", id, "", make([]chat.Chunk, 3), [][]float32{{1, 0}, {1, 0}, {1, 0}}))
	}
	compared := map[string]int{}
	hits := must.Have(s.SearchVector(t.Context(), "ann", []float32{1, 0}, nil, 10))(t)
	for _, h := range hits {
		compared[h.DocID]++
	}
	require.Equal(t, map[string]int{"new": 3, "middle": 2}, compared)
	hits = must.Have(s.SearchVector(t.Context(), "ann", []float32{1, 0}, []string{"old"}, 10))(t)
	require.Len(t, hits, 3, "documents that are named are compared")
}
