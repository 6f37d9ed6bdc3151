package tools

import (
	"bytes"
	"encoding/json"

	"github.com/palaver-chat/palaver/chat"
)

// Edited returns a person's arguments for a tool call in canonical form; nil when they equal
// the current ones. invalid says why they cannot be used. texts are the texts of the call's
// turn.
func Edited(texts map[string]string, call chat.CallRef, given json.RawMessage) (_ json.RawMessage, invalid *Invalid) {
	given = bytes.TrimSpace(given)
	if len(given) == 0 || string(given) == "null" {
		return nil, nil
	}
	if len(given) > chat.MaxArguments {
		return nil, &Invalid{Whole: "the arguments are larger than 64 kB"}
	}
	current, edited := texts[chat.EditedKey(call.ID)] // set if the arguments were edited when the call was asked about before
	if !edited {
		current = texts[chat.CallKey(call.ID)]
	}
	if same(given, []byte(current)) {
		return nil, nil
	}
	if !call.Editable {
		return nil, &Invalid{Whole: "the arguments of " + call.Name + " cannot be changed"}
	}
	if invalid := misfits([]byte(texts[chat.SchemaKey(call.Name)]), given); invalid != nil {
		return nil, invalid
	}
	arguments, ok := Canonical(given)
	if !ok {
		return nil, &Invalid{Whole: "the arguments are not valid JSON"}
	}
	return arguments, nil
}
