package openai

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/sse"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
)

type (
	completionJSON struct {
		ID      string       `json:"id"`
		Object  string       `json:"object"`
		Created int64        `json:"created"`
		Model   string       `json:"model"`
		Choices []choiceJSON `json:"choices"`
		Usage   *usageJSON   `json:"usage"`
		Palaver *placeJSON   `json:"palaver,omitempty"`
	}
	choiceJSON struct {
		Index        int         `json:"index"`
		Message      messageJSON `json:"message"`
		Logprobs     *string     `json:"logprobs"` // always null
		FinishReason string      `json:"finish_reason"`
	}
	messageJSON struct {
		Role        string           `json:"role"`
		Content     string           `json:"content"`
		Reasoning   string           `json:"reasoning_content,omitempty"`
		Refusal     *string          `json:"refusal"` // always null
		Annotations []annotationJSON `json:"annotations"`
	}
	annotationJSON struct {
		Type        string       `json:"type"`
		URLCitation citationJSON `json:"url_citation"`
	}
	citationJSON struct {
		Start int    `json:"start_index"`
		End   int    `json:"end_index"`
		URL   string `json:"url"`
		Title string `json:"title"`
	}
	usageJSON struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
		TotalTokens      int `json:"total_tokens"`
	}
	// placeJSON has the ids of an answer that clients of other dialects get, too.
	placeJSON struct {
		ThreadID    string `json:"thread_id"`
		TurnID      string `json:"turn_id"`
		InterruptID string `json:"interrupt_id,omitempty"`
		// Ignored are fields of the request that this server does not have.
		Ignored []string `json:"ignored,omitempty"`
	}

	chunkJSON struct {
		ID      string            `json:"id"`
		Object  string            `json:"object"`
		Created int64             `json:"created"`
		Model   string            `json:"model"`
		Choices []chunkChoiceJSON `json:"choices"`
		Usage   *usageJSON        `json:"usage,omitempty"`
		Palaver *placeJSON        `json:"palaver,omitempty"`
	}
	chunkChoiceJSON struct {
		Index        int       `json:"index"`
		Delta        deltaJSON `json:"delta"`
		FinishReason *string   `json:"finish_reason"`
	}
	deltaJSON struct {
		Role        string           `json:"role,omitempty"`
		Content     *string          `json:"content,omitempty"`
		Reasoning   string           `json:"reasoning_content,omitempty"`
		Annotations []annotationJSON `json:"annotations,omitempty"`
	}

	// FailureJSON is the shape of every error.
	FailureJSON struct {
		Error errorJSON `json:"error"`
	}
	errorJSON struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    string  `json:"code"`
		messages.Coded
		RequestID string `json:"request_id,omitempty"`
	}
)

// fail makes the body of an error response.
func fail(f dialect.Failure) any {
	e := errorJSON{Message: f.Message.Text, Coded: f.Message.Coded, Type: "invalid_request_error", Code: f.Code, RequestID: f.RequestID}
	switch {
	case f.Status == http.StatusUnauthorized:
		e.Type = "authentication_error"
	case f.Status == http.StatusForbidden:
		e.Type = "permission_error"
	case f.Status == http.StatusTooManyRequests:
		e.Type = "rate_limit_error"
	case f.Status >= http.StatusInternalServerError:
		e.Type = "server_error"
	}
	if len(f.Details) > 0 {
		e.Param = &f.Details[0].Field
		e.Message += " " + f.Details.Error() + "."
	}
	return FailureJSON{e}
}

// answer collects the text of a turn as this dialect shows it.
type answer struct {
	origin, thread, turn string
	links                links
	sent                 dialect.SentText
	text                 strings.Builder
	open                 bool // a piece is being written
	annotations          []annotationJSON
	thinking             dialect.Thinking
	thought              strings.Builder
	finish               chat.Finish
	usage                chat.Usage
	interruptID          string
	failed               *chat.Event
	showed               func(question string) // is called with each question that the client gets; may be nil
}

