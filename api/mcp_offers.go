package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/follow"
	"github.com/palaver-chat/palaver/chat"
)

// offer is a tool that MCP clients may call. An error of run is a refusal, as
// over HTTP.
type offer struct {
	tool *sdk.Tool
	run  func(s *server, in *mcpRequest, arguments json.RawMessage, tell func(string)) (*sdk.CallToolResult, error)
}

const mcpInstructions = "Palaver answers questions from the caller's own documents, with citations. " +
	"Use ask for an answer, search_documents for passages, list_documents for what there is. " +
	"When ask returns a question, put it to the person and call ask again with thread_id and answer."

// offers is all that is offered. Adding one is adding it here.
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
				"enable_web_search":{"type":"boolean","description":"Whether the web may be searched too."},
				"client_turn_id":{"type":"string","maxLength":128,"description":"An id of the caller's own. The same message sent again with it is not asked twice."}}}`),
			Annotations: &sdk.ToolAnnotations{Title: "Ask Palaver", DestructiveHint: new(bool)},
		},
		run: (*server).offerAsk,
	},
	{
		tool: &sdk.Tool{
			Name:        "search_documents",
			Title:       "Search documents",
			Description: "Finds the passages of the caller's documents that fit a query best, with their documents and places.",
			InputSchema: json.RawMessage(`{"type":"object","required":["query"],"properties":{
				"query":{"type":"string","minLength":1,"maxLength":1000},
				"doc_ids":{"type":"array","items":{"type":"string","format":"uuid"},"maxItems":100,"description":"Search these documents only."},
				"limit":{"type":"integer","minimum":1,"maximum":50,"default":10}}}`),
			Annotations: &sdk.ToolAnnotations{Title: "Search documents", ReadOnlyHint: true},
		},
		run: (*server).offerSearch,
	},
	{
		tool: &sdk.Tool{
			Name:        "list_documents",
			Title:       "List documents",
			Description: "Lists the documents that the caller can ask about, newest first.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{
				"limit":{"type":"integer","minimum":1,"maximum":200,"default":50},
				"cursor":{"type":"string","description":"next_cursor of the page before."}}}`),
			Annotations: &sdk.ToolAnnotations{Title: "List documents", ReadOnlyHint: true},
		},
		run: (*server).offerList,
	},
}

func (s *server) offerList(in *mcpRequest, arguments json.RawMessage, _ func(string)) (*sdk.CallToolResult, error) {
	a := struct {
		Limit  int    `json:"limit"`
		Cursor string `json:"cursor"`
	}{Limit: 50}
	if err := dialect.Decode(arguments, &a); err != nil {
		return nil, err
	}
	var p dialect.Problems
	within(&p, "limit", a.Limit, 1, 200)
	p.Text("cursor", a.Cursor, 0, maxCursor)
	if err := p.Err(); err != nil {
		return nil, err
	}
	page, err := s.Store.ListDocuments(in.ctx, in.who.ID, a.Cursor, a.Limit)
	if err != nil {
		return nil, err
	}
	shown := listOf(page, showDocument)
	var b strings.Builder
	for _, d := range shown.Items {
		fmt.Fprintf(&b, "%s  %s (%s, %s)\n", d.ID, d.Title, d.SourceType, d.Status)
	}
	if shown.Next != "" {
		b.WriteString("There are more: call again with cursor " + shown.Next + "\n")
	}
	if len(shown.Items) == 0 {
		b.WriteString("There are no documents.")
	}
	return says(b.String(), shown), nil
}

func (s *server) offerSearch(in *mcpRequest, arguments json.RawMessage, _ func(string)) (*sdk.CallToolResult, error) {
	a := struct {
		Query  string   `json:"query"`
		DocIDs []string `json:"doc_ids"`
		Limit  int      `json:"limit"`
	}{Limit: 10}
	if err := dialect.Decode(arguments, &a); err != nil {
		return nil, err
	}
	var p dialect.Problems
	query := strings.TrimSpace(a.Query)
	p.Text("query", query, 1, maxQuery)
	within(&p, "limit", a.Limit, 1, 50)
	ids := p.UUIDs("doc_ids", a.DocIDs)
	if err := p.Err(); err != nil {
		return nil, err
	}
	if err := s.seen(in.ctx, in.who.ID, "doc_ids", ids); err != nil {
		return nil, err
	}
	found, err := s.Search.Search(in.ctx, in.who.ID, query, ids, a.Limit)
	if err != nil {
		return nil, err
	}
	hits := showHits(found)
	var b strings.Builder
	for i, h := range hits {
		fmt.Fprintf(&b, "[%d] %s (document %s)\n%s\n\n", i+1, h.Title, h.DocID, h.Text)
	}
	if len(hits) == 0 {
		b.WriteString("Nothing was found.")
	}
	return says(b.String(), map[string]any{"hits": hits}), nil
}

