package cli

import (
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/app/service"
)

// Rule R8.
func TestVersionPrintsVersionCommitAndDate(t *testing.T) {
	t.Chdir(t.TempDir())
	read, write, err := os.Pipe()
	require.NoError(t, err)
	stdout := os.Stdout
	os.Stdout = write
	err = Run(t.Context(), []string{"version"}, service.Additions{})
	os.Stdout = stdout
	require.NoError(t, err)
	require.NoError(t, write.Close())
	line, err := io.ReadAll(read)
	require.NoError(t, err)
	require.Regexp(t, `^palaver \S+ \(commit \S+, \S+\)\n$`, string(line))
}