// event returns the text that an event adds.
func (a *answer) event(e chat.Event) string {
	switch e.Type {
	case chat.EventToken:
		a.sent.Token(e.Text)
		return a.add(a.links.pass(e.Text, false))
	case chat.EventText:
		text := a.add(a.links.pass(a.sent.Piece(e), true))
		a.open = false
		return text
	case chat.EventNotice:
		if e.Code == chat.NoticeRestarted {
			a.sent.Restart()
			a.links.held = ""
			a.open = false
		}
	case chat.EventInterrupt:
		if e.Interrupt == nil {
			return ""
		}
		a.interruptID, a.open = e.Interrupt.ID, false
		if a.showed != nil {
			a.showed(e.Interrupt.ID)
		}
		a.used(e.Usage)
		text := a.add(ShowQuestion(*e.Interrupt))
		a.open = false
		return text
	case chat.EventResponse:
		if e.Response != nil {
			a.used(&e.Response.Usage)
			a.finish = e.Response.Finish
			return a.cite(e.Response.Citations)
		}
	case chat.EventCancelled:
		return a.early(e)
	case chat.EventFailed:
		a.failed = &e
		return a.early(e)
	}
	return ""
}

func (a *answer) early(e chat.Event) string {
	a.used(e.Usage)
	text := a.add(a.links.pass(a.sent.Rest(e.Partial), true))
	return text + a.cite(e.Citations)
}

func (a *answer) used(u *chat.Usage) {
	if u != nil {
		a.usage = *u
	}
}

// add appends text; a new piece begins a paragraph.
func (a *answer) add(text string) string {
	if text == "" {
		return ""
	}
	if !a.open && a.text.Len() > 0 {
		text = "\n\n" + text
	}
	a.open = true
	a.text.WriteString(text)
	return text
}

// think returns what an event adds to the reasoning.
func (a *answer) think(e chat.Event) (text string) {
	for _, step := range a.thinking.Steps(e, a.open) {
		if step.Begins && a.thought.Len() > 0 {
			text += "\n\n"
		}
		text += step.Text
	}
	a.thought.WriteString(text)
	return text
}

// reason is the finish_reason. An answer that the provider gave up is as incomplete as one
// that was too long.
func (a *answer) reason() string {
	if a.finish == chat.FinishBroken {
		return string(chat.FinishLength)
	}
	return a.finish.Reason()
}

// cite adds footnotes, and annotations at their marks in the text.
func (a *answer) cite(list []chat.Citation) string {
	notes := ""
	said := a.text.String()
	for _, c := range list {
		url := c.URL
		if c.Source != "web" {
			url = a.origin + "/chat/" + a.thread + "#cite=" + a.turn + "." + strconv.Itoa(c.N)
		}
		mark := "[" + strconv.Itoa(c.N) + "]"
		title := strings.NewReplacer("[", "(", "]", ")").Replace(chat.OneLine(c.Title))
		if c.Page > 0 {
			title += ", p. " + strconv.Itoa(c.Page)
		}
		notes += "\n" + mark + " [" + title + "](" + strings.NewReplacer(")", "%29", " ", "%20").Replace(url) + ")  "
		at := strings.Index(said, mark)
		if at < 0 {
			at = len(said)
			mark = ""
		}
		start := utf8.RuneCountInString(said[:at])
		a.annotations = append(a.annotations, annotationJSON{"url_citation", citationJSON{start, start + len(mark), url, c.Title}})
	}
	if notes == "" {
		return ""
	}
	a.open = false
	return a.add("---" + notes)
}

func usageOf(u chat.Usage) *usageJSON {
	return &usageJSON{u.TokensIn, u.TokensOut, u.Tokens()}
}

// wire is what the two kinds of answers (Stream, Whole) share.
type wire struct {
	answer
	id, model string
	created   int64
	place     placeJSON
	skipTo    string // the question up to whose answer events are recorded but not sent; empty: all are sent
}

// skips reports whether an event is before the answer to skipTo. It records such events.
func (w *wire) skips(e chat.Event) bool {
	if w.skipTo == "" {
		return false
	}
	if e.Type == chat.EventResumed && e.Interrupt != nil && e.Interrupt.ID == w.skipTo {
		w.skipTo = ""
	}
	w.Before(e)
	return true
}

func newWire(s dialect.Stream, model, origin string) wire {
	return wire{answer: answer{origin: origin, links: links{origin: origin}, thread: s.Turn.ThreadID, turn: s.Turn.ID}, id: "chatcmpl-" + s.Turn.ID, model: model, created: s.Turn.CreatedAt.Unix(),
		place: placeJSON{ThreadID: s.Thread, TurnID: s.Turn.ID}}
}

