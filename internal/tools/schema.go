package tools

import (
	"encoding/json"

	"github.com/palaver-chat/palaver/internal/jsonschema"
)

// CheckSchema reports whether arguments can be checked against a schema.
func CheckSchema(schema json.RawMessage) error {
	_, err := jsonschema.Compile(schema)
	return err
}

// Misfit describes, for a model or a person, why arguments do not satisfy a schema; "" when they
// do. Arguments are a JSON object.
func Misfit(schema, arguments json.RawMessage) string {
	doc, err := jsonschema.Parse(arguments)
	if err != nil {
		return "the arguments are not valid JSON"
	}
	if _, object := doc.(map[string]any); !object {
		return "the arguments are not a JSON object"
	}
	s, err := jsonschema.Compile(schema)
	if err != nil {
		return "the tool's own schema cannot be read"
	}
	return s.Misfit(doc, "the arguments")
}
