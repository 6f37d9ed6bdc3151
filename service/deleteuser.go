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

// DeleteUser says on out what is kept of a user and, when confirmed, ends what
// runs for them, removes all that can be removed and lists what remains. It
// needs Store, Temporal and Namespace of parts. After an error, calling it again
// goes on where it stopped.
func DeleteUser(ctx context.Context, parts Parts, user string, confirmed bool, out io.Writer) error {
	if user == "" || user == chat.PublicOwner {
		return errors.New("name a user by id; public documents are nobody's")
	}
	data, err := parts.Store.UserData(ctx, user)
	if err != nil {
		return err
	}
	if !confirmed {
		return say(out, "Of user %s there are %s.\nNothing was removed. With --yes all of it will be, for good.\n", user, inWords(data))
	}
	workers := userWorkflows{temporal: parts.Temporal, namespace: parts.Namespace}
	if err := workers.reachable(ctx); err != nil {
		return err
	}
	// The workflows first: what they still wrote would have no row to go to.
	if err := workers.end(ctx, data); err != nil {
		return err
	}
	removed, err := parts.Store.DeleteUser(ctx, user)
	if err != nil {
		return err
	}
	if err := workers.end(ctx, removed); err != nil { // of what came meanwhile
		return err
	}
	histories := workers.forget(ctx, removed)
	return say(out, "Of user %s were removed: %s.\n%s%s", user, inWords(removed), histories, remains)
}

// remains is what no command of ours can remove.
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

func inWords(d db.UserData) string {
	return fmt.Sprintf("%d conversations with %d turns and %d messages, %d documents, %d document sets, %d profiles, %d pictures, %d message repositories, %d notes of cancelled turns",
		len(d.Threads), d.Turns, d.Messages, len(d.Documents), d.Sets, d.Profiles, d.Attachments, d.Repos, d.Cancels)
}

// userWorkflows is what runs, or ran, for one user.
type userWorkflows struct {
	temporal  client.Client
	namespace string
}

func (w userWorkflows) reachable(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, temporalPatience)
	defer cancel()
	if _, err := w.temporal.CheckHealth(ctx, &client.CheckHealthRequest{}); err != nil {
		return fmt.Errorf("nothing was removed: Temporal must answer, so that what runs is ended first (TEMPORAL_ADDRESS): %w", err)
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
		if err != nil && !notThere(err) {
			return fmt.Errorf("end the ingest of document %s: %w", id, err)
		}
	}
	return nil
}

// forget has the histories of the workflows deleted and says how that went; a
// server that does not let us keeps them until its retention ends.
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

// forgetRuns asks for every run of a workflow to be deleted, and counts them.
func (w userWorkflows) forgetRuns(ctx context.Context, id string) (int, error) {
	runs := map[string]bool{}
	newest, err := w.temporal.DescribeWorkflowExecution(ctx, id, "")
	switch {
	case notThere(err): // older runs may still be listed
	case err != nil:
		return 0, err
	default:
		runs[newest.GetWorkflowExecutionInfo().GetExecution().GetRunId()] = true
	}
	for page := []byte(nil); ; {
		list, err := w.temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: w.namespace, NextPageToken: page, Query: fmt.Sprintf("WorkflowId = '%s'", id), // ids of ours: kind and UUID
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
		if err != nil && !notThere(err) {
			return asked, err
		}
		asked++
	}
	return asked, nil
}

func notThere(err error) bool {
	var notFound *serviceerror.NotFound
	return errors.As(err, &notFound)
}
