// Package sse writes server-sent events.
package sse

import "encoding/json"

// ContentType is the media type of a stream.
const ContentType = "text/event-stream"

// Done is the last event of streams that say so.
const Done = "data: [DONE]\n\n"

// Data appends an event. data must have no line break.
func Data(b, data []byte) []byte {
	return append(append(append(b, "data: "...), data...), "\n\n"...)
}

// JSON appends an event that holds v, or nothing if v has no JSON (a NaN).
func JSON(b []byte, v any) []byte {
	data, err := json.Marshal(v) // compact, so no line break can be in it
	if err != nil {
		return b
	}
	return Data(b, data)
}

// Named appends an event with a name that holds v, or nothing if v has no JSON.
func Named(b []byte, name string, v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		return b
	}
	return Data(append(append(append(b, "event: "...), name...), '\n'), data)
}

// Comment appends a line that clients ignore; it keeps connections open.
func Comment(b []byte, text string) []byte {
	return append(append(append(b, ": "...), text...), "\n\n"...)
}
