package mcp

import (
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func childServer(t *testing.T, mode string) Server {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	return Server{Name: "child", Transport: Stdio, Command: []string{self}, Env: map[string]string{childVariable: mode}}
}

func TestChildThatDiesIsRestartedAndItsCallFails(t *testing.T) {
	t.Parallel()
	r := setup(t, nil, childServer(t, "dies"))
	r.up("child")
	for range 2 {
		_, err := r.tool("child__work").Run(t.Context(), call("somebody", `{}`))
		require.ErrorContains(t, err, "mcp server child: tool work")
		r.up("child")
	}
}

func TestMissingProgramIsNamed(t *testing.T) {
	t.Parallel()
	r := setup(t, nil, Server{Name: "child", Transport: Stdio, Command: []string{"no-such-program-anywhere"}})
	require.ErrorContains(t, r.down("child"), "no-such-program-anywhere")
}

func TestCloseEndsEveryChildEvenOneThatIgnoresShutdown(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"good", "ignores-shutdown"} {
		r := setup(t, nil, childServer(t, mode))
		r.up("child")
		pid, err := strconv.Atoi(r.run("child__work", `{}`).Content)
		require.NoError(t, err)
		require.NoError(t, syscall.Kill(pid, 0))
		r.Close()
		require.Eventually(t, func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH }, testTimeout, time.Millisecond, mode)
	}
}
