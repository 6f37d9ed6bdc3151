package workflows

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/google/uuid"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
)

// Client sends commands and queries to threads. It implements api.Threads.
type Client struct {
	Temporal  client.Client
	Namespace string // of Temporal
	Rules     Rules  // sent with each command; zero: an answer leaves the thread's rules as they are
	// ContinueAfter goes into ThreadInput. Only tests set it.
	ContinueAfter int
}

const (
	// Temporal gives a workflow task to another worker after this long.
	taskTimeout = 4 * time.Second
	// One attempt of a query. A dead worker costs the sticky timeout of 1 s of it.
	queryTimeout = 1500 * time.Millisecond
	// One attempt of an update. A busy server can drop an update that it has admitted, and not
	// tell who waits for it; a second one with the same id joins the first, or replaces it.
	updateTimeout = 5 * time.Second
	// The back-off between attempts doubles from the first to the longest, with a
	// jitter of 50 %, so that clients refused together do not retry together.
	minBackoff = 25 * time.Millisecond
	maxBackoff = 500 * time.Millisecond
)

// retry calls try until it succeeds, fails with an error that is not transient, or
// ctx ends. Then it returns the last error together with that of ctx.
func retry[T any](ctx context.Context, transient func(error) bool, try func() (T, error)) (T, error) {
	backoffs := &backoff.ExponentialBackOff{InitialInterval: minBackoff, Multiplier: 2, RandomizationFactor: 0.5, MaxInterval: maxBackoff}
	var last error
	result, err := backoff.Retry(ctx, func() (T, error) {
		result, err := try()
		if last = err; err != nil && !transient(err) {
			err = backoff.Permanent(err)
		}
		return result, err
	}, backoff.WithBackOff(backoffs), backoff.WithMaxElapsedTime(0))
	if err != nil && last != nil && !errors.Is(err, last) {
		err = fmt.Errorf("%w: %w", err, last)
	}
	return result, err
}

// Submit submits the turn to its thread, and starts the workflow if none is open. It
// returns the turn of the message (for a retry that of the first submit) and what it
// has recorded so far. A *chat.RefusedError says that the thread rejected it.
//
// It is retried until ctx ends, and is idempotent: the update's id is the turn's. A
// server limits the concurrent updates of one workflow (10 by default) and refuses
// more; those are retried with the same id. So no submit of a burst is lost or
// doubled. The turns run in the order in which the thread accepted them.
func (c *Client) Submit(ctx context.Context, s chat.Submit) (chat.SubmitResult, error) {
	taken, err := retry(ctx, isTransient, func() (chat.SubmitResult, error) { return c.submitOnce(ctx, s) })
	return taken, asRefused(err)
}

func (c *Client) submitOnce(ctx context.Context, s chat.Submit) (taken chat.SubmitResult, err error) {
	ctx, cancel := context.WithTimeout(ctx, updateTimeout)
	defer cancel()
	start := c.Temporal.NewWithStartWorkflowOperation(client.StartWorkflowOptions{
		ID:                       ThreadWorkflowID(s.ThreadID),
		TaskQueue:                TaskQueue,
		WorkflowTaskTimeout:      taskTimeout,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		TypedSearchAttributes: temporal.NewSearchAttributes(
			UserAttribute.ValueSet(s.Owner), StatusAttribute.ValueSet(statusOpen)),
		Priority:      fairnessPriority(s.Owner),
		StaticSummary: "Conversation " + s.ThreadID,
	}, ThreadType, ThreadInput{
		Owner: s.Owner, ThreadID: s.ThreadID, Generation: s.Generation, Rules: c.Rules, ContinueAfter: c.ContinueAfter,
	})
	id := s.TurnID
	if s.NoRepeat { // Temporal answers a second update of one id with the result of the first
		id += ":no-repeat"
	}
	handle, err := c.Temporal.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: start,
		UpdateOptions: client.UpdateWorkflowOptions{
			UpdateID:     id,
			UpdateName:   UpdateSubmit,
			Args:         []any{c.submitRequest(s)},
			WaitForStage: client.WorkflowUpdateStageCompleted,
		},
	})
	if err != nil {
		return taken, err
	}
	var reply SubmitReply
	if err := handle.Get(ctx, &reply); err != nil {
		return taken, err
	}
	return chat.SubmitResult{TurnID: reply.TurnID, Given: reply.Given, Log: reply.Log}, nil
}

