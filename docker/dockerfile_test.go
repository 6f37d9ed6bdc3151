package docker

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
	"github.com/stretchr/testify/require"
)

func stages(t *testing.T) []instructions.Stage {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(root, "Dockerfile"))
	require.NoError(t, err)
	parsed, err := parser.Parse(bytes.NewReader(file))
	require.NoError(t, err)
	require.Empty(t, parsed.Warnings)
	lint := linter.New(&linter.Config{Warn: func(rule, description, url, message string, _ []parser.Range) {
		t.Errorf("%s: %s (%s)", rule, message, url)
	}})
	all, args, err := instructions.Parse(parsed.AST, lint)
	require.NoError(t, err)
	require.Empty(t, args)
	return all
}

func TestDockerfileHasNoWarningsAndPinnedImages(t *testing.T) {
	all := stages(t)
	require.Len(t, all, 4)
	for _, s := range all {
		if s.BaseName != "scratch" {
			require.Regexp(t, pinned, s.BaseName)
		}
	}
}

func TestImageIsAStaticProgramOfAnUnprivilegedUser(t *testing.T) {
	all := stages(t)
	build, ocr, image := all[1], all[2], all[3]
	var static bool
	for _, c := range build.Commands {
		if env, ok := c.(*instructions.EnvCommand); ok {
			for _, e := range env.Env {
				static = static || e.Key == "CGO_ENABLED" && e.Value == "0"
			}
		}
	}
	require.True(t, static)
	require.Equal(t, "scratch", image.BaseName)
	for _, c := range image.Commands {
		if _, ok := c.(*instructions.RunCommand); ok {
			t.Error("the image is empty: RUN cannot work")
		}
	}
	require.Equal(t, "ocr", ocr.Name, "docker-compose.yml builds it for workers")
	for _, s := range []instructions.Stage{ocr, image} {
		user := ""
		for _, c := range s.Commands {
			switch c := c.(type) {
			case *instructions.UserCommand:
				user = c.User
			case *instructions.CopyCommand:
				require.Equal(t, build.Name, c.From, "nothing is copied from the build context")
			}
		}
		require.Equal(t, "65532:65532", user)
	}
}

func TestBuildImageHasTheGoVersionOfGoMod(t *testing.T) {
	_, have, _ := strings.Cut(stages(t)[1].BaseName, ":")
	for _, module := range []string{"go.mod", "standalone/go.mod"} {
		file, err := os.ReadFile(filepath.Join(root, module))
		require.NoError(t, err)
		for lines := bufio.NewScanner(bytes.NewReader(file)); lines.Scan(); {
			if want, is := strings.CutPrefix(lines.Text(), "go "); is {
				require.LessOrEqual(t, want, have, module)
			}
		}
	}
}

// ignored returns the patterns of .dockerignore.
func ignored(t *testing.T) *patternmatcher.PatternMatcher {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(root, ".dockerignore"))
	require.NoError(t, err)
	patterns, err := ignorefile.ReadAll(bytes.NewReader(file))
	require.NoError(t, err)
	m, err := patternmatcher.New(patterns)
	require.NoError(t, err)
	return m
}

func TestBuildContextHasEveryNeededFileAndNoPrivateOne(t *testing.T) {
	m := ignored(t)
	list := exec.Command("go", "list", "-deps", "-f", `{{if and .Module .Module.Main}}{{$dir := .Dir}}{{range .GoFiles}}{{$dir}}/{{.}}
{{end}}{{range .EmbedFiles}}{{$dir}}/{{.}}
{{end}}{{end}}`, "./cmd/palaver")
	list.Dir = root
	out, err := list.Output()
	require.NoError(t, err)
	base, err := filepath.Abs(root)
	require.NoError(t, err)
	needed := []string{"go.mod", "go.sum", "web/package.json", "web/package-lock.json", "web/index.html", "web/vite.config.ts", "clients/typescript/src/sse.ts"}
	for _, file := range strings.Fields(string(out)) {
		relative, err := filepath.Rel(base, file)
		require.NoError(t, err)
		if !strings.HasPrefix(relative, "web/dist/") { // built in the page's stage
			needed = append(needed, relative)
		}
	}
	require.Greater(t, len(needed), 100)
	for _, file := range needed {
		require.FileExists(t, filepath.Join(root, file))
		out, err := m.MatchesOrParentMatches(file)
		require.NoError(t, err)
		require.False(t, out, "%s is needed", file)
	}
	for _, file := range []string{".env", "secrets/cookie_secret", ".palaver/palaver.db", ".git/config", "bin/palaver", "web/node_modules/vite/package.json", "web/dist/index.html"} {
		out, err := m.MatchesOrParentMatches(file)
		require.NoError(t, err)
		require.True(t, out, "%s must be ignored", file)
	}
}
