package extract

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// nested returns tables that are nested in each other, each with the given start and end,
// around one paragraph.
func nested(depth int, start, text, end string) string {
	return strings.Repeat(start, depth) + para("", text) + strings.Repeat(end, depth)
}

func TestTextOfNestedTablesIsKeptOnce(t *testing.T) {
	cell := func(content string) string { return "<w:tc>" + content + "</w:tc>" }
	row := func(cells string) string { return "<w:tr>" + cells + "</w:tr>" }
	table := func(rows string) string { return "<w:tbl>" + rows + "</w:tbl>" }
	text := strings.Repeat("word ", 7) + "words"
	for name, tc := range map[string]struct{ body, want string }{
		"a row in a row":    {table("<w:tr>" + row(cell(para("", "a"))+cell(para("", "b"))) + "</w:tr>" + row(cell(para("", "c")))), "a | b\nc"},
		"rows in a row":     {table("<w:tr>" + row(cell(para("", "a"))) + row(cell(para("", "b"))) + "</w:tr>"), "a | b"},
		"three levels":      {nested(3, "<w:tbl><w:tr><w:tc>", text, "</w:tc></w:tr></w:tbl>"), text},
		"28 levels":         {nested(28, "<w:tbl><w:tr><w:tr><w:tc>", text, "</w:tc></w:tr></w:tr></w:tbl>"), text},
		"5,000 levels":      {nested(5000, "<w:tbl><w:tr><w:tr><w:tc>", text, "</w:tc></w:tr></w:tr></w:tbl>"), text},
		"after inner table": {table(row(cell(table(row(cell(para("", "in"))))+para("", "after")) + cell(para("", "b")))), "in after | b"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := All().Text(t.Context(), "docx", word(tc.body))
			require.NoError(t, err)
			require.Equal(t, tc.want+"\n\nA note.", got)
		})
	}
}

func TestTextThatIsCopiedThroughTooManyTablesIsRefused(t *testing.T) {
	text := strings.Repeat("word ", 2<<20/5)
	_, err := All().Text(t.Context(), "docx", word(nested(1000, "<w:tbl><w:tr><w:tc>", text, "</w:tc></w:tr></w:tbl>")))
	require.Equal(t, errTooLarge, err)
}
