//go:build linux && !race

package extract

import (
	"os"
	"syscall"
	"time"
)

// limitMemory makes allocations of this process fail that would exceed the given bytes,
// which ends a Go program. If the machine has too little memory before, the kernel ends this
// process rather than its parent. RLIMIT_DATA counts memory that can be written; RLIMIT_AS
// would also count the addresses that the Go runtime only reserves. Errors are ignored: a
// lower limit is set already, or the system has none.
func limitMemory(bytes int64) {
	limit := uint64(bytes)
	_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: limit, Max: limit})
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
}

// limitTime ends this process, and the program that it becomes, after so much processor time,
// also if the process that watches it has died.
func limitTime(limit time.Duration) {
	seconds := uint64(limit / time.Second)
	_ = syscall.Setrlimit(syscall.RLIMIT_CPU, &syscall.Rlimit{Cur: seconds, Max: seconds})
}
