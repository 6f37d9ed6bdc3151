package dialect

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/palaver-chat/palaver/chat"
)

// ResumeValue is the JSON of a resume_value.
type ResumeValue struct {
	Type       string          `json:"type"`
	Value      *string         `json:"value"`
	TipTap     json.RawMessage `json:"tiptap_json"`
	TaggedDocs []string        `json:"tagged_doc_ids"`
	TaggedSets []string        `json:"tagged_set_ids"`
	Decisions  []Decision      `json:"decisions"`
}

// Decision is the JSON of the decision about one tool call.
type Decision struct {
	ID        string          `json:"id"`
	Decision  string          `json:"decision"`
	Arguments json.RawMessage `json:"arguments"`
	Reason    string          `json:"reason"`
	Remember  bool            `json:"remember"`
}

// MaxDecisions is how many calls one answer may decide.
const MaxDecisions = 128

// ResumeValue checks an answer, but not whether it fits its question. prefix is the field that holds
// it.
func (p *Problems) ResumeValue(prefix string, v *ResumeValue) chat.ResumeValue {
	if v == nil {
		p.Add(prefix, "is missing")
		return chat.ResumeValue{}
	}
	out := chat.ResumeValue{
		Type:       chat.InterruptType(v.Type),
		TipTap:     p.TipTap(prefix+".tiptap_json", v.TipTap),
		TaggedDocs: p.UUIDs(prefix+".tagged_doc_ids", v.TaggedDocs),
		TaggedSets: p.UUIDs(prefix+".tagged_set_ids", v.TaggedSets),
		Decisions:  p.decisions(prefix+".decisions", v.Decisions),
	}
	if v.Type == "" {
		p.Add(prefix+".type", "is missing")
	}
	p.ID(prefix+".type", v.Type)
	if v.Value != nil {
		text := strings.TrimSpace(*v.Value)
		out.Value = &text
		p.Text(prefix+".value", text, 0, chat.MaxMessage)
	}
	return out
}

func (p *Problems) decisions(field string, list []Decision) []chat.Decision {
	if len(list) > MaxDecisions {
		p.Add(field, "must have at most "+strconv.Itoa(MaxDecisions)+" entries")
		return nil
	}
	var out []chat.Decision
	for i, d := range list {
		at := field + "[" + strconv.Itoa(i) + "]"
		if d.ID == "" {
			p.Add(at+".id", "is missing")
		}
		p.ID(at+".id", d.ID)
		p.Text(at+".reason", d.Reason, 0, chat.MaxReason)
		decided := chat.Decision{ID: d.ID, Decision: chat.Verdict(d.Decision), Reason: d.Reason, Remember: d.Remember}
		switch decided.Decision {
		case chat.Approved:
			decided.Arguments = p.arguments(at+".arguments", d.Arguments)
		case chat.Rejected:
		default:
			p.Add(at+".decision", "must be approved or rejected")
		}
		out = append(out, decided)
	}
	return out
}

// arguments checks edited arguments, but not their schema; null counts as absent.
func (p *Problems) arguments(field string, raw json.RawMessage) json.RawMessage {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil
	case len(raw) > chat.MaxArguments:
		p.Add(field, "must have at most 64 kB")
	case raw[0] != '{':
		p.Add(field, "must be an object")
	case bytes.Contains(raw, []byte(`\u0000`)):
		p.Add(field, "must not contain the NUL character")
	default:
		return raw
	}
	return nil
}
