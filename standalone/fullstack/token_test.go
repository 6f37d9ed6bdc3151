package fullstack

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/must"
)

// command runs a palaver command in a stack's data folder, and returns its output.
func command(t *testing.T, s *stacktest.Stack, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	path, _, roles := stacktest.Programs(t)
	cfg := s.Parts.Config
	if cfg.DatabaseURL != "" {
		args = append(args, "--database-url="+cfg.DatabaseURL)
	}
	run := exec.Command(path, append(args, "--data-dir="+cfg.DataDir)...)
	run.Env = append(os.Environ(), roles)
	var out, errors strings.Builder
	run.Stdout, run.Stderr = &out, &errors
	err = run.Run()
	return out.String(), errors.String(), err
}

// Operators create, list and revoke keys while the server runs.
func TestKeysAreMadeListedAndRevokedByCommand(t *testing.T) {
	t.Parallel()
	keysAreManagedByCommand(t)
}

func keysAreManagedByCommand(t *testing.T, options ...stacktest.Option) {
	s := stacktest.Start(t, options...)
	c := newTalk(t, func() string { return s.URL }, s.NewUser())
	user := c.me()

	stdout, _, err := command(t, s, "token", "create", "--user="+user, "--name=Open WebUI", "--days=30", "--anonymous")
	require.NoError(t, err)
	key := strings.TrimSpace(stdout)
	require.Regexp(t, `^plv_[A-Z2-7]{52}$`, key, "stdout has only the key, for scripts")

	ask := func() int {
		req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, s.URL+"/v1/chat/completions",
			strings.NewReader(`{"model":"palaver-documents","messages":[{"role":"user","content":"Hello"}]}`))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+key)
		res := must.Have(http.DefaultClient.Do(req))(t)
		require.NoError(t, res.Body.Close())
		return res.StatusCode
	}
	require.Equal(t, http.StatusOK, ask())
	require.Equal(t, 1, c.conversations(), "conversations that are started with the key belong to its owner")

	listed, _, err := command(t, s, "token", "list", "--user="+user)
	require.NoError(t, err)
	row := regexp.MustCompile(`(?m)^(\S{36})\s+Open WebUI\s+\d{4}-\d\d-\d\d\s+(?:never|\d{4}-\d\d-\d\d)\s+\d{4}-\d\d-\d\d$`).FindStringSubmatch(listed)
	require.NotNil(t, row, listed)
	require.NotContains(t, listed, strings.TrimPrefix(key, "plv_"))

	_, stderr, err := command(t, s, "token", "revoke", "--user=another", row[1])
	require.ErrorContains(t, err, "exit status 1")
	require.Contains(t, stderr, "user another has no key "+row[1])
	_, stderr, err = command(t, s, "token", "revoke", "--user="+user, row[1])
	require.NoError(t, err, stderr)
	require.Equal(t, http.StatusUnauthorized, ask(), "the running process refuses it at once")
	listed, _, err = command(t, s, "token", "list", "--user="+user)
	require.NoError(t, err)
	require.NotContains(t, listed, row[1])
	log, _, err := command(t, s, "audit", "--owner="+user)
	require.NoError(t, err)
	require.Contains(t, log, "key_created")
	require.Contains(t, log, "key_revoked")

	for name, args := range map[string][]string{
		"the name must have 1 to 100":  {"--user=" + user, "--name= "},
		"the days must be from 0":      {"--user=" + user, "--name=x", "--days=3651"},
		"missing flags: --user=STRING": {"--name=x"},
		`"*" cannot be a user id`:      {"--user=*", "--name=x"},
	} {
		stdout, stderr, err := command(t, s, append([]string{"token", "create"}, args...)...)
		require.Error(t, err)
		require.Contains(t, stderr, name)
		require.Empty(t, stdout)
	}
}
