package aisdk

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
)

// translation converts the events of one turn to the chunks of one assistant message.
type translation struct {
	thread, run string
	turn        chat.Turn
	messageID   string
	started     bool // the client has the message's start

	out       []chunk
	step      bool // a step is open
	steps     int  // that this stream has opened
	results   bool // a tool call of the step has its result
	text      string
	texts     int // text parts so far
	sent      dialect.SentText
	thinking  dialect.Thinking
	thoughts  int              // stretches of reasoning so far
	heldCalls []chunk          // tool calls that may need an approval
	calls     map[string]*call // by id
	order     []string         // of calls
	asked     map[string]question
	end       ending
}

// call is the state of a tool call.
type call struct {
	name    string
	input   json.RawMessage
	shown   bool // the client has its input
	step    int  // the value of steps when it was shown
	asked   bool // a person is asked about it
	done    bool // the client has its result
	verdict *verdict
}

// verdict is a person's decision about a call.
type verdict struct {
	approvalID string
	approved   bool
	reason     string
	arguments  json.RawMessage // edited by a person, instead of the model's
}

// edited reports whether the call runs with arguments of a person.
func (v verdict) edited() bool { return v.approved && len(v.arguments) > 0 }

// question is the JSON of data-interrupt.
type question struct {
	chat.Interrupt
	ThreadID     string            `json:"thread_id"`
	TurnID       string            `json:"turn_id"`
	CheckpointID string            `json:"checkpoint_id"`
	Answered     bool              `json:"answered"`
	Answer       *chat.ResumeValue `json:"answer,omitempty"`
}

// ending says how the stream ends; the zero value means with a question.
type ending struct {
	reason   string
	metadata map[string]any
	error    string
}

// Continue describes the assistant message that a stream continues; nil: the stream starts a new message. A
// message that starts with an answer has the question's id, which names the turn too.
type Continue struct {
	MessageID string          // the client's
	Calls     map[string]bool // ids of tool calls in it
}

func newTranslation(s dialect.Stream, c *Continue) *translation {
	t := &translation{thread: s.Thread, run: s.RunID, turn: s.Turn, messageID: s.Turn.ID,
		calls: map[string]*call{}, asked: map[string]question{}}
	t.end.reason = finishOther
	t.end.metadata = map[string]any{"finished_reason": "interrupted"}
	if s.After != "" {
		t.messageID = s.After
	}
	if c != nil {
		t.started, t.messageID = true, s.Turn.ID
		if chat.TurnOf(c.MessageID) == s.Turn.ID {
			t.messageID = c.MessageID
		}
		for id := range c.Calls {
			t.calls[id] = &call{shown: true}
			t.order = append(t.order, id)
		}
	}
	return t
}

func (t *translation) add(c ...chunk) { t.out = append(t.out, c...) }

// take returns the pending chunks and clears them.
func (t *translation) take() []chunk {
	out := t.out
	t.out = nil
	return out
}

func (t *translation) begin() {
	m := map[string]any{"thread_id": t.thread, "turn_id": t.turn.ID, "stream_run_id": t.run}
	if t.turn.Content.Agent != "" {
		m["agent"] = t.turn.Content.Agent
	}
	if t.turn.Content.Model != "" {
		m["model"] = t.turn.Content.Model
	}
	if t.turn.Content.Temporary {
		m["temporary"] = true
	}
	if at := written(t.turn); !at.IsZero() {
		m["created_at"] = at.UTC().Format(time.RFC3339Nano)
	}
	t.add(chunk{Type: typeStart, MessageID: t.messageID, MessageMetadata: m})
	if !t.started {
		t.openStep()
	}
}

// before records an event from before the stream.
func (t *translation) before(e chat.Event) {
	switch e.Type {
	case chat.EventText:
		t.sent.Piece(e)
	case chat.EventToolCall:
		t.know(e.ToolCallID, e.ToolName, json.RawMessage(chat.Arguments(e.Arguments)))
	case chat.EventToolResult:
		if c := t.calls[e.ToolCallID]; c != nil {
			c.done = true
		}
	case chat.EventInterrupt:
		t.remember(e)
	case chat.EventResumed:
		t.decide(e)
	}
}

