package stack_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/testkit/stack"
)

func TestUsageIncludesEndedDescendants(t *testing.T) {
	before, err := stack.UsageOf(os.Getpid())
	require.NoError(t, err)
	// The child's own child uses some CPU and ends.
	require.NoError(t, exec.Command("sh", "-c", `sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'; true`).Run())
	after, err := stack.UsageOf(os.Getpid())
	require.NoError(t, err)
	require.Greater(t, after.CPU, before.CPU)
	require.Positive(t, after.Memory)
}

func TestUsageOfAnEndedProcessIsAnError(t *testing.T) {
	child := exec.Command("true")
	require.NoError(t, child.Run())
	_, err := stack.UsageOf(child.Process.Pid)
	require.Error(t, err)
}
