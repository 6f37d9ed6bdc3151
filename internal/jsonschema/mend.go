package jsonschema

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	validator "github.com/santhosh-tekuri/jsonschema/v6"
)

const maxMends = 100

// Mend removes from a schema what makes it invalid: keywords with values of a wrong kind, and
// references to what the schema does not have. removed has the places, in the form of JSON pointers.
// The rest is as it was and compiles. An error means that nothing of the schema can be used.
func Mend(text json.RawMessage) (mended json.RawMessage, removed []string, err error) {
	if _, err := Compile(text); err == nil {
		return text, nil, nil
	}
	doc, err := Parse(text)
	if err != nil {
		return nil, nil, err
	}
	root, object := doc.(map[string]any)
	if !object {
		return nil, nil, errNoObject
	}
	removed = dropReferences(root, root, "")
	for range maxMends {
		mended, err = json.Marshal(root)
		if err != nil {
			return nil, nil, err
		}
		if _, err = Compile(mended); err == nil {
			return mended, removed, nil
		}
		places := invalidPlaces(err)
		if len(places) == 0 {
			return nil, nil, err
		}
		for _, place := range places {
			removed = append(removed, drop(root, place))
		}
	}
	return nil, nil, err
}

// invalidPlaces returns where a schema does not satisfy the schema of schemas, the innermost places
// first.
func invalidPlaces(err error) (places [][]string) {
	var misfit *validator.SchemaValidationError
	var wrong *validator.ValidationError
	if !errors.As(err, &misfit) || !errors.As(misfit.Err, &wrong) {
		return nil
	}
	var visit func(v *validator.ValidationError)
	visit = func(v *validator.ValidationError) {
		if len(v.Causes) == 0 && len(v.InstanceLocation) > 0 {
			places = append(places, v.InstanceLocation)
		}
		for _, c := range v.Causes {
			visit(c)
		}
	}
	visit(wrong)
	slices.SortFunc(places, func(a, b []string) int { return len(b) - len(a) })
	return slices.CompactFunc(places, slices.Equal)
}

// drop removes what is at a place. A schema in a list, or of a property, becomes one that allows
// everything: the property itself stays.
func drop(root map[string]any, place []string) string {
	n := len(place)
	for n > 1 && !dropAt(root, place[:n]) {
		n--
	}
	if n == 1 {
		delete(root, place[0])
	}
	return "/" + strings.Join(place[:n], "/")
}

// dropAt removes the member at a place of objects and lists; false if that is no place of its own.
func dropAt(root map[string]any, place []string) bool {
	var parent any = root
	for _, name := range place[:len(place)-1] {
		parent = member(parent, name)
	}
	last, within := place[len(place)-1], ""
	if len(place) > 1 {
		within = place[len(place)-2]
	}
	switch p := parent.(type) {
	case map[string]any:
		if _, has := p[last]; !has {
			return false
		}
		switch within {
		case "properties", "$defs", "definitions", "patternProperties", "dependentSchemas":
			p[last] = map[string]any{}
		default:
			delete(p, last)
		}
		return true
	case []any:
		i, err := strconv.Atoi(last)
		switch within {
		case "anyOf", "oneOf", "allOf", "prefixItems":
			if err == nil && i >= 0 && i < len(p) {
				p[i] = map[string]any{}
				return true
			}
		}
	}
	return false
}

func member(of any, name string) any {
	switch v := of.(type) {
	case map[string]any:
		return v[name]
	case []any:
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(v) {
			return v[i]
		}
	}
	return nil
}

// dropReferences removes references to what is not in the schema itself.
func dropReferences(root map[string]any, value any, at string) (removed []string) {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
			if to, is := v[name].(string); is && !resolves(root, to) {
				delete(v, name)
				removed = append(removed, at+"/"+name)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			removed = append(removed, dropReferences(root, v[name], at+"/"+name)...)
		}
	case []any:
		for i, below := range v {
			removed = append(removed, dropReferences(root, below, fmt.Sprintf("%s/%d", at, i))...)
		}
	}
	return removed
}

var pointerEscapes = strings.NewReplacer("~1", "/", "~0", "~")

func resolves(root map[string]any, reference string) bool {
	pointer, local := strings.CutPrefix(reference, "#")
	if !local || pointer == "" {
		return local
	}
	if !strings.HasPrefix(pointer, "/") {
		return hasAnchor(root, pointer)
	}
	var at any = root
	for name := range strings.SplitSeq(pointer[1:], "/") {
		at = member(at, pointerEscapes.Replace(name))
	}
	switch at.(type) {
	case map[string]any, bool:
		return true
	}
	return false
}

func hasAnchor(value any, name string) bool {
	switch v := value.(type) {
	case map[string]any:
		if v["$anchor"] == name || v["$dynamicAnchor"] == name {
			return true
		}
		for _, below := range v {
			if hasAnchor(below, name) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(below any) bool { return hasAnchor(below, name) })
	}
	return false
}

// checkable changes a parsed schema to what can be checked of it: patterns that Go's regular
// expressions do not have, such as lookahead, are left out, and so is a dialect of an unknown name.
func checkable(value any) any {
	switch v := value.(type) {
	case map[string]any:
		if pattern, is := v["pattern"].(string); is {
			if p := portable(pattern); p != "" {
				v["pattern"] = p
			} else {
				delete(v, "pattern")
			}
		}
		if named, is := v["patternProperties"].(map[string]any); is {
			for pattern, below := range named {
				p := portable(pattern)
				if p == pattern {
					continue
				}
				delete(named, pattern)
				if p != "" {
					named[p] = below
					continue
				}
				delete(v, "additionalProperties") // which properties are additional is not known
				delete(v, "unevaluatedProperties")
			}
		}
		if name, is := v["$schema"].(string); is && !knownDialects[strings.TrimSuffix(name, "#")] {
			delete(v, "$schema")
		}
		for _, below := range v {
			checkable(below)
		}
	case []any:
		for _, below := range v {
			checkable(below)
		}
	}
	return value
}

var knownDialects = map[string]bool{
	"http://json-schema.org/draft-04/schema": true, "http://json-schema.org/draft-06/schema": true, "http://json-schema.org/draft-07/schema": true,
	"https://json-schema.org/draft/2019-09/schema": true, "https://json-schema.org/draft/2020-12/schema": true,
}

var unicodeEscape = regexp.MustCompile(`\\u([0-9A-Fa-f]{4})`)

// portable returns a pattern of JSON schemas as one of Go; "" if Go has none.
func portable(pattern string) string {
	for _, p := range []string{pattern, unicodeEscape.ReplaceAllString(pattern, `\x{$1}`)} {
		if _, err := regexp.Compile(p); err == nil {
			return p
		}
	}
	return ""
}
