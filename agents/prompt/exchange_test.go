package prompt

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/llm"
)

func TestModelIsToldOfCallsThatDidNotRun(t *testing.T) {
	var e Exchange
	call := func(id string) Call {
		return Call{ToolCall: llm.ToolCall{ID: id, Name: "look", Arguments: `{}`}, Result: "a lamp"}
	}
	e.Add("", "", []Call{call("a"), call("b")}, 84)
	require.Len(t, e.Messages, 3)
	require.NotContains(t, e.Messages[1].Text, "did not run")
	require.Regexp(t, `(?s)^<tool_result tool="look">.*a lamp.*</tool_result>\n84 more of your calls did not run: at most 16 run at once`, e.Messages[2].Text)
}
