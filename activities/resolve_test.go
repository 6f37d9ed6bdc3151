package activities

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"

	"github.com/palaver-chat/palaver/agents/documents/mention"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
)

// twoCalls is a model with one function for the intent and one for the documents.
type twoCalls struct {
	llm.Model
	intent, docs func(ctx context.Context, n int) (any, error)

	mu   sync.Mutex
	made map[llm.Task]int
}

func (m *twoCalls) Structured(ctx context.Context, r llm.Request, _ llm.Schema, out any) (chat.Usage, error) {
	m.mu.Lock()
	m.made[r.Task]++
	n := m.made[r.Task]
	m.mu.Unlock()
	answer, err := map[llm.Task]func(context.Context, int) (any, error){llm.TaskIntent: m.intent, llm.TaskDocs: m.docs}[r.Task](ctx, n)
	if err != nil {
		return oneCall, err
	}
	raw, err := json.Marshal(answer)
	return oneCall, errors.Join(err, json.Unmarshal(raw, out))
}

func always(answer any) func(context.Context, int) (any, error) {
	return func(context.Context, int) (any, error) { return answer, nil }
}

// firstFails fails the first call and answers the others.
func firstFails(err error, answer any) func(context.Context, int) (any, error) {
	return func(_ context.Context, n int) (any, error) {
		if n == 1 {
			return nil, err
		}
		return answer, nil
	}
}

// untilCancelled blocks until its context ends.
func untilCancelled(ctx context.Context, _ int) (any, error) {
	<-ctx.Done()
	return nil, &llm.Error{Code: chat.CodeModelUnavailable, Retryable: true, Err: ctx.Err()}
}

// resolveTest is a turn whose intent and whose one document the model resolves.
type resolveTest struct {
	*testBundle
	model        *twoCalls
	req          ResolveRequest
	want         Resolved
	lastHandover handover // of the last heartbeat
}

func setupResolve(t *testing.T) *resolveTest {
	b := setup(t)
	id := b.doc("Leave Policy", "Text.")
	r := &resolveTest{testBundle: b, model: &twoCalls{
		intent: always(intentOf(chat.Inquire, chat.High)), docs: always(resolved(chat.High, id)), made: map[llm.Task]int{},
	}}
	r.want = Resolved{
		Intent: &Intent{Action: chat.Inquire, Confidence: chat.High, Usage: oneCall},
		Docs:   &Docs{IDs: []string{id}, Confidence: chat.High, Called: true, Source: mention.Inferred, Usage: oneCall},
	}
	b.Activities.Model = r.model
	b.Activities.Heartbeat = func(_ context.Context, _ []byte, details ...any) error {
		r.lastHandover = handover{}
		if len(details) > 0 {
			r.lastHandover = details[0].(handover)
		}
		return nil
	}
	r.req = ResolveRequest{TurnRef: b.say("What does the Leave Policy say?"), Intent: true, Docs: true}
	return r
}

// next prepares another attempt with the last heartbeat's details.
func (r *resolveTest) next() {
	r.env = r.newEnv(worker.Options{})
	r.env.SetHeartbeatDetails(r.lastHandover)
	r.info.attempt++
}

func TestResolveAsksForIntentAndDocumentsInParallel(t *testing.T) {
	for name, c := range map[string]struct{ intent, docs bool }{
		"both":          {true, true},
		"the action":    {true, false},
		"the documents": {false, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := setupResolve(t)
			r.req.Intent, r.req.Docs = c.intent, c.docs
			want, calls := Resolved{}, map[llm.Task]int{}
			var begun sync.WaitGroup // no call ends before all have begun
			if c.intent {
				want.Intent, calls[llm.TaskIntent] = r.want.Intent, 1
				begun.Add(1)
			}
			if c.docs {
				want.Docs, calls[llm.TaskDocs] = r.want.Docs, 1
				begun.Add(1)
			}
			together := func(call func(context.Context, int) (any, error)) func(context.Context, int) (any, error) {
				return func(ctx context.Context, n int) (any, error) {
					begun.Done()
					begun.Wait()
					return call(ctx, n)
				}
			}
			r.model.intent, r.model.docs = together(r.model.intent), together(r.model.docs)
			require.Equal(t, want, must[Resolved](r.testBundle, r.Resolve, r.req))
			require.Equal(t, calls, r.model.made)
		})
	}
}

