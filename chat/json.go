package chat

import (
	"encoding/json"
	"strings"
)

// IsObject reports whether s is one JSON object.
func IsObject(s string) bool {
	s = strings.TrimSpace(s)
	return strings.HasPrefix(s, "{") && json.Valid([]byte(s))
}

// Arguments returns what a model wrote as a tool call's arguments; "{}" if that is no
// JSON object.
func Arguments(s string) string {
	if !IsObject(s) {
		return "{}"
	}
	return strings.TrimSpace(s)
}
