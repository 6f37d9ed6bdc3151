package dialect

import "github.com/palaver-chat/palaver/chat"

// Submit is a message as it left its wire format: checked, but for what only
// the store knows (whether the ids it names exist).
type Submit struct {
	ThreadID           string // a UUID; empty: to be derived or made
	ThreadAlias        string // what the client calls the thread, when that is no UUID
	Content            chat.Content
	AgentFree          bool   // the client named no agent: Content's is the dialect's, for a thread that has none yet
	ClientTurnID       string // empty: the server makes one
	StreamRunID        string
	OnBusy             chat.OnBusy
	CancelOnDisconnect bool
	View               View
}

// ThreadName is the id that the client used for the thread of the turn that was
// made.
func (s Submit) ThreadName(t chat.Turn) string { return threadName(s.ThreadAlias, t) }

// ThreadName is the id that the client used for the thread of the turn.
func (a Answer) ThreadName(t chat.Turn) string { return threadName(a.ThreadAlias, t) }

func threadName(alias string, t chat.Turn) string {
	if alias != "" {
		return alias
	}
	return t.ThreadID
}

// Answer is an answer to a thread's question as it left its wire format.
type Answer struct {
	chat.Resume
	ThreadAlias        string // what the client calls the thread, when that is no UUID
	StreamRunID        string // of this request; empty: the turn's
	CancelOnDisconnect bool
	View               View
}

// View says what of a turn's events a client wants to see.
type View struct {
	Messages bool // finished text and the terminal event only
	NoTokens bool
	ByServer bool // the client named no stream_mode: the server's default holds
}

// Or is the view with the server's default where the client left the choice.
func (v View) Or(messages bool) View {
	if v.ByServer {
		v.Messages, v.ByServer = messages, false
	}
	return v
}

// Shows reports whether the view lets an event through. Ephemeral events are
// about the text being written, so without tokens they mean nothing; but that
// nothing can be saved concerns everyone.
func (v View) Shows(e chat.Event) bool {
	if e.N == 0 && (v.NoTokens || v.Messages) && e.Code != chat.NoticeNotSaved {
		return false
	}
	switch e.Type {
	case chat.EventStatus, chat.EventToolCall, chat.EventToolResult:
		return !v.Messages
	}
	return true
}

// Cancel names a turn to stop: by turn id, by the client's ids, or, with the
// thread id alone, whatever runs there.
type Cancel struct {
	ThreadID, TurnID, ClientTurnID, StreamRunID string
	Reason                                      chat.CancelReason
}
