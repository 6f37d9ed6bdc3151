package service

import (
	"context"
	"errors"
	"fmt"
	"io"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/workflows"
)

// DeleteUser lists on out the data of a user and, when confirmed, ends the user's
// workflows, deletes the data and lists what cannot be deleted. It needs Store,
// Temporal and Namespace of parts. After an error, calling it again continues.
func DeleteUser(ctx context.Context, parts Parts, user string, confirmed bool, out io.Writer) error {
	if user == "" || user == chat.PublicOwner {
		return errors.New("a user id is required; public documents belong to no user")
	}
	data, err := parts.Store.UserData(ctx, user)
	if err != nil {
		return err
	}
	if !confirmed {
		return say(out, "Of user %s there are %s.\nNothing was removed. With --yes all of it will be, for good.\n", user, describeData(data))
	}
	workers := userWorkflows{temporal: parts.Temporal, namespace: parts.Namespace}
	if err := workers.reachable(ctx); err != nil {
		return err
	}
	// The workflows first, so that they do not write to deleted rows.
	if err := workers.end(ctx, data); err != nil {
		return err
	}
	removed, err := parts.Store.DeleteUser(ctx, user)
	if err != nil {
		return err
	}
	if err := workers.end(ctx, removed); err != nil { // workflows that were started meanwhile
		return err
	}
	histories := workers.forget(ctx, removed)
	return say(out, "Of user %s were removed: %s.\n%s%s", user, describeData(removed), histories, remains)
}

// remains lists data that no command of ours can delete.
const remains = `What remains:
- of Temporal, what is in its archive, if it has one;
- the bare ids of the removed conversations, so that nothing is written under them again;
- in the database file and its index, freed space until it is written over; backups of it;
- logs, which hold ids but no message text, and traces, if they are sent anywhere;
- what was sent to providers of models and web search;
- the user's account with the identity provider: whoever signs in again begins anew.
`

func say(out io.Writer, format string, args ...any) error {
	_, err := fmt.Fprintf(out, format, args...)
	return err
}

func describeData(d db.UserData) string {
	return fmt.Sprintf("%d conversations with %d turns and %d messages, %d documents, %d document sets, %d profiles, %d pictures, %d message repositories, %d notes of cancelled turns",
		len(d.Threads), d.Turns, d.Messages, len(d.Documents), d.Sets, d.Profiles, d.Attachments, d.Repos, d.Cancels)
}

// userWorkflows are the workflows of one user.
type userWorkflows struct {
	temporal  client.Client
	namespace string
}

func (w userWorkflows) reachable(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, temporalTimeout)
	defer cancel()
	if _, err := w.temporal.CheckHealth(ctx, &client.CheckHealthRequest{}); err != nil {
		return fmt.Errorf("nothing was deleted: Temporal must be available, because workflows are ended first (TEMPORAL_ADDRESS): %w", err)
	}
	return nil
}

// end ends the threads' and ingests' workflows that are open.
func (w userWorkflows) end(ctx context.Context, d db.UserData) error {
	threads := workflows.Client{Temporal: w.temporal}
	for _, id := range d.Threads {
		if err := threads.Delete(ctx, "", id); err != nil {
			return fmt.Errorf("end the workflow of conversation %s: %w", id, err)
		}
	}
	for _, id := range d.Documents {
		err := w.temporal.TerminateWorkflow(ctx, workflows.IngestWorkflowID(id), "", "user deleted")
		if err != nil && !workflowNotFound(err) {
			return fmt.Errorf("end the ingest of document %s: %w", id, err)
		}
	}
	return nil
}

// forget deletes the histories of the workflows and returns a message for the
// operator. A server that does not permit it keeps them until its retention ends.
func (w userWorkflows) forget(ctx context.Context, d db.UserData) string {
	var ids []string
	for _, id := range d.Threads {
		ids = append(ids, workflows.ThreadWorkflowID(id))
	}
	for _, id := range d.Documents {
		ids = append(ids, workflows.IngestWorkflowID(id))
	}
	asked := 0
	for _, id := range ids {
		n, err := w.forgetRuns(ctx, id)
		asked += n
		if err != nil {
			return fmt.Sprintf("Temporal was asked to delete %d histories; the others it keeps until the retention of namespace %s ends: %v\n", asked, w.namespace, err)
		}
	}
	return fmt.Sprintf("Temporal was asked to delete %d histories; any that it has not listed yet it keeps until the retention of namespace %s ends.\n", asked, w.namespace)
}

// forgetRuns requests the deletion of every run of a workflow, and counts them.
func (w userWorkflows) forgetRuns(ctx context.Context, id string) (int, error) {
	runs := map[string]bool{}
	newest, err := w.temporal.DescribeWorkflowExecution(ctx, id, "")
	switch {
	case workflowNotFound(err): // older runs may still be listed
	case err != nil:
		return 0, err
	default:
		runs[newest.GetWorkflowExecutionInfo().GetExecution().GetRunId()] = true
	}
	for page := []byte(nil); ; {
		list, err := w.temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: w.namespace, NextPageToken: page, Query: fmt.Sprintf("WorkflowId = '%s'", id), // our own ids: kind and UUID, so no escaping is needed
		})
		if err != nil {
			return 0, err
		}
		for _, run := range list.Executions {
			runs[run.GetExecution().GetRunId()] = true
		}
		if page = list.NextPageToken; len(page) == 0 {
			break
		}
	}
	asked := 0
	for run := range runs {
		_, err := w.temporal.WorkflowService().DeleteWorkflowExecution(ctx, &workflowservice.DeleteWorkflowExecutionRequest{
			Namespace: w.namespace, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: id, RunId: run},
		})
		if err != nil && !workflowNotFound(err) {
			return asked, err
		}
		asked++
	}
	return asked, nil
}

func workflowNotFound(err error) bool {
	var notFound *serviceerror.NotFound
	return errors.As(err, &notFound)
}
