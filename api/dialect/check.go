// Package dialect holds what all wire formats share: the commands that requests become, the validation
// of requests, and what handlers need of the server. No dialect depends on the engine or the store.
package dialect

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
)

// Limits of a request.
const (
	MaxBody      = 1 << 20 // bytes of a JSON command
	MaxTipTap    = 256 << 10
	MaxTags      = 100 // documents or sets tagged in one message
	MaxID        = 128
	tipTapDepth  = 64
	tipTapValues = 50_000

	// MaxValues and MaxDepth limit what one JSON body holds: values, which take much more
	// memory than the bytes that send them, and objects and lists within each other.
	MaxValues = 100_000
	MaxDepth  = 128
)

// Problem says what is wrong with one field of a request.
type Problem struct {
	Field          string `json:"field"`
	Problem        string `json:"problem"`
	messages.Coded        // of Problem, when people read it
}

// Problems is an error when it is not empty.
type Problems []Problem

func (p Problems) Error() string {
	b := make([]string, len(p))
	for i, x := range p {
		b[i] = x.Field + " " + x.Problem
	}
	return strings.Join(b, "; ")
}

// Add records a problem.
func (p *Problems) Add(field, problem string) {
	p.Say(field, messages.Plain(problem))
}

// Say records a problem that people read.
func (p *Problems) Say(field string, problem messages.Message) {
	*p = append(*p, Problem{Field: field, Problem: problem.Text, Coded: problem.Coded})
}

// Err returns p as an error, nil when there is no problem.
func (p Problems) Err() error {
	if len(p) == 0 {
		return nil
	}
	return p
}

// CheckSize refuses a JSON body with too many values, or too deeply nested, before it is
// parsed.
func CheckSize(body []byte) error {
	if within(body, MaxValues, MaxDepth) {
		return nil
	}
	return Problems{{Field: "body", Problem: "must have at most " + strconv.Itoa(MaxValues) + " values, nested at most " + strconv.Itoa(MaxDepth) + " deep"}}
}

// within reports whether a JSON text has at most this many values, nested at most this
// deep. It takes one pass and no memory. What it says of other texts does not matter.
func within(text []byte, values, depth int) bool {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			continue
		case '{', '[':
			depth--
			values--
		case '}', ']':
			depth++
		case ',':
			values--
		}
		if values < 0 || depth < 0 {
			return false
		}
	}
	return true
}

// Decode reads a JSON object into out; unknown fields are ignored. CheckSize limits it.
func Decode(body []byte, out any) error {
	body = bytes.TrimSpace(body)
	if len(body) == 0 || body[0] != '{' {
		return Problems{{Field: "body", Problem: "must be a JSON object"}}
	}
	if err := CheckSize(body); err != nil {
		return err
	}
	if err := json.Unmarshal(body, out); err != nil {
		if t, ok := err.(*json.UnmarshalTypeError); ok && t.Field != "" {
			return Problems{{Field: strings.TrimPrefix(t.Field, "Fields."), Problem: "must not be a JSON " + t.Value}} // Fields is part of other bodies
		}
		return Problems{{Field: "body", Problem: "must be valid JSON"}}
	}
	return nil
}

// Text checks that a text has between least and most characters and no NUL, which cannot be stored.
func (p *Problems) Text(field, s string, least, most int) {
	switch n := utf8.RuneCountInString(s); {
	case n < least && least == 1:
		p.Say(field, messages.FieldEmpty)
	case n > most:
		p.Say(field, messages.FieldTooLong.With(messages.Params{"limit": most}))
	case strings.ContainsRune(s, 0):
		p.Say(field, messages.FieldNUL)
	}
}

// ID checks an id that a client has made: empty, or up to 128 printable characters.
func (p *Problems) ID(field, s string) {
	if utf8.RuneCountInString(s) > MaxID {
		p.Add(field, "must have at most 128 characters")
		return
	}
	for _, r := range s {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			p.Add(field, "must be printable")
			return
		}
	}
}

// UUID checks one of our ids and returns it in lower case.
func (p *Problems) UUID(field, s string) string {
	if len(s) != 36 || uuid.Validate(s) != nil {
		p.Add(field, "must be a UUID")
		return ""
	}
	return strings.ToLower(s)
}

// UUIDs checks a list of ids, and returns it in lower case without duplicates.
func (p *Problems) UUIDs(field string, list []string) []string {
	if len(list) > MaxTags {
		p.Add(field, "must have at most "+strconv.Itoa(MaxTags)+" entries")
		return nil
	}
	var out []string
	seen := make(map[string]bool, len(list))
	for _, s := range list {
		id := p.UUID(field, s)
		if id == "" {
			return nil
		}
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}

// Scope checks the ids of the spaces that a conversation reads.
func (p *Problems) Scope(field string, list []string) []string {
	if len(list) > chat.MaxScope {
		p.Add(field, "must have at most "+strconv.Itoa(chat.MaxScope)+" entries")
		return nil
	}
	return p.UUIDs(field, list)
}

// TipTap checks the composer's document: an object of at most 256 kB and limited depth. It returns
// the document without white space; null counts as absent.
func (p *Problems) TipTap(field string, raw json.RawMessage) json.RawMessage {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if len(raw) > MaxTipTap {
		p.Add(field, "must have at most 256 kB")
		return nil
	}
	if raw[0] != '{' {
		p.Add(field, "must be an object")
		return nil
	}
	if bytes.Contains(raw, []byte(`\u0000`)) {
		p.Add(field, "must not contain the NUL character")
		return nil
	}
	if !within(raw, tipTapValues, tipTapDepth) {
		p.Add(field, "is nested too deeply or has too many parts")
		return nil
	}
	var out bytes.Buffer
	if err := json.Compact(&out, raw); err != nil {
		p.Add(field, "must be valid JSON")
		return nil
	}
	return out.Bytes()
}

// Choice reads an enum of two values, the first being the default; other
// reports whether it is the second.
func (p *Problems) Choice(field, s, first, second string) (other bool) {
	if s != "" && s != first && s != second {
		p.Add(field, "must be "+first+" or "+second)
	}
	return s == second
}

// OneOf joins words as in "a, b or c".
func OneOf(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
