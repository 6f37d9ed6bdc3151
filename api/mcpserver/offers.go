package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/follow"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/imports"
	"github.com/palaver-chat/palaver/imports/links"
	"github.com/palaver-chat/palaver/tools"
)

// offer is a tool that MCP clients may call. The client reads an error of run in the same
// words as an HTTP error.
type offer struct {
	tool *sdk.Tool
	run  func(s *Server, in *call, arguments json.RawMessage, report func(string)) (*sdk.CallToolResult, error)
}

const instructions = "Palaver answers questions from the caller's own documents, with citations. " +
	"Use ask for an answer, search_documents for passages, list_documents for what there is. " +
	"When ask returns a question, put it to the person and call ask again with thread_id and answer."

// offers lists every tool that MCP clients may call.
var offers = []offer{
	{
		tool: &sdk.Tool{
			Name:  "ask",
			Title: "Ask Palaver",
			Description: "Asks Palaver a question about the caller's documents, or has it summarize, compare or audit them, and waits for the answer, " +
				"which cites its sources. It may take minutes. Instead of an answer a question may come back; then call again with thread_id and answer.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{
				"message":{"type":"string","description":"What to ask. Left out when answering a question."},
				"thread_id":{"type":"string","format":"uuid","description":"The conversation to go on with, as an earlier call returned it. Left out: a new one."},
				"answer":{"type":"string","description":"The answer to the question that the conversation waits on: the id of an option, or a text; cancel gives the question up."},
				"doc_ids":{"type":"array","items":{"type":"string","format":"uuid"},"maxItems":100,"description":"Ids of documents that the message or answer is about. Left out: they are found by what it says."},
				"action":{"type":"string","enum":["summarize","inquire","compare","audit"],"description":"What to do. Left out: inferred from the message."},
				"enable_web_search":{"type":"boolean","description":"true: search the web too. Otherwise as the message asks."},
				"web_search":{"type":"string","enum":["never"],"description":"never: do not search the web, whatever the message asks for."},
				"effort":{"type":"string","enum":["quick","normal","thorough"],"description":"How much work the answer may take: one search, a few steps, or a plan and as many steps as the limits allow. Left out: as the settings say."},
				"client_turn_id":{"type":"string","maxLength":128,"description":"An id of the caller's own. The same message sent again with it is not asked twice."},
				"space_id":{"type":"string","format":"uuid","description":"The space to work in. Left out: the caller's own documents."},
				"space_ids":{"type":"array","items":{"type":"string","format":"uuid"},"maxItems":20,"description":"Outside of a space: spaces whose documents the conversation reads, too, from now on."}}}`),
			Annotations: &sdk.ToolAnnotations{Title: "Ask Palaver", DestructiveHint: new(bool)},
		},
		run: (*Server).offerAsk,
	},
	{
		tool: &sdk.Tool{
			Name:        "search_documents",
			Title:       "Search documents",
			Description: "Finds the passages of the caller's documents that fit a query best, with their documents and places.",
			InputSchema: json.RawMessage(`{"type":"object","required":["query"],"properties":{
				"query":{"type":"string","minLength":1,"maxLength":1000},
				"doc_ids":{"type":"array","items":{"type":"string","format":"uuid"},"maxItems":100,"description":"Search these documents only."},
				"limit":{"type":"integer","minimum":1,"maximum":50,"default":10},
				"space_id":{"type":"string","format":"uuid","description":"The space to work in. Left out: the caller's own documents."}}}`),
			Annotations: &sdk.ToolAnnotations{Title: "Search documents", ReadOnlyHint: true},
		},
		run: (*Server).offerSearch,
	},
	{
		tool: &sdk.Tool{
			Name:        "list_documents",
			Title:       "List documents",
			Description: "Lists the documents that the caller can ask about, newest first.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{
				"limit":{"type":"integer","minimum":1,"maximum":200,"default":50},
				"cursor":{"type":"string","description":"next_cursor of the page before."},
				"space_id":{"type":"string","format":"uuid","description":"The space to work in. Left out: the caller's own documents."}}}`),
			Annotations: &sdk.ToolAnnotations{Title: "List documents", ReadOnlyHint: true},
		},
		run: (*Server).offerList,
	},
	{
		tool: &sdk.Tool{
			Name:  "import_document",
			Title: "Import a document",
			Description: "Imports a file of Google Drive, or a public https page or file, into the caller's documents, and waits for it up to 30 seconds; " +
				"then the import goes on in the background. What the caller has already is not imported twice, and a changed file replaces its old version.",
			InputSchema: json.RawMessage(`{"type":"object","required":["url"],"properties":{
				"url":{"type":"string","minLength":1,"maxLength":2048,"description":"The link."}}}`),
			Annotations: &sdk.ToolAnnotations{Title: "Import a document", DestructiveHint: new(bool), IdempotentHint: true},
		},
		run: (*Server).offerImport,
	},
	{
		tool: &sdk.Tool{
			Name:        "list_imports",
			Title:       "List imports",
			Description: "Lists what the caller has imported from links: name, where from, when, and whether it is ready.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{}}`),
			Annotations: &sdk.ToolAnnotations{Title: "List imports", ReadOnlyHint: true},
		},
		run: (*Server).offerListImports,
	},
}

