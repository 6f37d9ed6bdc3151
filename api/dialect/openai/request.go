package openai

import (
	"crypto/sha256"
	"encoding/base64"
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
	Effort         *string           `json:"reasoning_effort"`
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
	File     *fileBody  `json:"file"`
}

type imageBody struct {
	URL string `json:"url"`
}

// fileBody is a document: a data: URL or base64 in FileData, or the id of a document of this
// server in FileID.
type fileBody struct {
	FileData string `json:"file_data"`
	FileID   string `json:"file_id"`
	Filename string `json:"filename"`
}

// Request is a request for a completion. It is validated, except that its ids may not exist
// in the store.
type Request struct {
	Model        string
	Agent        chat.Agent
	Chosen       string // the language model that Model names; empty: the default
	Stream       bool
	IncludeUsage bool
	Thread       string   // the client's name of the thread; empty: found by its messages
	Space        string   // that metadata names
	Scope        []string // spaces that metadata names
	Text         string
	Files        []dialect.File   // inside the last message
	Attachments  []string         // pictures of this server
	Documents    []string         // documents of this server
	field        string           // the content of the last message
	mark         string           // digest of the files
	system       string           // the text of the first message, if its role is system or developer
	Earlier      []EarlierMessage // the messages before the last, of people and assistants
	Task         *Task            // a client's own task, which is no message of the conversation
	Effort       chat.Effort      // empty: that of the settings
	Ignored      []string         // fields of the request that this server does not have; the answer names them
}

// EarlierMessage is an earlier message.
type EarlierMessage struct {
	User bool
	Text string
	mark string // digest of its files
}

// Headers are the request headers that Parse reads.
type Headers struct{ Thread, IdempotencyKey, OnDisconnect string }

