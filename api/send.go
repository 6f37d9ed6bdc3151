package api

import (
	"bytes"
	"io"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat/messages"
)

// readMemory is how many bytes of memory reading one byte of a file takes.
const readMemory = 3

// send answers with a file of about size bytes. It reads the file within a memory limit. A
// long file waits in a temporary file for its client, so that clients that read slowly, or
// not at all, take no memory.
func (s *server) send(c *gin.Context, media string, size int64, read func() ([]byte, error)) error {
	release, err := s.sending.Acquire(c.Request.Context(), readMemory*size)
	if err != nil {
		return problem.TooMany(messages.ManyFiles, memoryRetryAfter)
	}
	file, err := s.spool(read)
	release()
	if err != nil {
		return err
	}
	defer file.Close()
	c.Header("Content-Type", media)
	c.Header("Content-Length", strconv.FormatInt(file.Size, 10))
	c.Status(http.StatusOK)
	if c.Request.Method != http.MethodHead {
		_, _ = io.Copy(c.Writer, file.Reader()) // an error means that the client has disconnected
	}
	return nil
}

func (s *server) spool(read func() ([]byte, error)) (*request.SpooledBody, error) {
	raw, err := read()
	if err != nil {
		return nil, err
	}
	return request.Spool(bytes.NewReader(raw), s.Config.TempDir, int64(len(raw)))
}
