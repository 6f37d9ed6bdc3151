package admin

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/palaver-chat/palaver/activities/repair"
)

// ErrNeedsRepair is returned by a dry run of Repair that found something.
var ErrNeedsRepair = errors.New("there is something to repair; run it without --dry-run")

// Repair checks every thread and document once and writes its findings and repairs to
// out. An error means that not everything could be checked, or that a dry run found
// something.
func Repair(ctx context.Context, s *repair.Sweeper, dryRun bool, out io.Writer) error {
	s.DryRun = dryRun
	var failed error
	s.Found = func(f repair.Finding) { failed = errors.Join(failed, sayFinding(out, f, dryRun)) }
	did, err := s.Sweep(ctx)
	if failed != nil {
		return failed
	}
	verb := "repaired"
	if dryRun {
		verb = "to be repaired"
	}
	if err := say(out, "%d conversations and %d documents checked, %d %s, %d to be checked again in a minute, %d not checked\n",
		did.Threads, did.Documents, did.Repaired, verb, did.Later, did.Unchecked); err != nil {
		return err
	}
	switch {
	case err != nil:
		return fmt.Errorf("not everything was checked; run it again when the database, Temporal and a worker are available: %w", err)
	case dryRun && did.Repaired > 0:
		return ErrNeedsRepair
	}
	return nil
}

func sayFinding(out io.Writer, f repair.Finding, dryRun bool) error {
	what := fmt.Sprintf("conversation %s, turn %s", f.ThreadID, f.TurnID)
	switch {
	case f.DocumentID != "":
		what = "document " + f.DocumentID
	case f.ImportKey != "":
		what = "import " + f.ImportKey
	case f.ThreadID == "":
		what = "claim"
	}
	would := ""
	if dryRun && !f.Later {
		would = "would "
	}
	return say(out, "%s (user %s): %s; %s%s\n", what, f.Owner, f.Problem, would, f.Repair)
}
