package aisdk

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/chat"
)

// Limits of a request, beside those of every dialect.
const (
	MaxBody    = 16 << 20 // clients send the whole conversation, with pictures
	maxParts   = 256      // of a message
	maxEarlier = 16       // earlier messages considered as the parent of the newest
)

// Kind is what a request asks for.
type Kind int

const (
	Send       Kind = iota // a new message, or one that replaces an earlier one
	Regenerate             // another answer to a message
	Reply                  // an answer to a question
)

// Request is the validated body of POST /api/ui/chat; its ids may not exist in the store. Of the
// client's conversation only the newest message is used. The ids of the others determine its parent.
type Request struct {
	Thread string // the client's name of the thread; empty: a new one
	Kind   Kind
	// Submit is the message. For Regenerate the stored message is used, if it exists.
	Submit dialect.Submit
	// Answer is the answer of Reply.
	Answer dialect.Answer
	Files  []dialect.File // inside the message

	MessageID string    // of the person's message; "" if the client sends none
	Replaces  string    // the message that is replaced, or whose answer is regenerated
	Earlier   []Earlier // the messages before it, the newest first
	// Whole means that the client sends all messages that it shows, so that a message without earlier
	// ones is the first.
	Whole    bool
	Continue *Continue // the assistant message that Reply continues; nil: it starts a new one

	from sources
}

// sources are the fields of the body that errors name.
type sources struct {
	message  string   // the message
	uploaded []string // its parts with uploaded pictures
	decided  []string // its parts with decisions, in their order
}

// fieldName returns the client's name of a field that an error names as the native dialect does.
func (r Request) fieldName(field string) string {
	below, answer := strings.CutPrefix(field, "resume_value")
	switch {
	case r.Kind != Reply && field == "attachments" && len(r.from.uploaded) > 0:
		return one(r.from.uploaded, ".url", r.from.message+".parts")
	case r.Kind != Reply && field == "client_turn_id" && r.Submit.ClientTurnID == "":
		return r.from.message + ".id"
	case r.Kind != Reply || !answer && field != "interrupt_id":
		return field
	case len(r.from.decided) == 0:
		return "resume." + field
	case !answer:
		return one(r.from.decided, ".approval.id", r.from.message+".parts")
	}
	for i, part := range r.from.decided {
		if rest, found := strings.CutPrefix(below, ".decisions["+strconv.Itoa(i)+"]"); found {
			return part + rest
		}
	}
	return one(r.from.decided, "", r.from.message+".parts")
}

// one returns a field of the only part, or all, when several parts can be meant.
func one(parts []string, field, all string) string {
	if len(parts) > 1 {
		return all
	}
	return parts[0] + field
}

// Earlier is a message of the client's conversation.
type Earlier struct{ Role, ID string }

type chatBody struct {
	ID             string            `json:"id"`
	ConversationID string            `json:"conversationId"`
	ThreadID       string            `json:"thread_id"`
	Messages       []json.RawMessage `json:"messages"`
	Message        json.RawMessage   `json:"message"`
	Trigger        string            `json:"trigger"`
	MessageID      string            `json:"messageId"`
	Tools          json.RawMessage   `json:"tools"`
	Resume         *resume           `json:"resume"`
	dialect.Fields
}

type resume struct {
	InterruptID string               `json:"interrupt_id"`
	ResumeValue *dialect.ResumeValue `json:"resume_value"`
}

type message struct {
	ID      string            `json:"id"`
	Role    string            `json:"role"`
	Content json.RawMessage   `json:"content"`
	Parts   []json.RawMessage `json:"parts"`
}

type part struct {
	Type       string  `json:"type"`
	Text       *string `json:"text"`
	URL        string  `json:"url"`
	MediaType  string  `json:"mediaType"`
	Filename   string  `json:"filename"`
	State      string  `json:"state"`
	ToolCallID string  `json:"toolCallId"`
	Approval   *struct {
		ID       string `json:"id"`
		Approved *bool  `json:"approved"`
		Reason   string `json:"reason"`
	} `json:"approval"`
}

const (
	triggerSubmit     = "submit-message"
	triggerRegenerate = "regenerate-message"

	user      = "user"
	assistant = "assistant"
)

