package stack

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of times in /proc/<pid>/stat: USER_HZ is 100 on every
// architecture.
const tick = 10 * time.Millisecond

// Usage is the CPU time and memory of processes.
type Usage struct {
	CPU    time.Duration // since their start, including children that have ended
	Memory int64         // resident bytes now
}

// UsageOf returns the sum for the processes with these ids and all their descendants.
func UsageOf(roots ...int) (Usage, error) {
	all, err := processes()
	if err != nil {
		return Usage{}, err
	}
	children := map[int][]int{}
	for pid, p := range all {
		children[p.parent] = append(children[p.parent], pid)
	}
	var sum Usage
	for len(roots) > 0 {
		pid := roots[0]
		p, ok := all[pid]
		if !ok {
			return Usage{}, fmt.Errorf("process %d has ended", pid)
		}
		sum.CPU += p.cpu
		sum.Memory += p.memory
		roots = append(roots[1:len(roots):len(roots)], children[pid]...)
	}
	return sum, nil
}

// PeakMemory returns the largest resident size of a process so far, in bytes. Linux only.
func PeakMemory(pid int) (int64, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kilobytes, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return kilobytes << 10, err
		}
	}
	return 0, fmt.Errorf("process %d: no VmHWM", pid)
}

type stat struct {
	parent int
	cpu    time.Duration
	memory int64
}

func processes() (map[int]stat, error) {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	all := map[int]stat{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil { // the process has just ended
			continue
		}
		pid, p, err := parseStat(b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all[pid] = p
	}
	return all, nil
}

// parseStat reads a line of /proc/<pid>/stat: the id, the name in parentheses,
// then fields with the numbers of proc(5), beginning with field 3.
func parseStat(line []byte) (pid int, p stat, err error) {
	end := bytes.LastIndexByte(line, ')')
	if end < 0 {
		return 0, p, errors.New("no name in parentheses")
	}
	if pid, err = strconv.Atoi(string(line[:bytes.IndexByte(line, ' ')])); err != nil {
		return 0, p, err
	}
	fields := strings.Fields(string(line[end+1:]))
	const first, ppid, utime, cstime, rss = 3, 4, 14, 17, 24
	if len(fields) <= rss-first {
		return 0, p, errors.New("too few fields")
	}
	number := func(n int) int64 {
		v, e := strconv.ParseInt(fields[n-first], 10, 64)
		err = errors.Join(err, e)
		return v
	}
	p.parent = int(number(ppid))
	for n := utime; n <= cstime; n++ {
		p.cpu += time.Duration(number(n)) * tick
	}
	p.memory = number(rss) * int64(os.Getpagesize())
	return pid, p, err
}
