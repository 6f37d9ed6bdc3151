package sqlite

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/testkit/must"
)

func TestCachedTermsOfWordsAreTheSame(t *testing.T) {
	t.Parallel()
	tok := must.Have(openTokenizer(t.Context()))(t)
	t.Cleanup(func() { _ = tok.pool.Close() })
	long := strings.Repeat("x", maxKnownWord+1)
	words := []string{"Days", "HR-POL-11", "", "days", "Days", "§", long}
	want := []wordTerm{{0, "dai"}, {1, "hr"}, {1, "pol"}, {1, "11"}, {3, "dai"}, {4, "dai"}, {6, long}}
	for range 2 {
		got := must.Have(tok.terms(t.Context(), words))(t)
		require.Equal(t, want, got)
	}
	_, kept := tok.known[long]
	require.False(t, kept)
}

func TestKnownWordsAreBounded(t *testing.T) {
	t.Parallel()
	tok := &tokenizer{}
	for i := range maxKnownWords + 1 {
		tok.keep([]string{strconv.Itoa(i)}, [][]string{{"term"}})
	}
	require.LessOrEqual(t, len(tok.known), maxKnownWords)
}
