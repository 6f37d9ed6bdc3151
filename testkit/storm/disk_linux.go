package storm

import "golang.org/x/sys/unix"

// limitFiles makes every write of a process to a file fail, or permits them again. Sockets and
// pipes stay as they are.
func limitFiles(pid int, forbid bool) error {
	limit := unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
	if forbid {
		limit.Cur = 0
	}
	return unix.Prlimit(pid, unix.RLIMIT_FSIZE, &limit, nil)
}
