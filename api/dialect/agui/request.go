package agui

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/chat"
)

// Limits of a request.
const (
	MaxBody     = 16 << 20 // clients send the whole conversation, with pictures
	maxMessages = 2000
	maxState    = 64 << 10
)

type runBody struct {
	ThreadID       string            `json:"threadId"`
	RunID          string            `json:"runId"`
	Messages       []messageBody     `json:"messages"`
	Tools          []json.RawMessage `json:"tools"`
	Context        []json.RawMessage `json:"context"`
	State          json.RawMessage   `json:"state"`
	ForwardedProps json.RawMessage   `json:"forwardedProps"`
	Resume         []resumeBody      `json:"resume"`
}

type messageBody struct {
	ID      string          `json:"id"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"` // a string, or a list of partBody
}

type partBody struct {
	Type   string      `json:"type"`
	Text   string      `json:"text"`
	Source *sourceBody `json:"source"`

	// Of the older type "binary".
	MediaType string `json:"mimeType"`
	URL       string `json:"url"`
	Data      string `json:"data"`
	Filename  string `json:"filename"`

	Metadata json.RawMessage `json:"metadata"`
}

type sourceBody struct {
	Type      string `json:"type"`
	Value     string `json:"value"`
	MediaType string `json:"mimeType"`
}

// filename returns the name of the part's file; empty if the client does not tell it.
func (t partBody) filename() string {
	var m struct {
		Filename string `json:"filename"`
		Name     string `json:"name"`
	}
	_ = json.Unmarshal(t.Metadata, &m) // the client's own
	return cmp.Or(t.Filename, m.Filename, m.Name)
}

type resumeBody struct {
	InterruptID string          `json:"interruptId"`
	Status      string          `json:"status"`
	Payload     json.RawMessage `json:"payload"`
}

// payloadBody is the payload of an answer: a native resume_value or, if approved is set,
// one decision about all tool calls of the question.
type payloadBody struct {
	dialect.ResumeValue
	Approved  *bool           `json:"approved"`
	Arguments json.RawMessage `json:"arguments"`
	Reason    string          `json:"reason"`
	Remember  bool            `json:"remember"`
}

// Run is a run that a client requests: it answers a question, sends a message, or opens
// the thread. One that cancels a question also has the last message, which the server may
// have. It is validated, except that its ids may not exist in the store.
type Run struct {
	Thread, RunID string
	Agent         chat.Agent
	Answer        *Answer
	Message       *Message
	State         map[string]json.RawMessage // the client's own, which snapshots keep
	Submit        dialect.Submit             // without its message
	Earlier       []string                   // ids of the messages before the last, the newest first
	Known         map[string]bool            // ids of the messages that the client has, of a run that opens the thread
}

// Cancels reports whether the run cancels a question.
func (r Run) Cancels() bool { return r.Answer != nil && r.Answer.Value.Type == chat.CancelResume }

// Message is the person's new message.
type Message struct {
	ID, Text    string
	Files       []dialect.File // inside the message
	Attachments []string
}

// Answer is an answer to a question.
type Answer struct {
	InterruptID string
	Value       chat.ResumeValue // without a type: that of the question
	Approved    *chat.Decision   // about every call of the question; nil: Value has the answer
}

// Parse reads a RunAgentInput. The error is dialect.Problems.
func Parse(body []byte, agents chat.Agents) (Run, error) {
	var b runBody
	if err := dialect.Decode(body, &b); err != nil {
		return Run{}, err
	}
	var p dialect.Problems
	r := Run{Thread: p.ThreadName("threadId", b.ThreadID), RunID: b.RunID}
	p.Text("runId", b.RunID, 1, dialect.MaxID)
	p.ID("runId", b.RunID)
	r.forwarded(&p, agents, b.ForwardedProps)
	if len(b.State) <= maxState {
		_ = json.Unmarshal(b.State, &r.State) // a state that is not an object is ignored
	}
	switch {
	case len(b.Messages) > maxMessages:
		p.Add("messages", "must have at most "+strconv.Itoa(maxMessages)+" messages")
	case len(b.Resume) > 1:
		p.Add("resume", "must have one entry: a thread asks one question at a time")
	case len(b.Resume) == 1:
		if r.Answer = resume(&p, b.Resume[0]); r.Cancels() {
			r.message(&p, b.Messages)
		}
	default:
		r.message(&p, b.Messages)
	}
	if r.Answer == nil && r.Message == nil {
		r.Known = make(map[string]bool, len(b.Messages))
		for _, m := range b.Messages {
			r.Known[m.ID] = true
		}
	}
	return r, p.Err()
}