func TestUnparseableAnswersGiveALowInquiryAndTheTitlesInTheMessage(t *testing.T) {
	r := setupResolve(t)
	garbage := func(context.Context, int) (any, error) { return nil, llm.ErrUnparseable }
	r.model.intent, r.model.docs = garbage, garbage
	got := must[Resolved](r.testBundle, r.Resolve, r.req)
	require.Equal(t, Intent{Action: chat.Inquire, Confidence: chat.Low, Likely: []chat.Action{chat.Inquire, chat.Summarize}, Usage: oneCall}, *got.Intent)
	require.Equal(t, r.want.Docs, got.Docs)
}

func TestRetryOfResolveAsksOnlyForTheFailedHalf(t *testing.T) {
	for name, c := range map[string]struct {
		fails func(r *resolveTest) // makes the first attempt fail
		code  string
		wait  time.Duration
		calls map[llm.Task]int // of all attempts
	}{
		"the action failed": {
			func(r *resolveTest) { r.model.intent = firstFails(overloaded, intentOf(chat.Inquire, chat.High)) },
			chat.CodeModelUnavailable, firstBackoff, map[llm.Task]int{llm.TaskIntent: 2, llm.TaskDocs: 1},
		},
		"the documents failed": {
			func(r *resolveTest) { r.model.docs = firstFails(overloaded, resolved(chat.High, r.want.Docs.IDs...)) },
			chat.CodeModelUnavailable, firstBackoff, map[llm.Task]int{llm.TaskIntent: 1, llm.TaskDocs: 2},
		},
		"both failed: the longer wait counts": {
			func(r *resolveTest) {
				r.model.intent = firstFails(&llm.Error{Code: chat.CodeModelTimeout, Retryable: true, RetryAfter: 7 * time.Second, Err: errors.New("429")}, intentOf(chat.Inquire, chat.High))
				r.model.docs = firstFails(overloaded, resolved(chat.High, r.want.Docs.IDs...))
			},
			chat.CodeModelTimeout, 7 * time.Second, map[llm.Task]int{llm.TaskIntent: 2, llm.TaskDocs: 2},
		},
		"a panic": {
			func(r *resolveTest) {
				answer := r.model.docs
				r.model.docs = func(ctx context.Context, n int) (any, error) {
					if n == 1 {
						panic("nil map")
					}
					return answer(ctx, n)
				}
			},
			chat.CodeInternal, firstBackoff, map[llm.Task]int{llm.TaskIntent: 1, llm.TaskDocs: 2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := setupResolve(t)
			c.fails(r)
			_, err := run[Resolved](r.testBundle, r.Resolve, r.req)
			failed := appError(t, err)
			require.Equal(t, c.code, failed.Type())
			require.False(t, failed.NonRetryable())
			require.Equal(t, c.wait, failed.NextRetryDelay())
			require.Equal(t, 1, r.lastHandover.Tries)
			r.next()
			require.Equal(t, r.want, must[Resolved](r.testBundle, r.Resolve, r.req))
			require.Equal(t, c.calls, r.model.made)
		})
	}
}

func TestFinishedHalfOfResolveSurvivesSeveralFailures(t *testing.T) {
	r := setupResolve(t)
	r.model.intent = func(_ context.Context, n int) (any, error) {
		if n < 4 {
			return nil, overloaded
		}
		return intentOf(chat.Inquire, chat.High), nil
	}
	for n := range 3 {
		_, err := run[Resolved](r.testBundle, r.Resolve, r.req)
		require.False(t, IsFinal(err))
		require.Equal(t, n+1, r.lastHandover.Tries)
		require.Equal(t, &Resolved{Docs: r.want.Docs}, r.lastHandover.Resolved)
		r.next()
	}
	require.Equal(t, r.want, must[Resolved](r.testBundle, r.Resolve, r.req))
	require.Equal(t, map[llm.Task]int{llm.TaskIntent: 4, llm.TaskDocs: 1}, r.model.made)
}

