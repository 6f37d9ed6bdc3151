package flow

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/agents/documents/intent"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/imports"
	"github.com/palaver-chat/palaver/imports/links"
	"github.com/palaver-chat/palaver/tools"
)

// maxImports bounds the links of a message that are imported.
const maxImports = 10

// Plan is what a turn does about imports before its agent answers.
type Plan struct {
	Calls  []activities.RequestedCall `json:"calls,omitempty"`  // of tools, one after another
	Ended  []string                   `json:"ended,omitempty"`  // ids of imports whose end is announced
	DocIDs []string                   `json:"docs,omitempty"`   // of Ended
	Report bool                       `json:"report,omitempty"` // ReportImports is to be called
}

// Report says how the turn continues. Done: piece 1 is the answer. Else Notices are the keys of
// sentences to show before the agent answers.
type Report struct {
	Done    bool     `json:"done,omitempty"`
	Notices []string `json:"notices,omitempty"`
	DocIDs  []string `json:"docs,omitempty"` // that the conversation knows from now on
}

// PlanImports finds what a message asks for about imports: links to import, the list of
// the conversation's imports, or a document that is still processed. It also finds
// imports that have ended after the turn that waited for them.
func (a *Activities) PlanImports(ctx context.Context, ref activities.TurnRef) (Plan, error) {
	plan, err := a.planImports(ctx, ref)
	return plan, a.Fail(ctx, ref, "plan imports", err)
}

func (a *Activities) planImports(ctx context.Context, ref activities.TurnRef) (plan Plan, _ error) {
	t, err := a.SentTurn(ctx, ref)
	if err != nil {
		return plan, err
	}
	list, err := a.Store.ListImports(ctx, ref.Owner, ref.ThreadID, "", imports.Listed)
	if err != nil {
		return plan, err
	}
	// ReportImports may have run, and Temporal may have lost the workflow task of both: then an
	// import is announced already, by this turn, whose texts say so.
	before, err := a.Store.Texts(ctx, ref.Owner, ref.TurnID)
	if err != nil {
		return plan, err
	}
	var texts []db.Text
	for _, i := range slices.Backward(list) {
		_, ours := before[chat.ImportKey(i.ID)]
		if (i.Announce || ours) && i.State.Final() && i.TurnID != ref.TurnID {
			plan.Ended = append(plan.Ended, i.ID)
			texts = append(texts, activities.CodedText(chat.ImportKey(i.ID), imports.Ended(i))...)
			if i.State == chat.ImportReady {
				plan.DocIDs = append(plan.DocIDs, i.DocID)
			}
		}
	}
	call := func(name string, arguments map[string]string) error {
		raw, err := json.Marshal(arguments)
		c := activities.RequestedCall{CallRef: chat.CallRef{ID: fmt.Sprintf("import_%s_%d", ref.TurnID, len(plan.Calls)+1), Name: name, Hash: tools.Hash(raw)}, Approval: tools.Never, Quiet: true}
		plan.Calls = append(plan.Calls, c)
		texts = append(texts, db.Text{Key: chat.CallKey(c.ID), Text: string(raw)})
		return err
	}
	found := intent.LinksToImport(t.Content.Message, a.Importer.Places()...)
	for _, link := range found[:min(len(found), maxImports)] { // leftOut names the others
		if err := call(tools.ImportDocumentName, map[string]string{"url": link.Text}); err != nil {
			return plan, err
		}
	}
	if left := leftOut(found); left.Text != "" {
		texts = append(texts, activities.CodedText(leftOutKey, left)...)
	}
	if len(found) == 0 && intent.AsksForImports(t.Content.Message) {
		if err := call(tools.ListImportsName, map[string]string{}); err != nil {
			return plan, err
		}
	}
	plan.Report = len(plan.Calls)+len(plan.Ended) > 0
	if !plan.Report {
		if plan.Report, err = a.asksAboutOpen(ctx, t, list); err != nil {
			return plan, err
		}
	}
	return plan, a.PutTexts(ctx, ref, texts...)
}

// leftOutKey is the key of the sentence about links above maxImports.
var leftOutKey = chat.ImportKey("left_out")

// leftOut says which links are above maxImports; it has no text when none is.
func leftOut(found []links.FoundLink) messages.Message {
	if len(found) <= maxImports {
		return messages.Message{}
	}
	var texts []string
	for _, f := range found[maxImports:] {
		texts = append(texts, f.Text)
	}
	return messages.ImportLeftOut.With(messages.Params{"limit": maxImports, "links": strings.Join(texts, ", ")})
}

