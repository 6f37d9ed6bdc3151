package openai

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
)

// signature is Google's documented placeholder for calls whose signature was not
// kept: Gemini 3 and later reject calls without one. Real signatures take some
// kilobytes each and are only useful to the model that wrote them.
const signature = "skip_thought_signature_validator"

// sign adds the signature to the first call of every message; the SDK has no
// field for it.
func sign(req *http.Request) error {
	raw, err := io.ReadAll(req.Body)
	if err != nil {
		return err
	}
	req.Body.Close()
	if raw, err = signed(raw); err != nil {
		return err
	}
	req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(raw)), nil }
	return nil
}

func signed(raw []byte) ([]byte, error) {
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
		if err := json.Unmarshal(messages[i], &message); err != nil {
			return nil, err
		}
		if len(message.Calls) == 0 {
			continue
		}
		message.Calls[0]["extra_content"] = map[string]any{"google": map[string]any{"thought_signature": signature}}
		var err error
		if messages[i], err = with(messages[i], "tool_calls", message.Calls); err != nil {
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
