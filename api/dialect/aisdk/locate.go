package aisdk

import (
	"context"
	"slices"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat"
)

// locate finds the turn that a message follows and, for a regenerate request, the
// message's content. It uses only the ids of the client's messages and ignores unknown
// ids.
func (h handlers) locate(ctx context.Context, owner string, in *Request) error {
	ctx, done := request.FractionOfDeadline(ctx, 3) // leaves time for the insert
	defer done()
	content, thread := &in.Submit.Content, in.Submit.ThreadID
	if content.ParentRequest != "" && in.Kind == Send {
		return nil // the client has named the parent
	}
	if _, err := h.Conversation(ctx, owner, thread); err != nil {
		return h.allowNew(err, in)
	}
	if in.Replaces != "" {
		t, known, err := h.turnOf(ctx, owner, thread, in.Replaces, content.Message)
		if err != nil {
			return h.allowNew(err, in)
		}
		if known && in.Kind == Regenerate {
			model := content.Model
			*content, in.Submit.AgentUnset, in.Files = t.Content, false, nil
			if model != "" || !slices.Contains(h.Models(), content.Model) {
				content.Model = model
			}
		}
		if known && t.Parent != "" {
			content.ParentRequest = t.Parent
			return nil
		}
	}
	for _, m := range in.Earlier {
		t, known, err := h.turnOf(ctx, owner, thread, m.ID, "")
		if err != nil {
			return h.allowNew(err, in)
		}
		if known {
			content.ParentRequest = t.ID
			return nil
		}
	}
	if len(in.Earlier) == 0 && (in.Whole || in.Replaces != "") {
		content.ParentRequest = chat.RootCheckpoint
	}
	return nil
}

// allowNew ignores errors for a message that starts a conversation, and for a new
// message while the database is unavailable. Other requests need the rows.
func (h handlers) allowNew(err error, in *Request) error {
	if h.NotFound(err) || in.Kind == Send && in.Replaces == "" && h.Unavailable(err) {
		return nil
	}
	return err
}

// turnOf returns the turn of an AI SDK message, by the id from our stream or history,
// or by the client's own id. Of several turns it prefers the newest whose message is
// text.
func (h handlers) turnOf(ctx context.Context, owner, thread, id, text string) (found chat.Turn, known bool, _ error) {
	t, err := h.Turn(ctx, owner, chat.TurnOf(id))
	if h.NotFound(err) {
		t, err = h.TurnOfMessage(ctx, owner, thread, id)
	}
	switch {
	case err == nil && t.ThreadID == thread && t.Status != chat.TurnNew:
		return t, true, nil
	case err != nil && !h.NotFound(err):
		return t, false, err
	}
	matched := false
	for n := 1; n <= dialect.MaxEditions; n++ {
		t, err := h.TurnOfClient(ctx, owner, thread, ClientTurnID(id, n))
		if h.NotFound(err) {
			break
		}
		if err != nil {
			return t, false, err
		}
		if same := t.Content.Message == text; t.Status != chat.TurnNew && (same || !matched) {
			found, known, matched = t, true, same
		}
	}
	return found, known, nil
}
