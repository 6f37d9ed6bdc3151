package workflows

import (
	"cmp"
	"encoding/json"
	"slices"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/tools"
)

// documents answers from the person's documents:
// intent_resolver → doc_resolver → validate_inputs →
// summarize | inquire | compare | audit → format_response.
var documents = Agent{
	AgentInfo: chat.AgentInfo{
		Name:        chat.AgentDocuments,
		Label:       "Documents",
		Description: "Answers from your documents, and quotes them",
		Tools:       func(name string) bool { return name != tools.GenerateImageName },
	},
	Answer: answerFromDocuments,
}

func answerFromDocuments(ctx workflow.Context, u *turn, begun activities.Begun) (activities.Ending, error) {
	var e activities.Ending
	d := documentsTurn{turn: u, begun: begun}

	if err := d.resolve(ctx); err != nil {
		return e, err
	}
	if err := d.validate(ctx); err != nil {
		return e, err
	}
	e.Action, e.Inference, e.DocIDs = d.intent.Action, d.docs.Confidence, d.docs.IDs
	err := d.answer(ctx)
	e.DocIDs, e.Retrieval = d.docs.IDs, d.found.Confidence
	if d.intent.Action == chat.Talk { // no action was taken, and nothing retrieved
		e.Action, e.Retrieval = "", ""
	}
	if err != nil {
		return e, err
	}
	u.status(ctx, chat.NodeFormat)
	return e, nil
}

// documentsTurn is the state that the nodes of one turn share.
type documentsTurn struct {
	*turn
	begun  activities.Begun
	intent activities.Intent
	docs   activities.Docs
	found  activities.Retrieved
	asText bool // the text to audit came as an answer
	// unknown is the key of a text for the next question to quote: the names in the message,
	// or in the previous answer, that match no document.
	unknown string
	// webEmpty: the web was searched, and nothing was found.
	webEmpty bool
	// ahead is the result of the answer's first model call if Resolve made it; else nil.
	ahead *firstCall
}

// resolve finds the action and the documents. When the action is inferred, both are
// inferred in parallel. If the documents do not suffice for the action, they are inferred
// once more.
func (d *documentsTurn) resolve(ctx workflow.Context) error {
	err := d.resolveBoth(ctx)
	if err != nil {
		return err
	}
	if d.intent.AsksAction() {
		if err := d.chooseAction(ctx); err != nil {
			return err
		}
	}
	return d.chooseDocs(ctx)
}

// resolveBoth finds the action and the documents before any question is asked.
func (d *documentsTurn) resolveBoth(ctx workflow.Context) error {
	both, err := once(d.turn, stepResolve, func() (r activities.Resolved, err error) {
		if d.begun.Action == "" {
			d.status(ctx, chat.NodeIntent)
		} else {
			d.status(ctx, chat.NodeDocs)
		}
		if d.thread.Version == 0 {
			return d.resolveSeparately(ctx)
		}
		r, err = lookup[activities.Resolved](ctx, d.turn, "Decide what rules can", acts.ResolveByRules, d.TurnRef)
		if err != nil {
			return r, err
		}
		if err := d.infer(ctx, &r); err != nil {
			return r, err
		}
		if d.ahead == nil {
			d.announceDocs(ctx, r.Intent)
		}
		return r, nil
	})
	if err == nil {
		d.intent, d.docs = *both.Intent, *both.Docs
	}
	return err
}

// infer asks the model for what r lacks, in one activity.
func (d *documentsTurn) infer(ctx workflow.Context, r *activities.Resolved) error {
	open := activities.ResolveRequest{Intent: r.Intent == nil, Docs: r.Docs == nil, Action: d.begun.Action}
	summary := "Find out what is asked, and the documents meant"
	switch {
	case !open.Intent && !open.Docs:
		return nil
	case !open.Docs:
		summary = "Find out what is asked"
	case !open.Intent:
		summary = "Find the documents meant"
	}
	for _, called := range []bool{open.Intent, open.Docs} {
		if called {
			if err := d.mayCall(ctx); err != nil {
				return err
			}
		}
	}
	if d.thread.Version >= 2 {
		open.GoOn = d.goOn(*r)
	}
	open.TurnRef = d.nextActivityRef()
	call := workflow.ExecuteActivity(d.modelCall(ctx, summary), acts.Resolve, open)
	var found activities.Resolved
	d.runsAhead = open.GoOn != nil
	err := d.await(ctx, call, &found)
	if open.GoOn != nil {
		err = d.takeAhead(ctx, &found, err)
	}
	if err != nil {
		return err
	}
	r.Intent, r.Docs = cmp.Or(r.Intent, found.Intent), cmp.Or(r.Docs, found.Docs)
	d.Usage = d.Usage.Add(r.Intent.Usage).Add(r.Docs.Usage) // rules use no tokens
	return nil
}

