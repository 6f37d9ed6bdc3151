//go:build !race

package extract

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each of these files would fill this process with gigabytes. The limit of the reader's
// process ends that process instead.
func TestSmallFileThatExpandsWithoutEndIsRefused(t *testing.T) {
	const size = 8 << 20
	text := strings.Repeat("word ", size/5)
	for name, tc := range map[string]struct {
		kind string
		raw  []byte
	}{
		"a shared string in every cell": {"xlsx", sharedString(t, 16_384, "<t>"+text+"</t>")},
		"rich text in every cell":       {"xlsx", sharedString(t, 16_384, strings.Repeat("<r><t>"+text[:size/8]+"</t></r>", 8))},
		"cells without end":             {"docx", packed(t, wordParts("<w:tbl><w:tr>"+strings.Repeat("<w:tc/>", 33<<20)+"</w:tr></w:tbl>"))},
	} {
		t.Run(name, func(t *testing.T) {
			require.Less(t, len(tc.raw), 1<<20)
			_, err := All().Text(t.Context(), tc.kind, tc.raw)
			require.Equal(t, errTooLarge, err)
		})
	}
}

func TestReaderLeavesNoTemporaryFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(name, dir)
	}
	last := strings.Repeat(`<row><c/></row>`, maxPart/15+1) // excelize writes a part of this size to a file
	for name, c := range map[string]struct {
		cells int
		want  error
	}{"read": {1, nil}, "ended by its memory": {16_384, errTooLarge}} {
		t.Run(name, func(t *testing.T) {
			parts := unzipped(t, sharedString(t, c.cells, "<t>"+strings.Repeat("word ", 1<<20)+"</t>"))
			sheet := "xl/worksheets/sheet1.xml"
			parts[sheet] = strings.Replace(parts[sheet], "</sheetData>", last+"</sheetData>", 1)
			_, err := All().Text(t.Context(), "xlsx", packed(t, parts))
			if c.want == nil {
				require.NoError(t, err)
			} else {
				require.Equal(t, c.want, err)
			}
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}
