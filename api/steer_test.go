package api

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/chat"
)

// Rule T11.
func TestAMessageThatIsMoreThanWordsDoesNotSteer(t *testing.T) {
	for want, content := range map[chat.OnBusy][]chat.Content{
		chat.Steer:   {{Message: "Only for 2024"}, {Message: "In this one", TaggedDocs: []string{"d"}}},
		chat.Enqueue: {{Message: "And this?", Attachments: []string{"a"}}, {Message: "Sum it up", Action: chat.Summarize}},
	} {
		for _, c := range content {
			require.Equal(t, want, onBusy(dialect.Submit{Content: c, OnBusy: chat.Steer}))
			require.Equal(t, chat.Reject, onBusy(dialect.Submit{Content: c, OnBusy: chat.Reject}))
		}
	}
}
