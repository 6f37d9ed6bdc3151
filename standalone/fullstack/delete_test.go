package fullstack

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"

	"github.com/palaver-chat/palaver/app/admin"
	"github.com/palaver-chat/palaver/app/service"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/drivetest"
	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/testkit/must"
	"github.com/palaver-chat/palaver/workflows"
)

// inMidAnswer starts a turn whose model has sent half of its answer.
func inMidAnswer(c *talk, model *llmtest.Server) (*stream, *llmtest.Gate) {
	c.t.Helper()
	doc := c.upload("Liquidity circular", circular)
	require.Equal(c.t, "response", last(c.ask("What is the ratio?", object{"tagged_doc_ids": []string{doc}})).Type)
	gate := llmtest.NewGate()
	c.t.Cleanup(gate.Release)
	model.On(answerCall, llmtest.Answer{Chunks: []string{"A bank must hold ", "a ratio of at least 100 percent [1]."}, Gates: map[int]*llmtest.Gate{1: gate}})
	page := c.send("What is the ratio, once more?", object{"tagged_doc_ids": []string{doc}, "client_turn_id": "running"})
	page.until(isType("token"))
	return page, gate
}

func keptOf(t *testing.T, store db.Store, user string) db.UserData {
	t.Helper()
	d := must.Have(store.UserData(context.Background(), user))(t)
	return d
}

// afterwards stops the stack, so that running work ends, and returns the user's
// remaining data.
func afterwards(t *testing.T, s *stacktest.Stack, user string) db.UserData {
	t.Helper()
	cfg := s.Parts.Config
	s.Stop()
	store := must.Have(service.OpenStore(context.Background(), cfg))(t)
	defer store.Close()
	return keptOf(t, store, user)
}

// statusOf returns the status of a thread's workflow; unspecified when its history has been
// deleted.
func statusOf(t *testing.T, s *stacktest.Stack, thread string) enumspb.WorkflowExecutionStatus {
	t.Helper()
	return runStatus(t, s, workflows.ThreadWorkflowID(thread))
}

func runStatus(t *testing.T, s *stacktest.Stack, workflowID string) enumspb.WorkflowExecutionStatus {
	t.Helper()
	d, err := s.Temporal().DescribeWorkflowExecution(context.Background(), workflowID, "")
	if errors.As(err, new(*serviceerror.NotFound)) {
		return enumspb.WORKFLOW_EXECUTION_STATUS_UNSPECIFIED
	}
	require.NoError(t, err)
	return d.WorkflowExecutionInfo.Status
}

// Rule C5.
func TestDeletingAConversationEndsItsWorkflowAndAllWrites(t *testing.T) {
	t.Parallel()
	s, model, c := scripted(t)
	user := c.me()
	kept := newTalk(t, c.url, c.client)
	kept.ask("Hello", nil)
	page, gate := inMidAnswer(c, model)
	require.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, statusOf(t, s, c.thread))

	c.do(http.StatusNoContent, http.MethodDelete, "/api/conversations/"+c.thread, nil, nil)
	require.NotEqual(t, enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, statusOf(t, s, c.thread))
	gate.Release()
	page.close()
	for _, path := range []string{"/api/conversations/", "/api/chat/history/", "/api/chat/stream/"} {
		c.do(http.StatusNotFound, http.MethodGet, path+c.thread, nil, nil)
	}
	require.NotEmpty(t, kept.history().Messages, "another conversation is unchanged")

	left := afterwards(t, s, user)
	require.Equal(t, []string{kept.thread}, left.Threads)
	require.Equal(t, 1, left.Turns)
	require.Len(t, left.Documents, 1, "documents do not belong to the conversation")
	require.Zero(t, left.Cancels)
}

// Rule C5.
func TestDeletedConversationLeavesNoHistoryOfAnyOfItsRuns(t *testing.T) {
	t.Parallel()
	s, _, c := scripted(t, stacktest.Flag("thread-idle-timeout", "1s"))
	newest := func() string {
		d := must.Have(s.Temporal().DescribeWorkflowExecution(t.Context(), threadOf(c), ""))(t)
		return d.WorkflowExecutionInfo.Execution.RunId
	}
	answered(t, c.ask("Hello", assistant))
	awaitClosed(t, s.Temporal(), c)
	first := newest()
	answered(t, c.ask("Hello again", assistant))
	second := newest()
	require.NotEqual(t, first, second)
	c.do(http.StatusNoContent, http.MethodDelete, "/api/conversations/"+c.thread, nil, nil)
	for _, run := range []string{first, second} {
		require.Eventually(t, func() bool {
			_, err := s.Temporal().DescribeWorkflowExecution(t.Context(), threadOf(c), run)
			var gone *serviceerror.NotFound
			return errors.As(err, &gone)
		}, waitTimeout, 20*time.Millisecond, "Temporal deletes histories in the background")
	}
}

func TestIDOfADeletedConversationCanBeReusedWhileItsTurnRuns(t *testing.T) {
	t.Parallel()
	idOfADeletedConversationIsReused(t)
}

