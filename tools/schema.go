package tools

import (
	"encoding/json"

	"github.com/palaver-chat/palaver/internal/jsonschema"
)

// CheckSchema returns an error if arguments cannot be checked against a schema.
func CheckSchema(schema json.RawMessage) error {
	_, err := jsonschema.Compile(schema)
	return err
}

// wholeArguments is how Misfit refers to the arguments as a whole.
const wholeArguments = "the arguments"

// Misfit describes, for a model or a person, why arguments do not satisfy a schema; "" when they
// do. Arguments are a JSON object.
func Misfit(schema, arguments json.RawMessage) string {
	if problem := misfits(schema, arguments); problem != nil {
		return problem.Error()
	}
	return ""
}

// Invalid says why arguments cannot be used.
type Invalid struct {
	Whole    string               // a problem of the arguments as a whole; if empty, Problems are set
	Problems []jsonschema.Problem // at least one if Whole is empty
}

func (i *Invalid) Error() string {
	if i.Whole != "" {
		return i.Whole
	}
	return jsonschema.Sentence(i.Problems, wholeArguments)
}

// misfits returns what Misfit describes, with the places of the problems; nil when there are
// none.
func misfits(schema, arguments json.RawMessage) *Invalid {
	doc, err := jsonschema.Parse(arguments)
	if err != nil {
		return &Invalid{Whole: "the arguments are not valid JSON"}
	}
	if _, object := doc.(map[string]any); !object {
		return &Invalid{Whole: "the arguments are not a JSON object"}
	}
	s, err := jsonschema.Compile(schema)
	if err != nil {
		return &Invalid{Whole: "the tool's own schema cannot be read"}
	}
	if found := s.Problems(doc); len(found) > 0 {
		return &Invalid{Problems: found}
	}
	return nil
}
