package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	ruleRow   = regexp.MustCompile(`(?m)^\| ([A-Z][0-9]+) \|`)
	ruleNamed = regexp.MustCompile(`(?m)^\s*// Rules? ((?:[A-Z][0-9]+(?:, )?)+)\.$`)
	testFile  = regexp.MustCompile(`_test\.go$|\.test\.(mjs|ts|tsx)$`)
)

// Each rule of contract.md has an id of its own, and each id that a test names exists.
func TestRulesOfTheContract(t *testing.T) {
	contract, err := os.ReadFile("contract.md")
	require.NoError(t, err)
	rules := map[string]bool{}
	for _, row := range ruleRow.FindAllStringSubmatch(string(contract), -1) {
		require.False(t, rules[row[1]], "contract.md has two rules %s", row[1])
		rules[row[1]] = true
	}
	require.NotEmpty(t, rules)

	tested := map[string]bool{}
	require.NoError(t, filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := entry.Name(); entry.IsDir() && path != ".." && (name == "node_modules" || strings.HasPrefix(name, ".")) {
			return fs.SkipDir
		}
		if entry.IsDir() || !testFile.MatchString(path) {
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, comment := range ruleNamed.FindAllStringSubmatch(string(source), -1) {
			for id := range strings.SplitSeq(comment[1], ", ") {
				require.True(t, rules[id], "%s names the rule %s, which contract.md does not have", path, id)
				tested[id] = true
			}
		}
		return nil
	}))
	t.Logf("%d of %d rules are named by a test", len(tested), len(rules))
}