// goOn returns the request that lets Resolve also write the answer; nil when the turn's
// step limit allows no further model call.
func (d *documentsTurn) goOn(known activities.Resolved) *activities.GoOn {
	if d.thread.MaxSteps > 0 && d.Calls >= d.thread.MaxSteps {
		return nil
	}
	g := &activities.GoOn{Known: known, Imports: d.begun.Imports}
	if d.thread.MaxTokens > 0 {
		g.Tokens = d.thread.MaxTokens - d.Usage.Tokens()
	}
	return g
}

// takeAhead appends to the log the entries that Resolve recorded before it went on to the
// answer. Then it sets the intent and the documents of found, marks the steps before the
// answer as done, and keeps err, the error of Resolve, as the error of the answer's first
// model call. When nothing was recorded, takeAhead returns err.
func (d *documentsTurn) takeAhead(ctx workflow.Context, found *activities.Resolved, err error) error {
	ahead := found.Ahead
	if ahead == nil && err != nil {
		sealed := d.sealAhead(ctx)
		ahead = &sealed
	}
	d.runsAhead = false
	if ahead != nil && len(ahead.Entries) > 0 {
		d.Log = append(d.Log, ahead.Entries...)
		if found.Ahead != nil { // the activity has published them
			d.published = d.logged()
		}
		err = d.skipToAnswer(ahead, found, err)
	}
	for range d.ignoredResumes {
		d.notice(ctx, chat.NoticeResumeIgnored)
	}
	d.ignoredResumes = 0
	return err
}

// sealAhead returns what an activity recorded that ended without a result. Like settling,
// it retries without a limit, because people may have seen the recorded entries.
func (d *documentsTurn) sealAhead(ctx workflow.Context) activities.Ahead {
	clean, _ := workflow.NewDisconnectedContext(ctx)
	const summary = "Find out how far the answer got"
	ahead, err := runOnce[activities.Ahead](clean, summary, acts.SealAhead, d.TurnRef)
	if err != nil && !final(err) {
		ahead, err = runWithRetries[activities.Ahead](clean, d.turn, 0, summary, acts.SealAhead, d.TurnRef)
	}
	if err != nil { // final: the turn is settled, or its conversation was deleted
		d.log(ctx).Info("reading the entries that the activity recorded failed and is not retried", "error", err)
	}
	return ahead
}

// skipToAnswer records the steps that Resolve has done, and keeps the result of its model
// call for callModel.
func (d *documentsTurn) skipToAnswer(ahead *activities.Ahead, found *activities.Resolved, err error) error {
	d.ahead = &firstCall{err: err}
	if found.Written != nil {
		d.ahead.written = *found.Written
	}
	d.Calls++
	d.Usage = d.Usage.Add(ahead.Found.Usage)
	found.Intent, found.Docs = &ahead.Intent, &ahead.Docs
	for _, step := range []string{stepShowDocs, stepValidate, stepAnnounceAction} {
		d.Steps[step] = json.RawMessage("true")
	}
	var failed error
	d.Steps[stepRetrieve], failed = json.Marshal(ahead.Found)
	return failed
}

// resolveSeparately resolves action and documents by two activities, for threads of
// version 0.
func (d *documentsTurn) resolveSeparately(ctx workflow.Context) (activities.Resolved, error) {
	var r activities.Resolved
	if err := d.mayCall(ctx); err != nil {
		return r, err
	}
	docs := workflow.ExecuteActivity(d.modelCall(ctx, "Find the documents meant"),
		acts.ResolveDocs, activities.DocsRequest{TurnRef: d.nextActivityRef(), Action: d.begun.Action})
	if d.begun.Action == "" {
		if err := d.mayCall(ctx); err != nil {
			return r, err
		}
		intent := workflow.ExecuteActivity(d.modelCall(ctx, "Find out what is asked"), acts.ResolveIntent, d.nextActivityRef())
		if err := d.await(ctx, intent, &r.Intent); err != nil {
			return r, err
		}
	} else {
		intent, err := lookup[activities.Intent](ctx, d.turn, "Take the action asked for", acts.ResolveIntent, d.TurnRef)
		if err != nil {
			return r, err
		}
		r.Intent = &intent
	}
	d.Usage = d.Usage.Add(r.Intent.Usage)
	d.announceDocs(ctx, r.Intent)
	err := d.await(ctx, docs, &r.Docs)
	if err == nil {
		d.Usage = d.Usage.Add(r.Docs.Usage)
	}
	return r, err
}

