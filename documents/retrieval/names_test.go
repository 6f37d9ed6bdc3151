package retrieval

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
)

// Rule D13.
func TestOwnDocumentsComeBeforePublicOnes(t *testing.T) {
	hit := func(id string, public bool, score float64) chat.Hit {
		return chat.Hit{Chunk: chat.Chunk{ID: id}, Public: public, Score: score}
	}
	order := func(hits ...chat.Hit) (ids []string) {
		for _, h := range ownFirst(hits) {
			ids = append(ids, h.ID)
		}
		return ids
	}
	require.Equal(t, []string{"own", "sample"}, order(hit("sample", true, 10), hit("own", false, 9)))
	require.Equal(t, []string{"sample", "own"}, order(hit("sample", true, 10), hit("own", false, 2)), "the sample matches much better")
	require.Equal(t, []string{"a", "b"}, order(hit("a", true, 10), hit("b", true, 9)))
}
