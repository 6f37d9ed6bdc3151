package main

import (
	"context"
	"net/http"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/testkit/stack"
)

// palaverCaller calls Palaver in its native dialect.
type palaverCaller struct{ *stack.User }

// alternating sends every other turn to a second API.
type alternating struct {
	palaverCaller
	second *stack.User
	turns  atomic.Int64
}

func (a *alternating) Turn(ctx context.Context, thread string, m stack.Message, began func()) (stack.Timing, error) {
	if a.turns.Add(1)%2 == 0 {
		return a.second.Turn(ctx, thread, m, began)
	}
	return a.User.Turn(ctx, thread, m, began)
}

func palaverKind(_ string, data []byte) (kind, error) {
	e, err := typed(data)
	switch e {
	case "status":
		return status, err
	case "token":
		return token, err
	case "interrupt":
		return asked, err
	case "response":
		return ended, err
	case "error", "cancelled":
		return failed, err
	}
	return other, err
}

func (c palaverCaller) Asks(ctx context.Context, thread, document string) error {
	path := "/api/chat"
	return asks(func(body map[string]any) (*http.Response, error) {
		body["thread_id"] = thread
		if path == "/api/chat" {
			body["client_turn_id"] = uuid.NewString()
		}
		resp, err := c.Post(ctx, path, body)
		path = "/api/chat/resume"
		return resp, err
	}, palaverKind, map[string]any{"resume_value": map[string]any{"type": "text_input", "tagged_doc_ids": []string{document}}})
}
