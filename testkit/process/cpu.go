package process

import (
	"syscall"
	"testing"
	"time"
)

// CPUTime returns the CPU time of this process. Unlike the time on a clock, it does not grow
// while other programs use the machine.
func CPUTime(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
