package fullstack

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/palaver-chat/palaver/workflows"
)

func TestDocumentsAreProcessedInASeparateTaskQueue(t *testing.T) {
	t.Parallel()
	s, _, c := scripted(t)
	doc := c.upload("Liquidity circular", circular)
	queues := map[string]bool{}
	for _, h := range historiesOf(t, s.Temporal(), workflows.IngestWorkflowID(doc)) {
		for _, e := range h.Events {
			if e.EventType == enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED {
				queues[e.GetActivityTaskScheduledEventAttributes().GetTaskQueue().GetName()] = true
			}
		}
	}
	require.Equal(t, map[string]bool{workflows.IngestQueue: true}, queues)
	polled, err := s.Temporal().DescribeTaskQueue(context.Background(), workflows.IngestQueue, enumspb.TASK_QUEUE_TYPE_ACTIVITY)
	require.NoError(t, err)
	require.Len(t, polled.GetPollers(), 1)
	answered(t, c.ask("What is the ratio?", tags(doc)))
	for _, h := range historiesOf(t, s.Temporal(), threadOf(c)) {
		for _, e := range h.Events {
			if e.EventType == enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED {
				require.Equal(t, workflows.TaskQueue, e.GetActivityTaskScheduledEventAttributes().GetTaskQueue().GetName())
			}
		}
	}
}