// Parse reads the body of POST /api/ui/chat. The error is dialect.Problems.
func Parse(raw []byte, agents chat.Agents) (Request, error) {
	var b chatBody
	if err := dialect.Decode(raw, &b); err != nil {
		return Request{}, err
	}
	var p dialect.Problems
	r := Request{
		Submit: b.Submit(&p, agents, chat.AgentDocuments, false),
		// assistant-ui's transport also sends its tools, does not name the edited message, and always
		// shows the whole conversation.
		Whole: len(b.Tools) > 0 && b.Tools[0] == '{',
	}
	for _, name := range []struct{ field, id string }{{"conversationId", b.ConversationID}, {"thread_id", b.ThreadID}, {"id", b.ID}} {
		if name.id != "" {
			r.Thread = p.ThreadName(name.field, name.id)
			break
		}
	}
	r.Submit.ThreadAlias = r.Thread
	r.Answer = dialect.Answer{ThreadAlias: r.Thread, StreamRunID: r.Submit.StreamRunID,
		CancelOnDisconnect: r.Submit.CancelOnDisconnect, View: r.Submit.View}
	p.ID("messageId", b.MessageID)
	list := conversation{p: &p, messages: b.Messages}
	if absent(b.Message) {
		list.field = "messages"
	} else { // the client sends only the newest message
		list.field, list.messages = "message", []json.RawMessage{b.Message}
		var text string
		if json.Unmarshal(b.Message, &text) == nil {
			list.messages[0], _ = json.Marshal(map[string]any{"role": user, "content": text}) // cannot fail: only strings
		}
	}
	switch {
	case b.Resume != nil:
		r.reply(&p, list, b)
	case b.Trigger == triggerRegenerate:
		r.regenerate(&p, list, b)
	case b.Trigger == "" || b.Trigger == triggerSubmit:
		r.send(&p, list, b)
	default:
		p.Add("trigger", "must be "+triggerSubmit+" or "+triggerRegenerate)
	}
	return r, p.Err()
}

// send reads a new message, or the decisions in an assistant message.
func (r *Request) send(p *dialect.Problems, list conversation, b chatBody) {
	at, m := list.last()
	if at < 0 {
		return
	}
	if b.MessageID != "" && b.MessageID != m.ID && m.Role == user {
		// Decisions may be in an earlier message.
		if i, earlier := list.find(b.MessageID); i >= 0 && earlier.Role == assistant && decided(earlier) {
			at, m = i, earlier
		}
	}
	switch m.Role {
	case user:
		r.message(p, list, at, m)
		if b.MessageID != "" && b.MessageID == m.ID {
			r.Replaces = m.ID
		}
	case assistant:
		r.decisions(p, list, at, m)
	default:
		p.Add(list.name(at)+".role", "must be user or assistant")
	}
}

func (r *Request) message(p *dialect.Problems, list conversation, at int, m message) {
	p.ID(list.name(at)+".id", m.ID)
	r.MessageID, r.from.message = m.ID, list.name(at)
	r.read(p, list.name(at), m)
	r.Earlier = list.before(at)
}

// regenerate reads a request for another answer. The client removes the old answer from the
// conversation, and does not always name it.
func (r *Request) regenerate(p *dialect.Problems, list conversation, b chatBody) {
	r.Kind = Regenerate
	at, m := list.last()
	if at > 0 && m.Role == assistant {
		if r.Replaces = m.ID; b.MessageID == "" {
			p.ID(list.name(at)+".id", m.ID)
		}
		list.messages = list.messages[:at]
		at, m = list.last()
	}
	if at < 0 {
		return
	}
	if m.Role != user {
		p.Add(list.name(at)+".role", "must be user")
		return
	}
	r.message(p, list, at, m)
	if b.MessageID != "" {
		r.Replaces = b.MessageID
	}
	r.Replaces = cmp.Or(r.Replaces, m.ID)
}

// reply reads the answer to a question. It continues the assistant message if that is the newest.
func (r *Request) reply(p *dialect.Problems, list conversation, b chatBody) {
	r.Kind = Reply
	r.Answer.InterruptID = b.Resume.InterruptID
	p.ID("resume.interrupt_id", b.Resume.InterruptID)
	r.Answer.Value = p.ResumeValue("resume.resume_value", b.Resume.ResumeValue)
	if r.Thread == "" {
		p.Add("id", "is missing")
	}
	if len(list.messages) == 0 {
		r.Continue = &Continue{MessageID: b.MessageID}
		return
	}
	if at, m := list.last(); at >= 0 && m.Role == assistant {
		r.Continue = &Continue{MessageID: m.ID, Calls: toolCalls(m)}
	}
}

