package activities_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/audit"
	"github.com/palaver-chat/palaver/documents/retrieval"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/testkit/activitytest"
	"github.com/palaver-chat/palaver/tools"
	"github.com/palaver-chat/palaver/tools/lookup"
)

func TestEmbeddingsOfAToolsSearchCountInItsResult(t *testing.T) {
	b := setup(t)
	b.Model.OnEmbed = activitytest.SameVector
	search := lookup.SearchDocuments(retrieval.New(b.Store, b.Kit.Model), b.Store)
	got, err := b.RunTool(context.Background(), tools.Tool{Timeout: time.Minute, Run: search.Run}, tools.Call{Owner: owner, Arguments: []byte(`{"query":"leave in the first year"}`)})
	require.NoError(t, err)
	require.Equal(t, llm.EstimateTokens("leave in the first year"), got.Usage.Tokens())
}

func TestDecisionsWithoutTheAPIAreAudited(t *testing.T) {
	for channel, want := range map[chat.Channel]int{chat.BySignal: 1, chat.ByServer: 1, chat.ByPage: 0, "": 0} {
		t.Run(string(channel), func(t *testing.T) {
			b := setup(t)
			log := audit.Open(b.Store, slog.New(slog.DiscardHandler))
			b.Audit = log
			r := b.wanting(activitytest.SendTool(nil), `{"query":"marzipan"}`)
			b.Put(r.TurnRef, chat.SchemaKey("send"), string(activitytest.ReadTool("").Schema))
			request := activities.DecideRequest{TurnRef: r.TurnRef, Channel: channel,
				Question: chat.Question{ID: "q", Type: chat.ToolApproval, Prompt: chat.PromptApproveTools, Calls: []chat.CallRef{r.CallRef}},
				Value:    chat.ResumeValue{Type: chat.ToolApproval, Decisions: []chat.Decision{{ID: r.ID, Decision: chat.Rejected, Reason: "marzipan"}}}}
			must[activities.DecideResult](b, b.Decide, request)
			request.Check = true
			must[activities.DecideResult](b, b.Decide, request)
			log.Close()
			entries, err := b.Store.AuditEntries(context.Background(), db.AuditFilter{Owner: owner, Kind: audit.Decided}, 0, 10)
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