func (w *wire) Before(e chat.Event) {
	if e.Type == chat.EventText {
		w.sent.Piece(e)
	}
}

// Abrupt implements dialect.Abrupt: some clients treat a stream that just ends as a success.
func (*wire) Abrupt() {}

func (w *wire) failure() FailureJSON {
	e := errorJSON{Message: w.failed.Message, Coded: w.failed.Coded, Type: "server_error", Code: w.failed.Code}
	if w.failed.Code == chat.CodeUnauthenticated { // the caller's token has expired
		e.Type = "authentication_error"
	}
	return FailureJSON{e}
}

// Stream writes an answer in chunks (dialect.Wire).
type Stream struct {
	wire
	includeUsage bool
}

// NewStream makes the wire of a streamed answer.
func NewStream(s dialect.Stream, model, origin string, includeUsage bool) *Stream {
	return &Stream{newWire(s, model, origin), includeUsage}
}

func (*Stream) Name() string              { return "openai" }
func (*Stream) Header() map[string]string { return nil }

func (w *Stream) chunk(b []byte, d deltaJSON, finish *string) []byte {
	c := chunkJSON{ID: w.id, Object: "chat.completion.chunk", Created: w.created, Model: w.model, Choices: []chunkChoiceJSON{{Delta: d, FinishReason: finish}}}
	if finish != nil {
		w.place.InterruptID = w.interruptID
		c.Palaver = &w.place
	}
	return sse.JSON(b, c)
}

func (w *Stream) Begin(b []byte) []byte {
	empty := ""
	return w.chunk(b, deltaJSON{Role: "assistant", Content: &empty}, nil)
}

func (w *Stream) Event(b []byte, e chat.Event, _ string) []byte {
	if w.skips(e) {
		return b
	}
	if thought := w.think(e); thought != "" {
		b = w.chunk(b, deltaJSON{Reasoning: thought}, nil)
	}
	if text := w.event(e); text != "" {
		return w.chunk(b, deltaJSON{Content: &text}, nil)
	}
	return b
}

func (w *Stream) End(b []byte) []byte {
	if w.failed != nil {
		return sse.JSON(b, w.failure())
	}
	reason := w.reason()
	b = w.chunk(b, deltaJSON{Annotations: w.annotations}, &reason)
	if w.includeUsage {
		b = sse.JSON(b, chunkJSON{ID: w.id, Object: "chat.completion.chunk", Created: w.created, Model: w.model, Choices: []chunkChoiceJSON{}, Usage: usageOf(w.usage)})
	}
	return append(b, sse.Done...)
}

// Whole writes an answer as one document (dialect.Whole).
type Whole struct{ wire }

// NewWhole makes the wire of an answer that is not streamed.
func NewWhole(s dialect.Stream, model, origin string) *Whole {
	return &Whole{newWire(s, model, origin)}
}

func (*Whole) Name() string          { return "openai" }
func (*Whole) Begin(b []byte) []byte { return b }

// Header tells SDKs not to send the message of a failed turn again.
func (w *Whole) Header() map[string]string {
	if w.failed != nil {
		return map[string]string{"X-Should-Retry": "false"}
	}
	return nil
}

func (w *Whole) Status() int {
	switch {
	case w.failed == nil:
		return http.StatusOK
	case w.failed.Code == chat.CodeUnauthenticated:
		return http.StatusUnauthorized
	case w.failed.Retryable:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

func (w *Whole) Event(b []byte, e chat.Event, _ string) []byte {
	if !w.skips(e) {
		w.think(e)
		w.event(e)
	}
	return b
}

func (w *Whole) End(b []byte) []byte {
	var v any
	if w.failed != nil {
		v = w.failure()
	} else {
		w.place.InterruptID = w.interruptID
		if w.annotations == nil {
			w.annotations = []annotationJSON{}
		}
		v = completionJSON{ID: w.id, Object: "chat.completion", Created: w.created, Model: w.model, Usage: usageOf(w.usage), Palaver: &w.place,
			Choices: []choiceJSON{{Message: messageJSON{Role: "assistant", Content: w.text.String(), Reasoning: w.thought.String(), Annotations: w.annotations}, FinishReason: w.reason()}}}
	}
	out, err := json.Marshal(v)
	if err != nil { // nothing in it can fail
		return b
	}
	return append(b, out...)
}
