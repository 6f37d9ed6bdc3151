package agui

import (
	"cmp"
	"encoding/json"
	"maps"
	"strconv"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/sse"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
)

// chunk is the JSON of every event; only the fields of its type are set.
type chunk struct {
	Type            string         `json:"type"`
	ThreadID        string         `json:"threadId,omitempty"`
	RunID           string         `json:"runId,omitempty"`
	ProtocolVersion string         `json:"protocolVersion,omitempty"`
	StepName        string         `json:"stepName,omitempty"`
	MessageID       string         `json:"messageId,omitempty"`
	Role            string         `json:"role,omitempty"`
	ToolCallID      string         `json:"toolCallId,omitempty"`
	ToolCallName    string         `json:"toolCallName,omitempty"`
	Delta           string         `json:"delta,omitempty"`
	Content         *string        `json:"content,omitempty"`
	Messages        []messageJSON  `json:"messages,omitempty"`
	Snapshot        map[string]any `json:"snapshot,omitempty"`
	Name            string         `json:"name,omitempty"`
	Value           *noticeJSON    `json:"value,omitempty"`
	Message         string         `json:"message,omitempty"`
	Code            string         `json:"code,omitempty"`
	Result          *resultJSON    `json:"result,omitempty"`
	Outcome         *outcomeJSON   `json:"outcome,omitempty"`
	Usage           []tokensJSON   `json:"usage,omitempty"`
	Metadata        map[string]any `json:"metadata,omitempty"`
}

// Types of events.
const (
	runStarted       = "RUN_STARTED"
	runFinished      = "RUN_FINISHED"
	runError         = "RUN_ERROR"
	stepStarted      = "STEP_STARTED"
	stepFinished     = "STEP_FINISHED"
	textStart        = "TEXT_MESSAGE_START"
	textContent      = "TEXT_MESSAGE_CONTENT"
	textEnd          = "TEXT_MESSAGE_END"
	thinkStart       = "REASONING_START"
	thinkTextStart   = "REASONING_MESSAGE_START"
	thinkContent     = "REASONING_MESSAGE_CONTENT"
	thinkTextEnd     = "REASONING_MESSAGE_END"
	thinkEnd         = "REASONING_END"
	toolStart        = "TOOL_CALL_START"
	toolArgs         = "TOOL_CALL_ARGS"
	toolEnd          = "TOOL_CALL_END"
	toolResult       = "TOOL_CALL_RESULT"
	messagesSnapshot = "MESSAGES_SNAPSHOT"
	stateSnapshot    = "STATE_SNAPSHOT"
	custom           = "CUSTOM"

	protocolVersion = "1.0"
	noticeName      = "palaver.notice"
	stateKey        = "palaver" // key of our part of the state
)

type (
	messageJSON struct {
		ID         string         `json:"id"`
		Role       string         `json:"role"`
		Content    any            `json:"content,omitempty"` // a string, or a list of partJSON
		ToolCalls  []callJSON     `json:"toolCalls,omitempty"`
		ToolCallID string         `json:"toolCallId,omitempty"`
		Metadata   map[string]any `json:"metadata,omitempty"`
	}
	partJSON struct {
		Type   string      `json:"type"`
		Text   string      `json:"text,omitempty"`
		Source *sourceJSON `json:"source,omitempty"`
	}
	sourceJSON struct {
		Type  string `json:"type"`
		Value string `json:"value"`
	}
	callJSON struct {
		ID       string       `json:"id"`
		Type     string       `json:"type"`
		Function functionJSON `json:"function"`
	}
	functionJSON struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	noticeJSON struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		messages.Coded
	}
	resultJSON struct {
		Response  string          `json:"response"`
		Citations []chat.Citation `json:"citations"`
		TurnID    string          `json:"turn_id"`
	}
	outcomeJSON struct {
		Type       string          `json:"type"`
		Interrupts []interruptJSON `json:"interrupts,omitempty"`
	}
	interruptJSON struct {
		ID             string         `json:"id"`
		Reason         string         `json:"reason"`
		Message        string         `json:"message"`
		ToolCallID     string         `json:"toolCallId,omitempty"`
		ResponseSchema map[string]any `json:"responseSchema"`
		Metadata       questionJSON   `json:"metadata"`
	}
	questionJSON struct {
		Options        []chat.Option   `json:"options,omitempty"`
		Calls          []chat.ToolCall `json:"tool_calls,omitempty"`
		TurnID         string          `json:"turn_id"`
		messages.Coded                 // of the interrupt's message
	}
	tokensJSON struct {
		In    int `json:"inputTokens"`
		Out   int `json:"outputTokens"`
		Total int `json:"totalTokens"`
	}
	// stateJSON is our part of the state.
	stateJSON struct {
		TurnID              string          `json:"turn_id"`
		Documents           []chat.DocRef   `json:"documents"`
		Citations           []chat.Citation `json:"citations"`
		Unverified          []string        `json:"unverified,omitempty"`
		Action              chat.Action     `json:"action,omitempty"`
		InferenceConfidence chat.Confidence `json:"inference_confidence,omitempty"`
		RetrievalConfidence chat.Confidence `json:"retrieval_confidence,omitempty"`
	}
)