// announceDocs adds the status of the documents node once an inferred action is
// known.
func (d *documentsTurn) announceDocs(ctx workflow.Context, in *activities.Intent) {
	if d.begun.Action == "" && !in.AsksAction() {
		d.appendAll(ctx, activities.InferredEntries())
	}
}

func (d *documentsTurn) chooseAction(ctx workflow.Context) error {
	q := chat.Question{Type: chat.ActionChoice, Prompt: chat.PromptWhichAction}
	likely := d.intent.Likely
	if d.intent.Multi {
		q.Prompt = chat.PromptMultiAction
	} else {
		likely = likely[:min(2, len(likely))]
	}
	for _, a := range likely {
		q.OptionIDs = append(q.OptionIDs, string(a))
	}
	answer, err := d.ask(ctx, stepAskAction, q)
	if err != nil {
		return err
	}
	d.intent.Action = chat.Action(answer.Text())
	_, err = once(d.turn, stepAnnounceDocs, func() (bool, error) {
		d.status(ctx, chat.NodeDocs)
		return true, nil
	})
	return err
}

// chooseDocs decides which documents the turn is about, and asks if it must.
func (d *documentsTurn) chooseDocs(ctx workflow.Context) error {
	if d.begun.Action == "" && d.docs.Called && !d.hasEnoughDocs() && d.docs.Confidence != chat.Medium && !d.docs.Unresolved {
		docs, err := once(d.turn, stepResolveAgain, func() (r activities.Docs, err error) {
			if err := d.mayCall(ctx); err != nil {
				return r, err
			}
			call := workflow.ExecuteActivity(d.modelCall(ctx, "Find the documents for the action"),
				acts.ResolveDocs, activities.DocsRequest{TurnRef: d.nextActivityRef(), Action: d.intent.Action})
			if err = d.await(ctx, call, &r); err == nil {
				d.Usage = d.Usage.Add(r.Usage)
			}
			return r, err
		})
		if err != nil {
			return err
		}
		d.docs = docs
	}
	if d.docs.AsksDoc() {
		if err := d.askWhichDoc(ctx); err != nil {
			return err
		}
	}
	if d.docs.Unresolved {
		if err := d.askUnknownDoc(ctx); err != nil {
			return err
		}
	}
	_, err := once(d.turn, stepShowDocs, func() (bool, error) {
		d.appendAll(ctx, activities.DocsEntries(d.docs))
		return true, nil
	})
	return err
}

func (d *documentsTurn) askWhichDoc(ctx workflow.Context) error {
	answer, err := d.ask(ctx, stepAskDoc, chat.Question{
		Type: chat.DocChoice, Prompt: chat.PromptWhichDoc, Action: d.intent.Action,
		OptionIDs: append(slices.Clone(d.docs.Suggested), chat.AllDocs),
	})
	if err != nil {
		return err
	}
	chosen := []string{answer.Text()}
	if answer.Text() == chat.AllDocs {
		chosen = d.docs.Suggested
	}
	d.addDocs(chosen)
	d.docs.Confidence = chat.High
	return nil
}

// maxUnknownAsks bounds the questions about names that match no document.
const maxUnknownAsks = 2

func (d *documentsTurn) askUnknownDoc(ctx workflow.Context) error {
	d.unknown = chat.TextUnresolved
	for i := range maxUnknownAsks {
		q := chat.Question{Type: chat.TextInput, Prompt: chat.PromptUnknownDoc, Action: d.intent.Action, Ref: d.unknown}
		answered, err := d.askFor(ctx, numbered(stepAskUnknown, i), q, false)
		if err != nil {
			return err
		}
		if len(answered.IDs) > 0 {
			d.docs.Unresolved = false
			d.docs.Confidence = chat.High
			return nil
		}
	}
	return nil
}

// askFor asks for documents, or with asText for a text, and resolves the answer.
func (d *documentsTurn) askFor(ctx workflow.Context, step string, q chat.Question, asText bool) (activities.Answered, error) {
	value, err := d.ask(ctx, step, q)
	if err != nil {
		return activities.Answered{}, err
	}
	unknown := chat.TextUnresolved + ": " + step
	answered, err := once(d.turn, step+stepReadAfter, func() (activities.Answered, error) {
		return lookup[activities.Answered](ctx, d.turn, "Read the answer", acts.ReadAnswer,
			activities.AnswerRequest{TurnRef: d.TurnRef, Value: value, AsText: asText, Unknown: unknown})
	})
	d.addDocs(answered.IDs)
	d.asText = d.asText || answered.Text
	unread := answered.Unknown // version 0 derives it from the answer
	if d.thread.Version == 0 {
		unread = len(answered.IDs) == 0 && !answered.Text && value.Text() != ""
	}
	if d.unknown = ""; unread {
		d.unknown = unknown
	}
	return answered, err
}