// TestHeartbeatsOfARetryKeepTheFinishedHalf: a heartbeat overwrites the details of the
// one before, so an attempt that dies would lose the finished half.
func TestHeartbeatsOfARetryKeepTheFinishedHalf(t *testing.T) {
	t.Parallel()
	r := setupResolve(t)
	r.info.heartbeat, r.info.attempt = longTimeout, 2
	left := handover{Since: time.Now(), Tries: 1, Attempt: 1, Resolved: &Resolved{Docs: r.want.Docs}}
	r.env.SetHeartbeatDetails(left)
	handovers := make(chan handover, 10)
	r.Activities.Heartbeat = func(_ context.Context, _ []byte, details ...any) error {
		handovers <- details[0].(handover)
		return nil
	}
	var carried handover
	r.model.intent = func(context.Context, int) (any, error) {
		carried = <-handovers
		return intentOf(chat.Inquire, chat.High), nil
	}
	require.Equal(t, r.want, must[Resolved](r.testBundle, r.Resolve, r.req))
	require.Equal(t, handover{Resolved: left.Resolved}, carried, "it does not repeat the failure of the earlier attempt")
}

func TestOtherHalfOfResolveUsesNoRetryBudget(t *testing.T) {
	r := setupResolve(t)
	failed := make(chan struct{}, 2)
	r.Activities.Heartbeat = func(context.Context, []byte, ...any) error {
		failed <- struct{}{}
		return nil
	}
	r.model.intent = func(context.Context, int) (any, error) { return nil, overloaded }
	answer := r.model.docs
	r.model.docs = func(ctx context.Context, n int) (any, error) {
		<-failed
		r.info.ago = time.Hour
		return answer(ctx, n)
	}
	_, err := run[Resolved](r.testBundle, r.Resolve, r.req)
	require.False(t, IsFinal(err))
}

func TestInterruptedAttemptHandsOverTheFinishedHalf(t *testing.T) {
	t.Parallel()
	r := setupResolve(t)
	r.info.heartbeat = longTimeout
	listen := r.Activities.Heartbeat
	r.Activities.Heartbeat = func(ctx context.Context, token []byte, details ...any) error {
		return errors.Join(listen(ctx, token, details...), activity.ErrActivityPaused)
	}
	answer := r.model.intent
	r.model.intent = untilCancelled
	_, err := run[Resolved](r.testBundle, r.Resolve, r.req)
	require.Equal(t, ErrTypeInterrupted, appError(t, err).Type())
	r.model.intent = answer
	r.next()
	require.Equal(t, r.want, must[Resolved](r.testBundle, r.Resolve, r.req))
	require.Equal(t, map[llm.Task]int{llm.TaskIntent: 2, llm.TaskDocs: 1}, r.model.made)
}

func TestPermanentFailureCancelsTheOtherHalfOfResolve(t *testing.T) {
	rejected := func(context.Context, int) (any, error) {
		return nil, &llm.Error{Code: chat.CodeModelRejected, Err: errors.New("401")}
	}
	for name, fail := range map[string]func(*twoCalls){
		"the action":    func(m *twoCalls) { m.intent, m.docs = rejected, untilCancelled },
		"the documents": func(m *twoCalls) { m.intent, m.docs = untilCancelled, rejected },
	} {
		t.Run(name, func(t *testing.T) {
			r := setupResolve(t)
			fail(r.model)
			_, err := run[Resolved](r.testBundle, r.Resolve, r.req)
			require.Equal(t, chat.CodeModelRejected, appError(t, err).Type())
			require.True(t, IsFinal(err))
		})
	}
}

func TestStopEndsBothHalvesOfResolve(t *testing.T) {
	r := setupResolve(t)
	var begun, ended sync.WaitGroup
	begun.Add(2)
	ended.Add(2)
	wait := func(ctx context.Context, n int) (any, error) {
		defer ended.Done()
		begun.Done()
		return untilCancelled(ctx, n)
	}
	r.model.intent, r.model.docs = wait, wait
	go func() {
		begun.Wait()
		r.bus.stops <- struct{}{}
	}()
	_, err := run[Resolved](r.testBundle, r.Resolve, r.req)
	require.Equal(t, ErrTypeStopped, appError(t, err).Type())
	require.True(t, IsFinal(err))
	ended.Wait()
	require.Nil(t, r.lastHandover.Resolved)
}
