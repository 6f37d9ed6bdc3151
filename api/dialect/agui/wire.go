package agui

import (
	"encoding/json"
	"maps"
	"strconv"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/sse"
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
		Content    *string        `json:"content,omitempty"`
		ToolCalls  []callJSON     `json:"toolCalls,omitempty"`
		ToolCallID string         `json:"toolCallId,omitempty"`
		Error      string         `json:"error,omitempty"`
		Metadata   map[string]any `json:"metadata,omitempty"`
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
		Options []chat.Option   `json:"options,omitempty"`
		Calls   []chat.ToolCall `json:"tool_calls,omitempty"`
		TurnID  string          `json:"turn_id"`
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
		Action              chat.Action     `json:"action,omitempty"`
		InferenceConfidence chat.Confidence `json:"inference_confidence,omitempty"`
		RetrievalConfidence chat.Confidence `json:"retrieval_confidence,omitempty"`
	}
)

// Wire writes a run (dialect.Wire).
type Wire struct {
	thread, run string
	turn        string
	history     []messageJSON // of a thread that is opened; nil: no snapshot
	own         map[string]json.RawMessage
	state       stateJSON
	step        string
	message     string // the id of the open text message
	texts       int
	shown       map[string]bool // tool calls
	sent        dialect.SentText
	end         chunk
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
		w.texts++
		w.sent.Piece(e)
	case chat.EventToolCall:
		w.shown[e.ToolCallID] = true
	case chat.EventStatus:
		w.found(e.DocsFound)
	}
}

// Event appends an event. There is one step at a time: a node's step ends where another
// begins.
func (w *Wire) Event(b []byte, e chat.Event, _ string) []byte {
	switch e.Type {
	case chat.EventStatus:
		return w.status(b, e)
	case chat.EventToken:
		w.sent.Token(e.Text)
		return w.text(b, e.Text)
	case chat.EventText:
		return w.closeText(w.text(b, w.sent.Piece(e)))
	case chat.EventToolCall:
		return w.call(w.closeText(b), e.ToolCallID, e.ToolName, e.Arguments)
	case chat.EventToolResult:
		b = w.closeText(b)
		if !w.shown[e.ToolCallID] {
			b = w.call(b, e.ToolCallID, e.ToolName, "{}")
		}
		out := chunk{Type: toolResult, MessageID: resultID(e.ToolCallID), ToolCallID: e.ToolCallID, Content: &e.Text, Role: "tool"}
		if e.IsError {
			out.Metadata = map[string]any{"is_error": true}
		}
		return sse.JSON(b, out)
	case chat.EventNotice:
		if e.Code == chat.NoticeRestarted { // the text so far stays; the new text is another message
			w.sent.Restart()
			b = w.closeText(b)
		}
		return sse.JSON(b, chunk{Type: custom, Name: noticeName, Value: &noticeJSON{e.Code, e.Message}})
	case chat.EventInterrupt:
		if e.Interrupt != nil {
			b = w.closeText(b)
			for _, c := range e.Interrupt.Calls {
				if !w.shown[c.ID] {
					b = w.call(b, c.ID, c.Name, string(c.Arguments))
				}
			}
			w.end.Outcome = &outcomeJSON{"interrupt", []interruptJSON{question(*e.Interrupt, e.TurnID)}}
			w.used(e.Usage)
		}
	case chat.EventResponse:
		return w.response(w.closeText(b), e)
	case chat.EventCancelled:
		w.end.Outcome = &outcomeJSON{Type: "cancelled"}
		return w.early(b, e)
	case chat.EventFailed:
		b = w.early(b, e)
		w.end = chunk{Type: runError, Message: e.Message, Code: e.Code, Usage: w.end.Usage, Metadata: map[string]any{"retryable": e.Retryable}}
		if w.end.Message == "" {
			w.end.Message = e.Code
		}
	}
	return b
}

