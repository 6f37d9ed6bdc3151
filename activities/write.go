package activities

import (
	"context"
	"slices"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/retrieval/cite"
)

// Write streams the answer of a documents turn, or the piece of it that comes
// before tool calls (speak).
func (a *Activities) Write(parent context.Context, r WriteRequest) (Written, error) {
	ctx, w := a.watch(parent, r.TurnID)
	defer w.end()
	step := string(r.Action)
	m, err := a.gather(ctx, r)
	if err == nil {
		if done, ok := spoken(m.texts, r.Stage); ok {
			return done, nil
		}
		err = a.equip(ctx, r, &m)
	}
	if err != nil {
		if w.stopped() {
			return Written{Stopped: true}, nil
		}
		return Written{}, a.outcome(w, ctx, r.TurnRef, step, err)
	}
	return a.speak(parent, ctx, w, speech{
		TurnRef: r.TurnRef, Stage: r.Stage, step: step, request: answerPrompt(m), offered: m.offered,
		filter: cite.New(m.before.sources, m.allowed...).GoOn(m.before.citations),
	})
}

// equip adds what the turn's tool calls brought, the message's pictures, and the
// tools that may be called. The offline engine answers from passages alone.
func (a *Activities) equip(ctx context.Context, r WriteRequest, m *material) (err error) {
	m.before, err = a.exchanged(ctx, r.Owner, m.texts, r.rounds(m.texts), slices.Concat(m.passages, m.subject), m.sources)
	if err != nil {
		return err
	}
	if !a.Model.Info().Offline {
		m.offered = a.offered(ctx, r.Owner, chat.AgentDocuments, m.before.cut)
	}
	m.message += a.unseen(m.attachments)
	m.images, err = a.images(ctx, r.Owner, m.attachments)
	return err
}
