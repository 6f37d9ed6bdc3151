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
	ruleRow   = regexp.MustCompile(`(?m)^(?:\| |- \*\*)([A-Z][0-9]+)(?: \||\*\* )`)
	ruleNamed = regexp.MustCompile(`(?m)^\s*// Rules? ((?:[A-Z][0-9]+(?:, )?)+)\.$`)
	testFile  = regexp.MustCompile(`_test\.go$|\.test\.(mjs|ts|tsx)$`)

	goFile       = regexp.MustCompile(`\.go$`)
	testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(`)
	testName     = regexp.MustCompile(`\b(?:Test|Fuzz|Benchmark)[A-Z]\w+`)
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
	for path, source := range sources(t, testFile) {
		for _, comment := range ruleNamed.FindAllStringSubmatch(source, -1) {
			for id := range strings.SplitSeq(comment[1], ", ") {
				require.True(t, rules[id], "%s names the rule %s, which contract.md does not have", path, id)
				tested[id] = true
			}
		}
	}
	t.Logf("%d of %d rules are named by a test", len(tested), len(rules))
}

func TestTestsThatPagesNameExist(t *testing.T) {
	exists := map[string]bool{}
	for _, source := range sources(t, goFile) {
		for _, function := range testFunction.FindAllStringSubmatch(source, -1) {
			exists[function[1]] = true
		}
	}
	for path, page := range sources(t, regexp.MustCompile(`\.md$`)) {
		for _, name := range testName.FindAllString(page, -1) {
			if strings.HasSuffix(name, "TestLong") { // the beginning of names
				continue
			}
			require.True(t, exists[name], "%s names %s, which does not exist", path, name)
		}
	}
}

// sources returns the texts of the repository's files whose names match, by path.
func sources(t *testing.T, name *regexp.Regexp) map[string]string {
	texts := map[string]string{}
	require.NoError(t, filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path != ".." && (entry.Name() == "node_modules" || strings.HasPrefix(entry.Name(), ".")) {
			return fs.SkipDir
		}
		if entry.IsDir() || !name.MatchString(path) {
			return nil
		}
		text, err := os.ReadFile(path)
		texts[path] = string(text)
		return err
	}))
	return texts
}
