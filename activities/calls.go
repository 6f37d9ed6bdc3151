package activities

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/tools"
)

// wanted is a tool call of a model's with the texts that go with it.
type wanted struct {
	Wanted
	texts []db.Text
}

// readCalls makes a model's tool calls ours: with our ids, checked against the
// schemas of what was offered. One that cannot be made gets its result at once,
// for the model to read.
func readCalls(s speech, calls []llm.ToolCall) []wanted {
	var out []wanted
	for _, c := range calls {
		id := chat.CallID(s.TurnID, s.Calls+len(out)+1)
		out = append(out, readCall(s.offered, id, c))
	}
	return out
}

func readCall(offered []tools.Tool, id string, c llm.ToolCall) wanted {
	w := wanted{Wanted: Wanted{CallRef: chat.CallRef{ID: id, Name: c.Name}}}
	given := strings.TrimSpace(strings.ToValidUTF8(c.Arguments, ""))
	if given == "" || given == "null" {
		given = "{}" // how some models call a tool that needs nothing
	}
	var arguments json.RawMessage // none: they are no object, or too large
	if len(given) <= chat.MaxArguments {
		var ok bool
		if arguments, ok = tools.Canonical([]byte(given)); ok {
			w.Hash = tools.Hash(arguments)
		}
	}
	w.texts = []db.Text{{Key: chat.CallKey(id), Text: string(arguments)}}
	i := slices.IndexFunc(offered, func(t tools.Tool) bool { return t.Name == c.Name })
	if i < 0 {
		return w.refuse(fmt.Sprintf("There is no tool called %s.", c.Name))
	}
	t := offered[i]
	if wrong := tools.Misfit(t.Schema, arguments); wrong != "" {
		return w.refuse("The call was not made: " + wrong + ".")
	}
	w.Approval, w.SideEffects, w.Editable = t.Approval, t.SideEffects, t.Approval == tools.Edit
	if w.Editable {
		w.texts = append(w.texts, db.Text{Key: chat.SchemaKey(t.Name), Text: string(t.Schema)})
	}
	return w
}

func (w wanted) refuse(why string) wanted {
	w.Refused = true
	w.texts = append(w.texts, db.Text{Key: chat.ResultKey(w.ID), Text: why})
	return w
}
