package storm

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	sdklog "go.temporal.io/sdk/log"

	"github.com/palaver-chat/palaver/workflows"
)

// journal is what Temporal's histories recorded of a thread's workflow, over all runs.
type journal struct {
	submitted []string           // turn ids in the order in which they were accepted
	settled   []ending           // in the order in which turns ended
	work      map[string][]*work // activities by turn id
	runs      int
	continued int      // runs that continued the one before (continue-as-new)
	broken    []string // workflow tasks that failed because of a bug

	// remembered are the turn ids and client turn ids that the run, and those before
	// it, have accepted: a second submit of either is not accepted again. A retry may
	// have a new turn id if the database was unavailable.
	remembered map[string]bool
}

// ending is the result of a settle: number and type of the terminal event.
type ending struct {
	N    int    `json:"n"`
	Type string `json:"type"`
}

// work is one activity of a turn as recorded: all its attempts.
type work struct {
	Type      string
	Scheduled time.Time
	Closed    time.Time // zero while open
	Completed bool
	Chars     int // of a finished answer
}

const temporalNamespace = "default"

func dialTemporal(address string) (client.Client, error) {
	return client.Dial(client.Options{HostPort: address, Namespace: temporalNamespace,
		Logger: sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))})
}

// readJournal reads all runs of a thread, oldest first.
func readJournal(ctx context.Context, c client.Client, thread string) (*journal, error) {
	j := &journal{work: map[string][]*work{}}
	runs, err := runsOf(ctx, c, workflows.ThreadWorkflowID(thread))
	if err != nil {
		return nil, fmt.Errorf("list the runs of thread %s: %w", thread, err)
	}
	for _, run := range runs {
		if err := j.read(ctx, c, run.Execution); err != nil {
			return nil, fmt.Errorf("read a run of thread %s: %w", thread, err)
		}
	}
	return j, nil
}

// runsOf lists a workflow's runs. Temporal's list is eventually consistent: it is
// complete when it contains the newest run in its current state.
func runsOf(ctx context.Context, c client.Client, id string) ([]*workflowpb.WorkflowExecutionInfo, error) {
	for {
		newest, err := c.DescribeWorkflowExecution(ctx, id, "")
		if err != nil {
			return nil, err
		}
		var runs []*workflowpb.WorkflowExecutionInfo
		for page := []byte(nil); ; {
			list, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
				Namespace: temporalNamespace, NextPageToken: page, Query: fmt.Sprintf("WorkflowId = '%s'", id),
			})
			if err != nil {
				return nil, err
			}
			runs = append(runs, list.Executions...)
			if page = list.NextPageToken; len(page) == 0 {
				break
			}
		}
		slices.SortFunc(runs, func(a, b *workflowpb.WorkflowExecutionInfo) int {
			return a.StartTime.AsTime().Compare(b.StartTime.AsTime())
		})
		known := slices.ContainsFunc(runs, func(r *workflowpb.WorkflowExecutionInfo) bool {
			return r.Execution.RunId == newest.WorkflowExecutionInfo.Execution.RunId
		})
		if known {
			return runs, nil
		}
		if pause(ctx, 200*time.Millisecond); ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}

func (j *journal) read(ctx context.Context, c client.Client, run *commonpb.WorkflowExecution) error {
	j.runs++
	open := map[int64]*work{} // activities by their scheduling event
	close := func(scheduled int64, at time.Time, result *commonpb.Payloads) {
		w := open[scheduled]
		if w == nil {
			return
		}
		w.Closed, w.Completed = at, result != nil
		switch w.Type {
		case "Settle":
			if result != nil {
				j.settle(result)
			}
		default:
			var done struct {
				Chars   int
				Written struct{ Chars int } // of a Resolve that went on to the answer
			}
			if decode(result, &done) {
				w.Chars = max(done.Chars, done.Written.Chars)
			}
		}
	}
	events := c.GetWorkflowHistory(ctx, run.WorkflowId, run.RunId, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			return err
		}
		at := e.EventTime.AsTime()
		switch {
		case e.EventType == enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
			if e.GetWorkflowExecutionStartedEventAttributes().GetContinuedExecutionRunId() != "" {
				j.continued++
			} else {
				j.remembered = map[string]bool{}
			}
		case e.EventType == enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED:
			j.submit(e.GetWorkflowExecutionUpdateAcceptedEventAttributes())
		case e.EventType == enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
			a := e.GetActivityTaskScheduledEventAttributes()
			w := &work{Type: a.ActivityType.GetName(), Scheduled: at}
			open[e.EventId] = w
			var ref struct{ Turn string }
			if decode(a.Input, &ref) {
				j.work[ref.Turn] = append(j.work[ref.Turn], w)
			}
		case e.EventType == enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
			a := e.GetActivityTaskCompletedEventAttributes()
			close(a.ScheduledEventId, at, a.Result)
		case e.EventType == enumspb.EVENT_TYPE_ACTIVITY_TASK_FAILED:
			close(e.GetActivityTaskFailedEventAttributes().ScheduledEventId, at, nil)
		case e.EventType == enumspb.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT:
			close(e.GetActivityTaskTimedOutEventAttributes().ScheduledEventId, at, nil)
		case e.EventType == enumspb.EVENT_TYPE_ACTIVITY_TASK_CANCELED:
			close(e.GetActivityTaskCanceledEventAttributes().ScheduledEventId, at, nil)
		case e.EventType == enumspb.EVENT_TYPE_MARKER_RECORDED:
			j.local(e.GetMarkerRecordedEventAttributes())
		case e.EventType == enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED:
			j.failed(e)
		}
	}
	return nil
}

// submit records the turn of a submit that the workflow accepted.
func (j *journal) submit(a *historypb.WorkflowExecutionUpdateAcceptedEventAttributes) {
	in := a.GetAcceptedRequest().GetInput()
	var submit struct{ Turn, Client string }
	if in.GetName() != workflows.UpdateSubmit || !decode(in.GetArgs(), &submit) {
		return
	}
	if !j.remembered[submit.Turn] && (submit.Client == "" || !j.remembered[submit.Client]) {
		j.remembered[submit.Turn], j.remembered[submit.Client] = true, true
		j.submitted = append(j.submitted, submit.Turn)
	}
}

// local records the result of a local activity, which is a marker in the history.
func (j *journal) local(a *historypb.MarkerRecordedEventAttributes) {
	var about struct{ ActivityType string }
	if a.MarkerName != "LocalActivity" || a.Failure != nil || !decode(a.Details["data"], &about) || about.ActivityType != "Settle" {
		return
	}
	j.settle(a.Details["result"])
}

func (j *journal) settle(result *commonpb.Payloads) {
	var e ending
	if decode(result, &e) {
		j.settled = append(j.settled, e)
	}
}

// failed records workflow tasks that failed because of a bug, not because a worker
// died.
func (j *journal) failed(e *historypb.HistoryEvent) {
	a := e.GetWorkflowTaskFailedEventAttributes()
	switch a.Cause {
	case enumspb.WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR, enumspb.WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE:
		j.broken = append(j.broken, fmt.Sprintf("%s: %s", a.Cause, a.GetFailure().GetMessage()))
	}
}

func decode(p *commonpb.Payloads, into any) bool {
	if len(p.GetPayloads()) == 0 {
		return false
	}
	var raw json.RawMessage
	if converter.GetDefaultDataConverter().FromPayload(p.Payloads[0], &raw) != nil {
		return false
	}
	return json.Unmarshal(raw, into) == nil
}
