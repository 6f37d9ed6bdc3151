// Package jsonschema checks JSON against JSON schemas, and describes problems for models and
// people.
package jsonschema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"

	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	locale "golang.org/x/text/language"
	textmessage "golang.org/x/text/message"

	"github.com/palaver-chat/palaver/internal/language"
)

// Schema is a compiled JSON schema. Safe for concurrent use.
type Schema struct{ compiled *validator.Schema }

// compiled caches schemas by their text. The cache is emptied when it becomes large,
// because schemas of tools change.
var compiled = struct {
	sync.Mutex
	known map[string]*Schema
}{known: map[string]*Schema{}}

const maxCompiled = 1000

var errNoObject = errors.New("the schema is not an object")

// Compile compiles a schema, which must be a JSON object. It may refer neither to files
// nor to addresses. Patterns that Go's regular expressions do not have are not checked.
func Compile(text json.RawMessage) (*Schema, error) {
	compiled.Lock()
	defer compiled.Unlock()
	if got := compiled.known[string(text)]; got != nil {
		return got, nil
	}
	doc, err := Parse(text)
	if err != nil {
		return nil, err
	}
	if _, object := doc.(map[string]any); !object {
		return nil, errNoObject
	}
	c := validator.NewCompiler()
	c.UseLoader(validator.SchemeURLLoader{}) // without a scheme it loads nothing
	const at = "schema.json"
	if err := c.AddResource(at, checkable(doc)); err != nil {
		return nil, err
	}
	got, err := c.Compile(at)
	if err != nil {
		return nil, err
	}
	if len(compiled.known) >= maxCompiled {
		clear(compiled.known)
	}
	s := &Schema{got}
	compiled.known[string(text)] = s
	return s, nil
}

// Parse parses JSON for Misfit and Problems: numbers keep all their digits.
func Parse(text []byte) (any, error) { return validator.UnmarshalJSON(bytes.NewReader(text)) }

const (
	maxProblems = 5
	maxProblem  = 300 // characters; a problem may quote the value
)

// Misfit describes why a parsed value does not satisfy the schema; "" when it does. whole
// names the value itself: "the arguments".
func (s *Schema) Misfit(value any, whole string) string {
	return Sentence(s.Problems(value), whole)
}

// Problem is one reason why a value does not satisfy a schema.
type Problem struct {
	At   []string // property names and indexes from the value itself; empty: the value itself
	Text string
}

// Problems returns at most five reasons why a parsed value does not satisfy the schema; none
// when it does.
func (s *Schema) Problems(value any) []Problem {
	var wrong *validator.ValidationError
	switch err := s.compiled.Validate(value); {
	case err == nil:
		return nil
	case errors.As(err, &wrong):
		return leaves(wrong, nil)
	}
	return []Problem{{Text: "cannot be checked"}}
}

// Sentence joins problems. whole names the value itself.
func Sentence(all []Problem, whole string) string {
	lines := make([]string, len(all))
	for i, p := range all {
		where := strings.Join(p.At, ".")
		where = cmp.Or(where, whole)
		lines[i] = language.Truncate(where+": "+p.Text, maxProblem)
	}
	return strings.Join(lines, "; ")
}

var english = textmessage.NewPrinter(locale.English)

// leaves adds the leaves of a validation error to found.
func leaves(v *validator.ValidationError, found []Problem) []Problem {
	add := func(text string, below ...string) {
		if len(found) < maxProblems {
			found = append(found, Problem{At: slices.Concat(v.InstanceLocation, below), Text: language.Truncate(text, maxProblem)})
		}
	}
	switch wrong := v.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range wrong.Missing {
			add("is missing", name)
		}
	case *kind.AdditionalProperties:
		for _, name := range wrong.Properties {
			add("is not allowed", name)
		}
	default:
		if len(v.Causes) == 0 {
			add(v.ErrorKind.LocalizedString(english))
		}
	}
	for _, c := range v.Causes {
		found = leaves(c, found)
	}
	return found
}
