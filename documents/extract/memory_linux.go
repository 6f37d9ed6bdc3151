//go:build linux && !race

package extract

import (
	"os"
	"syscall"
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
