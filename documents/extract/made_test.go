package extract

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each file in testdata/made was made for one thing that readers of documents get wrong. The
// right reading is in the file of the same name with ".want".
func TestFilesThatWereMadeForOneThingAreReadRight(t *testing.T) {
	files, err := filepath.Glob("testdata/made/*")
	require.NoError(t, err)
	read := 0
	for _, file := range files {
		if strings.HasSuffix(file, ".want") {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			require.NoError(t, err)
			want, err := os.ReadFile(file + ".want")
			require.NoError(t, err)
			typ, ok := All().Detect(file, "", raw)
			require.True(t, ok)
			text, err := All().Text(t.Context(), typ, raw)
			require.NoError(t, err)
			require.Equal(t, strings.TrimRight(string(want), "\n"), strings.TrimRight(text, "\n"))
		})
		read++
	}
	require.Greater(t, read, 40)
}