func (c *Client) submitRequest(s chat.Submit) SubmitRequest {
	r := SubmitRequest{
		Rules:  &c.Rules,
		TurnID: s.TurnID, Owner: s.Owner, OnBusy: s.OnBusy, Space: s.Space, Replaces: s.Replaces, Cancelled: s.Cancelled, Generation: s.Generation,
		RunID: s.StreamRunID, RequestID: s.RequestID, Client: chat.ClientKey(s.ClientTurnID), Hash: s.ContentHash,
	}
	if s.NoRepeat {
		r.Client = ""
	}
	if t := s.Unsaved; t != nil {
		r.Unsaved = &activities.UnsavedTurn{ClientTurnID: t.ClientTurnID, Content: t.Content, ContentHash: t.ContentHash, CreatedAt: t.CreatedAt}
	}
	return r
}

// isTransient reports whether a retry of a submit can succeed: the run was closing
// or continuing as new, or the server was busy or ended the call.
func isTransient(err error) bool {
	var multi *serviceerror.MultiOperationExecution
	if errors.As(err, &multi) {
		return slices.ContainsFunc(multi.OperationErrors(), isTransient)
	}
	return isNotFound(err) || errors.As(err, new(*serviceerror.WorkflowNotReady)) || errors.As(err, new(*serviceerror.Unavailable)) ||
		errors.As(err, new(*serviceerror.ResourceExhausted)) || errors.As(err, new(*serviceerror.Aborted)) ||
		errors.As(err, new(*client.WorkflowUpdateServiceTimeoutOrCanceledError)) // retry ends when the caller's own time is up
}

// asRefused turns a typed error of the workflow into a *chat.RefusedError.
func asRefused(err error) error {
	var app *temporal.ApplicationError
	if !errors.As(err, &app) {
		return err
	}
	switch app.Type() {
	case chat.CodeTurnRunning, chat.CodeTurnBegun, chat.CodeNoInterrupt, chat.CodeBadResume, chat.CodeTurnConflict, chat.CodeDatabase, chat.CodeNotFound:
		r := &chat.RefusedError{Code: app.Type(), Message: app.Message()}
		_ = app.Details(&r.TurnID) // only turn_running has one
		return r
	}
	return err
}

// Resume answers the pending interrupt. It returns a *chat.RefusedError when there is
// none or the answer does not fit. Retries share one update id, so that an answer
// whose acknowledgement was lost is not refused as a second one.
func (c *Client) Resume(ctx context.Context, r chat.Resume) error {
	return c.update(ctx, r.ThreadID, UpdateResume,
		ResumeRequest{InterruptID: r.InterruptID, Value: r.Value, Channel: r.Channel, Rules: c.rules()},
		&chat.RefusedError{Code: chat.CodeNoInterrupt, Message: "no question is open"})
}

// update sends an update to a thread's open run, again with the same id until it has an answer.
// Without an open run it returns notOpen.
func (c *Client) update(ctx context.Context, threadID, name string, argument any, notOpen error) error {
	options := client.UpdateWorkflowOptions{
		WorkflowID:   ThreadWorkflowID(threadID),
		UpdateID:     uuid.NewString(),
		UpdateName:   name,
		Args:         []any{argument},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	}
	_, err := retry(ctx, isTransient, func() (struct{}, error) {
		err := c.updateOnce(ctx, options)
		if isNotFound(err) && !c.open(ctx, threadID) {
			err = notOpen
		}
		return struct{}{}, err
	})
	return asRefused(err)
}

func (c *Client) updateOnce(ctx context.Context, options client.UpdateWorkflowOptions) error {
	ctx, cancel := context.WithTimeout(ctx, updateTimeout)
	defer cancel()
	handle, err := c.Temporal.UpdateWorkflow(ctx, options)
	if err != nil {
		return err
	}
	return handle.Get(ctx, nil)
}

func (c *Client) rules() *Rules {
	if c.Rules == (Rules{}) {
		return nil
	}
	return &c.Rules
}

// open reports whether the thread has an open run. A run that was not found may
// have continued as new.
func (c *Client) open(ctx context.Context, threadID string) bool {
	d, err := c.Temporal.DescribeWorkflowExecution(ctx, ThreadWorkflowID(threadID), "")
	return err == nil && d.WorkflowExecutionInfo.Status == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
}

