package api

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/tools"
)

// checkDecisions checks whether arguments that a person changed satisfy the tool's
// schema, which is in the turn's texts. Arguments equal to the model's are dropped.
// Invalid arguments are refused before the thread gets them, so that the question
// stays open.
func (s *server) checkDecisions(ctx context.Context, owner, turnID string, q chat.Question, v *chat.ResumeValue) error {
	if q.Type != chat.ToolApproval || v.Type != chat.ToolApproval ||
		!slices.ContainsFunc(v.Decisions, func(d chat.Decision) bool { return len(d.Arguments) > 0 }) {
		return nil
	}
	texts, err := s.Store.Texts(ctx, owner, turnID)
	if errors.Is(err, db.ErrSettled) {
		return &chat.RefusedError{Code: chat.CodeNoInterrupt}
	}
	if err != nil {
		return err
	}
	for i := range v.Decisions {
		d := &v.Decisions[i]
		k := slices.IndexFunc(q.Calls, func(c chat.CallRef) bool { return c.ID == d.ID })
		if k < 0 || d.Decision != chat.Approved { // the thread refuses or ignores it
			continue
		}
		edited, invalid := tools.Edited(texts, q.Calls[k], d.Arguments)
		if invalid != nil {
			p := describeRefusal(&chat.RefusedError{Code: chat.CodeBadResume})
			p.Details = detailsOf(invalid, "resume_value.decisions["+strconv.Itoa(i)+"].arguments")
			return p
		}
		d.Arguments = edited
	}
	return nil
}

// detailsOf names each argument that is invalid, below field: field.size.
func detailsOf(invalid *tools.Invalid, field string) dialect.Problems {
	if invalid.Whole != "" {
		return dialect.Problems{{Field: field, Problem: invalid.Whole}}
	}
	var out dialect.Problems
	for _, p := range invalid.Problems {
		out.Add(strings.Join(append([]string{field}, p.At...), "."), p.Text)
	}
	return out
}