// forwarded reads the fields of the native body that a client gives as
// forwardedProps.palaver.
func (r *Run) forwarded(p *dialect.Problems, agents chat.Agents, raw json.RawMessage) {
	var props struct {
		Palaver json.RawMessage `json:"palaver"`
	}
	_ = json.Unmarshal(raw, &props) // other props are the client's and may be anything
	var f dialect.Fields
	if len(props.Palaver) > 0 && string(props.Palaver) != "null" {
		if err := json.Unmarshal(props.Palaver, &f); err != nil {
			p.Add("forwardedProps.palaver", "has fields of the wrong type")
			return
		}
	}
	var own dialect.Problems
	r.Submit = f.Submit(&own, agents, chat.AgentAssistant, true)
	for _, x := range own {
		p.Add("forwardedProps.palaver."+x.Field, x.Problem)
	}
}

func resume(p *dialect.Problems, b resumeBody) *Answer {
	a := &Answer{InterruptID: b.InterruptID}
	if b.InterruptID == "" {
		p.Add("resume[0].interruptId", "is missing")
	}
	p.ID("resume[0].interruptId", b.InterruptID)
	const field = "resume[0].payload"
	switch b.Status {
	case "cancelled":
		a.Value.Type = chat.CancelResume
		return a
	case "resolved":
	default:
		p.Add("resume[0].status", "must be resolved or cancelled")
		return a
	}
	var text string
	var yes bool
	var payload payloadBody
	switch {
	case json.Unmarshal(b.Payload, &text) == nil && len(b.Payload) > 0 && string(b.Payload) != "null":
		text = strings.TrimSpace(text)
		a.Value.Value = &text
		p.Text(field, text, 0, chat.MaxMessage)
		return a
	case json.Unmarshal(b.Payload, &yes) == nil && string(b.Payload) != "null":
		payload.Approved = &yes
	case json.Unmarshal(b.Payload, &payload) != nil:
		p.Add(field, "must be a text, true or false, or an answer")
		return a
	}
	if payload.Approved == nil {
		named := payload.Type
		if named == "" {
			payload.Type = "x" // passes the check; the type comes from the question
		}
		a.Value = p.ResumeValue(field, &payload.ResumeValue)
		if named == "" {
			a.Value.Type = ""
		}
		return a
	}
	d := dialect.Decision{ID: "every", Decision: string(chat.Rejected), Reason: payload.Reason}
	if *payload.Approved {
		d = dialect.Decision{ID: "every", Decision: string(chat.Approved), Arguments: payload.Arguments, Remember: payload.Remember}
	}
	v := p.ResumeValue(field, &dialect.ResumeValue{Type: string(chat.ToolApproval), Decisions: []dialect.Decision{d}})
	if len(v.Decisions) == 1 {
		a.Approved = &v.Decisions[0]
	}
	a.Value.Type = chat.ToolApproval
	return a
}