func idOfADeletedConversationIsReused(t *testing.T, options ...stacktest.Option) {
	s, model := apart(t, options)
	s.Worker()
	role := s.API()
	c := newTalk(t, func() string { return role.URL }, s.NewUser())
	answer := func(chunks ...string) *llmtest.Gate {
		gate := llmtest.NewGate()
		t.Cleanup(gate.Release)
		model.On(answerCall, llmtest.Answer{Chunks: chunks, Gates: map[int]*llmtest.Gate{1: gate}})
		return gate
	}
	message := with(assistant, object{"client_turn_id": "once"})
	old := answer("Once upon ", "a time")
	page := c.send("Tell me a story", message)
	oldTurn := page.until(isType("token")).EventID[:36]
	c.do(http.StatusNoContent, http.MethodDelete, "/api/conversations/"+c.thread, nil, nil)
	retry := object{"message": "Tell me a story", "thread_id": c.thread, "agent": "assistant", "client_turn_id": "once"}
	c.do(http.StatusNotFound, http.MethodPost, "/api/chat", retry, nil)

	second := answer("A new ", "conversation")
	next := c.send("Hello again", message) // the same client_turn_id with another message
	newTurn := next.until(isType("token")).EventID[:36]
	old.Release() // the worker continues the deleted turn
	c.do(http.StatusNotFound, http.MethodPost, "/api/chat", retry, nil)
	c.do(http.StatusNotFound, http.MethodGet, "/api/chat/stream/"+c.thread+"?turn_id="+oldTurn, nil, nil)
	second.Release()
	require.Equal(t, "A new conversation", next.until(terminal).Response)
	page.close()
	h := c.history()
	require.Equal(t, []string{"user", "assistant"}, h.roles())
	require.Equal(t, "Hello again", h.Messages[0].Content)
	require.Equal(t, "A new conversation", h.Messages[1].Content)
	require.Equal(t, newTurn, h.Messages[1].TurnID)
	require.Equal(t, "response", last(c.ask("And now?", assistant)).Type)
	require.Len(t, c.history().Messages, 4)

	stranger := newTalk(t, c.url, s.NewUser())
	var theirs history
	stranger.do(http.StatusOK, http.MethodGet, "/api/chat/history/"+c.thread, nil, &theirs)
	require.Empty(t, theirs.Messages)
	c.do(http.StatusNoContent, http.MethodDelete, "/api/conversations/"+c.thread, nil, nil)
	stranger.do(http.StatusNotFound, http.MethodPost, "/api/chat", object{"message": "Mine now", "thread_id": c.thread}, nil)
}

func TestDeletingAUserRemovesEverythingAndLeavesOthersUnchanged(t *testing.T) {
	t.Parallel()
	drive := drivetest.New(t)
	drive.Put(driveID(1), circularFile)
	s, model, c := scripted(t, withDrive(drive)[1:]...)
	user := c.me()
	c.do(http.StatusOK, http.MethodPut, "/api/me", object{"industry": "banking"}, nil)
	defer drive.Hold("download " + driveID(1))() // the import is open when its user is deleted
	c.do(http.StatusAccepted, http.MethodPost, "/api/imports", object{"url": driveLink(driveID(1))}, nil)
	other := newTalk(t, c.url, s.NewUser())
	doc := other.upload("Liquidity circular", circular)
	other.ask("What is the ratio?", object{"tagged_doc_ids": []string{doc}})
	theirs := keptOf(t, s.Parts.Store, other.me())
	page, gate := inMidAnswer(c, model)
	had := keptOf(t, s.Parts.Store, user)
	require.Len(t, had.Threads, 1)
	require.Len(t, had.Imports, 1)

	users := admin.UserDeletion{Store: s.Parts.Store, Threads: &workflows.Client{Temporal: s.Parts.Temporal, Namespace: s.Parts.Namespace}}
	var out bytes.Buffer
	require.NoError(t, users.Delete(context.Background(), user, false, &out))
	require.Contains(t, out.String(), "1 conversations with 2 turns")
	require.Contains(t, out.String(), "Nothing was removed")
	require.Equal(t, had, keptOf(t, s.Parts.Store, user))
	require.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, statusOf(t, s, c.thread))
	require.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, runStatus(t, s, workflows.ImportWorkflowID(had.Imports[0])))

	out.Reset()
	require.NoError(t, users.Delete(context.Background(), user, true, &out))
	require.Contains(t, out.String(), "were removed: 1 conversations with 2 turns")
	require.Contains(t, out.String(), "asked to delete the histories of 3 workflows", "of the thread, the ingest and the import; the server deletes them later")
	require.NotEqual(t, enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, runStatus(t, s, workflows.ImportWorkflowID(had.Imports[0])))
	require.Contains(t, out.String(), "What remains:")
	gate.Release()
	page.close()
	require.Equal(t, theirs, keptOf(t, s.Parts.Store, other.me()))
	require.Len(t, other.history().Messages, 2)
	require.Error(t, users.Delete(context.Background(), "*", true, &out), "public documents have no owner to delete")
	require.NoError(t, users.Delete(context.Background(), uuid.NewString(), true, &out))
	require.True(t, afterwards(t, s, user).Empty())
}
