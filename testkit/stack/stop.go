package stack

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Stopped sends a message, stops its turn after the given number of tokens, and
// returns the time from the stop request to the terminal event.
func (u *User) Stopped(ctx context.Context, thread, doc string, tokens int) (time.Duration, error) {
	turn := uuid.NewString()
	resp, err := u.post(ctx, "/api/chat", map[string]any{
		"message": "What does the circular say about the liquidity coverage ratio?", "thread_id": thread, "tagged_doc_ids": []string{doc},
		"action": "inquire", "client_turn_id": turn,
	})
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	var sent time.Time
	stopping := make(chan error, 1)
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e struct{ Type, Message, Reason string }
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return 0, err
		}
		switch e.Type {
		case "token":
			if tokens--; tokens == 0 {
				sent = time.Now()
				go func() {
					stop, err := u.post(ctx, "/api/chat/cancel", map[string]any{"thread_id": thread, "client_turn_id": turn})
					if err == nil {
						err = stop.Body.Close()
					}
					stopping <- err
				}()
			}
		case "cancelled":
			if sent.IsZero() {
				return 0, errors.New("the turn was cancelled before it was stopped")
			}
			return time.Since(sent), <-stopping
		case "response", "error", "interrupt":
			return 0, fmt.Errorf("the turn ended with %s: %s", e.Type, e.Message)
		}
	}
	return 0, errors.Join(errors.New("the stream ended early"), lines.Err())
}
