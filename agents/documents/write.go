package documents

import (
	"context"
	"slices"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/agents/documents/prompt"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/documents/cite"
)

// Write streams the answer of a documents turn, or the piece before its next tool
// calls (activities.Kit.StreamPiece).
func (a *Activities) Write(parent context.Context, ref activities.TurnRef, stage activities.Stage, r WriteRequest) (activities.Written, error) {
	ctx, w := a.Watch(parent, ref.TurnID)
	defer w.End()
	m, err := a.gather(ctx, ref, r)
	if err == nil {
		if done, ok := activities.StoredPiece(m.texts, stage); ok {
			return done, nil
		}
		err = a.addToolsAndImages(ctx, ref, stage, r.Action, &m)
	}
	if err != nil {
		if w.Stopped() {
			return activities.Written{Stopped: true}, nil
		}
		return activities.Written{}, a.EndError(w, ctx, ref, string(r.Action), err)
	}
	return a.StreamPiece(parent, ctx, w, activities.PieceRequest{
		TurnRef: ref, Stage: stage, Step: string(r.Action), Request: prompt.Answer(m.Material), Offered: m.offered, Remembered: m.remembered, Before: m.before,
		Filter: cite.New(m.Calls.Sources, m.Quotable...).Continue(m.Calls.Citations),
	})
}

// addToolsAndImages adds the results of the turn's tool calls, the message's pictures,
// and the tools to offer. The offline engine calls no tools.
func (a *Activities) addToolsAndImages(ctx context.Context, ref activities.TurnRef, stage activities.Stage, action chat.Action, m *material) (err error) {
	m.Calls, err = a.ToolExchange(ctx, ref.Owner, m.texts, stage, slices.Concat(m.Passages, m.Subject), m.Sources)
	if err != nil {
		return err
	}
	if !a.Model.Info().Offline && action != chat.Talk {
		m.offered = a.OfferedTools(ctx, ref.Owner, chat.AgentDocuments, m.Calls.Truncated, m.noWeb)
		m.HasTools = len(m.offered) > 0
		if m.remembered, err = a.RememberedApprovals(ctx, ref, m.texts, m.offered); err != nil {
			return err
		}
	}
	m.Message += a.UnseenImagesNote(m.attachments)
	m.Images, err = a.Images(ctx, ref.Owner, m.attachments)
	return err
}
