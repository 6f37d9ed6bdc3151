package activities

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/documents/retrieval"
	"github.com/palaver-chat/palaver/internal/audit"
	"github.com/palaver-chat/palaver/internal/tools"
	"github.com/palaver-chat/palaver/llm"
)

func oneVector(texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i := range out {
		out[i] = []float32{1, 0}
	}
	return out, nil
}

func TestEmbeddingOfAQuestionCountsInItsTurn(t *testing.T) {
	b := setup(t)
	b.Activities.Search = retrieval.New(b.store, b.Activities.Model)
	doc := b.doc("Leave policy", leave)
	r := b.say("How many days of leave are there in a year?")
	plain := must[Retrieved](b, b.Retrieve, RetrieveRequest{TurnRef: r, Action: chat.Inquire, DocIDs: []string{doc}})
	require.Zero(t, plain.Usage, "no model embeds")

	b.model.embed = oneVector
	paid := must[Retrieved](b, b.Retrieve, RetrieveRequest{TurnRef: r, Action: chat.Inquire, DocIDs: []string{doc}})
	require.Positive(t, paid.Usage.Tokens())
}

func TestEmbeddingsOfAToolsSearchCountInItsResult(t *testing.T) {
	b := setup(t)
	b.model.embed = oneVector
	search := tools.SearchDocuments(retrieval.New(b.store, b.Activities.Model), b.store)
	got, err := b.runTool(context.Background(), tools.Tool{Timeout: time.Minute, Run: search.Run}, tools.Call{Owner: owner, Arguments: []byte(`{"query":"leave in the first year"}`)})
	require.NoError(t, err)
	require.Equal(t, llm.EstimateTokens("leave in the first year"), got.Usage.Tokens())
}

func TestDecisionsWithoutTheAPIAreAudited(t *testing.T) {
	for channel, want := range map[chat.Channel]int{chat.BySignal: 1, chat.ByServer: 1, chat.ByPage: 0, "": 0} {
		t.Run(string(channel), func(t *testing.T) {
			b := setup(t)
			log := audit.Open(b.store, slog.New(slog.DiscardHandler))
			b.Audit = log
			r := b.wanting(sending(nothing), `{"query":"marzipan"}`)
			b.put(r.TurnRef, chat.SchemaKey("send"), string(noting("").Schema))
			request := DecideRequest{TurnRef: r.TurnRef, Channel: channel,
				Question: chat.Question{ID: "q", Type: chat.ToolApproval, Prompt: chat.PromptApproveTools, Calls: []chat.CallRef{r.CallRef}},
				Value:    chat.ResumeValue{Type: chat.ToolApproval, Decisions: []chat.Decision{{ID: r.ID, Decision: chat.Rejected, Reason: "marzipan"}}}}
			must[Decided](b, b.Decide, request)
			request.Check = true
			must[Decided](b, b.Decide, request)
			log.Close()
			entries, err := b.store.AuditEntries(context.Background(), db.AuditFilter{Owner: owner, Kind: audit.Decided}, 0, 10)
			require.NoError(t, err)
			require.Len(t, entries, want, "a check is no decision, and the API records its own")
			for _, e := range entries {
				require.Equal(t, string(channel), e.Channel)
				require.Equal(t, r.ThreadID, e.Detail["thread"])
				require.Equal(t, []any{map[string]any{"id": r.ID, "decision": "rejected", "tool": "send"}}, e.Detail["calls"])
			}
		})
	}
}
