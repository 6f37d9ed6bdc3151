package workflows_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/workflows"
)

// TestRecordedHistoriesReplay keeps changes to workflow code honest: threads
// that run today must go on under tomorrow's code. Record new ones with
// RECORD_HISTORIES=1 in standalone's tests, one for each change of the story.
func TestRecordedHistoriesReplay(t *testing.T) {
	files, err := filepath.Glob("testdata/histories/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files, "recorded histories are part of the repository")
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			replayer, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{DisableDeadlockDetection: true}) // a busy machine is none
			require.NoError(t, err)
			threads := &workflows.Threads{Hint: func(string, int) { t.Error("a hint was given while replaying") }}
			replayer.RegisterWorkflowWithOptions(threads.Thread, workflow.RegisterOptions{Name: workflows.ThreadType})
			replayer.RegisterWorkflowWithOptions(workflows.Ingest, workflow.RegisterOptions{Name: workflows.IngestType})
			require.NoError(t, replayer.ReplayWorkflowHistoryFromJSONFile(nil, file))
		})
	}
}
