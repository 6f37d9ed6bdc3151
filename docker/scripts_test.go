package docker

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/stretchr/testify/require"
)

func makeSecrets(t *testing.T, folder string) string {
	t.Helper()
	cmd := exec.Command(filepath.Join(root, "scripts/compose-secrets"))
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "SECRETS_DIR=" + folder}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return string(out)
}

func secret(t *testing.T, folder, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, name))
	require.NoError(t, err)
	return strings.TrimSpace(string(text))
}

func TestScriptMakesEverySecretOnce(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "secrets")
	out := makeSecrets(t, folder)
	files, err := os.ReadDir(folder)
	require.NoError(t, err)
	var names []string
	values := map[string]bool{}
	for _, f := range files {
		info, err := f.Info()
		require.NoError(t, err)
		if strings.HasPrefix(f.Name(), "settings") { // of both roles, and of one
			require.Equal(t, os.ModeDir|0o755, info.Mode())
			continue
		}
		require.Equal(t, os.FileMode(0o644), info.Mode(), "programs in containers run as other users")
		names = append(names, f.Name())
		values[secret(t, folder, f.Name())] = true
		require.NotContains(t, out, secret(t, folder, f.Name()))
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(project(t).Secrets)), names)
	require.Len(t, values, len(names), "no two secrets are the same")
	info, err := os.Stat(folder)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm(), "no other user of the machine may read them")
	require.Equal(t, "postgres://palaver:"+secret(t, folder, "palaver_database_password")+"@postgres:5432/palaver?sslmode=disable", secret(t, folder, "palaver_database_url"))
	require.GreaterOrEqual(t, len(secret(t, folder, "nats_token")), 32)

	before := secret(t, folder, "nats_token")
	require.Empty(t, makeSecrets(t, folder))
	require.Equal(t, before, secret(t, folder, "nats_token"), "an existing secret is kept")
}

// Without quotes, NATS would read a token of digits as a number.
func TestNATSTakesTheTokenOfItsFile(t *testing.T) {
	folder := t.TempDir()
	token := filepath.Join(folder, "token")
	require.NoError(t, os.WriteFile(token, []byte("123e45678901234567890\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "nats-server"), []byte("#!/bin/sh\nprintf '%s %s %s' \"$NATS_TOKEN\" \"$@\""), 0o700))
	cmd := exec.Command("/bin/sh", "nats/start.sh")
	cmd.Env = []string{"PATH=" + folder + ":" + os.Getenv("PATH"), "NATS_TOKEN_FILE=" + token}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	quoted, arguments, _ := strings.Cut(string(out), " ")
	require.Equal(t, "--config /setup/nats.conf", arguments)

	t.Setenv("NATS_TOKEN", quoted)
	options, err := server.ProcessConfigFile("nats/nats.conf")
	require.NoError(t, err)
	require.Equal(t, "123e45678901234567890", options.Authorization)
	require.Equal(t, 4222, options.Port)
	require.Equal(t, 8222, options.HTTPPort)
	require.False(t, options.JetStream)
}

func TestScriptPinsImagesByTheDigestsOfTheRegistry(t *testing.T) {
	folder, bin := t.TempDir(), t.TempDir()
	digest := "sha256:" + strings.Repeat("ab", 32)
	asked := filepath.Join(bin, "asked")
	require.NoError(t, os.WriteFile(filepath.Join(bin, "docker"), []byte("#!/bin/sh\nfor last; do :; done\necho \"$last\" >>"+asked+"\necho "+digest+"\n"), 0o700))
	names := []string{"Dockerfile", "docker-compose.yml", "docker-compose.tls.yml"}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), text, 0o600))
	}
	pin := func(args ...string) error {
		cmd := exec.Command(filepath.Join(root, "scripts/pin-images"), args...)
		cmd.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "PALAVER_ROOT=" + folder}
		return cmd.Run()
	}
	require.Error(t, pin("--check"), "the digests differ")
	require.NoError(t, pin())
	require.NoError(t, pin("--check"))
	other := regexp.MustCompile(`@sha256:[0-9a-f]{64}`)
	for _, name := range names {
		before, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		after, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		require.Equal(t, other.ReplaceAllString(string(before), "@"+digest), string(after), "only digests change")
	}
	list, err := os.ReadFile(asked)
	require.NoError(t, err)
	tags := strings.Fields(string(list))
	slices.Sort(tags)
	require.Len(t, slices.Compact(tags), 8, "every image of all files")
}