// event adds an event's chunks. id is its position in the stream.
func (t *translation) event(e chat.Event, id string) {
	if e.Type != chat.EventToolCall && e.Type != chat.EventInterrupt {
		t.release()
	}
	t.think(e)
	switch e.Type {
	case chat.EventStatus:
		t.status(e, id)
	case chat.EventToken:
		t.sent.Token(e.Text)
		t.write(e.Text)
	case chat.EventText:
		t.write(t.sent.Piece(e))
		t.closeText(nil)
	case chat.EventToolCall:
		t.closeText(nil)
		t.hold(e)
	case chat.EventToolResult:
		t.closeText(nil)
		t.result(e)
	case chat.EventInterrupt:
		t.interrupt(e)
	case chat.EventResumed:
		t.decide(e)
		if q, known := t.asked[answers(e)]; known {
			t.add(chunk{Type: dataInterrupt, ID: q.ID, Data: q})
		}
	case chat.EventNotice:
		t.notice(e, id)
	case chat.EventResponse:
		t.response(e)
	case chat.EventCancelled:
		t.early(e)
		t.end = ending{reason: finishOther, metadata: map[string]any{
			"finished_reason": "cancelled", "interrupted": true, "interrupted_reason": e.Reason}}
		addUnverified(t.end.metadata, e.Unverified)
		t.used(e.Usage)
	case chat.EventFailed:
		t.early(e)
		t.end = ending{reason: finishError, error: e.Message, metadata: map[string]any{
			"finished_reason": "error", "error": failureData{e.Code, e.Message, e.Coded, e.Retryable}}}
		t.end.error = cmp.Or(t.end.error, e.Code)
		addUnverified(t.end.metadata, e.Unverified)
		t.used(e.Usage)
	}
}

// used adds the usage of a turn that ended early, if it is known.
func (t *translation) used(u *chat.Usage) {
	if u != nil {
		addUsage(t.end.metadata, *u)
	}
}

func addUnverified(metadata map[string]any, words []string) {
	if len(words) > 0 {
		metadata["unverified"] = words
	}
}

// addUsage leaves out an unknown cost.
func addUsage(metadata map[string]any, u chat.Usage) {
	metadata["tokens_used"] = u.Tokens()
	if cost := u.Cost(); cost != nil {
		metadata["cost_usd"] = *cost
	}
	if u.Searches > 0 {
		metadata["web_searches"] = u.Searches
	}
}

// written returns when the answer was completed, or, before that, when the turn was created.
func written(t chat.Turn) time.Time {
	if t.SettledAt.IsZero() {
		return t.CreatedAt
	}
	return t.SettledAt
}

// finish ends the message.
func (t *translation) finish() {
	t.release()
	t.closeText(nil)
	t.add(chunk{Type: typeMetadata, MessageMetadata: t.end.metadata})
	t.closeStep()
	if t.end.error != "" {
		t.add(chunk{Type: typeError, ErrorText: t.end.error})
	}
	t.add(chunk{Type: typeFinish, FinishReason: t.end.reason})
}

func (t *translation) openStep() {
	if !t.step {
		t.step, t.results = true, false
		t.steps++
		t.add(chunk{Type: typeStartStep})
	}
}

func (t *translation) closeStep() {
	if t.step {
		t.step = false
		t.add(chunk{Type: typeFinishStep})
	}
}

// modelStep opens a step for a model's output. A step with tool results is over.
func (t *translation) modelStep() {
	if t.results {
		t.closeStep()
	}
	t.openStep()
}

func (t *translation) write(text string) {
	if text == "" {
		return
	}
	if t.text == "" {
		t.modelStep()
		t.texts++
		t.text = "text-" + strconv.Itoa(t.texts)
		t.add(chunk{Type: typeTextStart, ID: t.text})
	}
	t.add(chunk{Type: typeTextDelta, ID: t.text, Delta: text})
}

// think adds what the model thinks.
func (t *translation) think(e chat.Event) {
	for _, step := range t.thinking.Steps(e, t.text != "") {
		id := "reasoning-" + strconv.Itoa(t.thoughts)
		switch {
		case step.Begins:
			t.closeText(nil)
			t.modelStep()
			t.thoughts++
			t.add(chunk{Type: typeThoughtStart, ID: "reasoning-" + strconv.Itoa(t.thoughts)})
		case step.Ends:
			t.add(chunk{Type: typeThoughtEnd, ID: id, ProviderMetadata: &provider{map[string]any{"took_ms": step.Took.Milliseconds()}}})
		default:
			t.add(chunk{Type: typeThoughtDelta, ID: id, Delta: step.Text})
		}
	}
}

func (t *translation) closeText(p *provider) {
	if t.text != "" {
		t.add(chunk{Type: typeTextEnd, ID: t.text, ProviderMetadata: p})
		t.text = ""
	}
}

func (t *translation) status(e chat.Event, id string) {
	t.add(chunk{Type: dataStatus, Transient: true, Data: statusData{string(e.Node), e.Message, e.ToolCallID, e.WebQuery, e.Coded, dialect.SoFarOf(e)}})
	if len(e.DocsFound) > 0 {
		t.add(chunk{Type: dataDocs, ID: id, Data: docsData{string(e.Node), e.DocsFound}})
	}
}

