package llmtest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/palaver-chat/palaver/llm"
)

// Match says which calls a rule is for. Empty fields match anything.
type Match struct {
	Kind     Kind
	Schema   string // e.g. "intent_classification"
	Contains string // a part of the last user message, ignoring case
	Func     func(Request) bool
}

func (m Match) matches(r Request) bool {
	return (m.Kind == "" || m.Kind == r.Kind) &&
		(m.Schema == "" || m.Schema == r.Schema) &&
		(m.Contains == "" || strings.Contains(strings.ToLower(r.LastUser), strings.ToLower(m.Contains))) &&
		(m.Func == nil || m.Func(r))
}

// Answer is the scripted answer to one call.
type Answer struct {
	// Chunks are the deltas of a streamed answer, or the parts of a structured
	// answer's raw text. JSON, when set, is encoded as a structured answer.
	Chunks []string
	JSON   any
	// Calls are the tool calls of a streamed answer, after its chunks: whole, or in
	// alternating fragments of Pieces bytes. Deltas are further raw deltas, for
	// provider-specific shapes.
	Calls  []llm.ToolCall
	Pieces int
	Deltas []any
	// Gates[k] blocks chunk k until the gate is released; Gates[len(Chunks)] blocks
	// the end.
	Gates map[int]*Gate
	// Delay comes before the answer, Each before each chunk.
	Delay, Each time.Duration
	// Reasoning are deltas of reasoning_content before the chunks, or its text in a whole answer.
	Reasoning []string
	Stamped   bool // each chunk is the time at which it is sent, see Stamp

	Finish  string // finish_reason; empty: "stop", or "tool_calls"
	NoUsage bool   // send no token counts

	// Faults.
	Status     int    // answer with this HTTP status
	RetryAfter string // header with Status
	Body       string // raw body with Status (default: an error object), or instead of any JSON with status 200
	Cut        bool   // after the chunks, close the connection without a finish reason
	Silence    bool   // after the chunks, send nothing until the client disconnects
	Fallback   bool   // the default script's answer
}

// Text is a streamed answer in the given deltas.
func Text(chunks ...string) Answer { return Answer{Chunks: chunks} }

// Calls is a streamed answer of tool calls without text.
func Calls(calls ...llm.ToolCall) Answer { return Answer{Calls: calls} }

// Call is one tool call; args is encoded as JSON.
func Call(name string, args any) llm.ToolCall {
	b, err := json.Marshal(args)
	if err != nil { // a mistake in the test
		panic(err)
	}
	return llm.ToolCall{Name: name, Arguments: string(b)}
}

// JSON is a structured answer.
func JSON(v any) Answer { return Answer{JSON: v} }

// Status is a refusal with an HTTP status and, when given, a Retry-After.
func Status(code int, retryAfter string) Answer {
	return Answer{Status: code, RetryAfter: retryAfter}
}

// Cut is a stream that ends without a finish reason after the given deltas.
func Cut(chunks ...string) Answer { return Answer{Chunks: chunks, Cut: true} }

// Silent is a stream that stays open but silent after the given deltas.
func Silent(chunks ...string) Answer { return Answer{Chunks: chunks, Silence: true} }

// Garbage is a 200 with an HTML body.
func Garbage() Answer { return Answer{Body: "<html>bad gateway</html>"} }

// Default is the default script's answer, for calls that succeed after a fault.
func Default() Answer { return Answer{Fallback: true} }

// Gate blocks an answer until the test releases it.
type Gate struct {
	reached, released chan struct{}
	reach, release    sync.Once
}

// NewGate returns a closed gate.
func NewGate() *Gate { return &Gate{reached: make(chan struct{}), released: make(chan struct{})} }

// Reached is closed when an answer waits at the gate.
func (g *Gate) Reached() <-chan struct{} { return g.reached }

// Release opens the gate permanently.
func (g *Gate) Release() { g.release.Do(func() { close(g.released) }) }

type rule struct {
	match   Match
	answers []Answer
	next    int
}

// On scripts the calls that m matches: the first call gets the first answer and
// so on, and the last answer repeats. The newest matching rule wins.
func (s *Server) On(m Match, answers ...Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = append([]*rule{{match: m, answers: answers}}, s.rules...)
}

// Reset removes every rule; recorded calls stay.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = nil
}

// answer returns the answer by the rules, or else by the default script.
func (s *Server) answer(r Request, prompt string) Answer {
	s.mu.Lock()
	a := Default()
	for _, rule := range s.rules {
		if rule.match.matches(r) && len(rule.answers) > 0 {
			a = rule.answers[min(rule.next, len(rule.answers)-1)]
			rule.next++
			break
		}
	}
	s.mu.Unlock()
	if a.Fallback {
		a = s.fallback(r, prompt)
	}
	if a.JSON != nil {
		b, err := json.Marshal(a.JSON)
		if err != nil {
			return Answer{Status: http.StatusInternalServerError, Body: err.Error()}
		}
		a.Chunks = []string{string(b)}
	}
	return a
}

// Refuse makes the server answer the calls that m matches with status 400 and a message.
func (s *Server) Refuse(m Match, message string) {
	b, err := json.Marshal(map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error"}})
	if err != nil { // a text can be encoded
		panic(err)
	}
	s.On(m, Answer{Status: http.StatusBadRequest, Body: string(b)})
}

// RefuseSchema makes the server reject response_format.
func (s *Server) RefuseSchema() {
	s.On(Match{Func: func(r Request) bool { return r.Mode == "json_schema" }}, Answer{Status: http.StatusBadRequest,
		Body: `{"error":{"message":"'response_format' of type json_schema is not supported with this model","type":"invalid_request_error"}}`})
}

// RefuseTools makes the server reject requests with tools.
func (s *Server) RefuseTools() {
	s.On(Match{Func: func(r Request) bool { return len(r.Tools) > 0 }}, Answer{Status: http.StatusBadRequest,
		Body: `{"error":{"message":"registry.ollama.ai/library/scripted:latest does not support tools","type":"api_error"}}`})
}

// RefuseImages makes the server reject requests with pictures.
func (s *Server) RefuseImages() {
	s.On(Match{Func: func(r Request) bool { return bytes.Contains(r.Body, []byte(`"image_url"`)) }}, Answer{Status: http.StatusBadRequest,
		Body: `{"error":{"message":"Invalid content type. image_url is only supported by certain models.","type":"invalid_request_error"}}`})
}
