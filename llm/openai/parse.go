package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	textmessage "golang.org/x/text/message"

	"github.com/palaver-chat/palaver/chat"
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

// schemaCache compiles each schema once.
type schemaCache struct {
	mu    sync.Mutex
	known map[string]*schema // by name and text
}

func (c *schemaCache) get(s llm.Schema) (*schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := s.Name + "\x00" + string(s.JSON)
	if got := c.known[key]; got != nil {
		return got, nil
	}
	got, err := compile(s)
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", s.Name, err)
	}
	if c.known == nil || len(c.known) > 1000 { // tool schemas change over time
		c.known = map[string]*schema{}
	}
	c.known[key] = got
	return got, nil
}

func compile(s llm.Schema) (*schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(s.JSON))
	if err != nil {
		return nil, err
	}
	lenient(doc, s.Optional)
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // a schema may not read files
	const at = "schema.json"
	if err := c.AddResource(at, doc); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(at)
	if err != nil {
		return nil, err
	}
	wire, err := wireSchema(s.JSON)
	if err != nil {
		return nil, err
	}
	return &schema{s.Name, s.Description, wire, compiled, s.Optional}, nil
}

// lenient lets answers lack the optional properties of a schema.
func lenient(schema any, optional []string) {
	object, _ := schema.(map[string]any)
	if object == nil || len(optional) == 0 {
		return
	}
	if required, ok := object["required"].([]any); ok {
		object["required"] = slices.DeleteFunc(required, func(name any) bool {
			text, _ := name.(string)
			return slices.Contains(optional, text)
		})
	}
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
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return errors.New("it is not valid JSON")
	}
	s.withoutNulls(doc)
	if err := s.compiled.Validate(doc); err != nil {
		var v *jsonschema.ValidationError
		if errors.As(err, &v) {
			return errors.New(strings.Join(problems(v, nil), "; "))
		}
		return err
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return errors.New("it does not have the right types")
	}
	return nil
}

var english = textmessage.NewPrinter(language.English)

// problems lists at most five leaves of a validation error.
func problems(v *jsonschema.ValidationError, out []string) []string {
	if len(v.Causes) == 0 && len(out) < 5 {
		where := strings.Join(v.InstanceLocation, ".")
		if where == "" {
			where = "the object"
		}
		return append(out, where+": "+v.ErrorKind.LocalizedString(english))
	}
	for _, c := range v.Causes {
		out = problems(c, out)
	}
	return out
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
