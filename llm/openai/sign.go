package openai

import "encoding/json"

// signature is Google's documented placeholder for calls whose signature was not
// kept: Gemini 3 and later reject calls without one. Real signatures take some
// kilobytes each and are only useful to the model that wrote them.
const signature = "skip_thought_signature_validator"

// completed adds to each message with calls what its model demands: the signature to its
// first call, and the reasoning before it, by the id of that call.
func (t traits) completed(raw []byte, thoughts map[string]string) ([]byte, error) {
	var body map[string]json.RawMessage
	var messages []json.RawMessage
	if err := json.Unmarshal(raw, &body); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(body["messages"], &messages); err != nil {
		return nil, err
	}
	for i := range messages {
		var message struct {
			Calls []map[string]any `json:"tool_calls"`
		}
		err := json.Unmarshal(messages[i], &message)
		if err == nil && len(message.Calls) > 0 && t.signatures {
			message.Calls[0]["extra_content"] = map[string]any{"google": map[string]any{"thought_signature": signature}}
			messages[i], err = with(messages[i], "tool_calls", message.Calls)
		}
		if err == nil && len(message.Calls) > 0 && t.returnsReasoning {
			id, _ := message.Calls[0]["id"].(string)
			messages[i], err = with(messages[i], "reasoning_content", thoughts[id])
		}
		if err != nil {
			return nil, err
		}
	}
	return with(raw, "messages", messages)
}

// with returns a JSON object with one member replaced.
func with(object []byte, key string, value any) ([]byte, error) {
	var members map[string]json.RawMessage
	err := json.Unmarshal(object, &members)
	if err == nil {
		members[key], err = json.Marshal(value)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(members)
}
