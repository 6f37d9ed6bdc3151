package workflows

import (
	"context"
	"errors"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// Prune removes unused data of callers without an account.
func Prune(ctx workflow.Context) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 12 * time.Hour,
		HeartbeatTimeout:    30 * time.Second,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Minute, MaximumInterval: 10 * time.Minute, MaximumAttempts: 10},
		Summary:             "Remove what anonymous callers have left unused",
	})
	return workflow.ExecuteActivity(ctx, acts.Prune).Get(ctx, nil)
}

const (
	// PruneSchedule is the id of the schedule that runs Prune once a day.
	PruneSchedule   = "palaver-prune"
	pruneWorkflowID = "prune"
	pruneTime       = "23 3 * * *" // UTC
	pruneJitter     = 30 * time.Minute
)

// SchedulePrune creates the daily schedule of Prune. An existing schedule gets this release's
// time and action; if an operator has paused it, it stays paused.
func (c *Client) SchedulePrune(ctx context.Context) error {
	spec := client.ScheduleSpec{CronExpressions: []string{pruneTime}, Jitter: pruneJitter}
	action := &client.ScheduleWorkflowAction{ID: pruneWorkflowID, Workflow: PruneType, TaskQueue: TaskQueue}
	schedules := c.Temporal.ScheduleClient()
	_, err := schedules.Create(ctx, client.ScheduleOptions{
		ID: PruneSchedule, Spec: spec, Action: action, Overlap: enumspb.SCHEDULE_OVERLAP_POLICY_SKIP})
	if !errors.Is(err, temporal.ErrScheduleAlreadyRunning) {
		return err
	}
	return schedules.GetHandle(ctx, PruneSchedule).Update(ctx, client.ScheduleUpdateOptions{
		DoUpdate: func(in client.ScheduleUpdateInput) (*client.ScheduleUpdate, error) {
			schedule := in.Description.Schedule
			schedule.Spec, schedule.Action = &spec, action
			return &client.ScheduleUpdate{Schedule: &schedule}, nil
		},
	})
}