// decisions reads the tool approvals of the client's helper. Only the decisions are used: the calls and
// their input come from the server.
func (r *Request) decisions(p *dialect.Problems, list conversation, at int, m message) {
	r.Kind, r.from.message = Reply, list.name(at)
	if r.Thread == "" {
		p.Add("id", "is missing")
	}
	value := chat.ResumeValue{Type: chat.ToolApproval}
	for i, raw := range m.Parts {
		interrupt, d, ok := readDecision(raw)
		if !ok {
			continue
		}
		p.Text(list.name(at)+".parts["+strconv.Itoa(i)+"].approval.reason", d.Reason, 0, chat.MaxReason)
		if interrupt != r.Answer.InterruptID { // decisions of an earlier question
			r.Answer.InterruptID, value.Decisions, r.from.decided = interrupt, nil, nil
		}
		value.Decisions = append(value.Decisions, d)
		r.from.decided = append(r.from.decided, list.name(at)+".parts["+strconv.Itoa(i)+"]")
	}
	switch n := len(value.Decisions); {
	case n == 0:
		p.Add(list.name(at), "must be a user message, or contain answered approvals")
	case n > dialect.MaxDecisions:
		p.Add(list.name(at)+".parts", "must have at most "+strconv.Itoa(dialect.MaxDecisions)+" answered approvals")
	}
	p.ID(list.name(at)+".id", m.ID)
	p.ID(list.name(at)+".parts", r.Answer.InterruptID)
	r.Answer.Value = value
	r.Continue = &Continue{MessageID: m.ID, Calls: toolCalls(m)}
}

// readDecision reads a tool part that a person has decided on.
func readDecision(raw json.RawMessage) (interrupt string, _ chat.Decision, ok bool) {
	var t part
	if json.Unmarshal(raw, &t) != nil || t.State != "approval-responded" || t.Approval == nil || t.Approval.Approved == nil {
		return "", chat.Decision{}, false
	}
	interrupt, callID, ok := strings.Cut(t.Approval.ID, "/")
	if !ok || callID == "" || len(callID) > dialect.MaxID {
		return "", chat.Decision{}, false
	}
	d := chat.Decision{ID: callID, Decision: chat.Rejected, Reason: t.Approval.Reason}
	if *t.Approval.Approved {
		d.Decision, d.Reason = chat.Approved, ""
	}
	return interrupt, d, true
}

func toolCalls(m message) map[string]bool {
	calls := map[string]bool{}
	for _, raw := range m.Parts {
		var t part
		if json.Unmarshal(raw, &t) == nil && t.ToolCallID != "" && len(calls) < maxParts {
			calls[t.ToolCallID] = true
		}
	}
	return calls
}

// read reads the texts and pictures of a message.
func (r *Request) read(p *dialect.Problems, field string, m message) {
	var texts []string
	var text string
	if len(m.Parts) == 0 && json.Unmarshal(m.Content, &text) == nil {
		texts = append(texts, text)
	}
	if len(m.Parts) > maxParts {
		p.Add(field+".parts", "must have at most "+strconv.Itoa(maxParts)+" entries")
		return
	}
	for i, raw := range m.Parts {
		at := field + ".parts[" + strconv.Itoa(i) + "]"
		var t part
		if json.Unmarshal(raw, &t) != nil {
			p.Add(at, "must be a part of a message")
			return
		}
		switch {
		case t.Type == "text" && t.Text != nil:
			texts = append(texts, *t.Text)
		case t.Type == typeFile:
			r.file(p, at, t)
		}
	}
	s := &r.Submit
	files := len(s.Content.Attachments) + len(r.Files)
	if files > chat.MaxAttachments {
		p.Add(field+".parts", "must have at most "+strconv.Itoa(chat.MaxAttachments)+" files")
	}
	s.Content.Message = strings.TrimSpace(strings.Join(texts, "\n"))
	least := 1
	if files > 0 {
		least = 0
	}
	p.Text(field+".parts", s.Content.Message, least, chat.MaxMessage)
}

