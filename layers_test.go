package palaver_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/palaver-chat/palaver/"

// floors are the folders of the product from the lowest up. A folder imports folders of its own
// floor and of those below. The longest name that fits counts.
var floors = [][]string{
	{"chat", "internal"},
	{"llm", "db", "documents", "imports", "tools", "boards", "imports/links"}, // what the engine works with
	{"agents/prompt", "agents/documents/prompt", "agents/documents/intent", "agents/documents/mention"},
	{"activities"},
	{"workflows"},
	{"agents", "documents/ingest", "imports/flow"},
	{"api"},
	{"app/prune", "worker"},
	{"app", "web"},
	{".", "cmd"},
}

// only are folders that import fewer others of ours than their floor may.
var only = map[string][]string{
	"chat":        {"chat"},
	"internal":    {"chat", "internal"},
	"llm":         {"chat", "internal", "llm"},
	"db":          {"chat", "internal", "db"},
	"workflows":   {"chat", "internal", "tools", "activities", "workflows"},
	"api/dialect": {"chat", "boards/board", "api"},
}

// never are folders that another one does not import.
var never = map[string][]string{"api": {"workflows"}}

func isIn(folder string, folders []string) bool {
	return slices.ContainsFunc(folders, func(name string) bool { return folder == name || strings.HasPrefix(folder, name+"/") })
}

func floorOf(folder string) (floor int) {
	longest := -1
	for n, folders := range floors {
		for _, name := range folders {
			if (folder == name || strings.HasPrefix(folder, name+"/") || name == ".") && len(name) > longest && (name != "." || folder == ".") {
				floor, longest = n, len(name)
			}
		}
	}
	return floor
}

// TestNoImportGoesUp reads the imports of the product, for the table of CONTRIBUTING.md. Tests and
// test support may import anything.
func TestNoImportGoesUp(t *testing.T) {
	read := 0
	require.NoError(t, filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			switch file {
			case "testkit", "bench", "standalone", "examples", "docker", "deploy", "e2e", "scripts", "bin":
				return fs.SkipDir
			}
			if entry.Name() == "node_modules" || entry.Name() == "testservers" || file != "." && strings.HasPrefix(entry.Name(), ".") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		require.NoError(t, err)
		read++
		for _, i := range parsed.Imports {
			imported, ours := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), module)
			if !ours || strings.HasPrefix(imported, "testkit/") {
				continue
			}
			folder := path.Dir(filepath.ToSlash(file))
			require.LessOrEqual(t, floorOf(imported), floorOf(folder), "%s imports %s, which is above it", file, imported)
			for name, others := range only {
				require.False(t, isIn(folder, []string{name}) && !isIn(imported, others), "%s imports %s", file, imported)
			}
			for name, others := range never {
				require.False(t, isIn(folder, []string{name}) && isIn(imported, others), "%s imports %s", file, imported)
			}
		}
		return nil
	}))
	require.Greater(t, read, 500)
}
