package documents

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm/openai"
	"github.com/palaver-chat/palaver/testkit/activitytest"
	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/tools"
)

func hitsOf(docs ...string) (hits []chat.Hit) {
	for _, d := range docs {
		hits = append(hits, chat.Hit{Chunk: chat.Chunk{ID: d + "." + string(rune('0'+len(hits))), DocID: d, Text: strings.Repeat("word ", 80)}}) // 140 tokens with its title
	}
	return hits
}

func docIDs(hits []chat.Hit) (ids []string) {
	for _, h := range hits {
		ids = append(ids, h.DocID)
	}
	return ids
}

func TestPassagesAreCutToTheRoomOfASmallWindow(t *testing.T) {
	hits, _, _ := fitPassages(300, chat.Inquire, hitsOf("a", "b", "c", "a"), nil, nil)
	require.Equal(t, []string{"a", "b"}, docIDs(hits), "the best come first")
	hits, _, _ = fitPassages(300, chat.Compare, hitsOf("a", "a", "a", "b", "b"), nil, nil)
	require.Equal(t, []string{"a", "b"}, docIDs(hits), "each document keeps a share")
	hits, _, _ = fitPassages(1, chat.Summarize, hitsOf("a", "b"), nil, nil)
	require.Len(t, hits, 1)
	hits, subject, _ := fitPassages(600, chat.Audit, hitsOf("a", "b", "c"), hitsOf("s", "s", "s"), nil)
	require.Len(t, hits, 2)
	require.Len(t, subject, 2)
	pages := []tools.WebHit{{Text: strings.Repeat("x", 2000)}, {Text: "short"}}
	_, _, cut := fitPassages(800, chat.Inquire, nil, nil, pages)
	require.Len(t, cut[0].Text, 4*(200-passageTokens))
	require.Len(t, pages[0].Text, 2000, "the stored pages stay whole")
	hits, _, _ = fitPassages(0, chat.Inquire, hitsOf("a", "b", "c"), nil, nil)
	require.Len(t, hits, 3, "no bound")
}

// TestLocalModelWithASmallWindowGetsAPromptThatFits: Ollama silently drops the oldest
// messages of a prompt that is too long, and then answers without the documents.
func TestLocalModelWithASmallWindowGetsAPromptThatFits(t *testing.T) {
	for _, action := range []chat.Action{chat.Inquire, chat.Summarize, chat.Audit} {
		b := setup(t)
		server := llmtest.New(t)
		server.SetWindow(llmtest.Window{Tokens: 4096})
		b.Kit.Model = openai.New(openai.Config{Provider: "ollama", BaseURL: server.URL, Name: "qwen3", ContextTokens: 4096})
		look, large := activitytest.ReadTool("look"), activitytest.ReadTool("large")
		large.Description = strings.Repeat("Looks. ", 400)
		b.Equip(look, large)
		b.TalkAtLength(3)
		d := b.Doc("Leave Policy", strings.Repeat(leave+" ", 600))
		ref := b.Say("How many days of leave do staff get?")
		var chunks []string
		list, err := b.Store.DocumentChunks(t.Context(), owner, d, 40)
		require.NoError(t, err)
		for _, h := range list {
			chunks = append(chunks, h.ID)
		}
		w := b.write(ref, WriteRequest{Action: action, DocIDs: []string{d}, ChunkIDs: chunks})
		require.Positive(t, w.Chars)
		require.Equal(t, chat.NoticeSummarized, w.History)
		for _, r := range server.Requests() {
			require.False(t, r.Truncated, "%s: the server cut the prompt", action)
		}
		last := server.Requests()[len(server.Requests())-1]
		require.Contains(t, last.LastUser, "How many days of leave do staff get?")
		require.Contains(t, last.LastUser, "<passage id=\"1\"")
		require.Equal(t, []string{"look"}, last.Tools, "%s: a large definition has no room", action)
	}
}