// file reads a picture or a document: an uploaded picture, or a file in a data: URL.
func (r *Request) file(p *dialect.Problems, field string, t part) {
	if !strings.HasPrefix(t.URL, "data:") {
		id, ours := dialect.AttachmentID(t.URL)
		if !ours {
			p.Add(field+".url", "must be the address of an attachment, or a data: URL")
			return
		}
		if list := &r.Submit.Content.Attachments; !slices.Contains(*list, id) {
			*list = append(*list, id)
			r.from.uploaded = append(r.from.uploaded, field)
		}
		return
	}
	kind, data, ok := dialect.ReadDataURL(t.URL)
	if !ok {
		p.Add(field+".url", "must be a data: URL in base64")
		return
	}
	f := dialect.File{Field: field + ".url", Name: t.Filename, MediaType: kind, Data: data}
	if f.IsPicture() && !slices.Contains([]string{"image/jpeg", "image/png", "image/webp"}, kind) {
		p.Add(field+".mediaType", "must be image/jpeg, image/png or image/webp, or that of a document")
		return
	}
	if !slices.ContainsFunc(r.Files, func(x dialect.File) bool { return bytes.Equal(x.Data, data) }) {
		r.Files = append(r.Files, f)
	}
}

// conversation is the client's messages.
type conversation struct {
	p        *dialect.Problems
	field    string
	messages []json.RawMessage
}

func (c conversation) name(i int) string {
	if c.field == "message" {
		return c.field
	}
	return c.field + "[" + strconv.Itoa(i) + "]"
}

// last returns the newest message; at is negative when there is no valid one.
func (c conversation) last() (at int, m message) {
	at = len(c.messages) - 1
	if at < 0 {
		c.p.Add(c.field, "must not be empty")
		return at, m
	}
	if absent(c.messages[at]) || json.Unmarshal(c.messages[at], &m) != nil {
		c.p.Add(c.name(at), "must be a message")
		return -1, m
	}
	return at, m
}

// find looks for a message among the newest.
func (c conversation) find(id string) (at int, m message) {
	for at = len(c.messages) - 1; at >= max(0, len(c.messages)-maxEarlier); at-- {
		if json.Unmarshal(c.messages[at], &m) == nil && m.ID == id {
			return at, m
		}
		m = message{}
	}
	return -1, m
}

// decided reports whether a message has answered approvals.
func decided(m message) bool {
	return slices.ContainsFunc(m.Parts, func(raw json.RawMessage) bool {
		_, _, ok := readDecision(raw)
		return ok
	})
}

// before returns the messages before one, the newest first.
func (c conversation) before(at int) (out []Earlier) {
	for i := at - 1; i >= 0 && len(out) < maxEarlier; i-- {
		var m message
		var p dialect.Problems
		if json.Unmarshal(c.messages[i], &m) != nil || m.ID == "" {
			continue
		}
		if p.ID("id", m.ID); p.Err() == nil {
			out = append(out, Earlier{m.Role, m.ID})
		}
	}
	return out
}

func absent(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// ClientTurnID returns the client_turn_id of the n-th content of a message, from 1: these clients send
// none, and an edited message keeps its id.
func ClientTurnID(messageID string, n int) string {
	if messageID == "" {
		return ""
	}
	if !dialect.Plain(messageID) || len(messageID) > dialect.MaxID-16 {
		sum := sha256.Sum256([]byte(messageID))
		messageID = "#" + hex.EncodeToString(sum[:])
	}
	return "ui" + strconv.Itoa(n) + ":" + messageID
}

type stopBody struct {
	TurnID       string `json:"turn_id"`
	ClientTurnID string `json:"client_turn_id"`
	StreamRunID  string `json:"stream_run_id"`
	MessageID    string `json:"messageId"`
}

// ParseStop reads the body of POST /api/ui/chat/:id/stop. An empty body stops the running turn. A messageId
// names a person's message, whose turn is stopped even if it is submitted later. The error is
// dialect.Problems.
func ParseStop(raw []byte) (dialect.Cancel, error) {
	c := dialect.Cancel{Reason: chat.UserCancelled}
	if len(bytes.TrimSpace(raw)) == 0 {
		return c, nil
	}
	var b stopBody
	if err := dialect.Decode(raw, &b); err != nil {
		return c, err
	}
	var p dialect.Problems
	p.ID("turn_id", b.TurnID)
	p.ID("client_turn_id", b.ClientTurnID)
	p.ID("stream_run_id", b.StreamRunID)
	p.ID("messageId", b.MessageID)
	c.TurnID, c.ClientTurnID, c.StreamRunID = b.TurnID, b.ClientTurnID, b.StreamRunID
	if c.TurnID+c.ClientTurnID+c.StreamRunID == "" {
		c.ClientTurnID = ClientTurnID(b.MessageID, 1)
	}
	return c, p.Err()
}
