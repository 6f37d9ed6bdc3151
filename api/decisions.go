package api

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/tools"
)

// checkDecisions finds what only the turn's texts know: whether arguments that a
// person changed satisfy their tool's schema. Arguments that say the same as the
// model's are dropped. What does not fit is refused before the thread hears of
// it, so that the question stays open.
func (s *server) checkDecisions(ctx context.Context, owner, turnID string, q chat.Question, v *chat.ResumeValue) error {
	if q.Type != chat.ToolApproval || v.Type != chat.ToolApproval ||
		!slices.ContainsFunc(v.Decisions, func(d chat.Decision) bool { return len(d.Arguments) > 0 }) {
		return nil
	}
	texts, err := s.Store.Texts(ctx, owner, turnID)
	if errors.Is(err, db.ErrSettled) {
		return &chat.Refused{Code: chat.CodeNoInterrupt}
	}
	if err != nil {
		return err
	}
	for i := range v.Decisions {
		d := &v.Decisions[i]
		k := slices.IndexFunc(q.Calls, func(c chat.CallRef) bool { return c.ID == d.ID })
		if k < 0 || d.Decision != chat.Approved { // refused, or left aside, by the thread
			continue
		}
		edited, problem := tools.Edited(texts, q.Calls[k], d.Arguments)
		if problem != "" {
			p := describeRefusal(&chat.Refused{Code: chat.CodeBadResume, Message: problem})
			p.details[0].Field = "resume_value.decisions[" + strconv.Itoa(i) + "].arguments"
			return p
		}
		d.Arguments = edited
	}
	return nil
}
