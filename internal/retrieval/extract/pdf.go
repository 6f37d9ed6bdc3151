package extract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

var pdfFile = Type{
	Name:       "pdf",
	Label:      "PDF",
	Extensions: []string{".pdf"},
	MediaTypes: []string{"application/pdf", "application/x-pdf"},
	Binary:     true,
	Is:         isPDF,
	content:    readPDF,
}

// isPDF looks for the header, which readers accept within the first 1,024 bytes
// of a file that claims to be one.
func isPDF(raw []byte, named string) bool {
	head := raw[:min(len(raw), 1024)]
	if named == "pdf" {
		return bytes.Contains(head, []byte("%PDF-"))
	}
	return bytes.HasPrefix(bytes.TrimLeft(head, "\ufeff \t\r\n"), []byte("%PDF-"))
}

// CacheDir is the folder that keeps the compiled PDF reader between runs (14 MB, saves
// 1.6 s of processor time per document). If it is empty, the user's cache directory is
// used; without one, nothing is cached. Set it before the first call of Text.
var CacheDir string

// pdfTime is the timeout of one PDF, without the wait for a slot.
var pdfTime = time.Minute

const pdfReaders = 2 // at the same time

var pdfSlots = make(chan struct{}, pdfReaders)

// readPDF reads a PDF in a child process: this same program, started with readerVar (see
// reader.go). The reader is native code compiled from WebAssembly. To stop it within this
// process would need checks that make it seven times slower, and while it runs the garbage
// collector cannot stop the world. A child process can be killed.
func readPDF(ctx context.Context, raw []byte) (Content, error) {
	out, err := runReader(ctx, readDocument, raw)
	if err != nil {
		return Content{}, err
	}
	title, pages, _ := strings.Cut(string(out), pageBreak)
	c := Content{Title: title}
	c.Text, c.Pages = joinPages(strings.Split(pages, pageBreak))
	return c, nil
}

// Warm compiles the PDF reader into CacheDir, so that the first PDF does not wait for the
// compilation.
func Warm(ctx context.Context) error {
	_, err := runReader(ctx, readNothing, nil)
	return err
}

func runReader(ctx context.Context, mode string, raw []byte) ([]byte, error) {
	select {
	case pdfSlots <- struct{}{}:
		defer func() { <-pdfSlots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start the PDF reader: %w", err)
	}
	limited, cancel := context.WithTimeout(ctx, pdfTime)
	defer cancel()
	cmd := exec.CommandContext(limited, self)
	cmd.Env = readerEnv(mode)
	cmd.Stdin = bytes.NewReader(raw)
	cmd.WaitDelay = time.Second
	out := &capped{limit: MaxText, full: cancel}
	said := &capped{limit: 4 << 10, full: func() {}}
	cmd.Stdout, cmd.Stderr = out, said
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case out.over:
		return nil, errTooLarge
	case limited.Err() != nil:
		return nil, errTooLong
	case err == nil:
		return out.buf.Bytes(), nil
	case errors.As(err, &exit):
		return nil, readerError(ctx, exit.ExitCode(), said.buf.String())
	}
	return nil, fmt.Errorf("run the PDF reader: %w", err)
}

// readerError returns the error for a reader's exit code. An error that does not come from
// the document can be retried. A reader that crashed would crash again, so the document
// counts as damaged.
func readerError(ctx context.Context, code int, said string) error {
	if reason, ok := readerReasons[code]; ok {
		return reason
	}
	if code == exitFailed {
		return fmt.Errorf("run the PDF reader: %s", strings.TrimSpace(said))
	}
	slog.WarnContext(ctx, "the PDF reader ended unexpectedly", "exit_code", code, "stderr", said)
	return errDamaged
}

// readerEnv returns the whole environment of the reader's process.
func readerEnv(mode string) []string {
	env := []string{readerVar + "=" + mode, "GOMAXPROCS=2", "GOMEMLIMIT=600MiB", readerCacheVar + "=" + cacheDir()}
	if root := os.Getenv("SYSTEMROOT"); root != "" {
		env = append(env, "SYSTEMROOT="+root)
	}
	return env
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

// capped keeps up to limit bytes and calls full when more come.
type capped struct {
	buf   bytes.Buffer
	limit int
	over  bool
	full  func()
}

func (c *capped) Write(b []byte) (int, error) {
	if c.buf.Len()+len(b) > c.limit {
		c.over = true
		c.full()
		return 0, io.ErrShortWrite
	}
	return c.buf.Write(b)
}
