// Package messages has the texts that people read, each with a stable code and its English
// words. Clients that speak other languages word a message by its code (docs/errors.md).
package messages

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Code names a text. Codes are stored and sent to clients, so they must not change.
type Code string

// Params are the values in a text, by name: names, numbers, lists of names, words of an
// enumeration, and other messages (Coded). They are never sentences.
type Params map[string]any

// Coded is a text without its words. It is part of every JSON object that has a text for
// people, beside that text. It is empty when the text is not one of the catalog.
type Coded struct {
	Code   Code   `json:"message_code,omitempty"`
	Params Params `json:"message_params,omitempty"`
}

// Put adds the fields of c to a JSON object.
func (c Coded) Put(object map[string]any) {
	if c.Code != "" {
		object["message_code"] = c.Code
	}
	if len(c.Params) > 0 {
		object["message_params"] = c.Params
	}
}

// Message is a text for people. Coded is empty when the text is somebody else's: of a custom
// agent, a custom document type, a provider or an MCP server.
type Message struct {
	Coded
	Text string // in English
}

// Plain returns a message without a code.
func Plain(text string) Message { return Message{Text: text} }

// With returns the message with values for its placeholders.
func (m Message) With(values Params) Message {
	return Coded{m.Code, values}.Message()
}

// Then returns the message with a hint after it.
func (m Message) Then(hint Message) Message {
	if m.Code == "" || hint.Code == "" {
		return Plain(m.Text + " " + hint.Text)
	}
	return WithHint.With(Params{"message": m.Coded, "hint": hint.Coded})
}

// Message returns the message with its English text.
func (c Coded) Message() Message { return Message{c, c.English()} }

// English returns the text; "" for an unknown code.
func (c Coded) English() string { return fill(catalog[c.Code], "en", c.Params) }

// fill puts values into a template.
func fill(template, lang string, values Params) string {
	return placeholder.ReplaceAllStringFunc(template, func(s string) string {
		p := readPlaceholder(s)
		if nouns, is := counted[p.Kind]; is {
			return count(number(values[p.Name]), nouns[lang])
		}
		return p.english(values[p.Name])
	})
}

// Stored returns the form in which rows keep a message: JSON of its code and values, or the
// text itself when it has no code.
func (m Message) Stored() string {
	if m.Code == "" {
		return m.Text
	}
	b, err := json.Marshal(m.Coded)
	if err != nil { // no value of Params can do this
		return m.Text
	}
	return string(b)
}

// Read returns the message that Stored has written.
func Read(stored string) Message {
	var c Coded
	if strings.HasPrefix(stored, `{"message_code":`) && json.Unmarshal([]byte(stored), &c) == nil {
		if m := c.Message(); m.Text != "" {
			return m
		}
	}
	return Plain(stored)
}

// catalog has the English template of every code.
var catalog = map[Code]string{}

// define adds a text to the catalog. A placeholder is {name} for a name, or {name:kind}.
func define(code Code, english string) Message {
	if _, twice := catalog[code]; twice {
		panic("messages: the code " + code + " is defined twice")
	}
	catalog[code] = english
	return Message{Coded{Code: code}, english}
}

// Kind is what a placeholder stands for.
type Kind string

// The kinds, beside the enumerations.
const (
	Name    Kind = ""        // a string: a title, a file's name, an id
	Number  Kind = "number"  //
	Bytes   Kind = "bytes"   // a number, shown in MB
	List    Kind = "list"    // of names
	Another Kind = "message" // Coded
)

// enumerations are the kinds whose values are words of Palaver, with the English of each.
var enumerations = map[Kind]map[string]string{
	"stored": {
		"conversations": "conversations", "document_sets": "document sets", "discoveries": "discovery boards",
		"documents": "documents", "pictures": "pictures", "shares": "shared links",
	},
	"proposal": {"pending": "pending", "error": "failed", "applied": "applied", "cancelled": "cancelled", "overtaken": "overtaken"},
}

// Placeholder is a place for a value in a text.
type Placeholder struct {
	Name string
	Kind Kind
}

var placeholder = regexp.MustCompile(`\{[a-z_]+(:[a-z]+)?\}`)

func readPlaceholder(s string) Placeholder {
	name, kind, _ := strings.Cut(strings.Trim(s, "{}"), ":")
	return Placeholder{name, Kind(kind)}
}

// Codes lists every code in order.
func Codes() []Code { return slices.Sorted(maps.Keys(catalog)) }

// Placeholders lists the placeholders of a text in order.
func (c Code) Placeholders() (list []Placeholder) {
	for _, s := range placeholder.FindAllString(catalog[c], -1) {
		if p := readPlaceholder(s); !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

// Values lists the words of an enumeration; nil for other kinds.
func (k Kind) Values() []string { return slices.Sorted(maps.Keys(enumerations[k])) }

// english returns the text of a value, which may have been read from JSON.
func (p Placeholder) english(value any) string {
	switch p.Kind {
	case Number:
		return strconv.FormatInt(number(value), 10)
	case Bytes:
		return megabytes(number(value))
	case List:
		return And(names(value))
	case Another:
		return another(value).English()
	}
	s := fmt.Sprint(value)
	if word, known := enumerations[p.Kind][s]; known {
		return word
	}
	return s
}

func number(value any) int64 {
	switch n := value.(type) {
	case int:
		return int64(n)
	case int64:
		return n
	case float64:
		return int64(math.Round(n))
	}
	return 0
}

func names(value any) []string {
	switch list := value.(type) {
	case []string:
		return list
	case []any:
		out := make([]string, len(list))
		for i, x := range list {
			out[i] = fmt.Sprint(x)
		}
		return out
	}
	return nil
}

func another(value any) (c Coded) {
	if c, is := value.(Coded); is {
		return c
	}
	if b, err := json.Marshal(value); err == nil {
		_ = json.Unmarshal(b, &c) // not a message: it has no text
	}
	return c
}

// And joins names as in "A, B and C".
func And(list []string) string {
	last := len(list) - 1
	if last < 1 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:last], ", ") + " and " + list[last]
}

// megabytes rounds up, so that a file above a limit never seems to have its size.
func megabytes(n int64) string {
	tenths := (n*10 + 1<<20 - 1) >> 20
	return strings.TrimSuffix(strconv.FormatFloat(float64(tenths)/10, 'f', 1, 64), ".0") + "MB"
}
