package tools

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Meant returns the arguments that a model meant with raw: without raw line breaks in
// texts, without a list around them, without null for an argument that may be left out,
// and with numbers, truth values, lists and objects that were written as texts. It changes
// only arguments that do not fit the schema, and only if they fit then.
func Meant(schema json.RawMessage, raw []byte) []byte {
	if Misfit(schema, raw) == "" {
		return raw
	}
	out := raw
	if !json.Valid(out) {
		out = escapeControls(out)
	}
	tree, ok := parse(out)
	if !ok {
		return raw
	}
	if list, is := tree.([]any); is && len(list) == 1 {
		tree = list[0]
	}
	var s map[string]any
	if json.Unmarshal(schema, &s) != nil {
		return raw
	}
	object, ok := tree.(map[string]any)
	if !ok {
		return raw
	}
	mend(s, object, 0)
	out, err := json.Marshal(object)
	if err != nil || Misfit(schema, out) != "" {
		return raw
	}
	return out
}

// escapeControls escapes control characters in the texts of JSON.
func escapeControls(raw []byte) []byte {
	var out bytes.Buffer
	text, escaped := false, false
	for _, b := range raw {
		if text && b < 0x20 {
			quoted, _ := json.Marshal(string(b)) // a text can be encoded
			out.Write(quoted[1 : len(quoted)-1])
			continue
		}
		switch {
		case escaped:
			escaped = false
		case text && b == '\\':
			escaped = true
		case b == '"':
			text = !text
		}
		out.WriteByte(b)
	}
	return out.Bytes()
}

// mend changes the members of an object to the types that a schema names.
func mend(schema, object map[string]any, depth int) {
	const deepest = 8
	properties, _ := schema["properties"].(map[string]any)
	if depth > deepest {
		return
	}
	for name, value := range object {
		p, _ := properties[name].(map[string]any)
		types := typesOf(p)
		switch v := value.(type) {
		case nil:
			if !required(schema, name) {
				delete(object, name)
			}
		case map[string]any:
			mend(p, v, depth+1)
		case string:
			if types["string"] || len(types) == 0 {
				continue
			}
			meant, ok := parse([]byte(strings.TrimSpace(v)))
			if ok && types[kindOf(meant)] || ok && kindOf(meant) == "number" && types["integer"] {
				object[name] = meant
			}
		}
	}
}

func typesOf(schema map[string]any) map[string]bool {
	out := map[string]bool{}
	switch t := schema["type"].(type) {
	case string:
		out[t] = true
	case []any:
		for _, one := range t {
			if name, ok := one.(string); ok {
				out[name] = true
			}
		}
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		list, _ := schema[key].([]any)
		for _, one := range list {
			one, _ := one.(map[string]any)
			for name := range typesOf(one) {
				out[name] = true
			}
		}
	}
	return out
}

func kindOf(v any) string {
	switch v.(type) {
	case json.Number:
		return "number"
	case bool:
		return "boolean"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return ""
}

func required(schema map[string]any, name string) bool {
	list, _ := schema["required"].([]any)
	for _, one := range list {
		if one == name {
			return true
		}
	}
	return false
}
