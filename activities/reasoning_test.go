package activities_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/testkit/activitytest"
)

// Row W02: white space that a model writes before a tool call is no answer.
func TestWhiteSpaceBeforeACallIsNoAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Model.OnStream = activitytest.StreamText("\n\n", " \n")
	b.Equip(activitytest.ReadTool("look"))
	b.Model.Reply.Calls = []llm.ToolCall{activitytest.Call("look", "{}")}
	w := b.think(b.Ask("How many?"))
	require.Empty(t, b.Bus.Deltas(), "nothing is published that is taken back later")
	require.Zero(t, w.Chars)
}

func TestReasoningIsPublishedApartAndKept(t *testing.T) {
	t.Parallel()
	for _, hidden := range []bool{false, true} {
		b := setup(t)
		b.HideReasoning = hidden
		b.Model.OnStream = func(_ context.Context, emit func(string) error) error {
			think := b.Model.Last().Reasoning
			think("hm, ")
			think("hm")
			return emit("Ten.")
		}
		b.Model.Reply.Reasoning = "hm, hm"
		r := b.Ask("How many?")
		w := b.think(r)
		var thought, text string
		for _, d := range b.Bus.Deltas() {
			if d.Reasoning {
				require.Equal(t, len(thought), d.Offset)
				thought += d.Text
			} else {
				text += d.Text
			}
		}
		require.Equal(t, "Ten.", text)
		require.Equal(t, 4, w.Chars)
		require.Equal(t, hidden, thought == "")
		require.Equal(t, hidden, w.Thought == 0)
		texts, err := b.Store.Texts(context.Background(), owner, r.TurnID)
		require.NoError(t, err)
		require.Equal(t, "hm, hm", texts[chat.ReasoningKey(1)], "the turn's next model call may need it")
		require.Equal(t, "Ten.", texts[chat.PieceKey(1)])
	}
}

func TestTextThatWasReasoningIsTakenBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Model.OnStream = func(_ context.Context, emit func(string) error) error {
		_ = emit("Let me doubt it.")
		b.Model.Last().Retract()
		return emit("Ten.")
	}
	r := b.Ask("How many?")
	b.think(r)
	texts, err := b.Store.Texts(context.Background(), owner, r.TurnID)
	require.NoError(t, err)
	require.Equal(t, "Ten.", texts[chat.PieceKey(1)])
}

// Row B05: an answer that was cut off is continued once; then a notice says that it is not
// complete.
func TestAnswerThatWasCutOffIsContinuedOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first, second llm.Finish
		calls         int
		text, notice  string
	}{
		"complete":     {llm.FinishStop, "", 1, "One,", ""},
		"limit":        {llm.FinishLength, llm.FinishStop, 2, "One, two.", ""},
		"limit, twice": {llm.FinishLength, llm.FinishLength, 2, "One, two.", chat.NoticeAnswerCut},
		"given up":     {llm.FinishAbort, llm.FinishAbort, 2, "One, two.", chat.NoticeAnswerBroken},
		"filter":       {llm.FinishFilter, "", 1, "One,", chat.NoticeAnswerFiltered},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.Model.Finishes = []llm.Finish{c.first, c.second}
			b.Model.OnStream = func(_ context.Context, emit func(string) error) error {
				if b.Model.Calls() == 1 {
					return emit("One,")
				}
				return emit(" two.")
			}
			r := b.Ask("How many?")
			w := b.think(r)
			texts, err := b.Store.Texts(context.Background(), owner, r.TurnID)
			require.NoError(t, err)
			require.Equal(t, c.text, texts[chat.PieceKey(1)])
			require.Equal(t, c.notice, w.Cut)
			require.Equal(t, c.calls, b.Model.Calls())
			require.Equal(t, c.calls, w.Usage.Calls)
		})
	}
}
