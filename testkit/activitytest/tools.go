package activitytest

import (
	"context"
	"encoding/json"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/tools"
)

// ReadTool is a tool without side effects.
func ReadTool(name string) tools.Tool {
	return tools.Tool{
		Name: name, Description: "Looks.", Approval: tools.Never,
		Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"],"additionalProperties":false}`),
		Run: func(context.Context, tools.Call) (tools.Result, error) {
			return tools.Result{Content: "nothing"}, nil
		},
	}
}

// SendTool is the tool "send", which has side effects; run may be nil.
func SendTool(run func(context.Context, tools.Call) (tools.Result, error)) tools.Tool {
	t := ReadTool("send")
	t.Approval, t.SideEffects = tools.Edit, true
	if run != nil {
		t.Run = run
	}
	return t
}

// Equip gives the agents these tools, and the one that reads on in a long result.
func (f *Fixture) Equip(list ...tools.Tool) {
	f.Tools = tools.NewBox(f.Log, tools.List(append(list, tools.ReadResult(f.Store))))
}

// Call is a tool call of a model.
func Call(name, arguments string) llm.ToolCall {
	return llm.ToolCall{ID: "of the provider", Name: name, Arguments: arguments}
}

// AddRound adds a round in which a tool was called, and its result. The round has piece of the
// answer, if that is not 0.
func (f *Fixture) AddRound(s *Step, piece int, name, arguments, result string, shown ...string) {
	f.T.Helper()
	s.Calls++
	id := chat.CallID(s.TurnID, s.Calls)
	f.Put(s.TurnRef, chat.CallKey(id), arguments)
	f.Put(s.TurnRef, chat.ResultKey(id), result)
	if len(shown) > 0 {
		f.PutJSON(s.TurnRef, chat.ShownKey(id), shown)
	}
	f.PutJSON(s.TurnRef, chat.DoneKey(id), activities.CallResult{})
	s.Round++
	f.PutJSON(s.TurnRef, chat.SaidKey(s.Round), activities.ModelResult{Chars: piece, Calls: []activities.RequestedCall{{CallRef: chat.CallRef{ID: id, Name: name}}}})
	if piece > 0 {
		s.Piece = piece + 1
	}
}
