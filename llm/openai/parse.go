package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/jsonschema"
	"github.com/palaver-chat/palaver/llm"
)

// maxStructured is the length, in bytes, at which a structured answer is cut.
const maxStructured = 256 << 10

// schema is a compiled llm.Schema.
type schema struct {
	name, description string
	wire              json.RawMessage
	compiled          *jsonschema.Schema
	optional          []string
}

func compile(s llm.Schema) (*schema, error) {
	text, err := lenient(s)
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", s.Name, err)
	}
	compiled, err := jsonschema.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", s.Name, err)
	}
	wire, err := wireSchema(s.JSON)
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", s.Name, err)
	}
	return &schema{s.Name, s.Description, wire, compiled, s.Optional}, nil
}

// lenient returns the schema without its optional properties among the required ones.
func lenient(s llm.Schema) (json.RawMessage, error) {
	if len(s.Optional) == 0 {
		return s.JSON, nil
	}
	var object map[string]any
	if err := json.Unmarshal(s.JSON, &object); err != nil {
		return nil, err
	}
	if required, ok := object["required"].([]any); ok {
		object["required"] = slices.DeleteFunc(required, func(name any) bool {
			text, _ := name.(string)
			return slices.Contains(s.Optional, text)
		})
	}
	return json.Marshal(object)
}

// withoutNulls removes the optional properties that are null.
func (s *schema) withoutNulls(answer any) {
	object, _ := answer.(map[string]any)
	for _, name := range s.optional {
		if value, there := object[name]; there && value == nil {
			delete(object, name)
		}
	}
}

// decode finds the JSON in a model's answer, validates it and decodes it into out.
// The error's text is for the model.
func (s *schema) decode(text string, out any) error {
	candidates := candidates(text)
	if len(candidates) == 0 {
		return errors.New("it holds no JSON object")
	}
	var first error
	for _, raw := range candidates {
		err := s.fit(raw, out)
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}

func (s *schema) fit(raw []byte, out any) error {
	doc, err := jsonschema.Parse(raw)
	if err != nil {
		return errors.New("it is not valid JSON")
	}
	s.withoutNulls(doc)
	if problem := s.compiled.Misfit(doc, "the object"); problem != "" {
		return errors.New(problem)
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return errors.New("it does not have the right types")
	}
	return nil
}

// candidates returns the JSON objects in a text, the likeliest first: the whole
// text, code fences, then anything that begins with a brace.
func candidates(text string) [][]byte {
	const most = 16
	text = strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))
	if len(text) > maxStructured {
		text = text[:maxStructured]
	}
	var out [][]byte
	add := func(s string) bool {
		raw, ok := object(s)
		if ok {
			out = append(out, raw)
		}
		return ok
	}
	if add(text) {
		return out
	}
	parts := strings.Split(text, "```")
	for i := 1; i < len(parts) && i < 2*most; i += 2 {
		fenced := strings.TrimSpace(parts[i])
		if nl := strings.IndexByte(fenced, '\n'); nl >= 0 && !strings.HasPrefix(fenced, "{") {
			fenced = strings.TrimSpace(fenced[nl:]) // the language after the fence
		}
		add(fenced)
	}
	rest := text
	for tries := 0; tries < most; tries++ {
		at := strings.IndexByte(rest, '{')
		if at < 0 {
			break
		}
		rest = rest[at:]
		dec := json.NewDecoder(strings.NewReader(rest))
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			rest = rest[1:]
			continue
		}
		out = append(out, raw)
		rest = rest[dec.InputOffset():]
	}
	return out
}

// object reports whether s is exactly one JSON object, or a string that contains
// one (some models encode twice).
func object(s string) ([]byte, bool) {
	b := []byte(s)
	if !json.Valid(b) || len(b) == 0 {
		return nil, false
	}
	if b[0] == '"' {
		var inner string
		if json.Unmarshal(b, &inner) != nil {
			return nil, false
		}
		inner = strings.TrimSpace(inner)
		return []byte(inner), chat.IsObject(inner)
	}
	return b, b[0] == '{'
}
