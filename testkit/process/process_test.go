package process

import (
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// start starts a program that runs onTerm for SIGTERM.
func start(t *testing.T, onTerm string) *Process {
	t.Helper()
	command := exec.Command("sh", "-c", `trap "`+onTerm+`" TERM; echo ready; while :; do sleep 0.01; done`)
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	p, err := Start(command)
	require.NoError(t, err)
	t.Cleanup(p.Kill)
	_, err = out.Read(make([]byte, 6))
	require.NoError(t, err)
	return p
}

func TestStopReturnsTheExitCode(t *testing.T) {
	p := start(t, "exit 7")
	require.Equal(t, 7, p.Stop(syscall.SIGTERM, time.Minute))
	require.Equal(t, 7, p.Stop(syscall.SIGTERM, time.Minute), "a second stop returns the same exit code")
}

func TestAProcessThatIgnoresItsStopIsKilled(t *testing.T) {
	p := start(t, "")
	require.Equal(t, -1, p.Stop(syscall.SIGTERM, time.Millisecond))
}

func TestAFrozenProcessGoesOnAfterAThaw(t *testing.T) {
	p := start(t, "exit 7")
	require.NoError(t, p.Freeze())
	require.NoError(t, p.command.Process.Signal(syscall.SIGTERM))
	select {
	case <-p.Exited():
		require.Fail(t, "it handled a signal while it was frozen")
	default:
	}
	require.NoError(t, p.Thaw())
	<-p.Exited()
	require.Equal(t, 7, p.command.ProcessState.ExitCode())
}

func TestAProgramThatIsMissingDoesNotStart(t *testing.T) {
	_, err := Start(exec.Command("/nowhere/program"))
	require.Error(t, err)
}
