package sqlite

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

// A document that other rules have indexed is found again by the rules of this release.
func TestDocumentsOfAnEarlierReleaseAreIndexedAgain(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := must.Have(Open(ctx, filepath.Join(t.TempDir(), "palaver.db")))(t)
	t.Cleanup(func() { _ = s.Close() })
	var chunks []chat.Chunk
	text := ""
	for i := range 2*storeBatch + 1 {
		c := fmt.Sprintf("Die Kündigungsfristen für Wohnung %d sind in Straße %d. ", i, i)
		chunks = append(chunks, chat.Chunk{Ordinal: i, Text: c, Start: len([]rune(text)), End: len([]rune(text + c))})
		text += c
	}
	require.NoError(t, s.CreateDocument(ctx, chat.Document{ID: "d", Owner: "o", Title: "Mietverträge"}, nil))
	require.NoError(t, s.StoreText(ctx, "o", "d", text, chunks, nil))
	search := func(word string) []chat.Hit {
		return must.Have(s.SearchText(ctx, "o", db.Words(word), nil, 500))(t)
	}
	want, named := search("Kuendigungsfrist"), search("Mietvertrag")
	require.Len(t, want, len(chunks))
	require.NotEmpty(t, named)
	for _, statement := range []string{
		"UPDATE documents SET terms_version = 0, language = '', words = 1, title_words = 'old', other_words = ''",
		"DELETE FROM chunk_index", "INSERT INTO chunk_index (rowid, text, heading) SELECT id, 'old terms', '' FROM chunks",
	} {
		must.Have(s.writer.ExecContext(ctx, statement))(t)
	}
	require.Empty(t, search("Kuendigungsfrist"))
	outdated := must.Have(s.DocumentsToIndex(ctx, "", 9))(t)
	require.Equal(t, []chat.Document{{ID: "d", Owner: "o"}}, outdated)
	done, total, err := s.IndexProgress(ctx)
	require.NoError(t, err)
	require.Equal(t, []int{0, 1}, []int{done, total})

	require.NoError(t, s.IndexDocument(ctx, "o", "d"))
	require.Equal(t, want, search("Kuendigungsfrist"))
	require.Equal(t, named, search("Mietvertrag"))
	require.Empty(t, search("old"))
	require.Empty(t, must.Have(s.DocumentsToIndex(ctx, "", 9))(t))
	require.ErrorIs(t, s.IndexDocument(ctx, "o", "none"), db.ErrNotFound)
	require.ErrorIs(t, s.IndexDocument(ctx, "stranger", "d"), db.ErrNotFound)
}