func (d *documentsTurn) addDocs(ids []string) {
	for _, id := range ids {
		if !slices.Contains(d.docs.IDs, id) {
			d.docs.IDs = append(d.docs.IDs, id)
		}
	}
}

// hasEnoughDocs reports whether the documents found suffice for the action.
func (d *documentsTurn) hasEnoughDocs() bool { return d.missing() == "" }

// missing returns the prompt for what the action still needs; "" when nothing is missing.
func (d *documentsTurn) missing() chat.PromptCode {
	return activities.Missing(d.intent.Action, d.docsWithText())
}

// docsWithText returns the documents. Its HasText is also set for a text to audit that
// came as an answer.
func (d *documentsTurn) docsWithText() activities.Docs {
	docs := d.docs
	docs.HasText = docs.HasText || d.asText
	return docs
}

// validate asks for what the action lacks, at most maxSameQuestion times.
func (d *documentsTurn) validate(ctx workflow.Context) error {
	_, err := once(d.turn, stepValidate, func() (bool, error) {
		d.appendAll(ctx, activities.ValidateEntries(d.intent))
		return true, nil
	})
	if err != nil {
		return err
	}
	if d.intent.Action == chat.Compare {
		d.intent.WebSearch = false
	}
	d.unknown = ""
	for i := 0; ; i++ {
		prompt := d.missing()
		if prompt == "" {
			return nil
		}
		if i >= maxSameQuestion && d.thread.Version >= 1 {
			return temporal.NewNonRetryableApplicationError("too many questions", chat.CodeStepLimit, nil)
		}
		q := chat.Question{Type: chat.TextInput, Prompt: prompt, Action: d.intent.Action, Ref: d.unknown}
		if _, err := d.askFor(ctx, numbered(stepAskMissing, i), q, prompt == chat.PromptAuditText); err != nil {
			return err
		}
	}
}

// subject returns the document to audit when the person gave no text, and the documents
// to audit it against.
func (d *documentsTurn) subject() (subject string, targets []string) {
	return activities.Subject(d.intent.Action, d.docsWithText())
}

// answer retrieves passages, searches the web if it is wanted and needed, asks when
// it found too little, and writes the answer.
func (d *documentsTurn) answer(ctx workflow.Context) error {
	_, err := once(d.turn, stepAnnounceAction, func() (bool, error) {
		d.appendAll(ctx, activities.ActionEntries(d.intent.Action))
		return true, nil
	})
	if err != nil {
		return err
	}
	if err := d.retrieve(ctx, stepRetrieve); err != nil {
		return err
	}
	web, wanted := false, d.intent.WebSearch
	if wanted && d.found.Confidence == chat.High {
		if err := d.noticeOnce(ctx, chat.NoticeWebSkipped); err != nil {
			return err
		}
	} else if wanted {
		if web, err = d.searchWeb(ctx); err != nil {
			return err
		}
	}
	if d.found.Importing && !web {
		return d.sayImporting(ctx)
	}
	if d.found.Confidence == chat.Low && !web {
		if web, err = d.askRetrievalLow(ctx, wanted); err != nil {
			return err
		}
	}
	return d.write(ctx, web)
}

func (d *documentsTurn) retrieve(ctx workflow.Context, step string) (err error) {
	subject, targets := d.subject()
	d.found, err = once(d.turn, step, func() (activities.Retrieved, error) {
		found, err := lookup[activities.Retrieved](ctx, d.turn, "Retrieve passages", acts.Retrieve,
			activities.RetrieveRequest{TurnRef: d.TurnRef, Action: d.intent.Action, DocIDs: targets, Subject: subject, Web: d.intent.WebSearch, Imports: d.begun.Imports})
		d.Usage = d.Usage.Add(found.Usage)
		d.appendAll(ctx, activities.RetrievedEntries(found))
		return found, err
	})
	return err
}

// sayImporting answers with the text that Retrieve has stored: too little was found, and a
// document that is still being imported may have the answer.
func (d *documentsTurn) sayImporting(ctx workflow.Context) error {
	_, err := once(d.turn, stepSayImporting, func() (bool, error) {
		d.append(ctx, chat.Entry{Type: chat.EventText, Piece: 1, Ref: chat.PieceKey(1)})
		return true, nil
	})
	return err
}

