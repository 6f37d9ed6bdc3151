package activities_test

import (
	"testing"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/agents/assistant"
	"github.com/palaver-chat/palaver/testkit/activitytest"
)

const owner = activitytest.Owner

// bundle has the engine's activities, and the assistant's for model calls.
type bundle struct {
	*activitytest.Fixture
	assistant *assistant.Activities
}

func setup(t *testing.T) *bundle {
	t.Helper()
	b := &bundle{Fixture: activitytest.New(t)}
	b.assistant = &assistant.Activities{Kit: b.Kit}
	b.Add(b.assistant)
	return b
}

func run[R any](b *bundle, activity any, args ...any) (R, error) {
	return activitytest.Run[R](b.Fixture, activity, args...)
}

func must[R any](b *bundle, activity any, args ...any) R {
	b.T.Helper()
	return activitytest.Must[R](b.Fixture, activity, args...)
}

// think makes a model call.
func (b *bundle) think(s activitytest.Step) activities.ModelResult {
	b.T.Helper()
	return must[activities.ModelResult](b, b.assistant.Think, s.TurnRef, s.Stage, nil)
}

func (b *bundle) tryThink(s activitytest.Step) (activities.ModelResult, error) {
	return run[activities.ModelResult](b, b.assistant.Think, s.TurnRef, s.Stage, nil)
}
