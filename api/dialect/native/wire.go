package native

import (
	"github.com/palaver-chat/palaver/api/sse"
	"github.com/palaver-chat/palaver/chat"
)

// Wire writes a stream of this dialect (dialect.Wire): one data: line per event
// and nothing else in its block, unless IDs asks for id: lines, too.
type Wire struct{ IDs bool }

func (*Wire) Name() string              { return "native" }
func (*Wire) Header() map[string]string { return nil }
func (*Wire) Begin(b []byte) []byte     { return b }
func (*Wire) End(b []byte) []byte       { return b }

func (w *Wire) Event(b []byte, e chat.Event, id string) []byte {
	data := Encode(e, id)
	if data == nil {
		return b
	}
	if w.IDs && id != "" {
		b = append(append(append(b, "id: "...), id...), '\n')
	}
	return sse.Data(b, data)
}
