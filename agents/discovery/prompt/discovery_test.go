package prompt

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/boards/board"
	"github.com/palaver-chat/palaver/llm"
)

func boardOf(items int, text string) *board.Board {
	b := &board.Board{Title: "Churn", Goal: "Find out\nwhy"}
	for n := range items {
		b.Items = append(b.Items, board.Item{ID: fmt.Sprintf("F-%d", n+1), Kind: board.Fact, Related: []string{"I-1"}, Status: "draft",
			Version: board.Version{Text: text + fmt.Sprintf(" end %d", n+1)}})
	}
	return b
}

func system(r Request) (string, int) {
	r.Today = time.Date(2026, 2, 3, 0, 0, 0, 0, time.UTC)
	message, cut := Discovery(r)
	return message.Text, cut
}

// Rules K5, K2. The parts of the prompt of the first client.
func TestPromptHasTheBoardInFullWhatItIsAndWhatIsReferredTo(t *testing.T) {
	b := boardOf(2, strings.Repeat("word ", 4000))
	b.Refer("F-9", board.Fact, "Only the client has this.")
	text, cut := system(Request{Board: b, References: []string{"f-2", "F-9", "F-10"}, Threshold: 50, Room: 100_000})
	for _, part := range []string{"You are Factly, an AI research assistant", "Input → Fact → Insight → Recommendation → Output", "Your role:",
		"Current Discovery:\nTitle: Churn\nGoal: Find out why\n", "end 1", "end 2", `"rests_on":["I-1"],"status":"draft"`,
		`{"id":"F-2"}`, `{"id":"F-9","column":"fact","text":"Only the client has this.","not_on_the_board":true}`, `{"id":"F-10","not_on_the_board":true}`} {
		require.Contains(t, text, part)
	}
	require.Zero(t, cut)
	require.NotContains(t, text, "read_document")
	text, _ = system(Request{Board: b, Documents: true, Threshold: 50, Room: 100_000})
	require.Contains(t, text, "read_document")
}

func TestTextsAreCutOnlyWhenTheBoardDoesNotFit(t *testing.T) {
	b := boardOf(40, strings.Repeat("word ", 400))
	text, cut := system(Request{Board: b, Threshold: 50, Room: 5000})
	require.Positive(t, cut)
	require.LessOrEqual(t, llm.EstimateTokens(text), 6500)
	require.Contains(t, text, `"id":"F-40"`, "every item is there")
}

func TestSummaryHasTheFirst200CharactersOfEachItemAndReferencedItemsInFull(t *testing.T) {
	first := strings.Repeat("a", 150) + " " + strings.Repeat("b", 49)
	b := boardOf(1000, first+"Z")
	text, cut := system(Request{Board: b, References: []string{"F-7"}, Threshold: 50, Room: 100_000})
	require.Zero(t, cut)
	require.Equal(t, 1001, strings.Count(text, first), "200 characters of each, and the referenced one")
	require.Contains(t, text, "Z end 7")
	require.NotContains(t, text, "Z end 8")
	text, cut = system(Request{Board: b, Threshold: 50, Room: 30_000})
	require.Positive(t, cut)
	require.Less(t, cut, 200)
	require.Contains(t, text, `"id":"F-1000"`)
}

// Rule K10.
func TestTheWholeChatOfARequestIsToldWithWhatBecameOfProposals(t *testing.T) {
	var history []board.Message
	for n := range 60 {
		history = append(history, board.Message{Role: "user", Content: fmt.Sprintf("question %d", n)})
	}
	history = append(history, board.Message{Role: "assistant", ToolCalls: []board.ToolCall{
		{Tool: "add_item", Params: json.RawMessage(`{"entity_type":"fact","text":"Seven"}`), Status: "cancelled"},
		{Tool: "delete_item", Params: json.RawMessage(`{"item_id":"F-1"}`)}}})
	got, dropped := Imported(history, 8000)
	require.False(t, dropped)
	require.Len(t, got, 61)
	require.Equal(t, "question 0", got[0].Text)
	require.Contains(t, got[60].Text, `add_item {"entity_type":"fact","text":"Seven"}. Status: cancelled.`)
	require.Contains(t, got[60].Text, `delete_item {"item_id":"F-1"}. Status: pending.`)
	got, dropped = Imported(history, 100)
	require.True(t, dropped)
	require.Contains(t, got[len(got)-1].Text, "cancelled", "the newest stay")
}

// Rule K6.
func TestEarlierProposalsTellWhatBecameOfThem(t *testing.T) {
	b := &board.Board{}
	var before []llm.Message
	for state := range outcomes {
		b.Proposals = append(b.Proposals, board.Proposal{ID: string(state), State: state, Reason: "it is full"})
		before = append(before, llm.Message{Role: llm.ToolRole, CallID: string(state), Text: "The person decides."})
	}
	for _, m := range Outcomes(append(before, llm.Message{Role: llm.ToolRole, CallID: "other", Text: "as it was"}), b) {
		require.True(t, m.Text == "as it was" && m.CallID == "other" || strings.HasPrefix(m.Text, outcomes[board.State(m.CallID)]), m.Text)
		require.True(t, m.CallID != string(board.Failed) || strings.Contains(m.Text, "it is full"))
	}
}
