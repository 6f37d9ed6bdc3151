// Package sse writes server-sent events.
package sse

import "encoding/json"

// ContentType is the media type of a stream.
const ContentType = "text/event-stream"

// Done is the last event of a stream whose dialect marks the end of a stream.
const Done = "data: [DONE]\n\n"

// Data appends an event to b. data must not contain a line break.
func Data(b, data []byte) []byte {
	return append(append(append(b, "data: "...), data...), "\n\n"...)
}

// JSON appends an event with v as JSON to b. It appends nothing if v cannot be encoded, for
// example because of a NaN.
func JSON(b []byte, v any) []byte {
	data, err := json.Marshal(v) // compact JSON has no line break
	if err != nil {
		return b
	}
	return Data(b, data)
}

// Named appends a named event with v as JSON to b, or nothing if v cannot be encoded.
func Named(b []byte, name string, v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		return b
	}
	return Data(append(append(append(b, "event: "...), name...), '\n'), data)
}

// Comment appends a comment to b. Clients ignore it, but it keeps the connection open.
func Comment(b []byte, text string) []byte {
	return append(append(append(b, ": "...), text...), "\n\n"...)
}