func (t *translation) notice(e chat.Event, id string) {
	if e.Code == chat.NoticeRestarted {
		// The text so far stays in the message; a page may hide it.
		t.sent.Restart()
		t.closeText(&provider{map[string]any{"superseded": true}})
	}
	t.add(chunk{Type: dataNotice, ID: id, Data: noticeData{e.Code, e.Message, e.Coded}})
}

func (t *translation) know(id, name string, input json.RawMessage) *call {
	c := t.calls[id]
	if c == nil {
		c = &call{}
		t.calls[id] = c
		t.order = append(t.order, id)
	}
	if name != "" {
		c.name = name
	}
	if input != nil {
		c.input = input
	}
	return c
}

// hold keeps a tool call until it is known whether it needs an approval: the client's helper needs all calls
// that need one, and no other open ones, in the message's last step.
func (t *translation) hold(e chat.Event) {
	c := t.know(e.ToolCallID, e.ToolName, json.RawMessage(chat.Arguments(e.Arguments)))
	t.heldCalls = append(t.heldCalls, input(e.ToolCallID, c))
}

func input(id string, c *call) chunk {
	return chunk{Type: typeToolInput, ToolCallID: id, ToolName: cmp.Or(c.name, "tool"), Input: json.RawMessage(chat.Arguments(string(c.input)))}
}

// release adds the held calls.
func (t *translation) release() {
	heldCalls := t.heldCalls
	t.heldCalls = nil
	for _, c := range heldCalls {
		t.show(c)
	}
}

func (t *translation) show(c chunk) {
	t.modelStep()
	known := t.calls[c.ToolCallID]
	known.shown, known.step = true, t.steps
	t.add(c)
}

// result adds the result of a call; the client must have its input.
func (t *translation) result(e chat.Event) {
	c := t.know(e.ToolCallID, e.ToolName, nil)
	t.correct(e.ToolCallID, c)
	if !c.shown {
		t.show(input(e.ToolCallID, c))
	}
	c.done, t.results = true, true
	switch {
	case c.verdict != nil && !c.verdict.approved:
		t.add(chunk{Type: typeToolDenied, ToolCallID: e.ToolCallID, verdict: c.verdict})
	case e.IsError:
		t.fail(e.ToolCallID, messages.Message{Coded: e.Coded, Text: e.Text})
	default:
		t.add(chunk{Type: typeToolOutput, ToolCallID: e.ToolCallID, Output: e.Text, verdict: c.verdict})
		t.pictures(e.Text)
	}
}

// correct sends the input of a call again if a person has edited it. Clients replace the input of a part in
// their last step, and keep its approval; in an earlier step they would not find the part.
func (t *translation) correct(id string, c *call) {
	if c.verdict == nil || !c.verdict.edited() {
		return
	}
	c.input = c.verdict.arguments
	if c.shown && c.step == t.steps {
		t.add(input(id, c))
	}
}

func (t *translation) fail(id string, why messages.Message) {
	if why.Text == "" {
		why = messages.ToolFailed
	}
	t.add(chunk{Type: typeToolError, ToolCallID: id, ErrorText: why.Text, verdict: t.calls[id].verdict})
	if why.Code != "" {
		t.add(chunk{Type: dataTool, ID: "tool-message-" + id, Data: toolMessage{id, why.Coded}})
	}
}

// Results contain a tool's pictures as markdown.
var picture = regexp.MustCompile(`\]\((/api/attachments/[A-Za-z0-9_.:-]{1,128})\)`)

func (t *translation) pictures(text string) {
	for _, m := range picture.FindAllStringSubmatch(text, chat.MaxAttachments) {
		t.add(chunk{Type: typeFile, URL: m[1], MediaType: "image/*"})
	}
}

// remember records a question and the calls that it asks about.
func (t *translation) remember(e chat.Event) {
	if e.Interrupt == nil {
		return
	}
	q := question{Interrupt: *e.Interrupt, ThreadID: t.thread, TurnID: e.TurnID, CheckpointID: e.Interrupt.ID}
	q.Calls = slices.Clone(q.Calls)
	for i, c := range q.Calls {
		q.Calls[i].Arguments = json.RawMessage(chat.Arguments(string(c.Arguments)))
		t.know(c.ID, c.Name, q.Calls[i].Arguments).asked = true
	}
	t.asked[q.ID] = q
}

// interrupt adds a question. A tool_approval is also sent in the client's own format.
func (t *translation) interrupt(e chat.Event) {
	t.closeText(nil)
	if e.Interrupt == nil {
		t.release()
		return
	}
	t.remember(e)
	q := t.asked[e.Interrupt.ID]
	if len(q.Calls) > 0 {
		t.propose(q)
	}
	t.add(chunk{Type: dataInterrupt, ID: q.ID, Data: q})
	t.end = ending{reason: finishOther, metadata: map[string]any{"finished_reason": "interrupted"}}
	if q.Type == chat.ToolApproval {
		t.end.reason = finishToolCalls
	}
}

