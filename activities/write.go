package activities

import (
	"context"
	"slices"

	"github.com/palaver-chat/palaver/agents/documents/prompt"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/documents/cite"
)

// Write streams the answer of a documents turn, or the piece before its next tool
// calls (streamPiece).
func (a *Activities) Write(parent context.Context, r WriteRequest) (Written, error) {
	ctx, w := a.watch(parent, r.TurnID)
	defer w.end()
	return a.write(parent, ctx, w, r, lostAttempt(parent))
}

// write writes the answer. again means that a lost attempt may have shown its beginning.
func (a *Activities) write(parent, ctx context.Context, w *watch, r WriteRequest, again bool) (Written, error) {
	step := string(r.Action)
	m, err := a.gather(ctx, r)
	if err == nil {
		if done, ok := storedPiece(m.texts, r.Stage); ok {
			return done, nil
		}
		err = a.addToolsAndImages(ctx, r, &m)
	}
	if err != nil {
		if w.stopped() {
			return Written{Stopped: true}, nil
		}
		return Written{}, a.endError(w, ctx, r.TurnRef, step, err)
	}
	return a.streamPiece(parent, ctx, w, pieceRequest{
		TurnRef: r.TurnRef, Stage: r.Stage, step: step, request: prompt.Answer(m.Material), offered: m.offered, remembered: m.remembered, before: m.before, again: again,
		filter: cite.New(m.Calls.Sources, m.Quotable...).Continue(m.Calls.Citations),
	})
}

// addToolsAndImages adds the results of the turn's tool calls, the message's pictures,
// and the tools to offer. The offline engine calls no tools.
func (a *Activities) addToolsAndImages(ctx context.Context, r WriteRequest, m *material) (err error) {
	m.Calls, err = a.toolExchange(ctx, r.Owner, m.texts, r.rounds(m.texts), slices.Concat(m.Passages, m.Subject), m.Sources)
	if err != nil {
		return err
	}
	if !a.Model.Info().Offline && r.Action != chat.Talk {
		m.offered = a.offeredTools(ctx, r.Owner, chat.AgentDocuments, m.Calls.Truncated, m.noWeb)
		m.HasTools = len(m.offered) > 0
		if m.remembered, err = a.remembered(ctx, r.TurnRef, m.texts, m.offered); err != nil {
			return err
		}
	}
	m.Message += a.unseenImagesNote(m.attachments)
	m.Images, err = a.images(ctx, r.Owner, m.attachments)
	return err
}
