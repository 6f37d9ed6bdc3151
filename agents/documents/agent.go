package documents

import (
	"slices"
	"strconv"

	"github.com/palaver-chat/palaver/agents/plan"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/tools"
	"github.com/palaver-chat/palaver/workflows"
)

// Agent answers from the person's documents:
// intent_resolver → doc_resolver → validate_inputs →
// summarize | inquire | compare | audit → format_response.
var Agent = workflows.Agent{
	AgentInfo: chat.AgentInfo{
		Name:        chat.AgentDocuments,
		Label:       "Documents",
		Description: "Answers from your documents, and quotes them",
		Tools:       func(name string) bool { return name != tools.GenerateImageName },
	},
	Answer: answer,
}

func answer(t *workflows.Turn) error {
	d := documentsTurn{Turn: t}
	if err := d.understand(); err != nil {
		return err
	}
	if err := d.settleDocs(); err != nil {
		return err
	}
	if err := d.validate(); err != nil {
		return err
	}
	d.Outcome.Action, d.Outcome.Inference = d.intent.Action, d.docs.Confidence
	err := d.answer()
	d.Outcome.DocIDs, d.Outcome.Retrieval = d.docs.IDs, d.found.Confidence
	if d.intent.Action == chat.Talk { // no action was taken, and nothing retrieved
		d.Outcome.Action, d.Outcome.Retrieval = "", ""
	}
	if err != nil {
		return err
	}
	return d.Show(status(chat.NodeFormat))
}

// documentsTurn is the state that the nodes of one turn share.
type documentsTurn struct {
	*workflows.Turn
	intent Intent
	docs   Docs
	found  RetrieveResult
	asked  int  // questions for documents or a text
	asText bool // the text to audit came as an answer
	// unknown is the key of a text for the next question to quote: the names in the message,
	// or in the previous answer, that match no document.
	unknown string
	// webEmpty: the web was searched, and nothing was found.
	webEmpty bool
}

func status(node chat.Node) chat.Entry { return chat.Entry{Type: chat.EventStatus, Node: node} }

func notice(code string) chat.Entry { return chat.Entry{Type: chat.EventNotice, Code: code} }

// understand finds the action and the documents: by rules where these suffice, else by two
// model calls at once. It asks which action is meant when that is not clear.
func (d *documentsTurn) understand() error {
	explicit := d.Action() != ""
	node := chat.NodeIntent
	if explicit {
		node = chat.NodeDocs
	}
	if err := d.Show(status(node)); err != nil {
		return err
	}
	ruledIntent, err := workflows.Lookup[*Intent](d.Turn, "Understand the message by rules", acts.IntentByRules)
	if err != nil {
		return err
	}
	ruledDocs := &Docs{Confidence: chat.High} // small talk needs no documents, and asks nothing about them
	if ruledIntent == nil || ruledIntent.Action != chat.Talk {
		if ruledDocs, err = workflows.Lookup[*Docs](d.Turn, "Find the documents by rules", acts.DocsByRules); err != nil {
			return err
		}
	}
	if err := d.infer(ruledIntent, ruledDocs); err != nil {
		return err
	}
	if d.intent.asksAction() {
		return d.chooseAction()
	}
	return nil
}

// infer asks the model for what the rules left open.
func (d *documentsTurn) infer(ruledIntent *Intent, ruledDocs *Docs) (err error) {
	var (
		intent *workflows.Pending[Intent]
		docs   *workflows.Pending[Docs]
	)
	if ruledIntent == nil {
		intent = workflows.StartModel[Intent](d.Turn, "Understand the message", acts.InferIntent)
	} else {
		d.intent = *ruledIntent
	}
	if ruledDocs == nil {
		docs = workflows.StartModel[Docs](d.Turn, "Find the documents that are meant", acts.InferDocs, d.Action())
	} else {
		d.docs = *ruledDocs
	}
	if intent != nil {
		if d.intent, err = intent.Get(); err != nil {
			return err
		}
	}
	if d.Action() == "" && !d.intent.asksAction() {
		if err := d.Show(status(chat.NodeDocs)); err != nil {
			return err
		}
	}
	if docs != nil {
		if d.docs, err = docs.Get(); err != nil {
			return err
		}
	}
	d.intent, d.docs = together(d.intent, d.docs)
	return nil
}