func (w *Wire) End(b []byte) []byte { return sse.JSON(w.closeStep(w.closeText(b)), w.end) }

func (w *Wire) status(b []byte, e chat.Event) []byte {
	if e.Node == chat.NodeRetry { // a retry is no step of its own: the open step goes on
		return sse.JSON(b, chunk{Type: custom, Name: noticeName, Value: &noticeJSON{string(e.Node), e.Message}})
	}
	if name := string(e.Node); name != w.step {
		b = w.closeStep(w.closeText(b))
		w.step = name
		b = sse.JSON(b, chunk{Type: stepStarted, StepName: name, Metadata: map[string]any{"message": e.Message}})
	}
	if len(e.DocsFound) > 0 {
		w.found(e.DocsFound)
		b = w.snapshot(b)
	}
	return b
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
func (w *Wire) snapshot(b []byte) []byte {
	state := make(map[string]any, len(w.own)+1)
	for name, value := range w.own {
		state[name] = value
	}
	maps.Copy(state, map[string]any{stateKey: w.state})
	return sse.JSON(b, chunk{Type: stateSnapshot, Snapshot: state})
}

func (w *Wire) closeStep(b []byte) []byte {
	if w.step != "" {
		b = sse.JSON(b, chunk{Type: stepFinished, StepName: w.step})
		w.step = ""
	}
	return b
}

func (w *Wire) text(b []byte, text string) []byte {
	if text == "" {
		return b
	}
	if w.message == "" {
		w.texts++
		w.message = w.turn + ".t" + strconv.Itoa(w.texts)
		b = sse.JSON(b, chunk{Type: textStart, MessageID: w.message, Role: "assistant"})
	}
	return sse.JSON(b, chunk{Type: textContent, MessageID: w.message, Delta: text})
}

func (w *Wire) closeText(b []byte) []byte {
	if w.message != "" {
		b = sse.JSON(b, chunk{Type: textEnd, MessageID: w.message})
		w.message = ""
	}
	return b
}

func (w *Wire) call(b []byte, id, name, arguments string) []byte {
	w.shown[id] = true
	if name == "" {
		name = "tool"
	}
	b = sse.JSON(b, chunk{Type: toolStart, ToolCallID: id, ToolCallName: name})
	b = sse.JSON(b, chunk{Type: toolArgs, ToolCallID: id, Delta: chat.Arguments(arguments)})
	return sse.JSON(b, chunk{Type: toolEnd, ToolCallID: id})
}

func (w *Wire) response(b []byte, e chat.Event) []byte {
	r := e.Response
	if r == nil {
		r = &chat.Response{}
	}
	if r.Citations != nil {
		w.state.Citations = r.Citations
	}
	w.state.Action, w.state.InferenceConfidence, w.state.RetrievalConfidence = r.Action, r.InferenceConfidence, r.RetrievalConfidence
	w.end.Result = &resultJSON{r.Text, w.state.Citations, e.TurnID}
	w.used(&r.Usage)
	return w.snapshot(b)
}

// early ends a turn that was cut short: the client gets the text that it lacks.
func (w *Wire) early(b []byte, e chat.Event) []byte {
	w.used(e.Usage)
	b = w.closeText(w.text(b, w.sent.Rest(e.Partial)))
	if len(e.Citations) > 0 {
		w.state.Citations = e.Citations
		b = w.snapshot(b)
	}
	return b
}

func (w *Wire) used(u *chat.Usage) {
	if u != nil {
		w.end.Usage = []tokensJSON{{u.TokensIn, u.TokensOut, u.Tokens()}}
	}
}

func resultID(call string) string { return call + "-result" }

// question returns an interrupt with the JSON schema of its answer.
func question(q chat.Interrupt, turn string) interruptJSON {
	out := interruptJSON{ID: q.ID, Reason: string(q.Type), Message: q.Message, Metadata: questionJSON{q.Options, q.Calls, turn}}
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
