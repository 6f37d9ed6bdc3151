package dialect

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"
	_ "time/tzdata" // the host may have no time zones

	"github.com/palaver-chat/palaver/chat"
)

// Fields are the fields of the native body, except the message and its thread. Several dialects accept
// them.
type Fields struct {
	SpaceID            *string         `json:"space_id"`
	TipTap             json.RawMessage `json:"tiptap_json"`
	SpaceIDs           []string        `json:"space_ids"`
	TaggedDocs         []string        `json:"tagged_doc_ids"`
	TaggedSets         []string        `json:"tagged_set_ids"`
	Action             *string         `json:"action"`
	EnableWebSearch    *bool           `json:"enable_web_search"`
	WebSearch          *string         `json:"web_search"`
	Attachments        []string        `json:"attachments"`
	TimeZone           *string         `json:"time_zone"`
	Temporary          *bool           `json:"temporary"`
	References         []string        `json:"references"`
	Agent              *string         `json:"agent"`
	Effort             *string         `json:"effort"`
	Model              *string         `json:"model"`
	ClientTurnID       *string         `json:"client_turn_id"`
	StreamRunID        *string         `json:"stream_run_id"`
	OnBusy             *string         `json:"on_busy"`
	Replaces           *string         `json:"replaces"`
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
			Spaces:        p.Scope("space_ids", f.SpaceIDs),
			Action:        chat.Action(value(f.Action)),
			Agent:         agent,
			Model:         value(f.Model),
			Attachments:   p.Attachments("attachments", f.Attachments),
			TimeZone:      p.TimeZone("time_zone", value(f.TimeZone)),
			References:    p.References("references", f.References),
			ParentRequest: value(f.ParentCheckpointID),
			Temporary:     f.Temporary != nil && *f.Temporary,
		},
		AgentUnset:   value(f.Agent) == "",
		ClientTurnID: value(f.ClientTurnID),
		StreamRunID:  value(f.StreamRunID),
		OnBusy:       chat.Supersede,
		View:         p.View(value(f.StreamMode), f.StreamTokens),
	}
	s.Content.WebSearch, s.Content.NoWebSearch = p.WebSearch(f.EnableWebSearch, value(f.WebSearch))
	if s.Content.Action != "" && !s.Content.Action.Valid() {
		p.Add("action", "must be summarize, inquire, compare, audit or null")
	}
	if v := value(f.Agent); v != "" {
		s.Content.Agent = chat.Agent(v)
		if _, known := agents.Chosen().Find(s.Content.Agent); !known {
			p.Add("agent", "must be "+OneOf(agents.Chosen().Names()))
		}
	}
	s.Content.Effort = p.Effort(value(f.Effort))
	if v := value(f.SpaceID); v != "" {
		s.Space = p.UUID("space_id", v)
	}
	p.ID("client_turn_id", s.ClientTurnID)
	p.ID("stream_run_id", s.StreamRunID)
	p.ID("parent_checkpoint_id", s.Content.ParentRequest)
	if v := value(f.OnBusy); v != "" {
		if s.OnBusy = chat.OnBusy(v); !s.OnBusy.Valid() {
			p.Add("on_busy", "must be supersede, enqueue, reject, rollback or steer")
		}
	}
	if v := value(f.Replaces); v != "" {
		s.Replaces, s.OnBusy = p.UUID("replaces", v), chat.Enqueue
	}
	s.CancelOnDisconnect = cancelOnDisconnect
	if v := value(f.OnDisconnect); v != "" {
		s.CancelOnDisconnect = p.Choice("on_disconnect", v, "continue", "cancel")
	}
	return s
}

// TimeZone checks the name of a time zone. An unknown one is no reason to refuse a message: the
// client's list may be newer.
func (p *Problems) TimeZone(field, name string) string {
	if p.Text(field, name, 0, MaxID); name == "Local" {
		return ""
	}
	if _, err := time.LoadLocation(name); err != nil {
		return ""
	}
	return name
}

// WebNever is the value of web_search that forbids searches of the web.
const WebNever = "never"

// WebSearch reads enable_web_search and web_search. A client that always sends the boolean sends
// false for "as the message asks".
func (p *Problems) WebSearch(enable *bool, webSearch string) (asked, forbidden bool) {
	if webSearch != "" && webSearch != WebNever {
		p.Add("web_search", "must be "+WebNever+" or null")
	}
	forbidden = webSearch == WebNever
	asked = enable != nil && *enable
	if asked && forbidden {
		p.Add("web_search", "cannot be "+WebNever+" when enable_web_search is true")
	}
	return asked, forbidden
}

// Effort checks how much work an answer may take; "" is that of the settings.
func (p *Problems) Effort(asked string) chat.Effort {
	e := chat.Effort(asked)
	if e != "" && !e.Valid() {
		p.Add("effort", "must be quick, normal, thorough or null")
	}
	return e
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
