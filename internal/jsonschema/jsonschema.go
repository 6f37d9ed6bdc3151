// Package jsonschema checks JSON against JSON schemas, and words what is wrong for models and
// people.
package jsonschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"sync"

	validator "github.com/santhosh-tekuri/jsonschema/v6"
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

// Compile compiles a schema, which must be a JSON object. It may refer neither to files
// nor to addresses.
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
		return nil, errors.New("the schema is not an object")
	}
	c := validator.NewCompiler()
	c.UseLoader(validator.SchemeURLLoader{}) // without a scheme it loads nothing
	const at = "schema.json"
	if err := c.AddResource(at, doc); err != nil {
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

// Parse parses JSON as Misfit needs it: numbers keep all their digits.
func Parse(text []byte) (any, error) { return validator.UnmarshalJSON(bytes.NewReader(text)) }

const (
	maxProblems = 5
	maxProblem  = 300 // characters; a problem may quote the value
)

// Misfit describes why a parsed value does not satisfy the schema; "" when it does. whole
// names the value itself: "the arguments".
func (s *Schema) Misfit(value any, whole string) string {
	var wrong *validator.ValidationError
	switch err := s.compiled.Validate(value); {
	case err == nil:
		return ""
	case errors.As(err, &wrong):
		return strings.Join(problems(wrong, whole, nil), "; ")
	}
	return whole + " cannot be checked"
}

var english = textmessage.NewPrinter(locale.English)

// problems adds the leaves of a validation error to found.
func problems(v *validator.ValidationError, whole string, found []string) []string {
	if len(v.Causes) == 0 && len(found) < maxProblems {
		where := strings.Join(v.InstanceLocation, ".")
		if where == "" {
			where = whole
		}
		return append(found, language.Truncate(where+": "+v.ErrorKind.LocalizedString(english), maxProblem))
	}
	for _, c := range v.Causes {
		found = problems(c, whole, found)
	}
	return found
}
