package prune

import (
	"context"
	"errors"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/workflows"
)

// Workflow removes unused data of callers without an account.
func Workflow(ctx workflow.Context) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 12 * time.Hour,
		HeartbeatTimeout:    30 * time.Second,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Minute, MaximumInterval: 10 * time.Minute, MaximumAttempts: 10},
		Summary:             "Remove what anonymous callers have left unused",
	})
	return workflow.ExecuteActivity(ctx, acts.Prune).Get(ctx, nil)
}

const (
	// Schedule is the id of the schedule that runs Workflow once a day.
	Schedule   = "palaver-prune"
	workflowID = "prune"
	startTime  = "23 3 * * *" // UTC
	jitter     = 30 * time.Minute
)

// Daily creates the daily schedule of Workflow. An existing schedule gets this release's
// time and action; if an operator has paused it, it stays paused.
func Daily(ctx context.Context, c client.Client) error {
	spec := client.ScheduleSpec{CronExpressions: []string{startTime}, Jitter: jitter}
	action := &client.ScheduleWorkflowAction{ID: workflowID, Workflow: workflows.PruneType, TaskQueue: workflows.TaskQueue}
	schedules := c.ScheduleClient()
	_, err := schedules.Create(ctx, client.ScheduleOptions{
		ID: Schedule, Spec: spec, Action: action, Overlap: enumspb.SCHEDULE_OVERLAP_POLICY_SKIP})
	if !errors.Is(err, temporal.ErrScheduleAlreadyRunning) {
		return err
	}
	return schedules.GetHandle(ctx, Schedule).Update(ctx, client.ScheduleUpdateOptions{
		DoUpdate: func(in client.ScheduleUpdateInput) (*client.ScheduleUpdate, error) {
			schedule := in.Description.Schedule
			schedule.Spec, schedule.Action = &spec, action
			return &client.ScheduleUpdate{Schedule: &schedule}, nil
		},
	})
}
