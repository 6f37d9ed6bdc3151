package flow_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/imports/flow"
	"github.com/palaver-chat/palaver/workflows"
)

// steps are activities of an import.
type steps struct {
	env                      *testsuite.TestWorkflowEnvironment
	look                     func(n int) (flow.LookResult, error) // n counts the calls
	finish                   func(n int) bool                     // true: the import has ended
	looked, finished, failed int
}

func (s *steps) LookImport(context.Context, workflows.ImportRequest) (flow.LookResult, error) {
	s.looked++
	return s.look(s.looked)
}

func (s *steps) FinishImport(context.Context, workflows.ImportRequest) (flow.FinishResult, error) {
	s.finished++
	return flow.FinishResult{Processing: !s.finish(s.finished)}, nil
}

func (s *steps) FailImport(context.Context, workflows.ImportRequest) error {
	s.failed++
	return nil
}

// run imports a document with these steps.
func (s *steps) run(t *testing.T) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetDisableRegistrationAliasing(false)
	env := suite.NewTestWorkflowEnvironment()
	s.env = env
	env.RegisterActivity(s)
	env.RegisterWorkflow(flow.Workflow)
	env.RegisterWorkflowWithOptions(func(workflow.Context, workflows.IngestRequest) error { return nil }, workflow.RegisterOptions{Name: workflows.IngestType})
	env.ExecuteWorkflow(flow.Workflow, workflows.ImportRequest{Owner: "ann", Key: "key"})
	require.NoError(t, env.GetWorkflowError())
}

// The failure of one request for a document would end those that came meanwhile, too.
func TestImportThatIsRequestedWhileAnotherFailsIsTriedOnceMore(t *testing.T) {
	for _, again := range []bool{true, false} {
		s := &steps{}
		s.look = func(n int) (flow.LookResult, error) {
			if n > 1 {
				return flow.LookResult{Done: true}, nil
			}
			if again {
				s.env.SignalWorkflow(workflows.SignalAgain, nil)
			}
			return flow.LookResult{}, temporal.NewNonRetryableApplicationError("look", "internal", nil)
		}
		s.run(t)
		if again {
			require.Equal(t, []int{2, 0}, []int{s.looked, s.failed})
		} else {
			require.Equal(t, []int{1, 1}, []int{s.looked, s.failed})
		}
	}
}

// An ingest that the repair sweep has begun may take longer than one attempt of the import.
func TestImportWaitsLongForItsDocument(t *testing.T) {
	s := &steps{
		look:   func(int) (flow.LookResult, error) { return flow.LookResult{DocID: "d"}, nil },
		finish: func(n int) bool { return n == 240 },
	}
	s.run(t)
	require.Equal(t, []int{240, 0}, []int{s.finished, s.failed})
}
