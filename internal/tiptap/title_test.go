package tiptap

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
)

// Rule C7.
func TestTitleIsTheQuestionAndNotTheFilesThatWereAttached(t *testing.T) {
	doc := json.RawMessage(`{"type":"doc","content":[{"type":"paragraph","content":[
		{"type":"mention","attrs":{"id":"1","category":"document","label":"Lease"}},
		{"type":"mention","attrs":{"id":"2","category":"document","label":"Lease Bremen"}},
		{"type":"mention","attrs":{"id":"3","category":"set","label":"Contracts"}}]}]}`)
	for message, want := range map[string]string{
		"@Lease Bremen @Lease When is the rent due?": "When is the rent due?",
		"@Contracts\nsummarize":                      "summarize",
		"@Lease":                                     "Lease",
		"@Lease @Lease Bremen":                       "Lease Lease Bremen",
		"Compare @Lease with @Lease Bremen":          "Compare Lease with Lease Bremen",
		"@Leaseholders are angry":                    "@Leaseholders are angry",
		"@palaver when is it due?":                   "@palaver when is it due?",
	} {
		require.Equal(t, want, TitleWords(chat.Content{Message: message, TipTap: doc}), message)
	}
	require.Equal(t, "@Lease is due", TitleWords(chat.Content{Message: "@Lease is due"}), "nothing is mentioned")
}
