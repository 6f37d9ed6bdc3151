package follow

import (
	"errors"
	"io"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
)

// Each calls show with the turn's events, until show returns end or an error, or until
// there are no more events. When there is no event yet, it calls wait, which must return
// when more is closed. A turn that no longer exists ends with an error event.
//
// after names an interrupt: show gets past for the events up to and including it, but
// never for a terminal event.
func (v *Viewer) Each(after string, wait func(more <-chan struct{}) error, show func(item Item, past bool) (end bool, _ error)) error {
	v.HoldText(after != "")
	for {
		item, more, err := v.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			_, err := show(Item{Event: v.NotFound()}, false)
			return err
		case more != nil:
			if err := wait(more); err != nil {
				return err
			}
			continue
		}
		past := after != "" && !item.Type.Terminal()
		if past && item.Type == chat.EventInterrupt && item.Interrupt != nil && item.Interrupt.ID == after {
			after = ""
			v.HoldText(false)
		}
		if end, err := show(item, past); end || err != nil {
			return err
		}
	}
}

// NotFound returns the event that ends the stream of a turn that no longer exists.
func (v *Viewer) NotFound() chat.Event {
	ref := v.Ref()
	return chat.Event{Type: chat.EventFailed, TurnID: ref.TurnID, ThreadID: ref.ThreadID, StreamRunID: v.RunID,
		Code: chat.CodeNotFound, Message: messages.ThreadDeleted.Text, Coded: messages.ThreadDeleted.Coded}
}