// Wire writes a run (dialect.Wire). Its chunks are written to a stream, or assembledMessage into the
// messages of a snapshot (messagesOf).
type Wire struct {
	thread, run string
	turn        string
	history     []messageJSON // of a thread that is opened; nil: no snapshot
	own         map[string]json.RawMessage
	state       stateJSON
	step        string
	message     string          // the id of the open text message
	pieces      int             // finished pieces of the answer
	restarts    int             // of the piece that is being written
	begun       bool            // some of its text is shown
	shown       map[string]bool // tool calls
	sent        dialect.SentText
	thinking    dialect.Thinking
	thoughts    int // stretches of reasoning so far
	end         chunk
	out         []chunk // not yet taken
}

// NewWire makes the wire of a run.
func NewWire(s dialect.Stream, in Run, history []messageJSON) *Wire {
	return &Wire{thread: in.Thread, run: in.RunID, turn: s.Turn.ID, history: history, own: in.State, shown: map[string]bool{},
		state: stateJSON{TurnID: s.Turn.ID, Documents: []chat.DocRef{}, Citations: []chat.Citation{}},
		end:   chunk{Type: runFinished, ThreadID: in.Thread, RunID: in.RunID, Outcome: &outcomeJSON{Type: "success"}}}
}

func (*Wire) Name() string              { return "ag_ui" }
func (*Wire) Header() map[string]string { return nil }

// Abrupt implements dialect.Abrupt: a run that just ends would count as one that succeeded.
func (*Wire) Abrupt() {}

func (w *Wire) Begin(b []byte) []byte {
	b = sse.JSON(b, chunk{Type: runStarted, ThreadID: w.thread, RunID: w.run, ProtocolVersion: protocolVersion})
	if w.history != nil {
		b = sse.JSON(b, snapshotJSON{messagesSnapshot, w.history})
	}
	return b
}

// snapshotJSON always has its list, even if it is empty.
type snapshotJSON struct {
	Type     string        `json:"type"`
	Messages []messageJSON `json:"messages"`
}

// Before records what earlier runs of the turn have shown (dialect.Historian).
func (w *Wire) Before(e chat.Event) {
	switch e.Type {
	case chat.EventText:
		w.pieces++
		w.sent.Piece(e)
	case chat.EventToolCall:
		w.shown[e.ToolCallID] = true
	case chat.EventInterrupt:
		if e.Interrupt != nil {
			for _, c := range e.Interrupt.Calls {
				w.shown[c.ID] = true
			}
		}
	case chat.EventStatus:
		w.found(e.DocsFound)
	}
}

// Answered shows the calls of a question that was answered meanwhile, as the run that asked
// it did (dialect.Replayer).
func (w *Wire) Answered(b []byte, e chat.Event, _ string) []byte {
	w.asked(e)
	return w.flush(b)
}

func (w *Wire) Event(b []byte, e chat.Event, _ string) []byte {
	w.event(e)
	return w.flush(b)
}

func (w *Wire) End(b []byte) []byte {
	w.closeText()
	w.closeStep()
	return sse.JSON(w.flush(b), w.end)
}

func (w *Wire) flush(b []byte) []byte {
	for _, c := range w.take() {
		b = sse.JSON(b, c)
	}
	return b
}

func (w *Wire) add(c chunk) { w.out = append(w.out, c) }