// message reads the last message, if a person wrote it and its id is not one of ours: such
// a message is an answer to a question, from a snapshot.
func (r *Run) message(p *dialect.Problems, list []messageBody) {
	if len(list) == 0 || list[len(list)-1].Role != "user" || turnIn(list[len(list)-1].ID) != "" {
		return
	}
	at := "messages[" + strconv.Itoa(len(list)-1) + "]"
	last := list[len(list)-1]
	m := &Message{ID: last.ID}
	if last.ID == "" {
		p.Add(at+".id", "is missing")
	}
	p.ID(at+".id", last.ID)
	if len(last.ID) > dialect.MaxID-4 { // ClientTurnID appends the number of an edit
		p.Add(at+".id", "must have at most 124 bytes")
	}
	m.content(p, at+".content", last.Content)
	r.Message = m
	for i := len(list) - 2; i >= 0; i-- {
		if id := list[i].ID; id != "" && len(id) <= 2*dialect.MaxID {
			r.Earlier = append(r.Earlier, id)
		}
	}
}

func (m *Message) content(p *dialect.Problems, field string, raw json.RawMessage) {
	var parts []partBody
	var texts []string
	switch {
	case json.Unmarshal(raw, &m.Text) == nil:
		texts = []string{m.Text}
	case json.Unmarshal(raw, &parts) != nil:
		p.Add(field, "must be a text or a list of parts")
		return
	}
	for i, t := range parts {
		at := field + "[" + strconv.Itoa(i) + "]"
		switch {
		case t.Type == "text":
			texts = append(texts, t.Text)
		case (t.Type == "image" || t.Type == "document") && t.Source != nil:
			m.file(p, at+".source", *t.Source, t.filename())
		case t.Type == "binary" && t.Data != "":
			m.file(p, at, sourceBody{"data", t.Data, t.MediaType}, t.filename())
		case t.Type == "binary":
			m.file(p, at, sourceBody{"url", t.URL, t.MediaType}, t.filename())
		default:
			p.Add(at+".type", "must be text, image or document")
			return
		}
	}
	m.Text = strings.TrimSpace(strings.Join(texts, "\n"))
	least := 1
	if n := len(m.Files) + len(m.Attachments); n > 0 {
		least = 0
		if n > chat.MaxAttachments {
			p.Add(field, "must have at most "+strconv.Itoa(chat.MaxAttachments)+" files")
		}
	}
	p.Text(field, m.Text, least, chat.MaxMessage)
}

func (m *Message) file(p *dialect.Problems, field string, s sourceBody, name string) {
	f := dialect.File{Field: field, Name: name, MediaType: s.MediaType}
	ok := false
	switch {
	case s.Type == "data":
		var err error
		f.Data, err = base64.StdEncoding.DecodeString(s.Value)
		ok = err == nil && len(f.Data) > 0
	case strings.HasPrefix(s.Value, "data:"):
		f.MediaType, f.Data, ok = dialect.ReadDataURL(s.Value)
	default:
		var id string
		if id, ok = dialect.AttachmentID(s.Value); ok {
			m.Attachments = append(m.Attachments, id)
			return
		}
	}
	if !ok {
		p.Add(field, "must be base64 data, a data: URL, or the address of an attachment of this server")
		return
	}
	m.Files = append(m.Files, f)
}

// ClientTurnID returns the client_turn_id of the n-th content, from 1, that a client has
// sent under one message id.
func ClientTurnID(messageID string, n int) string {
	if n == 1 {
		return messageID
	}
	return messageID + "#" + strconv.Itoa(n)
}

// turnIn returns the turn that a message id of ours begins with, "" for another id.
func turnIn(id string) string {
	if len(id) > 36 && uuid.Validate(id[:36]) == nil && id[36] == '.' {
		return id[:36]
	}
	return ""
}

type stopBody struct {
	ThreadID string `json:"threadId"`
	RunID    string `json:"runId"`
}

// ParseStop reads the body of a stop. The error is dialect.Problems.
func ParseStop(body []byte) (dialect.Cancel, error) {
	var b stopBody
	if err := dialect.Decode(body, &b); err != nil {
		return dialect.Cancel{}, err
	}
	var p dialect.Problems
	c := dialect.Cancel{ThreadAlias: p.ThreadName("threadId", b.ThreadID), StreamRunID: b.RunID, Reason: chat.UserCancelled}
	p.ID("runId", b.RunID)
	return c, p.Err()
}