// propose adds the calls that a question asks about, in a step without other open calls.
func (t *translation) propose(q question) {
	asks := func(id string) bool {
		return slices.ContainsFunc(q.Calls, func(c chat.ToolCall) bool { return c.ID == id })
	}
	t.heldCalls = slices.DeleteFunc(t.heldCalls, func(c chunk) bool { return asks(c.ToolCallID) })
	t.release()
	for _, id := range t.order {
		if c := t.calls[id]; c.shown && !c.done && !asks(id) {
			t.closeStep()
			break
		}
	}
	for _, c := range q.Calls {
		known := t.know(c.ID, c.Name, c.Arguments)
		if !known.shown {
			t.show(input(c.ID, known))
		}
		t.add(chunk{Type: typeApprovalRequest, ApprovalID: ApprovalID(q.ID, c.ID), ToolCallID: c.ID})
	}
}

// decide records the answer to a question.
func (t *translation) decide(e chat.Event) {
	q, known := t.asked[answers(e)]
	if !known || e.Resume == nil {
		return
	}
	q.Answered, q.Answer = true, e.Resume
	t.asked[q.ID] = q
	for _, d := range e.Resume.Decisions {
		if c := t.calls[d.ID]; c != nil {
			c.verdict = &verdict{approvalID: ApprovalID(q.ID, d.ID), approved: d.Decision == chat.Approved, reason: d.Reason, arguments: d.Arguments}
		}
	}
}

// answers returns the question that an answer belongs to.
func answers(e chat.Event) string {
	if e.Interrupt == nil {
		return ""
	}
	return e.Interrupt.ID
}

func (t *translation) response(e chat.Event) {
	t.closeText(nil)
	r := e.Response
	if r == nil {
		r = &chat.Response{}
	}
	for _, c := range r.Citations {
		t.source(c)
	}
	m := map[string]any{"finished_reason": r.Finish.Reason()}
	addUnverified(m, r.Unverified)
	addUsage(m, r.Usage)
	for name, value := range map[string]string{"action": string(r.Action),
		"inference_confidence": string(r.InferenceConfidence), "retrieval_confidence": string(r.RetrievalConfidence)} {
		if value != "" {
			m[name] = value
		}
	}
	reason := map[chat.Finish]string{"": finishStop, chat.FinishLength: finishLength, chat.FinishFilter: finishFilter, chat.FinishBroken: finishOther}
	t.end = ending{reason: reason[r.Finish], metadata: m}
}

// source adds a citation; fields that the format lacks are in providerMetadata.
func (t *translation) source(c chat.Citation) {
	ours := map[string]any{"n": c.N, "quote": c.Quote}
	out := chunk{SourceID: "source-" + strconv.Itoa(c.N), Title: c.Title, ProviderMetadata: &provider{ours}}
	if c.Source == "web" {
		if c.URL == "" {
			return
		}
		out.Type, out.URL = typeSourceURL, c.URL
	} else {
		out.Type, out.MediaType = typeSourceDocument, "text/plain"
		out.Title = cmp.Or(out.Title, "Document")
		ours["doc_id"], ours["chunk_id"] = c.DocID, c.ChunkID
		if c.Start != nil && c.End != nil {
			ours["start"], ours["end"] = *c.Start, *c.End
		}
		if c.Page > 0 {
			ours["page"] = c.Page
		}
	}
	t.add(out)
}

// early closes the text and the calls of a turn that was cut short. The message must not end with a step that
// has tool calls, because the client's helper would send it again at once.
func (t *translation) early(e chat.Event) {
	t.write(t.sent.Rest(e.Partial))
	t.closeText(nil)
	for _, c := range e.Citations {
		t.source(c)
	}
	for _, id := range t.order {
		if c := t.calls[id]; c.shown && !c.done {
			c.done = true
			switch {
			case c.verdict != nil && !c.verdict.approved:
				t.add(chunk{Type: typeToolDenied, ToolCallID: id, verdict: c.verdict})
			case c.verdict == nil && c.asked:
				t.fail(id, messages.ToolUndecided)
			default:
				t.correct(id, c)
				t.fail(id, messages.ToolStopped)
			}
			t.results = true
		}
	}
	if t.results || t.started && !t.step {
		t.closeStep()
		t.openStep()
	}
}

// ApprovalID names the decision about one call of a question.
func ApprovalID(interruptID, callID string) string { return interruptID + "/" + callID }
