package imports

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// readBody reads a response. It returns an error for one that has more than limit bytes, is
// cut off, or has another length than declared.
func readBody(res *http.Response, limit int64) ([]byte, error) {
	if res.ContentLength > limit {
		return nil, &Error{Code: TooLarge, Size: res.ContentLength, Limit: limit}
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, limit+1))
	switch {
	case int64(len(raw)) > limit:
		return nil, &Error{Code: TooLarge, Limit: limit, Cause: errTooLong}
	case err != nil:
		return nil, fmt.Errorf("reading the content: %w", err)
	}
	return raw, nil
}

// maxRetryAfter bounds how long a source can make an import wait.
const maxRetryAfter = 10 * time.Minute

// retryAfter reads the header Retry-After: seconds or a date.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.Atoi(value); err == nil {
		return min(max(0, time.Duration(seconds)*time.Second), maxRetryAfter)
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(0, at.Sub(now)), maxRetryAfter)
	}
	return 0
}