func within(p *dialect.Problems, field string, n, least, most int) {
	if n < least || n > most {
		p.Add(field, fmt.Sprintf("must be a number from %d to %d", least, most))
	}
}

type askArguments struct {
	Message      string   `json:"message"`
	ThreadID     string   `json:"thread_id"`
	Answer       *string  `json:"answer"`
	DocIDs       []string `json:"doc_ids"`
	Action       string   `json:"action"`
	WebSearch    bool     `json:"enable_web_search"`
	ClientTurnID string   `json:"client_turn_id"`
}

// offerAsk submits a turn, or answers a question of one, and waits until it is
// over or asks. The turn goes on when the client does not wait for it.
func (s *server) offerAsk(in *mcpRequest, arguments json.RawMessage, tell func(string)) (*sdk.CallToolResult, error) {
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
		p.Add("message", "must be left out when a question is answered")
	case a.ThreadID == "":
		p.Add("thread_id", "must say which question is answered")
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
	p.ID("client_turn_id", a.ClientTurnID)
	if err := p.Err(); err != nil {
		return nil, err
	}
	if err := s.seen(in.ctx, in.who.ID, "doc_ids", ids); err != nil {
		return nil, err
	}
	var (
		turn  chat.Turn
		asked string
		err   error
	)
	if a.Answer == nil {
		var made taken
		made, err = s.submit(in.ctx, in.who, dialect.Submit{
			ThreadID: thread,
			Content: chat.Content{Message: message, TaggedDocs: ids, Action: chat.Action(a.Action), WebSearch: a.WebSearch,
				Agent: chat.AgentDocuments},
			ClientTurnID: a.ClientTurnID,
			OnBusy:       chat.Supersede,
		})
		turn = made.Turn
	} else {
		turn, asked, err = s.answerOffer(in, thread, strings.TrimSpace(*a.Answer), ids)
	}
	if err != nil {
		return nil, err
	}
	return s.outcome(in, turn, asked, tell)
}

// answerOffer answers the question that a thread waits on. What a person has to
// approve is not approved here: the caller is a program, and what it was told to
// say may stand in a document.
func (s *server) answerOffer(in *mcpRequest, thread, answer string, docs []string) (_ chat.Turn, asked string, _ error) {
	if _, err := s.Store.Conversation(in.ctx, in.who.ID, thread); err != nil {
		return chat.Turn{}, "", err
	}
	state, err := s.Threads.State(in.ctx, thread)
	if err != nil {
		return chat.Turn{}, "", engineErr(err)
	}
	if state.Pending == nil {
		return chat.Turn{}, "", &chat.Refused{Code: chat.CodeNoInterrupt}
	}
	value := chat.ResumeValue{Type: state.Pending.Type, Value: &answer, TaggedDocs: docs}
	switch {
	case answer == string(chat.CancelResume):
		value = chat.ResumeValue{Type: chat.CancelResume}
	case value.Type == chat.ToolApproval && answer != rejectAll:
		return chat.Turn{}, "", invalid("answer", "must be reject or cancel: only a person can approve tools, in Palaver itself")
	case value.Type == chat.ToolApproval:
		value = chat.ResumeValue{Type: chat.ToolApproval}
		for _, call := range state.Pending.Calls {
			value.Decisions = append(value.Decisions, chat.Decision{ID: call.ID, Decision: chat.Rejected})
		}
	}
	return s.answer(in.ctx, in.who, chat.Resume{ThreadID: thread, InterruptID: state.Pending.ID, Value: value})
}

// rejectAll is the answer that runs none of the tools asked about.
const rejectAll = "reject"

