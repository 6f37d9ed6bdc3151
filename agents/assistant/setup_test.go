package assistant

import (
	"testing"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/testkit/activitytest"
)

const (
	owner = activitytest.Owner
	leave = activitytest.Leave
)

type bundle struct {
	*activitytest.Fixture
	*Activities
}

func setup(t *testing.T) *bundle {
	t.Helper()
	f := activitytest.New(t)
	b := &bundle{Fixture: f, Activities: &Activities{Kit: f.Kit}}
	f.Add(b.Activities)
	return b
}

func must[R any](b *bundle, activity any, args ...any) R {
	b.T.Helper()
	return activitytest.Must[R](b.Fixture, activity, args...)
}

func (b *bundle) think(s activitytest.Step, asked ...activities.AskedQuestion) activities.ModelResult {
	b.T.Helper()
	return must[activities.ModelResult](b, b.Think, s.TurnRef, s.Stage, asked)
}

func (b *bundle) tryThink(s activitytest.Step) (activities.ModelResult, error) {
	return activitytest.Run[activities.ModelResult](b.Fixture, b.Think, s.TurnRef, s.Stage, nil)
}
