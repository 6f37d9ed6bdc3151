package chat

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/palaver-chat/palaver/chat/messages"
)

// Report is what a running activity shows people: a status. The activity stores it as a text
// of the turn (ProgressKey) and returns its node with its result, so that the log gets it
// before the result.
type Report struct {
	Of   string `json:"of"`             // the id of the tool call, or the name of the agent's step
	Call bool   `json:"call,omitempty"` // Of is the id of a tool call
	N    int    `json:"n"`              // counts the reports of Of, from 1
	Node Node   `json:"node"`
	messages.Coded
	Text string `json:"text"`
}

const progressPrefix = "progress:"

// ProgressKey is the key of the n-th report of a running activity, as JSON. See Report.Of.
func ProgressKey(of string, n int) string { return progressPrefix + of + ":" + strconv.Itoa(n) }

// ReadProgressKey returns the parts of a ProgressKey. is is false for other keys.
func ReadProgressKey(key string) (of string, n int, is bool) {
	rest, is := strings.CutPrefix(key, progressPrefix)
	at := strings.LastIndexByte(rest, ':')
	if !is || at < 0 {
		return "", 0, false
	}
	n, err := strconv.Atoi(rest[at+1:])
	return rest[:at], n, err == nil
}

// ReportIn returns the report that is stored under a key of a turn's texts.
func ReportIn(texts map[string]string, key string) (r Report, stored bool) {
	text, stored := texts[key]
	return r, stored && json.Unmarshal([]byte(text), &r) == nil
}

// Reports returns what an activity has reported so far, in order.
func Reports(texts map[string]string, of string) (reports []Report) {
	for {
		r, stored := ReportIn(texts, ProgressKey(of, len(reports)+1))
		if !stored {
			return reports
		}
		reports = append(reports, r)
	}
}

// Key is the key of the report among the texts of its turn.
func (r Report) Key() string { return ProgressKey(r.Of, r.N) }

// Message is what the report says.
func (r Report) Message() messages.Message { return messages.Message{Coded: r.Coded, Text: r.Text} }

// Event returns the report as a status that is not in the log yet.
func (r Report) Event(threadID, turnID string) Event {
	e := Event{Type: EventStatus, ThreadID: threadID, TurnID: turnID, Node: r.Node, Report: r.Key()}
	e.Say(r.Message())
	if r.Call {
		e.ToolCallID = r.Of
	}
	return e
}