func (s *Server) offerImport(in *call, arguments json.RawMessage, report func(string)) (*sdk.CallToolResult, error) {
	var a struct {
		URL string `json:"url"`
	}
	if err := dialect.Decode(arguments, &a); err != nil {
		return nil, err
	}
	var p dialect.Problems
	p.Text("url", a.URL, 1, links.MaxLength)
	if err := p.Err(); err != nil {
		return nil, err
	}
	if err := outsideSpaces(in); err != nil {
		return nil, err
	}
	in.keepAlive()
	ctx, cancel := context.WithTimeout(in.clientContext, tools.ImportWait)
	defer cancel()
	i, shown, err := s.Backend.Import(ctx, in.who, a.URL, func(step chat.Import) { report(imports.Progress(step).Text) })
	if err != nil {
		return nil, err
	}
	result := toolResult(imports.Ended(i).Text, shown)
	result.IsError = i.State != chat.ImportReady
	return result, nil
}

func (s *Server) offerListImports(in *call, arguments json.RawMessage, _ func(string)) (*sdk.CallToolResult, error) {
	if err := dialect.Decode(arguments, &struct{}{}); err != nil {
		return nil, err
	}
	if err := outsideSpaces(in); err != nil {
		return nil, err
	}
	list, shown, err := s.Backend.Imports(in.ctx, in.who.ID)
	if err != nil {
		return nil, err
	}
	return toolResult(tools.ListedImports(list, time.Local), shown), nil
}

func (s *Server) offerList(in *call, arguments json.RawMessage, _ func(string)) (*sdk.CallToolResult, error) {
	a := struct {
		Limit  int    `json:"limit"`
		Cursor string `json:"cursor"`
		Space  string `json:"space_id"`
	}{Limit: 50}
	if err := dialect.Decode(arguments, &a); err != nil {
		return nil, err
	}
	var p dialect.Problems
	checkRange(&p, "limit", a.Limit, 1, 200)
	p.Text("cursor", a.Cursor, 0, request.MaxCursor)
	if err := s.enter(&p, in, a.Space); err != nil {
		return nil, err
	}
	page, shown, err := s.Backend.Documents(in.ctx, in.who.ID, a.Cursor, a.Limit)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	for _, d := range page.Items {
		fmt.Fprintf(&b, "%s  %s (%s, %s)\n", d.ID, chat.OneLine(cmp.Or(d.Label, d.Title)), d.Format, d.Status)
	}
	if page.Next != "" {
		b.WriteString("There are more: call again with cursor " + page.Next + "\n")
	}
	if len(page.Items) == 0 {
		b.WriteString("There are no documents.")
	}
	return toolResult(b.String(), shown), nil
}

