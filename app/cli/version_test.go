package cli

import (
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/app/service"
	"github.com/palaver-chat/palaver/testkit/must"
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
	line := must.Have(io.ReadAll(read))(t)
	require.Regexp(t, `^palaver \S+ \(commit \S+, \S+\)\n$`, string(line))
}
