package storm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/palaver-chat/palaver/testkit/drivetest"
	"github.com/palaver-chat/palaver/workflows"
)

// losingImports loses, in Temporal, the workflow of an import that downloads a file.
func losingImports(ctx context.Context, f *fleet, n int) (func(context.Context) error, error) {
	u := f.users[n%len(f.users)]
	f.files++
	name, id := fmt.Sprintf("Imported %d", f.files), fmt.Sprintf("1AbC-dEf_GhIjKlMnOpQr%04d", f.files)
	f.drive.Put(id, drivetest.File{Name: name + ".md", MIME: "text/markdown", Content: []byte(circular)})
	release := f.drive.Hold("download " + id)
	var begun struct{ ID string }
	if err := u.read(ctx, http.MethodPost, "/api/imports", map[string]any{"url": "https://drive.google.com/file/d/" + id + "/view"}, &begun); err != nil {
		return nil, err
	}
	f.afterwards(ctx, importTimeout, "import", func(ctx context.Context) error { return u.waitForImport(ctx, begun.ID, name) })
	return repairWith(release), f.loseImports(ctx)
}

// importTimeout is how long an import may take whose workflow is lost: a minute until it is
// noticed, and a sweep.
const importTimeout = 4 * time.Minute

// loseImports deletes all open workflows of imports, which Temporal lists a moment later.
func (f *fleet) loseImports(ctx context.Context) error {
	c, err := dialTemporal(f.temporal.shared.Address())
	if err != nil {
		return err
	}
	defer c.Close()
	for {
		list, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: temporalNamespace, Query: fmt.Sprintf("WorkflowType = '%s' AND ExecutionStatus = 'Running'", workflows.ImportType)})
		if err != nil {
			return err
		}
		deleted := false
		for _, run := range list.Executions {
			_, err := c.WorkflowService().DeleteWorkflowExecution(ctx, &workflowservice.DeleteWorkflowExecutionRequest{
				Namespace: temporalNamespace, WorkflowExecution: run.Execution})
			var missing *serviceerror.NotFound // the list still has it
			if err != nil && !errors.As(err, &missing) {
				return err
			}
			deleted = deleted || err == nil
		}
		if deleted {
			return nil
		}
		if pause(ctx, retryInterval); ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// waitForImport waits until an import has ended. It must have made one document.
func (u *user) waitForImport(ctx context.Context, id, title string) error {
	for state := ""; state != "ready"; pause(ctx, retryInterval) {
		var list struct {
			Imports []struct{ ID, State, Message string }
		}
		if err := u.read(ctx, http.MethodGet, "/api/imports", nil, &list); err != nil {
			return fmt.Errorf("import %s (%s) has not ended, its state is %q: %w", id, title, state, err)
		}
		for _, i := range list.Imports {
			if i.ID == id {
				state = i.State
			}
			if i.ID == id && i.State == "failed" {
				return fmt.Errorf("import %s (%s) failed: %s", id, title, i.Message)
			}
		}
	}
	var all struct{ Items []struct{ Title string } }
	if err := u.read(ctx, http.MethodGet, "/api/documents?limit=100", nil, &all); err != nil {
		return err
	}
	n := 0
	for _, d := range all.Items {
		if d.Title == title {
			n++
		}
	}
	if n != 1 {
		return fmt.Errorf("import %s (%s) made %d documents", id, title, n)
	}
	return nil
}
