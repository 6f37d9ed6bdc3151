package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	locale "golang.org/x/text/language"
	textmessage "golang.org/x/text/message"

	"github.com/palaver-chat/palaver/internal/language"
)

// compiled caches compiled schemas by their text. The cache is emptied when it becomes large,
// because schemas of tools change.
var compiled = struct {
	sync.Mutex
	known map[string]*jsonschema.Schema
}{known: map[string]*jsonschema.Schema{}}

const maxCompiled = 1000

// CheckSchema reports whether arguments can be checked against a schema.
func CheckSchema(schema json.RawMessage) error {
	_, err := compile(schema)
	return err
}

func compile(schema json.RawMessage) (*jsonschema.Schema, error) {
	compiled.Lock()
	defer compiled.Unlock()
	if got := compiled.known[string(schema)]; got != nil {
		return got, nil
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, err
	}
	if _, object := doc.(map[string]any); !object {
		return nil, errors.New("the schema is not an object")
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // a schema may read neither files nor addresses
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
	compiled.known[string(schema)] = got
	return got, nil
}

// Misfit describes, for a model or a person, why arguments do not satisfy a schema; "" when they
// do. Arguments are a JSON object.
func Misfit(schema, arguments json.RawMessage) string {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(arguments))
	if err != nil {
		return "the arguments are not valid JSON"
	}
	if _, object := doc.(map[string]any); !object {
		return "the arguments are not a JSON object"
	}
	s, err := compile(schema)
	if err != nil {
		return "the tool's own schema cannot be read"
	}
	var wrong *jsonschema.ValidationError
	switch err := s.Validate(doc); {
	case err == nil:
		return ""
	case errors.As(err, &wrong):
		return strings.Join(leaves(wrong, nil), "; ")
	}
	return "the arguments do not satisfy the schema"
}

var english = textmessage.NewPrinter(locale.English)

// leaves returns the problems of a validation error, at most five.
func leaves(v *jsonschema.ValidationError, out []string) []string {
	if len(v.Causes) == 0 && len(out) < 5 {
		where := strings.Join(v.InstanceLocation, ".")
		if where == "" {
			where = "the arguments"
		}
		return append(out, language.Truncate(where+": "+v.ErrorKind.LocalizedString(english), maxProblem))
	}
	for _, c := range v.Causes {
		out = leaves(c, out)
	}
	return out
}

const maxProblem = 300 // characters of one problem, which may quote the arguments