func (d *documentsTurn) chooseAction() error {
	q := chat.Question{Type: chat.ActionChoice, Prompt: chat.PromptWhichAction}
	likely := offered(d.intent.Likely, d.docs)
	if d.intent.Multi {
		q.Prompt = chat.PromptMultiAction
	} else {
		likely = likely[:min(2, len(likely))]
	}
	for _, a := range likely {
		q.OptionIDs = append(q.OptionIDs, string(a))
	}
	answer, err := d.Question("action", q)
	if err != nil {
		return err
	}
	d.intent.Action = chat.Action(answer.Text())
	return d.Show(status(chat.NodeDocs))
}

// settleDocs decides which documents the turn is about, and asks if it must. When the
// documents do not suffice for the action that was inferred, they are inferred once more.
func (d *documentsTurn) settleDocs() (err error) {
	if d.Action() == "" && d.docs.Called && d.missing() != "" && d.docs.Confidence != chat.Medium && !d.docs.Unresolved {
		if d.docs, err = workflows.CallModel[Docs](d.Turn, "Find the documents for the action", acts.InferDocs, d.intent.Action); err != nil {
			return err
		}
	}
	if d.docs.asksDoc(d.intent.Action) {
		if err := d.askWhichDoc(); err != nil {
			return err
		}
	}
	if d.docs.Unresolved && d.intent.Action != chat.Inquire { // an inquiry is searched, with a note
		if err := d.askUnknownDoc(); err != nil {
			return err
		}
	}
	if len(d.docs.IDs) == 0 {
		return nil
	}
	return d.Show(chat.Entry{Type: chat.EventStatus, Node: chat.NodeDocs, DocIDs: d.docs.IDs})
}

