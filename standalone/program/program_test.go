package program_test

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/must"
)

// Rule R8.
func TestVersionIsPrinted(t *testing.T) {
	for _, argument := range []string{"version", "--version"} {
		code, stdout, stderr := stacktest.Run(t, argument)
		require.Zero(t, code)
		require.Regexp(t, `^palaver \S+ \(commit \S+, \S+\)\n$`, stdout)
		require.Empty(t, stderr)
	}
}

func TestFailedStartPrintsOneLineAndAnExitCode(t *testing.T) {
	taken := must.Have(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer func() { _ = taken.Close() }()
	port := strconv.Itoa(taken.Addr().(*net.TCPAddr).Port)
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	running := stacktest.Start(t)

	for _, c := range []struct {
		name  string
		flags []string
		says  string
	}{
		{"the page's port is in use", []string{"--port=" + port}, "PORT: port " + port + " is in use"},
		{"Temporal's port is in use", []string{"--temporal-port=" + port}, "TEMPORAL_PORT: port " + port + " is in use"},
		{"the Web UI's port is in use", []string{"--temporal-ui-port=" + port}, "TEMPORAL_UI_PORT: port " + port + " is in use"},
		{"the port for NATS is in use", []string{"--nats-port=" + port, "--nats-token=0123456789abcdef"}, "NATS_PORT: port " + port + " is in use"},
		{"the data folder cannot be created", []string{"--data-dir=" + filepath.Join(file, "data")}, "PALAVER_DATA_DIR: cannot write to "},
		{"the data folder is in use", []string{"--data-dir=" + running.Dir}, "PALAVER_DATA_DIR: " + running.Dir + " is in use by another palaver"},
		{"a bad value", []string{"--log-level=loud"}, `LOG_LEVEL: "loud" is not allowed`},
		{"a port that is not a number", []string{"--port=eight"}, "--port"},
		{"an unknown flag", []string{"--colour"}, "--colour"},
		{"a NATS port without a token", []string{"--nats-port=" + port}, "NATS_TOKEN: needed with NATS_PORT"},
		{"a NATS token that is too short", []string{"--nats-port=" + port, "--nats-token=geheim"}, "NATS_TOKEN: too short"},
		{"infrastructure without a NATS port", []string{"--only-infra"}, "NATS_PORT: needed with --only-infra"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, stdout, stderr := stacktest.Run(t, append([]string{
				"--data-dir=" + t.TempDir(), "--port=0", "--temporal-port=0", "--temporal-ui-port=0", "--chat-model-provider=offline"}, c.flags...)...)
			assert.Equal(t, 2, code)
			assert.Empty(t, stdout)
			assert.Contains(t, stderr, c.says)
			assert.Equal(t, 1, strings.Count(stderr, "\n"), "one line: %s", stderr)
		})
	}
}
