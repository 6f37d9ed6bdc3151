package dialect

import "github.com/palaver-chat/palaver/chat"

// Submit is a message independent of its wire format. It is validated, except that its ids may not
// exist in the store.
type Submit struct {
	ThreadID     string // a UUID; empty: the server derives or makes one
	ThreadAlias  string // the client's name of the thread, if it is no UUID
	Space        string // that the body names; empty: that of the header, or none
	Content      chat.Content
	AgentUnset   bool   // the client named no agent: Content has the dialect's default, which applies if the thread has no agent yet
	ModelNamed   bool   // Content.Model counts also when it is empty, instead of the model of the turn that it follows
	ClientTurnID string // empty: the server makes one
	// Edition returns the client_turn_id of the nth content under one message id, for
	// clients that send edited messages under their old ids; nil: ClientTurnID counts.
	Edition            func(n int) string
	StreamRunID        string
	OnBusy             chat.OnBusy
	Replaces           string // a turn that waits, whose place this message takes; empty: none
	CancelOnDisconnect bool
	View               View
}

// MaxEditions limits how often a message can be edited under one id.
const MaxEditions = 100

// ThreadName returns the client's name of the thread of the turn.
func (s Submit) ThreadName(t chat.Turn) string { return threadName(s.ThreadAlias, t) }

// ThreadName returns the client's name of the thread of the turn.
func (a Answer) ThreadName(t chat.Turn) string { return threadName(a.ThreadAlias, t) }

func threadName(alias string, t chat.Turn) string {
	if alias != "" {
		return alias
	}
	return t.ThreadID
}

// Answer is an answer to a thread's question independent of its wire format.
type Answer struct {
	chat.Resume               // if it has no ThreadID, ThreadAlias names the thread
	ThreadAlias        string // the client's name of the thread
	StreamRunID        string // stream_run_id of this request; empty: the turn's
	CancelOnDisconnect bool
	View               View
}

// View says which of a turn's events a client wants.
type View struct {
	Messages bool // finished text and the terminal event only
	NoTokens bool
	ByServer bool // the client named no stream_mode: the server's default applies
}

// Or returns the view with the server's default if the client named no stream_mode.
func (v View) Or(messages bool) View {
	if v.ByServer {
		v.Messages, v.ByServer = messages, false
	}
	return v
}

// Shows reports whether the view includes an event. Ephemeral events concern the text being written, so
// they are left out without tokens, except the notice that nothing can be saved.
func (v View) Shows(e chat.Event) bool {
	if e.N == 0 && e.Type != chat.EventStatus && (v.NoTokens || v.Messages) && e.Code != chat.NoticeNotSaved {
		return false
	}
	switch e.Type {
	case chat.EventStatus, chat.EventToolCall, chat.EventToolResult:
		return !v.Messages
	}
	return true
}

// Cancel names a turn to stop: by turn id, by the client's ids, or, with only a thread id, the running
// turn.
type Cancel struct {
	ThreadID, TurnID, ClientTurnID, StreamRunID string
	ThreadAlias                                 string // the client's name of the thread, instead of ThreadID
	Reason                                      chat.CancelReason
}
