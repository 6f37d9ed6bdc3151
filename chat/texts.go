package chat

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Keys of a turn's texts. All keys are declared in this file, except ProgressKey. They are stored in rows
// and must not change.
const (
	TextNotFound   = "not found"   // the notice about names of documents not found
	TextUnresolved = "unresolved"  // names of documents not found, quoted, comma-separated
	TextSource     = "source_text" // the text an audit is about, when given in answer to a question
	TextWebQuery   = "web_query"
	// TextSearchWords is what the message asks for in a model's words. TextAnswerable is
	// the model's opinion whether the documents may have it.
	TextSearchWords = "search_words"
	TextAnswerable  = "answerable"
	TextWebResults  = "web_results" // JSON
	TextCitations   = "citations"   // JSON, []Citation of the answer
	TextPlan        = "plan"        // how the model is going to find the answer
	// TextFailureHint says why the model's refusal is final. TextOperatorHint says to
	// operators what to do then, such as which setting to check. Both are messages
	// (messages.Message.Stored).
	TextFailureHint  = "failure_hint"
	TextOperatorHint = "operator_hint"
)

// PieceKey is the key of an answer's n-th piece.
func PieceKey(n int) string { return "piece:" + strconv.Itoa(n) }

// UnverifiedKey is the key of the words of a piece that were a quotation and are in no
// source: a JSON list.
func UnverifiedKey(n int) string { return "unverified:" + strconv.Itoa(n) }

// SaidKey is the key of the result of a turn's n-th model call: activities.ModelResult, as
// JSON.
func SaidKey(n int) string { return "said:" + strconv.Itoa(n) }

// ReasoningKey is the key of what the model thought in a turn's n-th model call.
func ReasoningKey(n int) string { return "reasoning:" + strconv.Itoa(n) }

// CallKey is the key of a tool call's arguments as the model wrote them, EditedKey of
// those that a person edited, and ResultKey of the tool's result.
func CallKey(callID string) string   { return "call:" + callID }
func EditedKey(callID string) string { return "edited:" + callID }
func ResultKey(callID string) string { return "result:" + callID }

// GivenKey is the key of the n-th message that the person wrote while the turn worked.
// GivenTurnKey is the key of the id of its own turn, which is dropped.
func GivenKey(n int) string     { return "given:" + strconv.Itoa(n) }
func GivenTurnKey(n int) string { return "given turn:" + strconv.Itoa(n) }

// ImportKey is the key of the sentence about an import's end in a turn's notice.
func ImportKey(importID string) string { return "import:" + importID }

// CodedKey is the key of the message (messages.Message.Stored) that the text with another
// key says in English.
func CodedKey(key string) string { return "coded:" + key }

// SchemaKey is the key of the JSON schema of a tool's arguments, and ToolKey that of its
// ToolInfo without the schema, as JSON. Both are stored with a turn that may ask about a
// call.
func SchemaKey(tool string) string { return "schema:" + tool }
func ToolKey(tool string) string   { return "tool:" + tool }

// RememberedKey is the key of a text that says that a person has approved a tool, during
// the turn, for the rest of the conversation. name is CallRef.ApprovalName.
func RememberedKey(name string) string { return "remembered:" + name }

// ShownKey is the key of the ids of the passages in a call's result, as JSON. DoneKey is
// that of a call's outcome: activities.CallResult, as JSON. NoteKey is the key of what prompts
// show before the passages.
func ShownKey(callID string) string { return "shown:" + callID }
func NoteKey(callID string) string  { return "note:" + callID }
func DoneKey(callID string) string  { return "done:" + callID }

// StartedKey is the key of the record that a call with side effects was about to run: how
// often it was repeated by then.
func StartedKey(callID string) string { return "started:" + callID }

// AnswerKey is the key of a whole answer, a ResumeValue as JSON. The id is the
// answer's, not the question's, because a question may get two answers at once.
func AnswerKey(id string) string { return "answer:" + id }

// logPrefix begins the keys of texts with log entries as JSON; the number of the
// first entry follows.
const logPrefix = "log:"

// LogKey is the key of the text with a turn's entries from number n.
func LogKey(n int) string { return logPrefix + strconv.Itoa(n) }

// KeptLog returns the entries in a turn's texts after number after, in order.
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
