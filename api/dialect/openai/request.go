package openai

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/chat"
)

// Limits of a request.
const (
	MaxBody     = 16 << 20 // clients send the whole conversation, with pictures
	maxMessages = 2000
)

type completionBody struct {
	Model          string            `json:"model"`
	Messages       []messageBody     `json:"messages"`
	Stream         bool              `json:"stream"`
	StreamOptions  *streamOptions    `json:"stream_options"`
	N              *int              `json:"n"`
	Metadata       json.RawMessage   `json:"metadata"`
	Tools          []json.RawMessage `json:"tools"`
	Functions      []json.RawMessage `json:"functions"`
	ToolChoice     json.RawMessage   `json:"tool_choice"`
	FunctionCall   json.RawMessage   `json:"function_call"`
	ResponseFormat *formatBody       `json:"response_format"`
	Parallel       *bool             `json:"parallel_tool_calls"`
	Modalities     []string          `json:"modalities"`
	Audio          json.RawMessage   `json:"audio"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type formatBody struct {
	Type string `json:"type"`
}

type messageBody struct {
	Role      string            `json:"role"`
	Content   json.RawMessage   `json:"content"` // a string, or a list of partBody
	ToolCalls []json.RawMessage `json:"tool_calls"`
}

type partBody struct {
	Type     string     `json:"type"`
	Text     string     `json:"text"`
	ImageURL *imageBody `json:"image_url"`
}

type imageBody struct {
	URL string `json:"url"`
}

// Request is a request for a completion. It is validated, except that its ids may not exist
// in the store.
type Request struct {
	Model        string
	Agent        chat.Agent
	Stream       bool
	IncludeUsage bool
	Thread       string // the client's name of the thread; empty: found by its messages
	Text         string
	Pictures     [][]byte
	Attachments  []string
	field        string           // the content of the last message
	mark         string           // digest of the pictures
	system       string           // the text of the first message, if its role is system or developer
	Earlier      []EarlierMessage // the messages before the last, of people and assistants
	Task         *Task            // a client's own task, which is no message of the conversation
	Ignored      []string         // fields of the request that this server does not have; the answer names them
}

// EarlierMessage is an earlier message.
type EarlierMessage struct {
	User bool
	Text string
	mark string // digest of its pictures
}

// Headers are the request headers that Parse reads.
type Headers struct{ Thread, IdempotencyKey, OnDisconnect string }

// Parse reads the body of POST /v1/chat/completions. The error is dialect.Problems.
func Parse(body []byte, agents chat.Agents, head Headers) (Request, error) {
	var b completionBody
	if err := dialect.Decode(body, &b); err != nil {
		return Request{}, err
	}
	var p dialect.Problems
	r := Request{Model: b.Model, Stream: b.Stream, IncludeUsage: b.StreamOptions != nil && b.StreamOptions.IncludeUsage}
	r.agent(&p, agents)
	r.messages(&p, b.Messages)
	r.thread(&p, b.Metadata, head.Thread)
	p.ID("Idempotency-Key", head.IdempotencyKey)
	p.Choice("X-On-Disconnect", head.OnDisconnect, "continue", "cancel")
	if b.N != nil && *b.N != 1 {
		p.Add("n", "must be 1")
	}
	if p.Err() == nil {
		r.Task = findTask(r)
	}
	if r.Task == nil {
		r.Ignored = b.ignored(&p)
	}
	return r, p.Err()
}

// ignored returns the fields that ask for what this server does not have. A request that
// makes no sense without is a problem: it demands a call of the client's tool.
func (b completionBody) ignored(p *dialect.Problems) (fields []string) {
	add := func(field string, has bool) {
		if has {
			fields = append(fields, field)
		}
	}
	for field, choice := range map[string]json.RawMessage{"tool_choice": b.ToolChoice, "function_call": b.FunctionCall} {
		var word string
		if err := json.Unmarshal(choice, &word); len(choice) > 0 && (err != nil || word == "required") {
			p.Add(field, "cannot be used: agents have tools of their own here, and run them on the server")
		}
		if word == "none" {
			b.Tools, b.Functions = nil, nil
		}
	}
	add("tools", len(b.Tools) > 0)
	add("functions", len(b.Functions) > 0)
	add("parallel_tool_calls", b.Parallel != nil && len(b.Tools) > 0)
	add("response_format", b.ResponseFormat != nil && b.ResponseFormat.Type != "" && b.ResponseFormat.Type != "text")
	add("modalities", slices.ContainsFunc(b.Modalities, func(m string) bool { return m != "text" }))
	add("audio", len(b.Audio) > 0 && string(b.Audio) != "null")
	return fields
}

const modelPrefix = "palaver-"

func (r *Request) agent(p *dialect.Problems, agents chat.Agents) {
	name, ours := strings.CutPrefix(r.Model, modelPrefix)
	r.Agent = chat.Agent(name)
	if _, known := agents.Find(r.Agent); !ours || !known {
		names := agents.Names()
		for i, n := range names {
			names[i] = modelPrefix + n
		}
		p.Add("model", "must be "+dialect.OneOf(names))
	}
}

func (r *Request) thread(p *dialect.Problems, metadata json.RawMessage, header string) {
	var m struct {
		Thread any `json:"thread_id"`
	}
	_ = json.Unmarshal(metadata, &m) // metadata is the client's own; anything else in it is ignored
	named, isText := m.Thread.(string)
	switch {
	case m.Thread != nil && (!isText || named != ""):
		r.Thread = p.ThreadName("metadata.thread_id", named)
		if header != "" && header != named {
			p.Add("X-Thread-Id", "must be the same as metadata.thread_id")
		}
	case header != "":
		r.Thread = p.ThreadName("X-Thread-Id", header)
	}
}

// messages reads the conversation. Its last message is the one to answer. System and
// developer messages are used only to recognise tasks.
func (r *Request) messages(p *dialect.Problems, list []messageBody) {
	if len(list) == 0 || len(list) > maxMessages {
		p.Add("messages", "must have 1 to "+strconv.Itoa(maxMessages)+" messages")
		return
	}
	for i, m := range list {
		at := "messages[" + strconv.Itoa(i) + "]"
		last := i == len(list)-1
		switch {
		case m.Role == "tool", m.Role == "function", len(m.ToolCalls) > 0:
			p.Add(at, "has a tool call of the client; client tools are not supported")
			return
		case m.Role == "system", m.Role == "developer":
			if last {
				p.Add(at+".role", "must be user: the last message is the one to answer")
			}
			if i == 0 {
				_ = json.Unmarshal(m.Content, &r.system) // findTask looks for texts only
			}
			continue
		case m.Role != "user" && m.Role != "assistant", last && m.Role != "user":
			p.Add(at+".role", "must be user or assistant, and of the last message user")
			return
		}
		text, pictures, ok := content(p, at+".content", m.Content, last)
		if !ok {
			return
		}
		if last {
			r.last(p, at+".content", text, pictures)
			return
		}
		said := EarlierMessage{User: m.Role == "user", Text: text}
		if len(pictures) > 0 {
			said.mark = digest(pictures...)
		}
		r.Earlier = append(r.Earlier, said)
	}
}

func (r *Request) last(p *dialect.Problems, field, text string, pictures []string) {
	r.Text, r.field = strings.TrimSpace(text), field
	least := 1
	if len(pictures) > 0 {
		least = 0
	}
	p.Text(field, r.Text, least, chat.MaxMessage)
	if len(pictures) > chat.MaxAttachments {
		p.Add(field, "must have at most "+strconv.Itoa(chat.MaxAttachments)+" pictures")
		return
	}
	if len(pictures) > 0 {
		r.mark = digest(pictures...)
	}
	for _, url := range pictures {
		if id, ours := dialect.AttachmentID(url); ours {
			r.Attachments = append(r.Attachments, id)
		} else if data, ok := dialect.PictureData(url); ok {
			r.Pictures = append(r.Pictures, data)
		} else {
			p.Add(field, "has a picture that is neither a base64 data: URL nor an attachment of this server")
		}
	}
}

// content reads a message's text and the URLs of its pictures. Parts of other types are a problem if strict,
// else ignored: earlier messages may have been written elsewhere.
func content(p *dialect.Problems, field string, raw json.RawMessage, strict bool) (text string, pictures []string, ok bool) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil, true
	}
	if json.Unmarshal(raw, &text) == nil {
		return text, nil, true
	}
	var parts []json.RawMessage
	if json.Unmarshal(raw, &parts) != nil {
		p.Add(field, "must be a text or a list of parts")
		return "", nil, false
	}
	var texts []string
	for i, raw := range parts {
		var t partBody
		err := json.Unmarshal(raw, &t)
		switch {
		case err == nil && t.Type == "text":
			texts = append(texts, t.Text)
		case err == nil && t.Type == "image_url" && t.ImageURL != nil:
			pictures = append(pictures, t.ImageURL.URL)
		case strict:
			p.Add(field+"["+strconv.Itoa(i)+"].type", "must be text or image_url")
			return "", nil, false
		}
	}
	return strings.Join(texts, "\n"), pictures, true
}

// RunID returns a name for the conversation up to and including the last of these messages,
// which is a person's. White space does not matter, and neither do answers, which clients
// cut off, edit and strip. It is the stream_run_id of the message's turn, so that a later
// request with the same messages finds the turn.
func RunID(said []EarlierMessage) string { return runIDs(said)[len(said)-1] }

// runIDs returns the RunID of the conversation up to and including each message.
func runIDs(said []EarlierMessage) []string {
	ids := make([]string, len(said))
	h := sha256.New()
	for i, m := range said {
		if m.User {
			write(h, Bare(m.Text)+"\x00"+m.mark)
		}
		ids[i] = "openai-" + hex.EncodeToString(h.Sum(nil))
	}
	return ids
}

// Bare returns a text without white space.
func Bare(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

func digest(parts ...string) string {
	h := sha256.New()
	for _, s := range parts {
		write(h, s)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func write(h io.Writer, s string) { // a hash never fails
	_, _ = io.WriteString(h, strconv.Itoa(len(s))+":"+s)
}
