package tools

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Meant returns the arguments that a model meant with raw: without raw line breaks in
// texts, without a list around them, without null for an argument that may be left out, with
// numbers, truth values, lists and objects that were written as texts, and with texts that
// were written as numbers. It changes
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
	mender{s}.mend(s, object, 0)
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

// mender changes values to the types that a schema names.
type mender struct{ root map[string]any }

// mend changes the members of an object.
func (m mender) mend(schema, object map[string]any, depth int) {
	const deepest = 8
	properties, _ := schema["properties"].(map[string]any)
	if depth > deepest {
		return
	}
	for name, value := range object {
		if value == nil && !required(schema, name) {
			delete(object, name)
			continue
		}
		p, _ := properties[name].(map[string]any)
		object[name] = m.meant(p, value, depth)
	}
}

// meant returns the value that was meant for a schema.
func (m mender) meant(schema map[string]any, value any, depth int) any {
	schema = m.resolved(schema)
	types := typesOf(schema)
	switch v := value.(type) {
	case map[string]any:
		m.mend(schema, v, depth+1)
	case []any:
		items, _ := schema["items"].(map[string]any)
		for i := range v {
			v[i] = m.meant(items, v[i], depth+1)
		}
	case string:
		if types["string"] || len(types) == 0 {
			return value
		}
		meant, ok := parse([]byte(strings.TrimSpace(v)))
		if ok && types[kindOf(meant)] || ok && kindOf(meant) == "number" && types["integer"] {
			return m.meant(schema, meant, depth+1)
		}
	case json.Number:
		if types["string"] && !types["number"] && !types["integer"] {
			return v.String()
		}
	}
	return value
}

// resolved returns what a schema refers to within the root.
func (m mender) resolved(schema map[string]any) map[string]any {
	reference, _ := schema["$ref"].(string)
	path, local := strings.CutPrefix(reference, "#/")
	if !local {
		return schema
	}
	at := m.root
	for name := range strings.SplitSeq(path, "/") {
		at, _ = at[name].(map[string]any)
	}
	return at
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
	return slices.Contains(list, any(name))
}
