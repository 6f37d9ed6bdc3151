package request

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"

	"github.com/gin-gonic/gin"
)

// inMemory is the largest size, in bytes, of a spooled body that needs no file.
const inMemory = 256 << 10

// ErrTooLong means that a body is longer than allowed.
var ErrTooLong = errors.New("the body is too long")

// SpooledBody is a body, or a part of one, that was received. A long one is in a temporary
// file, so that a slow upload takes no memory.
type SpooledBody struct {
	Size int64
	head []byte
	file *os.File // nil: head is all of it
}

// Spool reads all of from into a file in the folder dir (empty: that of the system) and
// returns ErrTooLong when there is more than limit.
func Spool(from io.Reader, dir string, limit int64) (*SpooledBody, error) {
	from = io.LimitReader(from, limit+1)
	var head bytes.Buffer
	n, err := io.CopyN(&head, from, inMemory)
	s := &SpooledBody{Size: n, head: head.Bytes()}
	if err == nil {
		err = s.spill(from, dir)
	}
	if errors.Is(err, io.EOF) { // all of it is in memory
		err = nil
	}
	if err == nil && s.Size > limit {
		err = ErrTooLong
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// spill copies the rest into a temporary file. Where the system permits it, the file is
// unlinked at once, so that it is removed even if the process dies.
func (s *SpooledBody) spill(from io.Reader, dir string) (err error) {
	if s.file, err = os.CreateTemp(dir, ".upload-*"); err != nil {
		return err
	}
	_ = os.Remove(s.file.Name())
	n, err := io.Copy(s.file, from)
	s.Size += n
	return err
}

// Bytes reads all of it into memory.
func (s *SpooledBody) Bytes() ([]byte, error) {
	if s.file == nil {
		return s.head, nil
	}
	all := make([]byte, s.Size)
	copy(all, s.head)
	_, err := s.file.ReadAt(all[len(s.head):], 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return all, err
}

// Reader returns a reader of all of it.
func (s *SpooledBody) Reader() io.Reader {
	if s.file == nil {
		return bytes.NewReader(s.head)
	}
	return io.MultiReader(bytes.NewReader(s.head), io.NewSectionReader(s.file, 0, s.Size-int64(len(s.head))))
}

// Close removes the file.
func (s *SpooledBody) Close() {
	if s.file != nil {
		_ = s.file.Close()
		_ = os.Remove(s.file.Name()) // already removed, except on systems that do not remove open files
	}
}

// SpoolBody is like Body, for long JSON. It returns ErrTooLong if the body is longer than
// limit. Close the result.
func SpoolBody(c *gin.Context, dir string, limit int64) (*SpooledBody, error) {
	if c.Request.ContentLength > limit {
		return nil, ErrTooLong
	}
	if err := checkJSON(c, limit); err != nil {
		return nil, err
	}
	s, err := Spool(http.MaxBytesReader(c.Writer, c.Request.Body, limit), dir, limit)
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return nil, ErrTooLong
	case errors.As(err, new(*os.PathError)):
		return nil, err
	case err != nil:
		return nil, readError(err)
	}
	BodyReceived(c)
	return s, nil
}