func (s *Server) offerSearch(in *call, arguments json.RawMessage, _ func(string)) (*sdk.CallToolResult, error) {
	a := struct {
		Query  string   `json:"query"`
		DocIDs []string `json:"doc_ids"`
		Limit  int      `json:"limit"`
		Space  string   `json:"space_id"`
	}{Limit: 10}
	if err := dialect.Decode(arguments, &a); err != nil {
		return nil, err
	}
	var p dialect.Problems
	query := strings.TrimSpace(a.Query)
	p.Text("query", query, 1, request.MaxQuery)
	checkRange(&p, "limit", a.Limit, 1, 50)
	ids := p.UUIDs("doc_ids", a.DocIDs)
	if err := s.enter(&p, in, a.Space); err != nil {
		return nil, err
	}
	if err := s.Backend.CheckVisible(in.ctx, in.who, "doc_ids", ids); err != nil {
		return nil, err
	}
	found, shown, err := s.Backend.Search(in.ctx, in.who, query, ids, a.Limit)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	for i, h := range found {
		fmt.Fprintf(&b, "[%d] %s (document %s)\n%s\n\n", i+1, chat.OneLine(h.Title), h.DocID, h.Text)
	}
	if len(found) == 0 {
		b.WriteString("Nothing was found.")
	}
	return toolResult(b.String(), shown), nil
}

// enter lets a call work in the space that its arguments name, once they are valid.
func (s *Server) enter(p *dialect.Problems, in *call, space string) (err error) {
	if space != "" {
		space = p.UUID("space_id", space)
	}
	if err := p.Err(); err != nil {
		return err
	}
	in.ctx, err = s.Backend.EnterSpace(in.ctx, in.who, space)
	return err
}

// outsideSpaces refuses a call in a space, where nothing is imported.
func outsideSpaces(in *call) error {
	if db.SpaceOf(in.ctx) != "" {
		return problem.Invalid("space_id", "is not used here: import the document outside of spaces, then move it")
	}
	return nil
}

func checkRange(p *dialect.Problems, field string, n, least, greatest int) {
	if n < least || n > greatest {
		p.Add(field, fmt.Sprintf("must be a number from %d to %d", least, greatest))
	}
}

type askArguments struct {
	Message      string   `json:"message"`
	ThreadID     string   `json:"thread_id"`
	Answer       *string  `json:"answer"`
	DocIDs       []string `json:"doc_ids"`
	Action       string   `json:"action"`
	EnableWeb    *bool    `json:"enable_web_search"`
	WebSearch    string   `json:"web_search"`
	Effort       string   `json:"effort"`
	ClientTurnID string   `json:"client_turn_id"`
	Space        string   `json:"space_id"`
	Spaces       []string `json:"space_ids"`
}

// offerAsk submits a turn, or answers its question, and waits until it is over or
// asks a question. The turn goes on if the client disconnects.
func (s *Server) offerAsk(in *call, arguments json.RawMessage, report func(string)) (*sdk.CallToolResult, error) {
	var a askArguments
	if err := dialect.Decode(arguments, &a); err != nil {
		return nil, err
	}
	var p dialect.Problems
	message := strings.TrimSpace(a.Message)
	switch {
	case a.Answer == nil:
		p.Text("message", message, 1, chat.MaxMessage)
	case message != "":
		p.Add("message", "must be empty when a question is answered")
	case a.ThreadID == "":
		p.Add("thread_id", "is needed to answer a question")
	default:
		p.Text("answer", *a.Answer, 0, chat.MaxMessage)
	}
	thread := ""
	if a.ThreadID != "" {
		thread = p.UUID("thread_id", a.ThreadID)
	}
	ids := p.UUIDs("doc_ids", a.DocIDs)
	if a.Action != "" && !chat.Action(a.Action).Valid() {
		p.Add("action", "must be summarize, inquire, compare or audit")
	}
	effort := p.Effort(a.Effort)
	spaces := p.Scope("space_ids", a.Spaces)
	p.ID("client_turn_id", a.ClientTurnID)
	web, noWeb := p.WebSearch(a.EnableWeb, a.WebSearch)
	if err := s.enter(&p, in, a.Space); err != nil {
		return nil, err
	}
	sees, err := s.Backend.InScope(in.ctx, in.who, thread, spaces)
	if err != nil {
		return nil, err
	}
	if err := s.Backend.CheckVisible(sees, in.who, "doc_ids", ids); err != nil {
		return nil, err
	}
	if a.Answer != nil {
		return s.answerQuestion(in, thread, strings.TrimSpace(*a.Answer), ids, report)
	}
	turn, v, err := s.Backend.Ask(in.ctx, in.who, dialect.Submit{
		ThreadID: thread,
		Content: chat.Content{Message: message, TaggedDocs: ids, Spaces: spaces, Action: chat.Action(a.Action),
			WebSearch: web, NoWebSearch: noWeb, Agent: chat.AgentDocuments, Effort: effort},
		ClientTurnID: a.ClientTurnID,
		OnBusy:       chat.Supersede,
	})
	if err != nil {
		return nil, err
	}
	return s.outcome(in, turn, v, "", report)
}

