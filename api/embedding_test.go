package api

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Rule D9.
func TestDocumentsAndSearchSayHowManyHaveVectorsUntilAllHave(t *testing.T) {
	t.Parallel()
	b := setup(t, withEmbeddings)
	b.addDocument("ann", "Travel policy", "Flights need approval.")
	for _, path := range []string{"/api/documents", "/api/search?q=flights"} {
		got := b.client().call(200, "GET", path, nil, "Authorization", bearerOf(t, "ann"))
		require.Equal(t, map[string]any{"done": 0.0, "total": 1.0}, got["embedding"], path)
		require.NotContains(t, b.client().call(200, "GET", path, nil, "Authorization", bearerOf(t, "bob")), "embedding", path)
	}
	b = setup(t)
	b.addDocument("ann", "Travel policy", "Flights need approval.")
	require.NotContains(t, b.client().call(200, "GET", "/api/documents", nil, "Authorization", bearerOf(t, "ann")), "embedding", "without an embedding model")
}
