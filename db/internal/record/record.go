// Package record is shared by the stores: it converts values of the domain to and
// from columns.
package record

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// Limits of single calls.
const (
	MaxHistory = 1000 // messages
	MaxVisible = 5000 // documents of VisibleDocuments
	MaxWords   = 200  // of one search; further words are ignored
)

// RetriesEnd is how long a message of a deleted conversation counts as a retry when
// it is sent again.
const RetriesEnd = 24 * time.Hour

// RunCancelReach is how long before and after a cancel by stream_run_id a turn may
// be sent to match it. Clients may reuse such an id.
const RunCancelReach = time.Minute

// MessageDigest identifies a message of a deleted conversation without its text.
func MessageDigest(threadID, clientTurnID, contentHash string) string {
	sum := sha256.Sum256([]byte(threadID + "\x00" + clientTurnID + "\x00" + contentHash))
	return hex.EncodeToString(sum[:])
}

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
	for _, known := range []error{db.ErrNotFound, db.ErrTurnConflict, db.ErrSettled, db.ErrForbidden, db.ErrVersion, db.ErrUnavailable, db.ErrBadCursor} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// Found turns "no row was changed" into ErrNotFound.
func Found(rows int64, err error) error {
	if err == nil && rows == 0 {
		return db.ErrNotFound
	}
	return err
}

// CancelKind is which of a CancelRef's ids is set: turn, client or run.
func CancelKind(ref db.CancelRef) (kind, id string, err error) {
	named := 0
	for _, k := range [...]struct{ kind, id string }{
		{"turn", ref.TurnID}, {"client", ref.ClientTurnID}, {"run", ref.StreamRunID},
	} {
		if k.id != "" {
			kind, id = k.kind, k.id
			named++
		}
	}
	if named != 1 {
		return "", "", errors.New("exactly one of turn_id, client_turn_id and stream_run_id names a turn")
	}
	return kind, id, nil
}

// FirstMessage is the user's message of a turn.
func FirstMessage(t chat.Turn) chat.Message {
	metadata := map[string]any{"client_turn_id": t.ClientTurnID}
	if t.StreamRunID != "" {
		metadata["stream_run_id"] = t.StreamRunID
	}
	if len(t.Content.TaggedDocs) > 0 {
		metadata["tagged_doc_ids"] = t.Content.TaggedDocs
	}
	if len(t.Content.Attachments) > 0 {
		metadata["attachments"] = t.Content.Attachments
	}
	if len(t.Content.TipTap) > 0 {
		metadata["tiptap_json"] = t.Content.TipTap
	}
	return chat.Message{Role: "user", Content: t.Content.Message, CreatedAt: t.CreatedAt, Metadata: metadata}
}

// FurtherMessages are what a settlement adds after the user's message.
func FurtherMessages(e db.Settlement) []chat.Message {
	var list []chat.Message
	for _, p := range e.Prompts {
		list = append(list, chat.Message{Role: "system", Content: p.Message, CreatedAt: p.At})
		if p.Answer != "" {
			list = append(list, chat.Message{Role: "user", Content: p.Answer, CreatedAt: p.At})
		}
	}
	// The next turn needs the results of tools even if the answer is empty.
	if e.Text != "" || len(chat.ToolResults(e.Metadata)) > 0 {
		list = append(list, chat.Message{Role: "assistant", Content: e.Text, CreatedAt: e.At, Metadata: e.Metadata})
	}
	return list
}

// Log is a settlement's whole log, the terminal event last.
func Log(e db.Settlement) []chat.Event {
	return append(e.Events[:len(e.Events):len(e.Events)], e.Terminal)
}

// Merge is the union of both lists, in order.
func Merge(known, added []string) []string {
	seen := make(map[string]bool, len(known)+len(added))
	merged := make([]string, 0, len(known)+len(added))
	for _, id := range append(known[:len(known):len(known)], added...) {
		if !seen[id] {
			seen[id] = true
			merged = append(merged, id)
		}
	}
	return merged
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
