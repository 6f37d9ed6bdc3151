package sentence

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRowOfATableIsASentenceWithItsHeader(t *testing.T) {
	spans := Sentences("Stock on 1 May.\n\nArticle no. | Item and its description | Size | Stock in the warehouse\n4 | Lamp | 30 cm | 7\n5 | A chair of oak with a leather seat and long legs | 90 cm | 12\n\nPrices follow.")
	var rows []string
	for _, s := range spans {
		if s.Row {
			rows = append(rows, s.Text)
		}
	}
	require.Equal(t, []string{"Article no. | Item and its description | Size | Stock in the warehouse", "4 | Lamp | 30 cm | 7", "5 | A chair of oak with a leather seat and long legs | 90 cm | 12"}, rows)
	require.Empty(t, spans[1].Header)
	require.Equal(t, rows[0], spans[2].Header)
	require.Equal(t, rows[0], spans[3].Header)
	require.Equal(t, Span{Start: spans[4].Start, End: spans[4].End, Text: "Prices follow."}, spans[4])
}
