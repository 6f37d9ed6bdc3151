package stack_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/testkit/stack"
)

func TestWriteIntoReplacesOnlyTheTextBetweenTheMarkers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.md")
	require.NoError(t, os.WriteFile(file, []byte("before\n<!-- it begins -->\nold\n<!-- it ends -->\nafter\n"), 0o600))
	for range 2 {
		require.NoError(t, stack.WriteInto(file, "it", "new\n"))
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "before\n<!-- it begins -->\n\nnew\n\n<!-- it ends -->\nafter\n", string(text))
	require.ErrorContains(t, stack.WriteInto(file, "another", "new"), "another begins")
}