// take returns the chunks since the last take.
func (w *Wire) take() []chunk {
	out := w.out
	w.out = nil
	return out
}

// event adds an event's chunks. There is one step at a time: a node's step ends where
// another begins.
func (w *Wire) event(e chat.Event) {
	for _, step := range w.thinking.Steps(e, w.message != "") {
		if step.Begins {
			w.thoughts++
		}
		id := w.turn + ".think" + strconv.Itoa(w.thoughts)
		switch {
		case step.Begins:
			w.add(chunk{Type: thinkStart, MessageID: id})
			w.add(chunk{Type: thinkTextStart, MessageID: id, Role: "reasoning"})
		case step.Ends:
			w.add(chunk{Type: thinkTextEnd, MessageID: id})
			w.add(chunk{Type: thinkEnd, MessageID: id})
		default:
			w.add(chunk{Type: thinkContent, MessageID: id, Delta: step.Text})
		}
	}
	switch e.Type {
	case chat.EventStatus:
		w.status(e)
	case chat.EventToken:
		w.sent.Token(e.Text)
		w.text(e.Text)
	case chat.EventText:
		w.text(w.sent.Piece(e))
		w.closeText()
		w.pieces, w.restarts, w.begun = w.pieces+1, 0, false
	case chat.EventToolCall:
		w.closeText()
		w.call(e.ToolCallID, e.ToolName, e.Arguments)
	case chat.EventToolResult:
		w.closeText()
		if !w.shown[e.ToolCallID] {
			w.call(e.ToolCallID, e.ToolName, "{}")
		}
		out := chunk{Type: toolResult, MessageID: resultID(e.ToolCallID), ToolCallID: e.ToolCallID, Content: &e.Text, Role: "tool"}
		if e.IsError {
			out.Metadata = map[string]any{"is_error": true}
		}
		w.add(out)
	case chat.EventNotice:
		if e.Code == chat.NoticeRestarted { // the text so far stays; the new text is another message
			w.sent.Restart()
			w.closeText()
			if w.begun {
				w.restarts, w.begun = w.restarts+1, false
			}
		}
		w.add(chunk{Type: custom, Name: noticeName, Value: &noticeJSON{e.Code, e.Message, e.Coded}})
	case chat.EventInterrupt:
		if e.Interrupt != nil {
			w.asked(e)
			w.end.Outcome = &outcomeJSON{"interrupt", []interruptJSON{question(*e.Interrupt, e.TurnID)}}
			w.used(e.Usage)
		}
	case chat.EventResponse:
		w.closeText()
		w.response(e)
	case chat.EventCancelled:
		w.end.Outcome = &outcomeJSON{Type: "cancelled"}
		w.early(e)
	case chat.EventFailed:
		w.early(e)
		w.end = chunk{Type: runError, Message: e.Message, Code: e.Code, Usage: w.end.Usage, Metadata: metadata(e.Coded, "retryable", e.Retryable)}
		w.end.Message = cmp.Or(w.end.Message, e.Code)
	}
}

// asked shows the calls that a question is about.
func (w *Wire) asked(e chat.Event) {
	if e.Interrupt == nil {
		return
	}
	w.closeText()
	for _, c := range e.Interrupt.Calls {
		if !w.shown[c.ID] {
			w.call(c.ID, c.Name, string(c.Arguments))
		}
	}
}

func (w *Wire) status(e chat.Event) {
	if e.Node == chat.NodeRetry { // a retry is no step of its own: the open step goes on
		w.add(chunk{Type: custom, Name: noticeName, Value: &noticeJSON{string(e.Node), e.Message, e.Coded}})
		return
	}
	if name := string(e.Node); name != w.step {
		w.closeText()
		w.closeStep()
		w.step = name
		about := metadata(e.Coded, "message", e.Message)
		if e.ToolCallID != "" {
			about["tool_call_id"] = e.ToolCallID
		}
		w.add(chunk{Type: stepStarted, StepName: name, Metadata: about})
	}
	if len(e.DocsFound) > 0 {
		w.found(e.DocsFound)
		w.snapshot()
	}
}

func (w *Wire) found(docs []chat.DocRef) {
	for _, d := range docs {
		known := false
		for _, x := range w.state.Documents {
			known = known || x.ID == d.ID
		}
		if !known {
			w.state.Documents = append(w.state.Documents, d)
		}
	}
}

