package memlimit

import (
	"io/fs"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
)

// files hold the memory limit of the container: for cgroups 2, then for cgroups 1.
var files = []string{"sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes"}

// FollowContainer sets the soft memory limit of the Go runtime to nine tenths of the
// container's memory, unless GOMEMLIMIT is set. At the full limit the kernel would kill the
// process although a garbage collection could still free memory. Without a container it
// does nothing.
func FollowContainer() {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	if limit := ofContainer(os.DirFS("/")); limit > 0 {
		debug.SetMemoryLimit(limit / 10 * 9)
	}
}

// floor is memory that is reserved and never touched. The garbage collector counts it, so that it
// runs once in 64 MB of garbage at most: with a heap of 20 MB, that is a quarter as often.
var floor atomic.Pointer[[]byte]

// CollectLess lets the garbage collector run less often while the heap is small. The process takes
// at most 64 MB more. GOGC overrides it.
func CollectLess() {
	if os.Getenv("GOGC") == "" {
		reserved := make([]byte, 64<<20)
		floor.Store(&reserved)
	}
}

// ofContainer returns the container's limit in bytes, or 0 if there is none.
func ofContainer(root fs.FS) int64 {
	for _, path := range files {
		text, err := fs.ReadFile(root, path)
		if err != nil {
			continue
		}
		limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err != nil || limit <= 0 || limit > math.MaxInt64/2 { // no limit: "max" in cgroups 2, a huge number in cgroups 1
			return 0
		}
		return limit
	}
	return 0
}
