package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
)

// importFirst does what a message asks for about imports before its agent answers: it
// calls the tools one after another, and tells the person how that ended. done: there is
// nothing else to answer. docs are documents that the conversation knows from now on.
func (u *turn) importFirst(ctx workflow.Context, begun activities.Begun) (done bool, docs []string, _ error) {
	if u.thread.Version < 3 || !begun.Imports {
		return false, nil, nil
	}
	plan, err := once(u, stepPlanImports, func() (activities.ImportPlan, error) {
		return lookup[activities.ImportPlan](ctx, u, "Look for links to import", acts.PlanImports, u.TurnRef)
	})
	if err != nil || !plan.Report {
		return false, nil, err
	}
	for n, c := range plan.Calls {
		if err := u.callBefore(ctx, stepName(stepImport, n+1), c); err != nil {
			return false, nil, err
		}
	}
	report, err := once(u, stepReportImports, func() (activities.ImportReport, error) {
		report, err := lookup[activities.ImportReport](ctx, u, "Say how the imports ended", acts.ReportImports,
			activities.ImportReportRequest{TurnRef: u.TurnRef, Plan: plan})
		if err != nil {
			return report, err
		}
		for _, key := range report.Notices {
			u.append(ctx, chat.Entry{Type: chat.EventNotice, Code: chat.NoticeImport, Ref: key})
		}
		if report.Done {
			u.append(ctx, chat.Entry{Type: chat.EventText, Piece: 1, Ref: chat.PieceKey(1)})
		}
		return report, nil
	})
	return report.Done, slices.Clone(report.DocIDs), err
}

// callBefore makes a tool call that the message itself asks for.
func (u *turn) callBefore(ctx workflow.Context, step string, c activities.Wanted) error {
	_, err := once(u, step, func() (bool, error) {
		u.append(ctx, chat.Entry{Type: chat.EventToolCall, Call: &c.CallRef})
		ended, err := u.awaitTool(ctx, c, u.callTool(ctx, c))
		if err != nil {
			return false, err
		}
		u.append(ctx, chat.Entry{Type: chat.EventToolResult, Call: &c.CallRef, IsError: ended.IsError})
		return ended.IsError, nil
	})
	return err
}
