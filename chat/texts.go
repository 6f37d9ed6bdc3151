package chat

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Keys of a turn's texts. All keys are declared in this file. Rows have them, so they
// do not change.
const (
	TextUnresolved = "unresolved"  // names of documents not found, quoted, comma-separated
	TextSource     = "source_text" // the text an audit is about, when given in answer to a question
	TextWebQuery   = "web_query"
	TextWebResults = "web_results" // JSON
	TextCitations  = "citations"   // JSON, []Citation of the answer
	// TextFailureHint says what to do when the model has refused for good, such as which
	// setting to check.
	TextFailureHint = "failure_hint"
)

// PieceKey is the key of an answer's n-th piece.
func PieceKey(n int) string { return "piece:" + strconv.Itoa(n) }

// SaidKey is the key of the result of a turn's n-th model call: activities.Written, as
// JSON.
func SaidKey(n int) string { return "said:" + strconv.Itoa(n) }

// CallKey is the key of the text that holds a tool call's arguments as the model
// wrote them; EditedKey of those that a person put in their place; ResultKey of
// what the tool returned.
func CallKey(callID string) string   { return "call:" + callID }
func EditedKey(callID string) string { return "edited:" + callID }
func ResultKey(callID string) string { return "result:" + callID }

// SchemaKey is the key of the text that holds the JSON schema which edited
// arguments of a tool must satisfy, kept with the turn whose approval asks.
func SchemaKey(tool string) string { return "schema:" + tool }

// ShownKey is the key of the ids of the passages in a call's result, as JSON. DoneKey is
// that of a call's outcome: activities.Called, as JSON.
func ShownKey(callID string) string { return "shown:" + callID }
func DoneKey(callID string) string  { return "done:" + callID }

// AnswerKey is the key of a text that holds a whole answer, a ResumeValue in
// JSON. The same question may get two answers at once, of which one counts, so
// the id is the answer's own.
func AnswerKey(id string) string { return "answer:" + id }

// logPrefix begins the keys of texts that hold entries of a turn's log, JSON. The
// number of the first one follows.
const logPrefix = "log:"

// LogKey is the key of the text that holds a turn's entries from number n on.
func LogKey(n int) string { return logPrefix + strconv.Itoa(n) }

// KeptLog are the entries that a turn's texts hold, after number after and in
// their order.
func KeptLog(texts map[string]string, after int) ([]Entry, error) {
	var pages []int
	for key := range texts {
		if n, is := strings.CutPrefix(key, logPrefix); is {
			first, err := strconv.Atoi(n)
			if err != nil {
				return nil, fmt.Errorf("text %q: %w", key, err)
			}
			pages = append(pages, first)
		}
	}
	slices.Sort(pages)
	var log []Entry
	for _, first := range pages {
		var page []Entry
		if err := json.Unmarshal([]byte(texts[LogKey(first)]), &page); err != nil {
			return nil, fmt.Errorf("entries from %d: %w", first, err)
		}
		for _, e := range page {
			if e.N > after {
				log = append(log, e)
			}
		}
	}
	return log, nil
}
