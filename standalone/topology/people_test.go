//go:build long

package topology

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/testkit/stack"
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
	p.mu.Lock()
	text := fmt.Sprintf("%s (%d)", stack.Inquiry(p.doc, action)["message"], len(p.answered)+1)
	p.mu.Unlock()
	m := stack.Inquiry(p.doc, action)
	m["message"] = text
	times, err := p.send(ctx, m)
	if err != nil {
		return fmt.Errorf("%q: %w", text, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answered = append(p.answered, text)
	if times > 1 {
		p.again++
	}
	return nil
}

// send sends a message until its turn ends, and returns how often.
func (p *person) send(ctx context.Context, m stack.Message) (times int, err error) {
	ctx, cancel := context.WithTimeout(ctx, waitLimit)
	defer cancel()
	if m["client_turn_id"] == nil {
		m["client_turn_id"] = uuid.NewString()
	}
	for n := 0; ; n++ {
		api := p.system.apis()[n%2]
		_, err := p.user.At(api.url).Turn(ctx, p.thread, m, nil)
		var ended *stack.Ended
		if err == nil || errors.As(err, &ended) || ctx.Err() != nil {
			return n + 1, err
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

type (
	message struct {
		Role, Content string
		Metadata      struct {
			Kind     string
			Finished string `json:"finished_reason"`
			Error    struct{ Code string }
		}
	}
	conversation struct {
		Messages []message
		Active   *struct{} `json:"active_turn"`
		Pending  *struct{} `json:"pending_interrupt"`
	}
)

var errNoConversation = errors.New("conversation not found")

// history reads the conversation from an API process, without its system messages.
func (p *person) history(ctx context.Context) (c conversation, err error) {
	resp, err := p.user.At(p.system.apis()[1].url).Get(ctx, "/api/chat/history/"+p.thread+"?limit=500")
	if err != nil {
		return c, err
	}
	defer func() { _ = resp.Body.Close() }()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return c, errNoConversation
	default:
		return c, fmt.Errorf("read the conversation: %s", resp.Status)
	}
	err = json.NewDecoder(resp.Body).Decode(&c)
	c.Messages = slices.DeleteFunc(c.Messages, func(m message) bool { return m.Role == "system" })
	return c, err
}

// check checks that the conversation has every answered message once, with its answer, and
// nothing else.
func (p *person) check(ctx context.Context) error {
	c, err := p.history(ctx)
	if err != nil {
		return err
	}
	said := p.said()
	var want, found []string
	for _, text := range said {
		want = append(want, "user: "+text, "assistant")
	}
	for _, m := range c.Messages {
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
