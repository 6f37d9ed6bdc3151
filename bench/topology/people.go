package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/internal/stack"
)

// person talks in one conversation. When a process ends a stream, person sends the message
// to the other process with the same id: that must not start a second turn.
type person struct {
	system *system
	user   *stack.User
	thread string
	doc    string

	mu       sync.Mutex
	answered []string // messages, in order
	again    int      // number of messages that were sent more than once
}

func (s *system) newPerson(ctx context.Context) (*person, error) {
	user, err := stack.NewUser(s.apis()[0].url)
	if err != nil {
		return nil, err
	}
	p := &person{system: s, user: user, thread: uuid.NewString()}
	p.doc, err = user.Upload(ctx)
	return p, err
}

// say sends a message until it is answered.
func (p *person) say(ctx context.Context, action string) error {
	ctx, cancel := context.WithTimeout(ctx, waitLimit)
	defer cancel()
	p.mu.Lock()
	text := fmt.Sprintf("%s (%d)", stack.Inquiry(p.doc, action)["message"], len(p.answered)+1)
	p.mu.Unlock()
	m := maps.Clone(stack.Inquiry(p.doc, action))
	m["message"], m["client_turn_id"] = text, uuid.NewString()
	for n := 0; ; n++ {
		api := p.system.apis()[n%2]
		_, err := p.user.At(api.url).Turn(ctx, p.thread, m, nil)
		if err == nil {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.answered = append(p.answered, text)
			if n > 0 {
				p.again++
			}
			return nil
		}
		var ended *stack.Ended
		if errors.As(err, &ended) || ctx.Err() != nil {
			return fmt.Errorf("%q: %w", text, err)
		}
		select { // a process that restarts refuses connections
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// said returns the messages that have been answered.
func (p *person) said() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.answered)
}

type message struct{ Role, Content string }

// history reads the conversation from an API process. active reports an open turn.
func (p *person) history(ctx context.Context) (messages []message, active bool, err error) {
	resp, err := p.user.At(p.system.apis()[1].url).Get(ctx, "/api/chat/history/"+p.thread+"?limit=500")
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, false, fmt.Errorf("read the conversation: %s", resp.Status)
	}
	var h struct {
		Messages   []message
		ActiveTurn json.RawMessage `json:"active_turn"`
	}
	err = json.NewDecoder(resp.Body).Decode(&h)
	h.Messages = slices.DeleteFunc(h.Messages, func(m message) bool { return m.Role == "system" }) // summaries of a long conversation
	return h.Messages, len(h.ActiveTurn) > 0 && string(h.ActiveTurn) != "null", err
}

// check checks that the conversation has every answered message once, with its answer, and
// nothing else.
func (p *person) check(ctx context.Context) error {
	messages, _, err := p.history(ctx)
	if err != nil {
		return err
	}
	said := p.said()
	var want, found []string
	for _, text := range said {
		want = append(want, "user: "+text, "assistant")
	}
	for _, m := range messages {
		if m.Role == "user" {
			found = append(found, "user: "+m.Content)
		} else {
			found = append(found, m.Role)
		}
	}
	if !slices.Equal(want, found) {
		return fmt.Errorf("conversation %s: %d messages were answered, but it has %d rows: %q", p.thread, len(said), len(found), found)
	}
	return nil
}

// talk makes all people talk until stop is called. stop returns the number of messages that
// were answered, and the errors.
func (s *system) talk(ctx context.Context) (stop func() (int, error)) {
	before := s.count()
	ending := make(chan struct{})
	failures := make([]error, len(s.people))
	var talking sync.WaitGroup
	for i, p := range s.people {
		talking.Go(func() {
			for failures[i] == nil {
				select {
				case <-ending:
					return
				default:
					failures[i] = p.say(ctx, "inquire")
				}
			}
		})
	}
	return func() (int, error) {
		close(ending)
		talking.Wait()
		return s.count() - before, errors.Join(failures...)
	}
}

func (s *system) count() (n int) {
	for _, p := range s.people {
		n += len(p.said())
	}
	return n
}

// checkAll checks all conversations.
func (s *system) checkAll(ctx context.Context) error {
	for _, p := range s.people {
		if err := p.check(ctx); err != nil {
			return err
		}
	}
	return nil
}
