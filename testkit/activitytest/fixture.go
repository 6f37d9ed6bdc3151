// Package activitytest runs activities as a worker would, on a SQLite store, with a scripted
// model and a bus that records. It is for the tests of activities, the engine's own and those
// of agents.
package activitytest

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/testkit/dbtest/litetest"
)

// Owner owns the conversation and the documents of a fixture.
const Owner = "user-1"

// Fixture is a conversation with the activities of the engine.
type Fixture struct {
	*activities.Activities
	T      *testing.T
	Store  *Store
	Model  *Model
	Bus    *Bus
	Info   *Info
	Env    *testsuite.TestActivityEnvironment
	Thread string

	registered []Registerer
}

// Registerer registers activities, as activities.Activities does.
type Registerer interface {
	Register(worker.ActivityRegistry)
}

// New returns a fixture with an empty store.
func New(t *testing.T) *Fixture {
	t.Helper()
	f := &Fixture{T: t, Store: &Store{Store: litetest.Store(t)}, Model: &Model{t: t}, Bus: newBus(), Info: &Info{Attempt: 1}, Thread: uuid.NewString()}
	f.Activities = &activities.Activities{Kit: &activities.Kit{
		Store: f.Store, Model: activities.LeasedModel(f.Model), Bus: f.Bus, RetryBudget: 45 * time.Second,
		Agents: chat.Agents{{Name: chat.AgentDocuments}, {Name: chat.AgentAssistant, AnswersUnsaved: true}},
		Log:    slog.New(slog.DiscardHandler),
		Heartbeat: func(ctx context.Context, _ []byte, details ...any) error {
			activity.RecordHeartbeat(ctx, details...) // to the environment's listener
			return nil
		},
		Now: func() time.Time { return time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC) },
	}}
	f.Add(f.Activities)
	return f
}

// Add registers further activities, in a new environment.
func (f *Fixture) Add(more ...Registerer) {
	f.registered = append(f.registered, more...)
	f.Env = f.NewEnv(worker.Options{})
}

// NewEnv returns an environment for the activities that were registered.
func (f *Fixture) NewEnv(o worker.Options) *testsuite.TestActivityEnvironment {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestActivityEnvironment()
	o.Interceptors = append(o.Interceptors, f.Info)
	env.SetWorkerOptions(o)
	for _, r := range f.registered {
		r.Register(env)
	}
	return env
}

// Run executes an activity.
func Run[R any](f *Fixture, activity any, args ...any) (R, error) {
	var out R
	v, err := f.Env.ExecuteActivity(activity, args...)
	if err == nil && v.HasValue() {
		require.NoError(f.T, v.Get(&out))
	}
	return out, err
}

// Must is Run for an activity that succeeds.
func Must[R any](f *Fixture, activity any, args ...any) R {
	f.T.Helper()
	out, err := Run[R](f, activity, args...)
	require.NoError(f.T, err)
	return out
}

// AppError returns the application error that an activity ended with.
func AppError(t *testing.T, err error) *temporal.ApplicationError {
	t.Helper()
	var app *temporal.ApplicationError
	require.ErrorAs(t, err, &app)
	return app
}