func (d *documentsTurn) askWhichDoc() error {
	answer, err := d.Question("doc", chat.Question{
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
	d.docs.Confidence, d.docs.Sure = chat.High, true
	return nil
}

// maxUnknownAsks bounds the questions about names that match no document.
const maxUnknownAsks = 2

func (d *documentsTurn) askUnknownDoc() error {
	d.unknown = chat.TextUnresolved
	for range maxUnknownAsks {
		answered, err := d.askFor("unknown", chat.PromptUnknownDoc, false)
		if err != nil {
			return err
		}
		if len(answered.IDs) > 0 {
			d.docs.Unresolved, d.docs.Confidence = false, chat.High
			return nil
		}
	}
	return nil
}

// askFor asks for documents, or with asText for a text, and resolves the answer.
func (d *documentsTurn) askFor(name string, prompt chat.PromptCode, asText bool) (ReadAnswerResult, error) {
	q := chat.Question{Type: chat.TextInput, Prompt: prompt, Action: d.intent.Action, Ref: d.unknown}
	if prompt != chat.PromptAuditText {
		q.OptionIDs = slices.DeleteFunc(slices.Clone(d.docs.Offered), func(id string) bool { return slices.Contains(d.docs.IDs, id) })
	}
	if prompt == chat.PromptCompareTwo && len(d.docs.IDs) > 0 {
		q.About = d.docs.IDs[0]
	}
	value, err := d.Question(name, q)
	if err != nil {
		return ReadAnswerResult{}, err
	}
	d.asked++
	unknown := chat.TextUnresolved + ": " + name + " " + strconv.Itoa(d.asked)
	answered, err := d.readAnswer(AnswerRequest{Value: value, AsText: asText, Unknown: unknown})
	d.asText = d.asText || answered.Text
	if d.unknown = ""; answered.Unknown {
		d.unknown = unknown
	}
	return answered, err
}

// readAnswer finds the documents that an answer names.
func (d *documentsTurn) readAnswer(r AnswerRequest) (ReadAnswerResult, error) {
	answered, err := workflows.Lookup[ReadAnswerResult](d.Turn, "Read the answer", acts.ReadAnswer, r)
	d.addDocs(answered.IDs)
	d.docs.Sure = d.docs.Sure || len(answered.IDs) > 0
	return answered, err
}

func (d *documentsTurn) addDocs(ids []string) {
	for _, id := range ids {
		if !slices.Contains(d.docs.IDs, id) {
			d.docs.IDs = append(d.docs.IDs, id)
		}
	}
}

// validate asks for what the action lacks.
func (d *documentsTurn) validate() error {
	shown := []chat.Entry{status(chat.NodeValidate)}
	if d.intent.Action == chat.Compare && d.intent.WebSearch {
		d.intent.WebSearch = false
		shown = append(shown, notice(chat.NoticeWebDropped))
	}
	if err := d.Show(shown...); err != nil {
		return err
	}
	d.unknown = ""
	for {
		prompt := d.missing()
		if prompt == "" {
			return nil
		}
		answered, err := d.askFor("missing", prompt, prompt == chat.PromptAuditText)
		if err != nil {
			return err
		}
		if err := d.showAdded(answered.IDs); err != nil {
			return err
		}
	}
}

// showAdded shows the documents of the turn once more when an answer has added some.
func (d *documentsTurn) showAdded(added []string) error {
	if len(added) == 0 {
		return nil
	}
	return d.Show(chat.Entry{Type: chat.EventStatus, Node: chat.NodeDocs, DocIDs: d.docs.IDs})
}

// missing returns the prompt for what the action still needs; "" when nothing is missing.
func (d *documentsTurn) missing() chat.PromptCode {
	return missing(d.intent.Action, d.docsWithText())
}

// docsWithText returns the documents. Its HasText is also set for a text to audit that
// came as an answer.
func (d *documentsTurn) docsWithText() Docs {
	docs := d.docs
	docs.HasText = docs.HasText || d.asText
	return docs
}

// answer retrieves passages, searches the web if it is wanted and needed, asks when
// it found too little, and writes the answer.
func (d *documentsTurn) answer() error {
	err := d.plan()
	if err == nil {
		err = d.Show(status(actionNode(d.intent.Action)))
	}
	if err == nil {
		err = d.retrieve()
	}
	if err != nil {
		return err
	}
	web, wanted := false, d.intent.WebSearch
	if wanted && d.found.Confidence == chat.High {
		err = d.Show(notice(chat.NoticeWebSkipped))
	} else if wanted {
		web, err = d.searchWeb()
	}
	if err != nil {
		return err
	}
	if d.found.Importing && !web {
		return d.sayImporting()
	}
	if d.found.Confidence == chat.Low && !web && !d.found.Quiet {
		if web, err = d.askRetrievalLow(wanted); err != nil {
			return err
		}
	}
	return d.write(web)
}

// plan shows how a thorough answer is going to be found.
func (d *documentsTurn) plan() error {
	if d.intent.Action == chat.Talk {
		return nil
	}
	return plan.Show(d.Turn)
}

func (d *documentsTurn) retrieve() (err error) {
	subject, targets := auditSubject(d.intent.Action, d.docsWithText())
	d.found, err = workflows.Lookup[RetrieveResult](d.Turn, "Search the documents", acts.Retrieve,
		RetrieveRequest{Action: d.intent.Action, DocIDs: targets, Hint: !d.docs.Sure, Subject: subject, Web: d.intent.WebSearch, Imports: d.MayImport()})
	if err != nil {
		return err
	}
	var shown []chat.Entry
	if d.found.Processing {
		shown = append(shown, notice(chat.NoticeDocsProcessing))
	}
	if d.found.Unreadable {
		shown = append(shown, notice(chat.NoticeDocumentsExcluded))
	}
	if d.found.UnreadPages {
		shown = append(shown, notice(chat.NoticeUnreadPages))
	}
	if d.found.Elsewhere {
		shown = append(shown, notice(chat.NoticeElsewhere))
	}
	if d.found.Partly {
		shown = append(shown, notice(chat.NoticeDocumentsPartly))
	}
	return d.Show(shown...)
}

// sayImporting answers that a document is still being imported: too little was found, and
// that document may have the answer.
func (d *documentsTurn) sayImporting() error {
	if _, err := workflows.Lookup[any](d.Turn, "Say that a document is still being imported", acts.SayImporting); err != nil {
		return err
	}
	return d.ShowAnswer()
}

// askRetrievalLow asks how to go on when retrieval found too little. searched: the
// web was searched already.
func (d *documentsTurn) askRetrievalLow(searched bool) (web bool, err error) {
	options := []string{chat.OptionTagDocs, chat.OptionWebSearch, chat.OptionContinue}
	if d.NoWebSearch() || d.found.NoWeb || d.webEmpty || d.intent.Action == chat.Compare {
		options = []string{chat.OptionTagDocs, chat.OptionContinue}
	}
	answer, err := d.Question("retrieval", chat.Question{
		Type: chat.RetrievalLow, Prompt: chat.PromptRetrievalLow, Action: d.intent.Action, OptionIDs: options,
		ChunkIDs: d.found.Closest,
	})
	if err != nil {
		return false, err
	}
	switch answer.Text() {
	case chat.OptionTagDocs:
		answered, err := d.readAnswer(AnswerRequest{Value: answer})
		if err == nil {
			err = d.showAdded(answered.IDs)
		}
		if err != nil {
			return false, err
		}
		return false, d.retrieve()
	case chat.OptionWebSearch:
		if !searched {
			return d.searchWeb()
		}
	}
	return false, nil
}

// searchWeb lets the model write a query, and searches the web with it. It reports whether
// there are results to cite.
func (d *documentsTurn) searchWeb() (bool, error) {
	on, err := workflows.Lookup[bool](d.Turn, "Is web search configured?", acts.WebConfigured)
	if err != nil {
		return false, err
	}
	if !on {
		return false, d.Show(notice(chat.NoticeWebNotConfigured))
	}
	if _, err := workflows.CallModel[WebQuery](d.Turn, "Word a web search", acts.WordWebQuery, d.docs.IDs); err != nil {
		return false, err
	}
	if err := d.Show(chat.Entry{Type: chat.EventStatus, Node: chat.NodeWebSearch, Ref: chat.TextWebQuery}); err != nil {
		return false, err
	}
	result, err := workflows.Call[WebResult](d.Turn, "Search the web", acts.SearchWeb)
	switch {
	case err != nil:
		return false, err
	case result.Off:
		return false, d.Show(notice(chat.NoticeWebNotConfigured))
	case result.Failed:
		return false, d.Show(notice(chat.NoticeWebFailed))
	case result.Empty:
		d.webEmpty = true
		return false, d.Show(notice(chat.NoticeWebEmpty))
	}
	return result.Results > 0, nil
}

// write streams the answer, calling tools on the way when the model wants to.
func (d *documentsTurn) write(web bool) error {
	subject, targets := auditSubject(d.intent.Action, d.docsWithText())
	last, err := d.AnswerBy(workflows.ModelCall{
		Activity: acts.Write,
		Args:     []any{WriteRequest{Action: d.intent.Action, DocIDs: targets, Subject: subject, ChunkIDs: d.found.ChunkIDs, Web: web, Weak: d.found.Quiet && d.found.Confidence == chat.Low}},
		Summary:  "Write the answer: " + string(d.intent.Action),
		Status: func(n int) chat.Node {
			if n == 1 { // the log has the action's status already
				return ""
			}
			return chat.NodeModel
		},
	})
	if err != nil {
		return err
	}
	if last.Citations == 0 { // the answer uses nothing that was retrieved
		d.found.Confidence = chat.Low
	}
	if d.docs.Unresolved && d.intent.Action == chat.Inquire {
		return d.Show(chat.Entry{Type: chat.EventNotice, Code: chat.NoticeDocumentsUnknown, Ref: chat.TextNotFound})
	}
	return nil
}