// answerQuestion answers the question that a thread waits on. It never approves tools,
// because the caller is a program that may follow instructions from a document.
func (s *Server) answerQuestion(in *call, thread, answer string, docs []string, report func(string)) (*sdk.CallToolResult, error) {
	asked, err := s.Backend.Question(in.ctx, in.who.ID, thread)
	if err != nil {
		return nil, err
	}
	if asked == nil {
		return nil, &chat.RefusedError{Code: chat.CodeNoInterrupt}
	}
	value := chat.ResumeValue{Type: asked.Type, Value: &answer, TaggedDocs: docs}
	switch {
	case answer == string(chat.CancelResume):
		value = chat.ResumeValue{Type: chat.CancelResume}
	case value.Type == chat.ToolApproval && answer != rejectAll:
		return nil, problem.Invalid("answer", "must be reject or cancel: only a person can approve tools, in Palaver itself")
	case value.Type == chat.ToolApproval:
		value = chat.ResumeValue{Type: chat.ToolApproval}
		for _, call := range asked.Calls {
			value.Decisions = append(value.Decisions, chat.Decision{ID: call.ID, Decision: chat.Rejected})
		}
	}
	turn, v, err := s.Backend.Answer(in.ctx, in.who, chat.Resume{ThreadID: thread, InterruptID: asked.ID, Value: value})
	if err != nil {
		return nil, err
	}
	return s.outcome(in, turn, v, asked.ID, report)
}

// rejectAll is the answer that rejects all tools of the question.
const rejectAll = "reject"

// outcome waits for a turn's end or question and returns it as a tool result. after
// names the question that was just answered.
func (s *Server) outcome(in *call, turn chat.Turn, v *follow.Viewer, after string, report func(string)) (*sdk.CallToolResult, error) {
	defer v.Close()
	in.keepAlive() // the first byte must be sent before the answer timeout
	tick := time.NewTicker(s.Ping)
	defer tick.Stop()
	expired, stop := s.Expiry(in.who)
	defer stop()
	last := v.NotFound() // the result if the log has no terminal event
	err := v.Each(after, func(more <-chan struct{}) error { return s.wait(in, tick.C, expired, more) }, func(item follow.Item, past bool) (end bool, _ error) {
		switch {
		case item.Type.Terminal(), item.Type == chat.EventInterrupt && item.Latest && !past:
			last = item.Event
			return true, nil
		case item.Type == chat.EventStatus && item.Message != "" && !past:
			report(item.Message)
		}
		return false, nil
	})
	if err != nil {
		return nil, err
	}
	return showOutcome(turn, last), nil
}

