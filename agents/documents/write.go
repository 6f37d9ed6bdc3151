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
func (a *Activities) Write(parent context.Context, ref activities.TurnRef, stage activities.Stage, r WriteRequest) (activities.ModelResult, error) {
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
			return activities.ModelResult{Stopped: true}, nil
		}
		return activities.ModelResult{}, a.EndError(w, ctx, ref, string(r.Action), err)
	}
	filter := cite.New(m.Calls.Sources, m.quotable()...).CheckDocuments(a.DocumentTexts(ctx, ref, m.Calls.Sources, r.DocIDs...)).Continue(m.Calls.Citations)
	if !a.Model.Info().Offline { // its figures are those of the passages, or counted from them
		filter = filter.CheckFigures(m.Calls.Computed()...)
	}
	return a.StreamPiece(parent, ctx, w, activities.PieceRequest{
		TurnRef: ref, Stage: stage, Step: string(r.Action), Request: prompt.Answer(m.Material), Offered: m.offered, Remembered: m.remembered, Before: m.before,
		Filter: filter,
	})
}

// quotable returns the texts that may be quoted without being cited: what the person wrote,
// and the names of documents.
func (m *material) quotable() []string {
	texts := slices.Clone(m.Quotable)
	for _, x := range m.Recent {
		if x.Role == "user" {
			texts = append(texts, x.Content)
		}
	}
	for _, d := range m.Documents {
		texts = append(append(texts, d.Title), d.Names...)
	}
	return texts
}

// addToolsAndImages adds the results of the turn's tool calls, the message's pictures,
// and the tools to offer. The offline engine calls no tools.
func (a *Activities) addToolsAndImages(ctx context.Context, ref activities.TurnRef, stage activities.Stage, action chat.Action, m *material) (err error) {
	m.Calls, err = a.ToolExchange(ctx, ref.Owner, m.texts, stage, slices.Concat(m.Passages, m.Subject), m.Sources)
	if err != nil {
		return err
	}
	m.Guidance = stage.Guidance(m.texts)
	if !a.Model.Info().Offline && action != chat.Talk && !stage.Last {
		m.offered = a.OfferedTools(ctx, ref.Owner, chat.AgentDocuments, m.Calls.Truncated, m.noWeb)
		m.HasTools = len(m.offered) > 0
		if m.remembered, err = a.RememberedApprovals(ctx, ref, m.texts, m.offered); err != nil {
			return err
		}
	}
	m.Message += a.UnseenImagesNote(ref.Model, m.attachments)
	m.Images, err = a.Images(ctx, ref.Owner, ref.Model, m.attachments)
	return err
}