// Parse reads the body of POST /v1/chat/completions. The error is dialect.Problems.
func Parse(body []byte, agents chat.Agents, models []string, head Headers) (Request, error) {
	var b completionBody
	if err := dialect.Decode(body, &b); err != nil {
		return Request{}, err
	}
	var p dialect.Problems
	r := Request{Model: b.Model, Stream: b.Stream, IncludeUsage: b.StreamOptions != nil && b.StreamOptions.IncludeUsage}
	r.agent(&p, agents, models)
	r.messages(&p, b.Messages)
	r.thread(&p, b.Metadata, head.Thread)
	p.ID("Idempotency-Key", head.IdempotencyKey)
	p.Choice("X-On-Disconnect", head.OnDisconnect, "continue", "cancel")
	if b.N != nil && *b.N != 1 {
		p.Add("n", "must be 1")
	}
	r.effort(&p, b.Effort)
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

// efforts are ours for those that models reason with.
var efforts = map[string]chat.Effort{
	"none": chat.Quick, "minimal": chat.Quick, "low": chat.Quick, "medium": chat.Normal, "high": chat.Thorough, "xhigh": chat.Thorough,
}

func (r *Request) effort(p *dialect.Problems, asked *string) {
	if asked == nil || *asked == "" {
		return
	}
	known := false
	if r.Effort, known = efforts[*asked]; !known {
		p.Add("reasoning_effort", "must be none, minimal, low, medium, high or xhigh")
	}
}

const modelPrefix = "palaver-"

// modelID returns the id of an agent that answers with a chosen model; empty: with the default.
func modelID(agent, chosen string) string {
	if chosen == "" {
		return modelPrefix + agent
	}
	return modelPrefix + agent + ":" + chosen
}

// readModel reads an id of modelID.
func readModel(id string, agents chat.Agents, models []string) (agent chat.AgentInfo, chosen string, known bool) {
	name, ours := strings.CutPrefix(id, modelPrefix)
	name, chosen, names := strings.Cut(name, ":")
	agent, known = agents.Find(chat.Agent(name))
	return agent, chosen, ours && known && (!names || slices.Contains(models, chosen))
}

func (r *Request) agent(p *dialect.Problems, agents chat.Agents, models []string) {
	agent, chosen, known := readModel(r.Model, agents, models)
	if r.Agent, r.Chosen = agent.Name, chosen; known {
		return
	}
	names := agents.Names()
	for i, n := range names {
		names[i] = modelID(n, "")
	}
	problem := "must be " + dialect.OneOf(names)
	if len(models) > 0 {
		problem += ", alone or with :" + dialect.OneOf(models)
	}
	p.Add("model", problem)
}

func (r *Request) thread(p *dialect.Problems, metadata json.RawMessage, header string) {
	var m struct {
		Thread any `json:"thread_id"`
		Space  any `json:"space_id"`
		Spaces any `json:"space_ids"`
	}
	_ = json.Unmarshal(metadata, &m) // metadata is the client's own; anything else in it is ignored
	if space, isText := m.Space.(string); isText && space != "" {
		r.Space = p.UUID("metadata.space_id", space)
	}
	if spaces, isText := m.Spaces.(string); isText && spaces != "" { // values of metadata are texts
		r.Scope = p.Scope("metadata.space_ids", strings.FieldsFunc(spaces, func(c rune) bool { return c == ',' || c == ' ' }))
	}
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

// goOn is the message of a client that sends an answer last: it wants the rest.
const goOn = "Continue"

// messages reads the conversation. The last message of a person is the one to answer; after
// it, an answer that is to be continued may follow. System and developer messages are used
// only to recognise tasks.
func (r *Request) messages(p *dialect.Problems, list []messageBody) {
	if len(list) == 0 || len(list) > maxMessages {
		p.Add("messages", "must have 1 to "+strconv.Itoa(maxMessages)+" messages")
		return
	}
	end := len(list) - 1
	for end > 0 && isPassedOver(list[end]) {
		end--
	}
	for i, m := range list[:end+1] {
		at := "messages[" + strconv.Itoa(i) + "]"
		last := i == end
		switch {
		case m.Role == "tool", m.Role == "function", len(m.ToolCalls) > 0:
			p.Add(at, "has a tool call of the client; client tools are not supported")
			return
		case m.Role == "system", m.Role == "developer":
			if last {
				p.Add(at+".role", "must be user: there is no message to answer")
			}
			if i == 0 {
				_ = json.Unmarshal(m.Content, &r.system) // findTask looks for texts only
			}
			continue
		case m.Role != "user" && m.Role != "assistant":
			p.Add(at+".role", "must be system, developer, user or assistant")
			return
		case last && m.Role == "assistant" && !slices.ContainsFunc(r.Earlier, func(e EarlierMessage) bool { return e.User }):
			p.Add(at+".role", "must be user: there is no message to answer")
			return
		}
		asks := last && m.Role == "user"
		text, files, ok := content(p, at+".content", m.Content, asks)
		if !ok {
			return
		}
		if asks {
			r.last(p, at+".content", text, files)
			return
		}
		said := EarlierMessage{User: m.Role == "user", Text: text, mark: mark(files)}
		r.Earlier = append(r.Earlier, said)
		if last {
			r.last(p, at+".content", goOn, nil)
		}
	}
}

// isPassedOver reports whether a message at the end of a conversation says nothing: a rule for
// the model, or the place of the answer.
func isPassedOver(m messageBody) bool {
	var text string
	empty := len(m.Content) == 0 || json.Unmarshal(m.Content, &text) == nil && strings.TrimSpace(text) == ""
	return m.Role == "system" || m.Role == "developer" || m.Role == "assistant" && empty && len(m.ToolCalls) == 0
}

func (r *Request) last(p *dialect.Problems, field, text string, files []partBody) {
	r.Text, r.field, r.mark = strings.TrimSpace(text), field, mark(files)
	least := 1
	if len(files) > 0 {
		least = 0
	}
	p.Text(field, r.Text, least, chat.MaxMessage)
	if len(files) > chat.MaxAttachments {
		p.Add(field, "must have at most "+strconv.Itoa(chat.MaxAttachments)+" files")
		return
	}
	for _, f := range files {
		if f.ImageURL != nil {
			r.picture(p, field, f.ImageURL.URL)
		} else {
			r.document(p, field, *f.File)
		}
	}
}

func (r *Request) picture(p *dialect.Problems, field, url string) {
	if id, ours := dialect.AttachmentID(url); ours {
		r.Attachments = append(r.Attachments, id)
		return
	}
	kind, data, ok := dialect.ReadDataURL(url)
	f := dialect.File{Field: field, MediaType: kind, Data: data}
	if !ok || !f.IsPicture() {
		p.Add(field, "has a picture that is neither a data: URL nor an attachment of this server")
		return
	}
	r.Files = append(r.Files, f)
}

func (r *Request) document(p *dialect.Problems, field string, b fileBody) {
	if b.FileID != "" {
		r.Documents = append(r.Documents, p.UUIDs(field, []string{b.FileID})...)
		return
	}
	kind, data, ok := dialect.ReadDataURL(b.FileData)
	if !ok && !strings.HasPrefix(b.FileData, "data:") {
		var err error
		data, err = base64.StdEncoding.DecodeString(b.FileData)
		ok = err == nil && len(data) > 0
	}
	if !ok {
		p.Add(field, "has a file that is neither a data: URL, nor base64, nor a document of this server")
		return
	}
	r.Files = append(r.Files, dialect.File{Field: field, Name: b.Filename, MediaType: kind, Data: data})
}

func (r Request) hasFiles() bool { return len(r.Files)+len(r.Attachments)+len(r.Documents) > 0 }

// mark returns a digest of a message's files; "" if there are none.
func mark(files []partBody) string {
	if len(files) == 0 {
		return ""
	}
	var parts []string
	for _, f := range files {
		if f.ImageURL != nil {
			parts = append(parts, f.ImageURL.URL)
		} else {
			parts = append(parts, f.File.FileID, f.File.FileData)
		}
	}
	return digest(parts...)
}

// content reads a message's text, and its parts with pictures and documents. Parts of other
// types are a problem if strict, else ignored: earlier messages may have been written elsewhere.
func content(p *dialect.Problems, field string, raw json.RawMessage, strict bool) (text string, files []partBody, ok bool) {
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
			files = append(files, partBody{ImageURL: t.ImageURL})
		case err == nil && t.Type == "file" && t.File != nil:
			files = append(files, partBody{File: t.File})
		case strict:
			p.Add(field+"["+strconv.Itoa(i)+"].type", "must be text, image_url or file")
			return "", nil, false
		}
	}
	return strings.Join(texts, "\n"), files, true
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
