package prompt

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
)

func TestAnswersToQuestionsAreNotWhatThePersonAsks(t *testing.T) {
	messages := []chat.Message{
		{ID: "t1.m0", Role: "user", Content: "the policy"},
		{ID: "t1.m1", Role: "system", Content: "Please choose:"},
		{ID: "t1.m2", Role: "user", Content: "Inquire"},
		{ID: "t1.m3", Role: "assistant", Content: "It says much."},
	}
	said := Said(messages)
	require.Len(t, said, 2)
	require.Equal(t, "the policy", said[0].Text)
	require.Contains(t, Recent(messages)[1].Text, "answer to a question")
}

func TestNextPromptHasTheHeadAndTheTailOfAStoppedAnswer(t *testing.T) {
	said := func(text string) chat.Message {
		return chat.Message{Role: "assistant", Content: text, Metadata: map[string]any{"interrupted": true}}
	}
	long := Recent([]chat.Message{said(strings.Repeat("word [1] ", 500) + "the last word")})[0].Text
	require.True(t, strings.HasPrefix(long, "(This answer was stopped before its end. It began: word word"), long)
	require.True(t, strings.HasSuffix(long, "the last word)"), long)
	require.Less(t, len(long), 1500)
	require.Equal(t, "(This answer was stopped before its end. So far: The fee is)", Recent([]chat.Message{said("The fee is")})[0].Text)
	require.Equal(t, "(This answer was stopped before its first word.)", Recent([]chat.Message{said("")})[0].Text)
}
