package activities

import (
	"context"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
)

// LeasedModel returns m without the calls of activities that have lost their lease: a worker
// that is frozen before a call does not make it when it resumes.
func LeasedModel(m llm.Model) llm.Model { return leasedModel{m} }

type leasedModel struct{ llm.Model }

func (m leasedModel) Structured(ctx context.Context, r llm.Request, schema llm.Schema, out any) (chat.Usage, error) {
	if err := checkLeaseOf(ctx); err != nil {
		return chat.Usage{}, err
	}
	return m.Model.Structured(ctx, r, schema, out)
}

func (m leasedModel) Stream(ctx context.Context, r llm.Request, emit func(delta string) error) (llm.Reply, error) {
	if err := checkLeaseOf(ctx); err != nil {
		return llm.Reply{}, err
	}
	return m.Model.Stream(ctx, r, emit)
}

// checkLeaseOf is checkLease of the activity that ctx belongs to; nil without one.
func checkLeaseOf(ctx context.Context) error {
	if w, watched := ctx.Value(watchKey{}).(*Watch); watched {
		return w.checkLease()
	}
	return nil
}