// askRetrievalLow asks how to go on when retrieval found too little. searched: the
// web was searched already.
func (d *documentsTurn) askRetrievalLow(ctx workflow.Context, searched bool) (web bool, err error) {
	options := []string{chat.OptionTagDocs, chat.OptionWebSearch, chat.OptionContinue}
	if d.begun.NoWebSearch || d.found.NoWeb || d.webEmpty || d.intent.Action == chat.Compare {
		options = []string{chat.OptionTagDocs, chat.OptionContinue}
	}
	answer, err := d.ask(ctx, stepAskRetrieval, chat.Question{
		Type: chat.RetrievalLow, Prompt: chat.PromptRetrievalLow, Action: d.intent.Action, OptionIDs: options,
		ChunkIDs: d.found.Closest,
	})
	if err != nil {
		return false, err
	}
	switch answer.Text() {
	case chat.OptionTagDocs:
		tagged, err := once(d.turn, stepReadTags, func() (activities.Answered, error) {
			return lookup[activities.Answered](ctx, d.turn, "Read the tags", acts.ReadAnswer,
				activities.AnswerRequest{TurnRef: d.TurnRef, Value: answer})
		})
		if err != nil {
			return false, err
		}
		d.addDocs(tagged.IDs)
		return false, d.retrieve(ctx, stepRetrieveAgain)
	case chat.OptionWebSearch:
		if !searched {
			return d.searchWeb(ctx)
		}
	}
	return false, nil
}

// searchWeb lets the model write a query, and searches the web with it. It reports whether
// there are results to cite.
func (d *documentsTurn) searchWeb(ctx workflow.Context) (bool, error) {
	result, err := once(d.turn, stepSearchWeb, func() (r activities.WebResult, err error) {
		on, err := lookup[bool](ctx, d.turn, "Is web search configured?", acts.WebConfigured, d.TurnRef)
		if err != nil || !on {
			return activities.WebResult{Off: true}, err
		}
		if err := d.mayCall(ctx); err != nil {
			return r, err
		}
		var usage chat.Usage
		call := workflow.ExecuteActivity(d.modelCall(ctx, "Word a web search"),
			acts.WordWebQuery, activities.QueryRequest{TurnRef: d.nextActivityRef(), DocIDs: d.docs.IDs})
		if err := d.await(ctx, call, &usage); err != nil {
			return r, err
		}
		d.Usage = d.Usage.Add(usage)
		d.append(ctx, chat.Entry{Type: chat.EventStatus, Node: chat.NodeWebSearch, Ref: chat.TextWebQuery})
		call = workflow.ExecuteActivity(d.modelCall(ctx, "Search the web"), acts.SearchWeb, d.nextActivityRef())
		err = d.await(ctx, call, &r)
		d.Usage = d.Usage.Add(r.Usage)
		return r, err
	})
	switch {
	case err != nil:
		return false, err
	case result.Off:
		return false, d.noticeOnce(ctx, chat.NoticeWebNotConfigured)
	case result.Failed:
		return false, d.noticeOnce(ctx, chat.NoticeWebFailed)
	case result.Empty:
		d.webEmpty = true
		return false, d.noticeOnce(ctx, chat.NoticeWebEmpty)
	}
	return result.Results > 0, nil
}

// noticeOnce adds a notice to the log, once per turn.
func (d *documentsTurn) noticeOnce(ctx workflow.Context, code string) error {
	_, err := once(d.turn, stepNotice+" "+code, func() (bool, error) {
		d.notice(ctx, code)
		return true, nil
	})
	return err
}

// write streams the answer, calling tools on the way when the model wants to.
func (d *documentsTurn) write(ctx workflow.Context, web bool) error {
	subject, targets := d.subject()
	w, err := d.runToolLoop(ctx, toolLoop{
		first: d.ahead,
		status: func(n int) chat.Node {
			if n == 1 { // the log has the action's status already
				return ""
			}
			return chat.NodeModel
		},
		model: func(ctx workflow.Context, s activities.Stage) workflow.Future {
			return workflow.ExecuteActivity(d.modelCall(ctx, "Write the answer: "+string(d.intent.Action)), acts.Write, activities.WriteRequest{
				TurnRef: d.nextActivityRef(), Action: d.intent.Action, DocIDs: targets, Subject: subject,
				ChunkIDs: d.found.ChunkIDs, Web: web, Stage: s,
			})
		},
	})
	if err == nil && w.Citations == 0 { // the answer uses nothing that was retrieved
		d.found.Confidence = chat.Low
	}
	return err
}