// outcome waits for a turn's end, or for its question, and shows it.
func (s *server) outcome(in *mcpRequest, turn chat.Turn, asked string, tell func(string)) (*sdk.CallToolResult, error) {
	v, err := s.viewer(in.ctx, turn, follow.Position{})
	if err != nil {
		return nil, err
	}
	defer v.Close()
	e, err := s.await(in, v, asked, tell)
	if err != nil {
		return nil, err
	}
	return showOutcome(turn, e), nil
}

// await is the event that a turn ends with, or asks with. after names the
// question that was just answered.
func (s *server) await(in *mcpRequest, v *follow.Viewer, after string, tell func(string)) (chat.Event, error) {
	in.alive() // the answer begins in time, however long its turn takes
	tick := time.NewTicker(s.ping)
	defer tick.Stop()
	for {
		item, more, err := v.Next()
		switch {
		case errors.Is(err, io.EOF):
			return vanished(v), nil // its log has no end
		case err != nil:
			return vanished(v), nil
		case more != nil:
			select {
			case <-more:
			case <-tick.C:
				in.alive()
			case <-in.life.Done():
				return chat.Event{}, errClientGone
			case <-s.Stop:
				return chat.Event{}, engineErr(errStopping)
			}
			continue
		}
		if item.Type.Terminal() {
			return item.Event, nil
		}
		if after != "" {
			if item.Type == chat.EventInterrupt && item.Interrupt != nil && item.Interrupt.ID == after {
				after = ""
			}
			continue
		}
		switch {
		case item.Type == chat.EventInterrupt && item.Latest:
			return item.Event, nil
		case item.Type == chat.EventStatus && item.Message != "":
			tell(item.Message)
		}
	}
}

// askedBack is an interrupt as a result shows it.
type askedBack struct {
	InterruptID string             `json:"interrupt_id"`
	Type        chat.InterruptType `json:"type"`
	Message     string             `json:"message"`
	Options     []chat.Option      `json:"options,omitempty"`
	Tools       []string           `json:"tools,omitempty"`
}

// answered is what came of a call of ask.
type answered struct {
	ThreadID  string          `json:"thread_id"`
	TurnID    string          `json:"turn_id"`
	Status    chat.TurnStatus `json:"status"`
	Answer    string          `json:"answer,omitempty"` // or as much of it as there is
	Citations []chat.Citation `json:"citations,omitempty"`
	Question  *askedBack      `json:"question,omitempty"`
	Error     string          `json:"error,omitempty"`
}

// showOutcome puts a turn's last event into words.
func showOutcome(turn chat.Turn, e chat.Event) *sdk.CallToolResult {
	out := answered{ThreadID: turn.ThreadID, TurnID: turn.ID}
	var b strings.Builder
	failed := false
	switch {
	case e.Type == chat.EventResponse && e.Response != nil:
		out.Status, out.Answer, out.Citations = chat.TurnCompleted, e.Response.Text, e.Response.Citations
		b.WriteString(e.Response.Text + "\n")
		for i, c := range e.Response.Citations {
			if i == 0 {
				b.WriteString("\nSources:\n")
			}
			fmt.Fprintf(&b, "[%d] %s: %q\n", c.N, strings.TrimSpace(c.Title+" "+c.URL), c.Quote)
		}
	case e.Type == chat.EventInterrupt && e.Interrupt != nil:
		out.Status, out.Question = chat.TurnInterrupted, showQuestion(*e.Interrupt)
		writeQuestion(&b, *out.Question)
	case e.Type == chat.EventCancelled:
		out.Status, out.Answer, out.Error, failed = chat.TurnCancelled, e.Partial, string(e.Reason), true
		fmt.Fprintf(&b, "This was cancelled before it was finished (%s).\n%s\n", e.Reason, e.Partial)
	default:
		out.Status, out.Answer, out.Error, failed = chat.TurnFailed, e.Partial, e.Code, true
		fmt.Fprintf(&b, "%s\n%s\n", e.Message, e.Partial)
	}
	fmt.Fprintf(&b, "\n(thread_id: %s)", turn.ThreadID)
	result := says(b.String(), out)
	result.IsError = failed
	return result
}

func showQuestion(i chat.Interrupt) *askedBack {
	q := &askedBack{InterruptID: i.ID, Type: i.Type, Message: i.Message, Options: i.Options}
	for _, call := range i.Calls {
		q.Tools = append(q.Tools, call.Name)
	}
	return q
}

// writeQuestion says how a question can be answered.
func writeQuestion(b *strings.Builder, q askedBack) {
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
