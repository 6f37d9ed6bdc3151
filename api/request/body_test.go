package request

import (
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// slowClient sends size bytes every so often, by its own clock.
type slowClient struct {
	now, deadline time.Time
	every         time.Duration
	size, left    int
}

func (s *slowClient) Close() error { return nil }

func (s *slowClient) Read(p []byte) (int, error) {
	if s.left == 0 {
		return 0, io.EOF
	}
	if s.now = s.now.Add(s.every); s.now.After(s.deadline) {
		s.now = s.deadline
		return 0, os.ErrDeadlineExceeded
	}
	n := min(s.size, s.left, len(p))
	s.left -= n
	return n, nil
}

func TestUploadThatArrivesTooSlowlyEnds(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	// upload returns how long the client could hold the upload, and its end.
	upload := func(s slowClient, work time.Duration) (time.Duration, error) {
		s.now = begin
		b := &uploadBody{ReadCloser: &s, timeout: BodyTimeout, end: begin.Add(5 * time.Minute), now: func() time.Time { return s.now }, setDeadline: func(t time.Time) { s.deadline = t }}
		for p := make([]byte, 64<<10); ; s.now = s.now.Add(work) {
			if _, err := b.Read(p); err != nil {
				return s.now.Sub(begin), err
			}
		}
	}
	for name, c := range map[string]struct {
		client slowClient
		work   time.Duration // of the server after each part
		held   time.Duration // at most
		end    error
	}{
		"a byte every 29 s":      {client: slowClient{every: 29 * time.Second, size: 1, left: 1 << 20}, held: 31 * time.Second, end: os.ErrDeadlineExceeded},
		"a byte each ms":         {client: slowClient{every: time.Millisecond, size: 1, left: 1 << 20}, held: 41 * time.Second, end: os.ErrDeadlineExceeded},
		"nothing":                {client: slowClient{every: time.Hour, size: 1, left: 1}, held: BodyTimeout, end: os.ErrDeadlineExceeded},
		"a slow phone":           {client: slowClient{every: time.Second, size: 6 << 10, left: 1 << 20}, held: 3 * time.Minute, end: io.EOF},
		"a part every 10 s":      {client: slowClient{every: 10 * time.Second, size: 64 << 10, left: 320 << 10}, held: 3 * time.Minute, end: io.EOF},
		"a busy server":          {client: slowClient{every: time.Millisecond, size: 64 << 10, left: 256 << 10}, work: 40 * time.Second, held: 3 * time.Minute, end: io.EOF},
		"more than five minutes": {client: slowClient{every: time.Second, size: 8 << 10, left: 1 << 30}, held: 5 * time.Minute, end: os.ErrDeadlineExceeded},
	} {
		held, err := upload(c.client, c.work)
		require.LessOrEqual(t, held, c.held, name)
		require.True(t, errors.Is(err, c.end), "%s: %v", name, err)
	}
}
