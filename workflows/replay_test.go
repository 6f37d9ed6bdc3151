package workflows_test

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/documents/ingest"
	"github.com/palaver-chat/palaver/imports/flow"
	"github.com/palaver-chat/palaver/testkit/clerk"
	"github.com/palaver-chat/palaver/testkit/must"
	"github.com/palaver-chat/palaver/workflows"
)

// TestRecordedHistoriesReplay replays histories that earlier releases recorded:
// threads that are open during an upgrade must go on under the new code. There is a
// folder per version of the rules, with a history for each path of a thread.
// docs/upgrades.md says when to record new ones.
func TestRecordedHistoriesReplay(t *testing.T) {
	files := must.Have(filepath.Glob("testdata/histories/*/*.json.gz"))(t)
	require.NotEmpty(t, files, "recorded histories are part of the repository")
	agents := must.Have(clerk.Agents())(t)
	for _, file := range files {
		t.Run(strings.TrimPrefix(file, "testdata/histories/"), func(t *testing.T) {
			t.Parallel()
			replayer, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{DisableDeadlockDetection: true}) // a busy machine is no deadlock
			require.NoError(t, err)
			threads := &workflows.Threads{Agents: agents, Prepare: flow.First, Hint: func(string, int) { t.Error("Hint was called during replay") }}
			replayer.RegisterWorkflowWithOptions(threads.Thread, workflow.RegisterOptions{Name: workflows.ThreadType})
			replayer.RegisterWorkflowWithOptions(ingest.Workflow, workflow.RegisterOptions{Name: workflows.IngestType})
			replayer.RegisterWorkflowWithOptions(flow.Workflow, workflow.RegisterOptions{Name: workflows.ImportType})
			require.NoError(t, replayer.ReplayWorkflowHistory(nil, readHistory(t, file)))
		})
	}
}

func readHistory(t *testing.T, path string) *historypb.History {
	t.Helper()
	file := must.Have(os.Open(path))(t)
	defer file.Close()
	unzipped := must.Have(gzip.NewReader(file))(t)
	h := must.Have(client.HistoryFromJSON(unzipped, client.HistoryJSONOptions{}))(t)
	return h
}

// TestHistoriesReadLikeTheirTurns compares the steps of recorded turns, as Temporal's Web UI
// shows them, with the lists of docs/architecture.md.
func TestHistoriesReadLikeTheirTurns(t *testing.T) {
	docs := must.Have(os.ReadFile("../docs/architecture.md"))(t)
	for _, name := range []string{"plain", "asked", "tools", "import"} {
		steps := stepsOfFirstTurn(t, readHistory(t, "testdata/histories/v1/"+name+"-1-1.json.gz"))
		require.Contains(t, string(docs), strings.Join(steps, "\n"), name)
	}
}

// stepsOfFirstTurn lists the steps up to the one that settles the turn: activities (a), and
// markers of look-ups (m), with their summaries, and the updates that people cause.
func stepsOfFirstTurn(t *testing.T, h *historypb.History) (steps []string) {
	t.Helper()
	for _, e := range h.Events {
		var summary string
		if m := e.GetUserMetadata().GetSummary(); m != nil {
			require.NoError(t, converter.GetDefaultDataConverter().FromPayload(m, &summary))
		}
		switch e.EventType {
		case enums.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
			steps = append(steps, "a  "+summary)
		case enums.EVENT_TYPE_MARKER_RECORDED:
			steps = append(steps, "m  "+summary)
		case enums.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED:
			steps = append(steps, "   update "+e.GetWorkflowExecutionUpdateAcceptedEventAttributes().GetAcceptedRequest().GetInput().GetName())
		}
		if summary == "Settle the turn" {
			return steps
		}
	}
	return steps
}
