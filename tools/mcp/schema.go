package mcp

import (
	"encoding/json"

	"github.com/palaver-chat/palaver/internal/jsonschema"
)

// anyObject is the schema of a tool that does not say what arguments it takes.
const anyObject = `{"type":"object","properties":{}}`

// inputSchema returns a tool's schema in the form that models require, an object with properties, and
// what of it is not used.
func inputSchema(given any) (_ json.RawMessage, removed []string) {
	schema, isObject := given.(map[string]any)
	if !isObject {
		if given != nil && given != true {
			removed = []string{"all of it, because it is not an object"}
		}
		return json.RawMessage(anyObject), removed
	}
	schema["type"] = "object" // of "type": ["object","null"], too: arguments are an object
	if _, is := schema["properties"].(map[string]any); !is {
		schema["properties"] = map[string]any{}
	}
	raw, err := json.Marshal(schema)
	if err == nil && len(raw) > maxSchema {
		removed = append(removed, "descriptions, because it is too large")
		strip(schema)
		raw, err = json.Marshal(schema)
	}
	if err != nil || len(raw) > maxSchema {
		return json.RawMessage(anyObject), []string{"all of it, because it is too large"}
	}
	mended, parts, err := jsonschema.Mend(raw)
	if err != nil {
		return json.RawMessage(anyObject), []string{"all of it, because it is invalid: " + err.Error()}
	}
	return mended, append(removed, parts...)
}

// strip removes what only explains a schema.
func strip(value any) {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range []string{"description", "title", "examples", "$comment"} {
			if _, isSchema := v[name].(map[string]any); !isSchema { // else a property has this name
				delete(v, name)
			}
		}
		for _, below := range v {
			strip(below)
		}
	case []any:
		for _, below := range v {
			strip(below)
		}
	}
}
