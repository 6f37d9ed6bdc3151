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

// callWithTexts is a tool call that a model asked for, with its texts.
type callWithTexts struct {
	RequestedCall
	texts []db.Text
}

// readCalls gives a model's tool calls our ids and checks them against the schemas of
// the offered tools. A call that cannot be made gets an error result for the model.
func readCalls(s PieceRequest, calls []llm.ToolCall) []callWithTexts {
	var out []callWithTexts
	for _, c := range calls {
		id := chat.CallID(s.TurnID, s.Calls+len(out)+1)
		out = append(out, readCall(s, id, c))
	}
	return out
}

func readCall(s PieceRequest, id string, c llm.ToolCall) callWithTexts {
	w := callWithTexts{RequestedCall: RequestedCall{CallRef: chat.CallRef{ID: id, Name: c.Name}}}
	given := strings.TrimSpace(strings.ToValidUTF8(c.Arguments, ""))
	if given == "" || given == "null" {
		given = "{}" // some models call a tool without arguments like this
	}
	var arguments json.RawMessage // nil: not a JSON object, or too large
	i := slices.IndexFunc(s.Offered, func(t tools.Tool) bool { return t.Name == c.Name })
	if len(given) <= chat.MaxArguments {
		if i >= 0 {
			given = string(tools.Meant(s.Offered[i].Schema, []byte(given)))
		}
		var ok bool
		if arguments, ok = tools.Canonical([]byte(given)); ok {
			w.Hash = tools.Hash(arguments)
		}
	}
	w.texts = []db.Text{{Key: chat.CallKey(id), Text: string(arguments)}}
	if i < 0 {
		return w.refuse(fmt.Sprintf("There is no tool called %s.", c.Name))
	}
	t := s.Offered[i]
	w.Pin = t.Pin
	if wrong := tools.Misfit(t.Schema, arguments); wrong != "" {
		return w.refuse("The call was not made: " + wrong + ".")
	}
	w.Approval, w.SideEffects, w.Editable = t.Approval, t.SideEffects, t.Approval == tools.Edit
	if w.Pin != "" && slices.Contains(s.Remembered, w.ApprovalName()) {
		w.Approval = tools.Never
	}
	if w.Approval != tools.Never || t.SideEffects { // a call with side effects is asked about when its outcome is unknown
		w.texts = append(w.texts, toolTexts(t)...)
	}
	return w
}

// toolTexts returns what a person reads about a tool, and the schema that edited arguments
// must satisfy.
func toolTexts(t tools.Tool) []db.Text {
	info, _ := json.Marshal(t.Info()) // only strings: it cannot fail
	return []db.Text{{Key: chat.SchemaKey(t.Name), Text: string(t.Schema)}, {Key: chat.ToolKey(t.Name), Text: string(info)}}
}

func (w callWithTexts) refuse(why string) callWithTexts {
	w.Refused = true
	w.texts = append(w.texts, db.Text{Key: chat.ResultKey(w.ID), Text: why})
	return w
}