// Cancel stops a turn. It is idempotent. open is false, without an error, when the
// thread has no open workflow.
func (c *Client) Cancel(ctx context.Context, threadID string, v chat.Cancel) (open bool, _ error) {
	err := c.Temporal.SignalWorkflow(ctx, ThreadWorkflowID(threadID), "", SignalCancel, v)
	if isNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// Progress returns the turn's log after entry n. Known is false when the turn is not open;
// then its log may be in the database.
func (c *Client) Progress(ctx context.Context, threadID, turnID string, after int) (p chat.Progress, err error) {
	err = c.query(ctx, threadID, &p, QueryProgress, turnID, after)
	return p, err
}

// State returns the state of the thread; it is zero when the workflow is not open.
func (c *Client) State(ctx context.Context, threadID string) (s chat.ThreadState, err error) {
	err = c.query(ctx, threadID, &s, QueryThread)
	return s, err
}

// query leaves result unchanged when the thread has no open run. Around
// continue-as-new, and while a worker starts, a query can be refused or time out:
// it is retried until ctx ends. A query that waited at a frozen worker is read against a
// newer history and fails like one that no worker can replay (TMPRL1100). The worker drops
// what it had cached, so that one retry replays the whole history.
func (c *Client) query(ctx context.Context, threadID string, result any, name string, args ...any) error {
	failedReplays := 0
	isQueryRetryable := func(err error) bool {
		if cannotReplay(err) {
			failedReplays++
		}
		return failedReplays < 2 && !isNotFound(err)
	}
	answer, err := retry(ctx, isQueryRetryable, func() (*client.QueryWorkflowWithOptionsResponse, error) {
		answer, err := c.queryOnce(ctx, threadID, name, args...)
		if err == nil && answer.QueryRejected.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW {
			err = errContinued
		}
		return answer, err
	})
	switch {
	case isNotFound(err):
		return nil
	case cannotReplay(err):
		return fmt.Errorf("%w: %w", chat.ErrCannotReplay, err)
	case err != nil:
		return err
	case answer.QueryRejected != nil:
		return nil
	}
	return answer.QueryResult.Get(result)
}

var errContinued = errors.New("the run has continued as new")

// cannotReplay reports whether the worker could not replay the workflow's history.
func cannotReplay(err error) bool {
	var failed *serviceerror.QueryFailed
	return errors.As(err, &failed)
}

func (c *Client) queryOnce(ctx context.Context, threadID, name string, args ...any) (*client.QueryWorkflowWithOptionsResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	return c.Temporal.QueryWorkflowWithOptions(ctx, &client.QueryWorkflowWithOptionsRequest{
		WorkflowID:           ThreadWorkflowID(threadID),
		QueryType:            name,
		Args:                 args,
		QueryRejectCondition: enumspb.QUERY_REJECT_CONDITION_NOT_OPEN,
	})
}

// OpenThreads calls each with the id of every thread whose workflow is open. It may
// miss a thread that began a moment ago.
func (c *Client) OpenThreads(ctx context.Context, each func(threadID string) error) error {
	request := &workflowservice.ListWorkflowExecutionsRequest{
		Query: fmt.Sprintf("WorkflowType = '%s' AND ExecutionStatus = 'Running'", ThreadType),
	}
	for {
		page, err := c.Temporal.ListWorkflow(ctx, request)
		if err != nil {
			return fmt.Errorf("list open threads: %w", err)
		}
		for _, e := range page.Executions {
			if id, is := strings.CutPrefix(e.Execution.WorkflowId, threadPrefix); is {
				if err := each(id); err != nil {
					return err
				}
			}
		}
		if request.NextPageToken = page.NextPageToken; len(request.NextPageToken) == 0 {
			return nil
		}
	}
}

// FollowVersion makes an open thread continue as new between two steps, under this
// version of the rules. It returns nil when the thread is not open.
func (c *Client) FollowVersion(ctx context.Context, threadID string, version int) error {
	return ignoreNotFound(c.Temporal.SignalWorkflow(ctx, ThreadWorkflowID(threadID), "", SignalVersion, version))
}

// Ingest starts a document's ingest. It does nothing if one is running.
func (c *Client) Ingest(ctx context.Context, owner, docID string) error {
	_, err := c.Temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID:                       IngestWorkflowID(docID),
		TaskQueue:                TaskQueue,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		Priority:                 fairnessPriority(owner),
		StaticSummary:            "Document " + docID,
	}, IngestType, IngestRequest{Owner: owner, DocID: docID})
	return err
}

// Import starts the import of a document. If it is already running, Import signals it to
// look for open imports once more before it ends.
func (c *Client) Import(ctx context.Context, owner, key string) error {
	_, err := c.Temporal.SignalWithStartWorkflow(ctx, ImportWorkflowID(key), SignalAgain, nil, client.StartWorkflowOptions{
		TaskQueue:     TaskQueue,
		Priority:      fairnessPriority(owner),
		StaticSummary: "Import " + key,
	}, ImportType, ImportRequest{Owner: owner, Key: key})
	return err
}

// fairnessPriority makes the task queue serve owners in turn, however many tasks one
// of them has waiting. A workflow's activities inherit it. It takes effect on
// servers with matching.enableFairness.
func fairnessPriority(owner string) temporal.Priority {
	if len(owner) > maxFairnessKey {
		sum := sha256.Sum256([]byte(owner))
		owner = hex.EncodeToString(sum[:])
	}
	return temporal.Priority{FairnessKey: owner}
}

const maxFairnessKey = 64 // bytes

func isNotFound(err error) bool {
	var notFound *serviceerror.NotFound
	return errors.As(err, &notFound)
}
