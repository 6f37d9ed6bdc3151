package aisdk

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/chat"
)

// Message is a UIMessage as a page loads it.
type Message struct {
	ID       string         `json:"id"`
	Role     string         `json:"role"`
	Metadata map[string]any `json:"metadata,omitempty"`
	Parts    []Part         `json:"parts"`
}

// Part is one part of a UIMessage; only the fields of its type are set.
type Part struct {
	Type             string          `json:"type"`
	Text             *string         `json:"text,omitempty"`
	State            string          `json:"state,omitempty"`
	ToolCallID       string          `json:"toolCallId,omitempty"`
	Input            json.RawMessage `json:"input,omitempty"`
	Output           any             `json:"output,omitempty"`
	ErrorText        string          `json:"errorText,omitempty"`
	Approval         *Approval       `json:"approval,omitempty"`
	SourceID         string          `json:"sourceId,omitempty"`
	URL              string          `json:"url,omitempty"`
	MediaType        string          `json:"mediaType,omitempty"`
	Title            string          `json:"title,omitempty"`
	ProviderMetadata *provider       `json:"providerMetadata,omitempty"`
	ID               string          `json:"id,omitempty"`
	Data             any             `json:"data,omitempty"`
}

// Approval is a person's decision in a tool part.
type Approval struct {
	ID       string `json:"id"`
	Approved *bool  `json:"approved,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// UserMessage returns a person's message with its id in the history. tiptap_json in its metadata
// is as the client sent it.
func UserMessage(m chat.Message, pictures []chat.Attachment) Message {
	out := Message{ID: m.ID, Role: "user", Parts: []Part{}, Metadata: map[string]any{
		"turn_id": m.TurnID, "created_at": m.CreatedAt.UTC().Format(time.RFC3339Nano)}}
	for _, name := range []string{"stream_run_id", "client_turn_id", "tagged_doc_ids", "tiptap_json", "author"} {
		if value := m.Metadata[name]; value != nil {
			out.Metadata[name] = value
		}
	}
	if m.Parent != "" {
		out.Metadata["parent_checkpoint_id"] = m.Parent
	}
	for _, a := range pictures {
		out.Parts = append(out.Parts, Part{Type: typeFile, URL: chat.AttachmentURL(a.ID), MediaType: a.MIME})
	}
	if m.Content != "" || len(pictures) == 0 {
		out.Parts = append(out.Parts, Part{Type: "text", Text: &m.Content})
	}
	return out
}

// AssistantMessage returns the message that a client assembles from the stream of these events.
func AssistantMessage(s dialect.Stream, events []chat.Event) Message {
	t := newTranslation(s, nil)
	m := Message{ID: t.messageID, Role: "assistant", Metadata: map[string]any{}, Parts: []Part{}}
	t.begin()
	for i, e := range events {
		t.event(e, s.Turn.ID+"."+strconv.Itoa(i+1))
	}
	t.finish()
	f := messageAssembler{message: &m, texts: map[string]int{}, calls: map[string]int{}, data: map[string]int{}}
	for _, c := range t.take() {
		f.fold(c)
	}
	if cancelledInQueue(events) {
		m.Metadata["never_began"] = true
	}
	return m
}

// cancelledInQueue reports whether a turn was cancelled while it waited for an earlier one: its log has only
// its start and its end.
func cancelledInQueue(events []chat.Event) bool {
	if n := len(events); n == 0 || events[n-1].Type != chat.EventCancelled {
		return false
	}
	return !slices.ContainsFunc(events, func(e chat.Event) bool {
		return e.Type != chat.EventTurnStarted && e.Type != chat.EventCancelled
	})
}

// messageAssembler assembles a message from chunks, as clients do.
type messageAssembler struct {
	message *Message
	texts   map[string]int // indexes of parts, by id
	calls   map[string]int
	data    map[string]int
	step    int // index of the newest step
}

func (f *messageAssembler) part(p Part) int {
	f.message.Parts = append(f.message.Parts, p)
	return len(f.message.Parts) - 1
}

func (f *messageAssembler) fold(c chunk) {
	maps.Copy(f.message.Metadata, c.MessageMetadata)
	switch c.Type {
	case typeStartStep:
		f.step = f.part(Part{Type: "step-start"})
	case typeTextStart:
		f.texts[c.ID] = f.part(Part{Type: "text", Text: new(string), State: "done"})
	case typeThoughtStart:
		f.texts[c.ID] = f.part(Part{Type: "reasoning", Text: new(string), State: "done"})
	case typeTextDelta, typeThoughtDelta:
		*f.message.Parts[f.texts[c.ID]].Text += c.Delta
	case typeTextEnd, typeThoughtEnd:
		f.message.Parts[f.texts[c.ID]].ProviderMetadata = c.ProviderMetadata
	case typeToolInput:
		if at, there := f.calls[c.ToolCallID]; there && at > f.step {
			f.message.Parts[at].State, f.message.Parts[at].Input = "input-available", c.Input
			return
		}
		f.calls[c.ToolCallID] = f.part(Part{Type: "tool-" + c.ToolName, ToolCallID: c.ToolCallID, State: "input-available", Input: c.Input})
	case typeApprovalRequest:
		p := &f.message.Parts[f.calls[c.ToolCallID]]
		p.State, p.Approval = "approval-requested", &Approval{ID: c.ApprovalID}
	case typeToolOutput:
		f.result(c, "output-available")
	case typeToolError:
		f.result(c, "output-error")
	case typeToolDenied:
		f.result(c, "output-denied")
	case typeSourceDocument, typeSourceURL, typeFile:
		f.part(Part{Type: c.Type, SourceID: c.SourceID, URL: c.URL, MediaType: c.MediaType, Title: c.Title, ProviderMetadata: c.ProviderMetadata})
	case dataDocs, dataInterrupt, dataNotice, dataTool:
		key := c.Type + " " + c.ID
		at, there := f.data[key]
		if !there {
			at = f.part(Part{Type: c.Type, ID: c.ID})
			f.data[key] = at
		}
		f.message.Parts[at].Data = c.Data
	}
}

func (f *messageAssembler) result(c chunk, state string) {
	p := &f.message.Parts[f.calls[c.ToolCallID]]
	p.State, p.Output, p.ErrorText = state, c.Output, c.ErrorText
	p.Approval = nil // the format has no result of a call that nobody decided on
	if v := c.verdict; v != nil {
		p.Approval = &Approval{ID: v.approvalID, Approved: &v.approved, Reason: v.reason}
		if v.edited() {
			p.Input = v.arguments
		}
	}
}
