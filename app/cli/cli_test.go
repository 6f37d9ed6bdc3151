package cli

import (
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/app/service"
)

// output runs a command and returns what it prints.
func output(t *testing.T, args ...string) string {
	t.Helper()
	read, write, err := os.Pipe()
	require.NoError(t, err)
	stdout := os.Stdout
	os.Stdout = write
	err = Run(t.Context(), args, service.Additions{})
	os.Stdout = stdout
	require.NoError(t, err)
	require.NoError(t, write.Close())
	out, err := io.ReadAll(read)
	require.NoError(t, err)
	return string(out)
}

// Rule R8.
func TestVersionPrintsVersionCommitAndDate(t *testing.T) {
	t.Chdir(t.TempDir())
	require.Regexp(t, `^palaver \S+ \(commit \S+, \S+\)\n$`, output(t, "version"))
}

func TestCommandsUseTheDatabaseOfTheSettings(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NotEmpty(t, output(t, "token", "create", "--user=ann", "--name=laptop"))
	require.Contains(t, output(t, "token", "list", "--user=ann"), "laptop")
	require.Contains(t, output(t, "audit", "--owner=ann"), "key_created")
	require.Error(t, Run(t.Context(), []string{"token", "revoke", "--user=ann", "another"}, service.Additions{}))
}