// asksAboutOpen reports whether a message is about a document whose import has not ended.
func (a *Activities) asksAboutOpen(ctx context.Context, t chat.Turn, list []chat.Import) (bool, error) {
	open := slices.DeleteFunc(slices.Clone(list), func(i chat.Import) bool { return i.State.Final() || i.TurnID == t.ID })
	if len(open) == 0 || len(t.Content.TaggedDocs)+len(t.Content.TaggedSets) > 0 {
		return false, nil
	}
	recent, err := a.Store.Recent(ctx, t.Owner, t.ThreadID, t.Parent, 2)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(open, func(i chat.Import) bool {
		justNow := slices.ContainsFunc(recent, func(m chat.Message) bool {
			return m.TurnID == i.TurnID || m.Role == "assistant" && imports.SaysUnfinished(m.Content)
		})
		return intent.RefersToImport(t.Content.Message, a.titleOf(i), justNow)
	}), nil
}

// ReportImports stores what the person is told about the imports of a plan, and says how
// the turn goes on.
func (a *Activities) ReportImports(ctx context.Context, ref activities.TurnRef, plan Plan) (Report, error) {
	report, err := a.reportImports(ctx, ref, plan)
	return report, a.Fail(ctx, ref, "report imports", err)
}

func (a *Activities) reportImports(ctx context.Context, ref activities.TurnRef, plan Plan) (report Report, _ error) {
	t, err := a.SentTurn(ctx, ref)
	if err != nil {
		return report, err
	}
	texts, err := a.Store.Texts(ctx, ref.Owner, ref.TurnID)
	if err != nil {
		return report, err
	}
	list, err := a.Store.ListImports(ctx, ref.Owner, ref.ThreadID, "", imports.Listed)
	if err != nil {
		return report, err
	}
	report.DocIDs = slices.Clone(plan.DocIDs)
	for _, id := range plan.Ended {
		report.Notices = append(report.Notices, chat.ImportKey(id))
		if err := a.Store.AnnounceImport(ctx, ref.Owner, id, false); err != nil {
			return report, err
		}
	}
	ready := 0
	for _, i := range list {
		if i.TurnID == ref.TurnID && i.State == chat.ImportReady {
			ready++
			report.DocIDs = append(report.DocIDs, i.DocID)
		}
	}
	if len(plan.Calls) == 0 {
		if report.Done, err = a.asksAboutOpen(ctx, t, list); err != nil || !report.Done {
			return report, err
		}
		return report, a.PutTexts(ctx, ref, db.Text{Key: chat.PieceKey(1), Text: imports.StillProcessing})
	}
	report.Done = ready == 0 || t.Content.Action == "" && intent.OnlyImports(t.Content.Message, a.Importer.Places()...)
	var said []string
	for _, c := range plan.Calls {
		said = append(said, texts[chat.ResultKey(c.ID)])
		report.Notices = append(report.Notices, chat.ResultKey(c.ID))
	}
	if left := texts[leftOutKey]; left != "" {
		said = append(said, left)
		report.Notices = append(report.Notices, leftOutKey)
	}
	if !report.Done {
		return report, nil
	}
	report.Notices = report.Notices[:len(plan.Ended)]
	return report, a.PutTexts(ctx, ref, db.Text{Key: chat.PieceKey(1), Text: strings.Join(said, "\n\n")})
}

// Imported replaces the links of a message by the titles of the documents that were
// imported from them in its turn, and tags these documents.
func (a *Activities) Imported(ctx context.Context, t chat.Turn) (chat.Turn, error) {
	found := intent.LinksToImport(t.Content.Message, a.Importer.Places()...)
	if len(found) == 0 {
		return t, nil
	}
	list, err := a.Store.ListImports(ctx, t.Owner, "", t.ID, imports.Listed)
	if err != nil {
		return t, err
	}
	t.Content.TaggedDocs = slices.Clone(t.Content.TaggedDocs)
	for _, f := range found {
		i := slices.IndexFunc(list, func(i chat.Import) bool { return i.State == chat.ImportReady && i.Key == imports.Key(t.Owner, f.Link) })
		if i < 0 || f.Err != nil {
			continue
		}
		t.Content.Message = strings.ReplaceAll(t.Content.Message, f.Text, quoted(a.titleOf(list[i])))
		if !slices.Contains(t.Content.TaggedDocs, list[i].DocID) {
			t.Content.TaggedDocs = append(t.Content.TaggedDocs, list[i].DocID)
		}
	}
	return t, nil
}

// titleOf returns the title of an imported document, or what it will be; empty when that is not
// known yet.
func (a *Activities) titleOf(i chat.Import) string {
	if i.Title != "" || i.Name == "" {
		return i.Title
	}
	return a.Importer.Title(imports.Remote{Name: i.Name, URL: i.URL})
}

// quoted returns a document's name as it replaces the link in a message. The author of the
// document chose the name. So it is cut, and loses its quotation marks: it must not be taken
// for words of the person.
func quoted(name string) string {
	return `"` + chat.CutTitle(chat.OneLine(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Quotation_Mark, r) || r == '`' {
			return -1
		}
		return r
	}, name))) + `"`
}
