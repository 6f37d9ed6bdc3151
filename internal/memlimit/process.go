package memlimit

import (
	"io/fs"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// files have the limit of the container's memory: of cgroups 2, then of cgroups 1.
var files = []string{"sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes"}

// FollowContainer has the garbage collector keep the process below nine tenths of its
// container's memory, unless GOMEMLIMIT is set: at the whole of it the kernel would kill
// the process while it could still collect. Without a container it does nothing.
func FollowContainer() {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	if limit := ofContainer(os.DirFS("/")); limit > 0 {
		debug.SetMemoryLimit(limit / 10 * 9)
	}
}

// ofContainer is the limit in bytes; 0: there is none.
func ofContainer(root fs.FS) int64 {
	for _, path := range files {
		text, err := fs.ReadFile(root, path)
		if err != nil {
			continue
		}
		limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err != nil || limit <= 0 || limit > math.MaxInt64/2 { // "max", or what cgroups 1 writes for it
			return 0
		}
		return limit
	}
	return 0
}
