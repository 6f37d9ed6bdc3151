package flow

import (
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/workflows"
)

// First does what a message asks for about imports before its agent answers: it calls the
// tools one after another, and tells the person how that ended. done: there is nothing else
// to answer. It is workflow code, for workflows.Threads.Prepare.
func First(t *workflows.Turn) (done bool, _ error) {
	if !t.MayImport() {
		return false, nil
	}
	plan, err := workflows.Lookup[Plan](t, "Look for links to import", acts.PlanImports)
	if err != nil || !plan.Report {
		return false, err
	}
	for _, c := range plan.Calls {
		if err := t.CallTool(c); err != nil {
			return false, err
		}
	}
	report, err := workflows.Lookup[Report](t, "Say how the imports ended", acts.ReportImports, plan)
	if err != nil {
		return false, err
	}
	t.AddDocuments(report.DocIDs...)
	var notices []chat.Entry
	for _, key := range report.Notices {
		notices = append(notices, chat.Entry{Type: chat.EventNotice, Code: chat.NoticeImport, Ref: key})
	}
	if err := t.Show(notices...); err != nil || !report.Done {
		return false, err
	}
	return true, t.ShowAnswer()
}
