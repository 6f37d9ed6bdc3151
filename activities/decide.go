package activities

import (
	"context"
	"slices"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/audit"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/tools"
)

// NoAnswerInTime is the reason of a rejection by timeout. Recorded histories contain
// it.
const NoAnswerInTime = "nobody answered in time"

// Decide applies a person's decisions about tool calls: it stores edited arguments,
// and gives rejected calls their result. Edited arguments that do not fit the tool's
// schema are a Misfit, and then the call is rejected. So is an approval whose stored part is
// lost: the original arguments may not be the approved ones. It is idempotent.
func (a *Activities) Decide(ctx context.Context, r DecideRequest) (DecideResult, error) {
	texts, err := a.Store.Texts(ctx, r.Owner, r.TurnID)
	if err != nil {
		return DecideResult{}, a.Fail(ctx, r.TurnRef, "decide", err)
	}
	_, stored := texts[r.Value.Ref]
	lost := r.Value.Ref != "" && !stored // an older backup was restored
	r.Value = r.Value.Whole(texts)
	var out DecideResult
	var kept []db.Text
	for _, call := range r.Question.Calls {
		i := slices.IndexFunc(r.Value.Decisions, func(d chat.Decision) bool { return d.ID == call.ID })
		if i < 0 { // ResumeValue.Fits rules this out
			out.Misfit = true
			continue
		}
		key, text, run := decided(texts, r.Question.Prompt, call, r.Value.Decisions[i])
		if lost && run { // the person may have changed the arguments
			key, text, run = chat.ResultKey(call.ID), "The call was not made: what the person decided was lost.", false
		}
		if run {
			out.Run = append(out.Run, call.ID)
			if key == chat.EditedKey(call.ID) {
				if out.Hashes == nil {
					out.Hashes = map[string]string{}
				}
				out.Hashes[call.ID] = tools.Hash([]byte(text))
			}
			if r.Value.Decisions[i].Remember {
				out.Remember = append(out.Remember, call.ApprovalName())
			}
		}
		out.Misfit = out.Misfit || !run && r.Value.Decisions[i].Decision == chat.Approved
		if key != "" {
			kept = append(kept, db.Text{Key: key, Text: text})
		}
	}
	out.Remember = language.Distinct(out.Remember)
	for _, name := range out.Remember {
		kept = append(kept, db.Text{Key: chat.RememberedKey(name)})
	}
	if len(kept) > 0 && !r.Check {
		if err := a.PutTexts(ctx, r.TurnRef, kept...); err != nil {
			return DecideResult{}, a.Fail(ctx, r.TurnRef, "decide", err)
		}
	}
	a.auditDecisions(r)
	return out, nil
}

// auditDecisions records decisions that did not come through the API, which records
// its own.
func (a *Activities) auditDecisions(r DecideRequest) {
	if r.Check || r.Channel != chat.BySignal && r.Channel != chat.ByServer {
		return
	}
	a.Audit.Record(audit.Decision(r.Owner, r.ThreadID, r.Channel, r.Question, r.Value))
}

// decided is the text to store for a decision, and whether the call is to be made.
func decided(texts map[string]string, prompt chat.PromptCode, call chat.CallRef, d chat.Decision) (key, text string, run bool) {
	result := chat.ResultKey(call.ID)
	if d.Decision == chat.Rejected {
		return result, rejection(prompt, d.Reason), false
	}
	edited, invalid := tools.Edited(texts, call, d.Arguments)
	switch {
	case invalid != nil:
		return result, "The call was not made: the person changed its arguments, and " + invalid.Error() + ".", false
	case edited != nil:
		return chat.EditedKey(call.ID), string(edited), true
	}
	return "", "", true
}

func rejection(prompt chat.PromptCode, reason string) string {
	text := "The person rejected this call"
	switch {
	case prompt == chat.PromptUnknownOutcome:
		text = "The outcome is unknown: the process died while the tool ran. The person does not want it run again"
	case reason == NoAnswerInTime:
		return "The call was not made: " + NoAnswerInTime + "."
	}
	if reason == "" {
		return text + "."
	}
	return text + ": " + reason
}
