// Package overlay builds programs from edited sources, for tests in which another
// release runs. With -overlay the go command reads other files in place of those in
// the tree.
package overlay

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Edit replaces Old, which must occur exactly once in File, with New.
type Edit struct{ File, Old, New string }

// Write applies edits to copies of files below a folder and adds new files. It returns the
// path of a file for -overlay.
func Write(t testing.TB, folder string, edits []Edit, added map[string]string) string {
	t.Helper()
	folder, err := filepath.Abs(folder)
	require.NoError(t, err)
	sources := map[string]string{}
	for _, e := range edits {
		if sources[e.File] == "" {
			b, err := os.ReadFile(filepath.Join(folder, e.File))
			require.NoError(t, err)
			sources[e.File] = string(b)
		}
		require.Equal(t, 1, strings.Count(sources[e.File], e.Old), "%s: the edit does not fit the code any more: %s", e.File, e.Old)
		sources[e.File] = strings.Replace(sources[e.File], e.Old, e.New, 1)
	}
	for file, source := range added {
		sources[file] = source
	}
	dir := t.TempDir()
	replace := map[string]string{}
	for file, source := range sources {
		path := filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		require.NoError(t, os.WriteFile(path, []byte(source), 0o644))
		replace[filepath.Join(folder, file)] = path
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	path := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(path, b, 0o644))
	return path
}

// Go runs a go command in a folder.
func Go(t testing.TB, folder string, args ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", args...)
	command.Dir = folder
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s", out)
}
