package retrieval

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
)

func TestPairsOfQueryWordsRaiseAPassagesScore(t *testing.T) {
	for _, c := range []struct {
		query, text string
		want        float64
	}{
		{"notice period", "The notice period is a month.", 3 + 1},
		{"notice periods", "A notice or period.", 3 + 1},             // one word between
		{"notice period", "The period of notice is a month.", 1 + 1}, // reverse order, and one word between
		{"notice period", "The period notice.", 3 + 1},               // reverse order
		{"notice period", "Notice is given. It has, as we said, a period.", 1 + 1},
		{"notice period", "A notice " + strings.Repeat("and so on ", 9) + "a period.", 1},
		{"notice period", "A notice.", 1},
		{"notice period", "", 1},
		{"notice period landlord", "The notice period of the tenant.", 1.5 + 1},
		{"fee fee", "A fee.", 1},
		{"fee fee", "A fee, a fee.", 3 + 1},
	} {
		hits := byPhrases(language.ContentWords(c.query), []chat.Hit{{Chunk: chat.Chunk{Text: c.text}, Score: 1}})
		require.InDelta(t, c.want, hits[0].Score, 1e-9, "%s: %s", c.query, c.text)
	}
}

func TestPassageWithAdjacentWordsRanksAboveOneWithScatteredWords(t *testing.T) {
	hits := byPhrases([]string{"notice", "period"}, []chat.Hit{
		{Chunk: chat.Chunk{ID: "apart", Text: "A notice " + strings.Repeat("and so on ", 9) + "a period."}, Score: 1.1},
		{Chunk: chat.Chunk{ID: "heading", Heading: "Notice period", Text: "A month."}, Score: 1},
	})
	require.Equal(t, "heading", hits[0].ID)
	require.Equal(t, "apart", byPhrases([]string{"notice"}, []chat.Hit{{Chunk: chat.Chunk{ID: "apart"}, Score: 1.1}, {}})[0].ID)
	require.Empty(t, byPhrases([]string{"notice", "period"}, nil))
}

func TestRequestWordsAreNotSearchedFor(t *testing.T) {
	for query, want := range map[string][]string{
		"Could you provide detailed guidance regarding the notice period?": {"notice", "period"},
		"Please elaborate":           {"elaborate"},
		"Where is it?":               {"where", "is", "it"},
		"guidance on specific risks": {"risks"},
	} {
		require.Equal(t, want, searchWords(query), query)
	}
}
