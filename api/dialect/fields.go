package dialect

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/palaver-chat/palaver/chat"
)

// Fields are the fields of the native body, except the message and its thread. Several dialects accept
// them.
type Fields struct {
	TipTap             json.RawMessage `json:"tiptap_json"`
	TaggedDocs         []string        `json:"tagged_doc_ids"`
	TaggedSets         []string        `json:"tagged_set_ids"`
	Action             *string         `json:"action"`
	WebSearch          *bool           `json:"enable_web_search"`
	Attachments        []string        `json:"attachments"`
	References         []string        `json:"references"`
	Agent              *string         `json:"agent"`
	ClientTurnID       *string         `json:"client_turn_id"`
	StreamRunID        *string         `json:"stream_run_id"`
	OnBusy             *string         `json:"on_busy"`
	OnDisconnect       *string         `json:"on_disconnect"`
	ParentCheckpointID *string         `json:"parent_checkpoint_id"`
	StreamMode         *string         `json:"stream_mode"`
	StreamTokens       *bool           `json:"stream_tokens"`
}

// Submit reads the fields, with the dialect's defaults. The caller adds the message.
func (f Fields) Submit(p *Problems, agents chat.Agents, agent chat.Agent, cancelOnDisconnect bool) Submit {
	s := Submit{
		Content: chat.Content{
			TipTap:        p.TipTap("tiptap_json", f.TipTap),
			TaggedDocs:    p.UUIDs("tagged_doc_ids", f.TaggedDocs),
			TaggedSets:    p.UUIDs("tagged_set_ids", f.TaggedSets),
			Action:        chat.Action(value(f.Action)),
			WebSearch:     f.WebSearch != nil && *f.WebSearch,
			NoWebSearch:   f.WebSearch != nil && !*f.WebSearch,
			Agent:         agent,
			Attachments:   p.Attachments("attachments", f.Attachments),
			References:    p.References("references", f.References),
			ParentRequest: value(f.ParentCheckpointID),
		},
		AgentUnset:   value(f.Agent) == "",
		ClientTurnID: value(f.ClientTurnID),
		StreamRunID:  value(f.StreamRunID),
		OnBusy:       chat.Supersede,
		View:         p.View(value(f.StreamMode), f.StreamTokens),
	}
	if s.Content.Action != "" && !s.Content.Action.Valid() {
		p.Add("action", "must be summarize, inquire, compare, audit or null")
	}
	if v := value(f.Agent); v != "" {
		s.Content.Agent = chat.Agent(v)
		if _, known := agents.Chosen().Find(s.Content.Agent); !known {
			p.Add("agent", "must be "+OneOf(agents.Chosen().Names()))
		}
	}
	p.ID("client_turn_id", s.ClientTurnID)
	p.ID("stream_run_id", s.StreamRunID)
	p.ID("parent_checkpoint_id", s.Content.ParentRequest)
	if v := value(f.OnBusy); v != "" {
		if s.OnBusy = chat.OnBusy(v); !s.OnBusy.Valid() {
			p.Add("on_busy", "must be supersede, enqueue, reject or rollback")
		}
	}
	s.CancelOnDisconnect = cancelOnDisconnect
	if v := value(f.OnDisconnect); v != "" {
		s.CancelOnDisconnect = p.Choice("on_disconnect", v, "continue", "cancel")
	}
	return s
}

// References checks the ids of a board's items that a message is about.
func (p *Problems) References(field string, list []string) []string {
	if len(list) > MaxTags {
		p.Add(field, "must have at most "+strconv.Itoa(MaxTags)+" entries")
		return nil
	}
	for i, id := range list {
		p.Text(field+"["+strconv.Itoa(i)+"]", id, 1, MaxID)
	}
	return slices.Compact(slices.Clone(list))
}

// View reads stream_mode and stream_tokens.
func (p *Problems) View(mode string, tokens *bool) View {
	return View{
		Messages: p.Choice("stream_mode", mode, "events", "messages"),
		ByServer: mode == "",
		NoTokens: tokens != nil && !*tokens,
	}
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
