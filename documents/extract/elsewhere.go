package extract

import (
	"context"
	"os"
	"strconv"
	"strings"
	"time"
)

// elsewhere begins the modes of child processes whose work is done by another package.
const elsewhere = "elsewhere:"

// querySlots are of their own, so that a person does not wait for the documents of others.
var querySlots = make(chan struct{}, 2)

// Child starts this program once more with a limit of memory in bytes and of time, writes in to it,
// and returns what it writes, at most MaxText bytes. In the child process ChildMode returns mode.
func Child(ctx context.Context, mode string, memory int64, limit time.Duration, in []byte) ([]byte, error) {
	r := reader{mode: elsewhere + mode, memory: memory, time: limit, damaged: errDamagedFile, tooLong: errTooSlow, encrypted: errDamagedFile}
	return r.run(ctx, in)
}

// ChildMode returns the mode with which Child has started this process, after it has limited the
// memory; "" in any other process.
func ChildMode() string {
	mode, ok := strings.CutPrefix(os.Getenv(readerVar), elsewhere)
	if !ok {
		return ""
	}
	memory, err := strconv.ParseInt(os.Getenv(readerMemoryVar), 10, 64)
	if err != nil {
		return ""
	}
	time.AfterFunc(readTime+5*time.Second, func() { os.Exit(exitTooLong) }) // if the parent dies
	limitMemory(memory)
	return mode
}
