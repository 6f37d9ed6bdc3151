package activities_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/interceptor"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/db"
)

// observedActivity notes whose documents an activity sees.
type observedActivity struct {
	interceptor.ActivityInboundInterceptorBase
	thread string
}

func (o *observedActivity) ExecuteActivity(ctx context.Context, _ *interceptor.ExecuteActivityInput) (any, error) {
	o.thread = db.ThreadOf(ctx)
	return nil, nil
}

// Rule D14.
func TestActivityOfATurnSeesTheDocumentsOfItsThread(t *testing.T) {
	t.Parallel()
	var seen observedActivity
	run := activities.Announce(nil).InterceptActivity(t.Context(), &seen)
	for want, args := range map[string][]any{"one": {activities.TurnRef{ThreadID: "one"}}, "": {"not of a turn"}} {
		_, err := run.ExecuteActivity(t.Context(), &interceptor.ExecuteActivityInput{Args: args})
		require.NoError(t, err)
		require.Equal(t, want, seen.thread)
	}
}
