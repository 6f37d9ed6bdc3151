// Package record is shared by the stores: it converts values of the domain to and
// from columns.
package record

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/palaver-chat/palaver/db"
)

// Limits of single calls.
const (
	MaxHistory = 1000 // messages
	MaxVisible = 5000 // documents of VisibleDocuments
	MaxWords   = 200  // of one search; further words are ignored
)

// Micros is t as it is stored; the zero time is 0.
func Micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// Time reverses Micros.
func Time(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}

// OrNow replaces the zero time.
func OrNow(t time.Time) time.Time {
	if t.IsZero() {
		return time.Now()
	}
	return t
}

// Fold makes texts comparable without regard to case.
func Fold(s string) string { return strings.ToLower(s) }

// JSON is v marshalled.
func JSON(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}

// Bytes is b, or empty bytes for nil, which would be stored as NULL.
func Bytes(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// Strings is a list as JSON; a list of strings cannot fail to marshal.
func Strings(list []string) string {
	if list == nil {
		return "[]"
	}
	b, _ := json.Marshal(list)
	return string(b)
}

// IsDomain reports whether err is an error of package db already.
func IsDomain(err error) bool {
	for _, known := range []error{db.ErrNotFound, db.ErrTurnConflict, db.ErrSettled, db.ErrTurnRuns, db.ErrForbidden, db.ErrVersion, db.ErrUnavailable, db.ErrBadCursor} {
		if errors.Is(err, known) {
			return true
		}
	}
	return errors.As(err, new(*db.Exceeded))
}

// Found turns "no row was changed" into ErrNotFound.
func Found(rows int64, err error) error {
	if err == nil && rows == 0 {
		return db.ErrNotFound
	}
	return err
}

// Words are the first MaxWords different words that are not blank.
func Words(words []string) []string {
	seen := make(map[string]bool, len(words))
	var list []string
	for _, w := range words {
		if len(list) == MaxWords {
			break
		}
		if strings.TrimSpace(w) != "" && !seen[w] {
			seen[w] = true
			list = append(list, w)
		}
	}
	return list
}