// snapshot sends the state. It keeps the entries of the client's own state.
func (w *Wire) snapshot() {
	state := make(map[string]any, len(w.own)+1)
	for name, value := range w.own {
		state[name] = value
	}
	maps.Copy(state, map[string]any{stateKey: w.state})
	w.add(chunk{Type: stateSnapshot, Snapshot: state})
}

func (w *Wire) closeStep() {
	if w.step != "" {
		w.add(chunk{Type: stepFinished, StepName: w.step})
		w.step = ""
	}
}

// text adds text to the message of the piece that is being written. The message's id has the
// number of the piece, so that it is the same when the turn is read from its log, which has
// no text from before a restart.
func (w *Wire) text(text string) {
	if text == "" {
		return
	}
	if w.message == "" {
		w.begun = true
		w.message = w.turn + ".t" + strconv.Itoa(w.pieces+1)
		if w.restarts > 0 {
			w.message += ".r" + strconv.Itoa(w.restarts)
		}
		w.add(chunk{Type: textStart, MessageID: w.message, Role: "assistant"})
	}
	w.add(chunk{Type: textContent, MessageID: w.message, Delta: text})
}

func (w *Wire) closeText() {
	if w.message != "" {
		w.add(chunk{Type: textEnd, MessageID: w.message})
		w.message = ""
	}
}

func (w *Wire) call(id, name, arguments string) {
	w.shown[id] = true
	name = cmp.Or(name, "tool")
	w.add(chunk{Type: toolStart, ToolCallID: id, ToolCallName: name})
	w.add(chunk{Type: toolArgs, ToolCallID: id, Delta: chat.Arguments(arguments)})
	w.add(chunk{Type: toolEnd, ToolCallID: id})
}

func (w *Wire) response(e chat.Event) {
	r := e.Response
	if r == nil {
		r = &chat.Response{}
	}
	if r.Citations != nil {
		w.state.Citations = r.Citations
	}
	w.state.Unverified = r.Unverified
	w.state.Action, w.state.InferenceConfidence, w.state.RetrievalConfidence = r.Action, r.InferenceConfidence, r.RetrievalConfidence
	w.end.Result = &resultJSON{r.Text, w.state.Citations, e.TurnID}
	w.used(&r.Usage)
	w.snapshot()
}

// early ends a turn that was cut short: the client gets the text that it lacks.
func (w *Wire) early(e chat.Event) {
	w.used(e.Usage)
	w.text(w.sent.Rest(e.Partial))
	w.closeText()
	if len(e.Citations)+len(e.Unverified) > 0 {
		w.state.Citations, w.state.Unverified = append(w.state.Citations, e.Citations...), e.Unverified
		w.snapshot()
	}
}

// metadata returns a chunk's metadata: one field, and the code of the chunk's message.
func metadata(c messages.Coded, field string, value any) map[string]any {
	m := map[string]any{field: value}
	c.Put(m)
	return m
}

func (w *Wire) used(u *chat.Usage) {
	if u != nil {
		w.end.Usage = []tokensJSON{{u.TokensIn, u.TokensOut, u.Tokens()}}
	}
}

func resultID(call string) string { return call + "-result" }

// question returns an interrupt with the JSON schema of its answer.
func question(q chat.Interrupt, turn string) interruptJSON {
	out := interruptJSON{ID: q.ID, Reason: string(q.Type), Message: q.Message, Metadata: questionJSON{q.Options, q.Calls, turn, q.Coded}}
	if len(q.Calls) == 1 {
		out.ToolCallID = q.Calls[0].ID
	}
	text := map[string]any{"type": "string"}
	if len(q.Options) > 0 {
		ids := make([]string, len(q.Options))
		for i, o := range q.Options {
			ids[i] = o.ID
		}
		text["enum"] = ids
	}
	out.ResponseSchema = map[string]any{"type": "object", "properties": map[string]any{"value": text}, "required": []string{"value"}}
	if q.Type == chat.ToolApproval {
		out.ResponseSchema = map[string]any{"type": "object", "required": []string{"approved"}, "properties": map[string]any{
			"approved": map[string]any{"type": "boolean"}, "arguments": map[string]any{"type": "object"},
			"reason": map[string]any{"type": "string"}, "remember": map[string]any{"type": "boolean"}}}
	}
	return out
}
