package extract

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
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

// packed makes an archive of parts with the best compression.
func packed(t *testing.T, parts map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for name, content := range parts {
		w, err := z.Create(name)
		require.NoError(t, err)
		_, err = io.WriteString(w, content)
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return out.Bytes()
}

// sharedString returns a workbook with a row whose cells all show the same string.
func sharedString(t *testing.T, cells int, item string) []byte {
	t.Helper()
	parts := unzipped(t, workbook(t))
	parts["xl/worksheets/sheet1.xml"] = worksheet(`<row r="1">` + strings.Repeat(`<c t="s"><v>0</v></c>`, cells) + `</row>`)
	parts["xl/sharedStrings.xml"] = `<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><si>` + item + `</si></sst>`
	return packed(t, parts)
}

func TestSharedStringIsReadInEveryCellThatShowsIt(t *testing.T) {
	text, err := All().Text(t.Context(), "xlsx", sharedString(t, 3, "<r><t>two </t></r><r><t>words</t></r>"))
	require.NoError(t, err)
	require.Contains(t, text, fmt.Sprintf("## Capital\n\n%s\n", "two words | two words | two words"))
}

func TestReaderWithoutMemoryMeansThatTheFileIsTooLarge(t *testing.T) {
	for said, want := range map[string]error{
		"fatal error: runtime: out of memory\n\nruntime stack:":                errTooLarge,
		"fatal error: runtime: cannot allocate memory\n":                       errTooLarge,
		"panic: cannot allocate memory\n":                                      errTooLarge,
		"runtime/cgo: pthread_create failed: Resource temporarily unavailable": errTooLarge,
		"panic: index out of range\n\tout of memory":                           errDamagedFile,
		"": errDamagedFile,
	} {
		require.Equal(t, want, officeReader.error(t.Context(), 2, said), said)
	}
}
