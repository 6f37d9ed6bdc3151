package audit

import (
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// Decision returns the entry for a person's decision about tool calls, without arguments
// and reasons.
func Decision(owner, thread string, by chat.Channel, q chat.Question, v chat.ResumeValue) db.AuditEntry {
	var calls []map[string]any
	for _, d := range v.Decisions {
		call := map[string]any{"id": d.ID, "decision": d.Decision}
		for _, c := range q.Calls {
			if c.ID == d.ID {
				call["tool"] = c.Name
			}
		}
		if d.Remember {
			call["remember"] = true
		}
		if len(d.Arguments) > 0 {
			call["edited"] = true
		}
		calls = append(calls, call)
	}
	return db.AuditEntry{Kind: Decided, Owner: owner, Channel: string(by),
		Detail: map[string]any{"thread": thread, "interrupt": q.ID, "calls": calls}}
}
