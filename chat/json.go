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

// Arguments returns a tool call's arguments as the model wrote them; "{}" if they are
// not a JSON object.
func Arguments(s string) string {
	if !IsObject(s) {
		return "{}"
	}
	return strings.TrimSpace(s)
}
