package sqlite

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/documents/chunk"
	"github.com/palaver-chat/palaver/internal/samples"
)

// BenchmarkIngestProse stores the sample documents, of English prose.
func BenchmarkIngestProse(b *testing.B) {
	s, text, chunks := prose(b)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		require.NoError(b, s.StoreText(b.Context(), "o", "d", text, chunks, nil))
	}
}

// BenchmarkSearchProse searches the sample documents.
func BenchmarkSearchProse(b *testing.B) {
	s, text, chunks := prose(b)
	require.NoError(b, s.StoreText(b.Context(), "o", "d", text, chunks, nil))
	words := db.Words(strings.Fields("minimum total capital ratio of a bank under the circular")...)
	for b.Loop() {
		hits, err := s.SearchText(b.Context(), "o", words, nil, 50)
		require.NoError(b, err)
		require.NotEmpty(b, hits)
		_, _, err = s.WordCounts(b.Context(), "o", []string{"minimum", "total", "capital", "ratio"})
		require.NoError(b, err)
	}
}

func prose(b *testing.B) (*Store, string, []chat.Chunk) {
	s, err := Open(b.Context(), filepath.Join(b.TempDir(), "palaver.db"))
	require.NoError(b, err)
	b.Cleanup(func() { _ = s.Close() })
	var all strings.Builder
	for range 10 {
		for _, sample := range samples.List() {
			raw, err := samples.FS.ReadFile(sample.Name)
			require.NoError(b, err)
			all.Write(raw)
			all.WriteString("\n\n")
		}
	}
	require.NoError(b, s.CreateDocument(b.Context(), chat.Document{ID: "d", Owner: "o"}, nil))
	return s, all.String(), chunk.ForDocument("d", all.String())
}
