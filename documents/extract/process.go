package extract

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// reader says how files of a type are read in a child process: this same program, started
// with readerVar (see reader.go). Whatever a file makes its reader do, a child process can
// be killed, and its memory is limited.
type reader struct {
	mode      string // what readerVar says
	memory    int64  // that it may allocate, in bytes; Linux enforces it
	damaged   *Unreadable
	tooLong   *Unreadable
	encrypted *Unreadable   // it needs a password
	needsDir  bool          // it may write temporary files
	time      time.Duration // its timeout; 0: readTime
	further   []string      // of its environment
}

// readTime is the timeout of one file, without the wait for a slot.
var readTime = time.Minute

// readerEnd is how long the pipes of a reader that has ended, or was killed, may stay open.
var readerEnd = 5 * time.Second

const readers = 2 // at the same time

var readerSlots, scanSlots = make(chan struct{}, readers), make(chan struct{}, 1)

// run returns what a reader's process writes for raw: at most MaxText bytes.
func (r reader) run(ctx context.Context, raw []byte) ([]byte, error) {
	slots := readerSlots
	switch {
	case r.mode == readScan: // a page takes long, and other documents do not wait for it
		slots = scanSlots
	case strings.HasPrefix(r.mode, elsewhere):
		slots = querySlots
	}
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start the reader: %w", err)
	}
	limited, cancel := context.WithTimeout(ctx, cmp.Or(r.time, readTime))
	defer cancel()
	cmd := exec.CommandContext(limited, self)
	cmd.Env = r.env()
	if r.needsDir {
		// A reader that is killed leaves its files. If no folder can be made, the reader
		// fails when it needs one.
		if dir, err := os.MkdirTemp("", "palaver-reader-"); err == nil {
			defer os.RemoveAll(dir)
			cmd.Env = append(cmd.Env, "TMPDIR="+dir, "TMP="+dir, "TEMP="+dir)
		}
	}
	cmd.Stdin = bytes.NewReader(raw)
	cmd.WaitDelay = readerEnd
	out := &limitedBuffer{limit: MaxText, full: cancel}
	said := &limitedBuffer{limit: 4 << 10, full: func() {}}
	cmd.Stdout, cmd.Stderr = out, said
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case out.over:
		return nil, errTooLarge
	case limited.Err() != nil:
		return nil, r.tooLong
	case err == nil:
		return out.buf.Bytes(), nil
	case errors.As(err, &exit):
		return nil, r.error(ctx, exit.ExitCode(), said.buf.String())
	}
	return nil, fmt.Errorf("run the reader: %w", err)
}

// error returns the error for a reader's exit code. An error that does not come from the
// file can be retried. A reader that crashed would crash again, so the file counts as too
// large if the memory was not enough, and else as damaged.
func (r reader) error(ctx context.Context, code int, said string) error {
	switch code {
	case exitFailed:
		return fmt.Errorf("run the reader: %s", strings.TrimSpace(said))
	case exitDamaged:
		return r.damaged
	case exitTooLong:
		return r.tooLong
	case exitEncrypted:
		return r.encrypted
	case exitTooLarge:
		return errTooLarge
	case exitAdobeForm:
		return errAdobeForm
	}
	if outOfMemory(said) {
		slog.WarnContext(ctx, "the reader of a document needed too much memory", "type", r.mode)
		return errTooLarge
	}
	slog.WarnContext(ctx, "the reader of a document ended unexpectedly", "type", r.mode, "exit_code", code, "stderr", said)
	return r.damaged
}

// outOfMemory reports whether a Go program said that it ended because it got no memory, also
// for a thread.
func outOfMemory(said string) bool {
	first, _, _ := strings.Cut(said, "\n")
	return slices.ContainsFunc([]string{"out of memory", "cannot allocate memory", "pthread_create failed"},
		func(reason string) bool { return strings.Contains(first, reason) })
}

// env returns the whole environment of the reader's process.
func (r reader) env() []string {
	env := []string{readerVar + "=" + r.mode, readerMemoryVar + "=" + strconv.FormatInt(r.memory, 10),
		"GOMAXPROCS=2", "GOMEMLIMIT=600MiB", readerCacheVar + "=" + cacheDir()}
	if root := os.Getenv("SYSTEMROOT"); root != "" {
		env = append(env, "SYSTEMROOT="+root)
	}
	return append(env, r.further...)
}

func cacheDir() string {
	if CacheDir != "" {
		return CacheDir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "palaver", "pdf")
}

// limitedBuffer keeps the first limit bytes and calls full when more come.
type limitedBuffer struct {
	buf   bytes.Buffer
	limit int
	over  bool
	full  func()
}

func (c *limitedBuffer) Write(b []byte) (int, error) {
	if left := c.limit - c.buf.Len(); len(b) > left {
		c.over = true
		c.full()
		c.buf.Write(b[:left])
		return left, io.ErrShortWrite
	}
	return c.buf.Write(b)
}