// wait keeps the connection open, with filler at each tick, until more is closed. It
// returns problem.Expired when the caller's token expires.
func (s *Server) wait(in *call, tick, expired <-chan time.Time, more <-chan struct{}) error {
	for {
		select {
		case <-more:
			return nil
		case <-tick:
			in.keepAlive()
		case <-expired:
			return problem.Expired
		case <-in.clientContext.Done():
			return request.ErrClientDisconnected
		case <-s.Stop:
			return problem.Engine(request.ErrStopping)
		}
	}
}

// questionJSON is an interrupt in a tool result.
type questionJSON struct {
	InterruptID string             `json:"interrupt_id"`
	Type        chat.InterruptType `json:"type"`
	Message     string             `json:"message"`
	messages.Coded
	Options []chat.Option `json:"options,omitempty"`
	Tools   []string      `json:"tools,omitempty"`
}

// askResult is the structured result of the tool ask.
type askResult struct {
	ThreadID  string          `json:"thread_id"`
	TurnID    string          `json:"turn_id"`
	Status    chat.TurnStatus `json:"status"`
	Answer    string          `json:"answer,omitempty"` // or the part that was written
	Citations []chat.Citation `json:"citations,omitempty"`
	Question  *questionJSON   `json:"question,omitempty"`
	Error     string          `json:"error,omitempty"`
}

// showOutcome describes a turn's last event.
func showOutcome(turn chat.Turn, e chat.Event) *sdk.CallToolResult {
	out := askResult{ThreadID: turn.ThreadID, TurnID: turn.ID}
	var b strings.Builder
	failed := false
	switch {
	case e.Type == chat.EventResponse && e.Response != nil:
		out.Status, out.Answer, out.Citations = chat.TurnCompleted, e.Response.Text, e.Response.Citations
		b.WriteString(e.Response.Text + "\n")
	case e.Type == chat.EventInterrupt && e.Interrupt != nil:
		out.Status, out.Question = chat.TurnInterrupted, showQuestion(*e.Interrupt)
		writeQuestion(&b, *out.Question)
	case e.Type == chat.EventCancelled:
		out.Status, out.Answer, out.Citations, out.Error, failed = chat.TurnCancelled, e.Partial, e.Citations, string(e.Reason), true
		fmt.Fprintf(&b, "This was cancelled before it was finished (%s).\n%s\n", e.Reason, e.Partial)
	default:
		out.Status, out.Answer, out.Citations, out.Error, failed = chat.TurnFailed, e.Partial, e.Citations, e.Code, true
		fmt.Fprintf(&b, "%s\n%s\n", e.Message, e.Partial)
	}
	for i, c := range out.Citations {
		if i == 0 {
			b.WriteString("\nSources:\n")
		}
		fmt.Fprintf(&b, "[%d] %s: %q\n", c.N, strings.TrimSpace(c.Title+" "+c.URL), c.Quote)
	}
	fmt.Fprintf(&b, "\n(thread_id: %s)", turn.ThreadID)
	result := toolResult(b.String(), out)
	result.IsError = failed
	return result
}

func showQuestion(i chat.Interrupt) *questionJSON {
	q := &questionJSON{InterruptID: i.ID, Type: i.Type, Message: i.Message, Coded: i.Coded, Options: i.Options}
	for _, call := range i.Calls {
		q.Tools = append(q.Tools, call.Name)
	}
	return q
}

// writeQuestion describes a question and how to answer it.
func writeQuestion(b *strings.Builder, q questionJSON) {
	b.WriteString("Palaver asks: " + q.Message + "\n")
	if q.Type == chat.ToolApproval {
		fmt.Fprintf(b, "Tools: %s\nOnly a person can approve them, in Palaver itself. The answer %s runs none of them.\n", strings.Join(q.Tools, ", "), rejectAll)
		return
	}
	for _, o := range q.Options {
		fmt.Fprintf(b, "- %s: %s\n", o.ID, o.Label)
	}
	if len(q.Options) > 0 {
		b.WriteString("Call ask again with thread_id and, as answer, the id of an option.\n")
		return
	}
	b.WriteString("Call ask again with thread_id and answer.\n")
}
