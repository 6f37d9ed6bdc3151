package aisdk

import (
	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/sse"
	"github.com/palaver-chat/palaver/chat"
)

// Wire writes a stream of this dialect (dialect.Wire).
type Wire struct{ t *translation }

// NewWire makes the wire of a stream that starts or continues an assistant message.
func NewWire(s dialect.Stream, c *Continue) *Wire { return &Wire{newTranslation(s, c)} }

func (*Wire) Name() string { return "ai_sdk" }

func (*Wire) Header() map[string]string {
	return map[string]string{"X-Vercel-Ai-Ui-Message-Stream": "v1"}
}

// Abrupt implements dialect.Abrupt: these clients treat a stream that just ends as a success.
func (*Wire) Abrupt() {}

// Before records events from before this stream (dialect.Historian).
func (w *Wire) Before(e chat.Event) { w.t.before(e) }

// Answered sends a question that was answered meanwhile: the client rebuilds the whole message
// (dialect.Replayer).
func (w *Wire) Answered(b []byte, e chat.Event, id string) []byte { return w.Event(b, e, id) }

func (w *Wire) Begin(b []byte) []byte {
	w.t.begin()
	return w.flush(b)
}

func (w *Wire) Event(b []byte, e chat.Event, id string) []byte {
	w.t.event(e, id)
	return w.flush(b)
}

func (w *Wire) End(b []byte) []byte {
	w.t.finish()
	return append(w.flush(b), sse.Done...)
}

func (w *Wire) flush(b []byte) []byte {
	for _, c := range w.t.take() {
		b = sse.JSON(b, c)
	}
	return b
}
