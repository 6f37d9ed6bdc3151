package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/testkit/stack"
)

// outcome is the outcome of a turn.
type outcome struct {
	action   string // "" when a question was asked before the action was known
	docs     []string
	question string // type of the open question
	asked    string // its text
	options  []string
	text     string
	id       string // of the question
}

type event struct {
	Type        string                       `json:"type"`
	Node        string                       `json:"node"`
	Message     string                       `json:"message"`
	DocsFound   []struct{ ID, Title string } `json:"docs_found"`
	InterruptID string                       `json:"interrupt_id"`
	Kind        string                       `json:"interrupt_type"`
	Options     []struct{ ID, Label string } `json:"options"`
	Response    string                       `json:"response"`
	Action      string                       `json:"action"`
}

var actions = []string{"summarize", "inquire", "compare", "audit"}

// add updates the outcome with an event and reports whether the turn ended.
func (o *outcome) add(e event) (ended bool, err error) {
	switch e.Type {
	case "status":
		if slices.Contains(actions, e.Node) {
			o.action = e.Node
		}
		if len(e.DocsFound) > 0 {
			o.docs = nil
			for _, d := range e.DocsFound {
				o.docs = append(o.docs, d.ID)
			}
		}
	case "interrupt":
		o.question, o.asked, o.id, o.options = e.Kind, e.Message, e.InterruptID, nil
		for _, option := range e.Options {
			o.options = append(o.options, option.ID)
		}
		if o.action == "" {
			o.action = actionOf(e.Message)
		}
		return true, nil
	case "response":
		o.question, o.text = "", e.Response
		if o.action == "" && e.Action == "" {
			o.action = "talk"
		}
		return true, nil
	case "error", "cancelled":
		return true, fmt.Errorf("the turn ended with %s: %s", e.Type, e.Message)
	}
	return false, nil
}

// actionOf infers the action from the text of a question; "" when it cannot.
func actionOf(sentence string) string {
	for action, words := range map[string]string{"compare": "ompare", "summarize": "to summarize", "audit": "to audit", "inquire": "do you mean"} {
		if strings.Contains(sentence, words) {
			return action
		}
	}
	return ""
}

// say sends a message and reads the turn to its end or its first question.
func say(ctx context.Context, u *stack.User, thread, message string) (outcome, error) {
	return exchange(ctx, u, outcome{}, "/api/chat", map[string]any{"thread_id": thread, "client_turn_id": uuid.NewString(), "message": message, "agent": "documents"})
}

// answer answers the open question with its first option.
func answer(ctx context.Context, u *stack.User, thread string, o outcome) (outcome, error) {
	value := map[string]any{"type": "cancel", "value": nil}
	if len(o.options) > 0 {
		value = map[string]any{"type": o.question, "value": o.options[0]}
		if o.question == "retrieval_low" {
			value["value"] = "continue"
		}
	}
	return exchange(ctx, u, o, "/api/chat/resume", map[string]any{"thread_id": thread, "interrupt_id": o.id, "resume_value": value})
}

func exchange(ctx context.Context, u *stack.User, o outcome, path string, body any) (outcome, error) {
	resp, err := u.Post(ctx, path, body)
	if err != nil {
		return o, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return o, fmt.Errorf("%s: %s", path, resp.Status)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e event
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return o, err
		}
		if ended, err := o.add(e); ended || err != nil {
			return o, err
		}
	}
	return o, errors.Join(errors.New("the stream ended early"), lines.Err())
}

// titles returns the ids of the documents that the user can see, by title.
func titles(ctx context.Context, u *stack.User) (map[string]string, error) {
	resp, err := u.Get(ctx, "/api/documents")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var list struct {
		Items []struct{ ID, Title string } `json:"items"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, d := range list.Items {
		out[d.Title] = d.ID
	}
	return out, nil
}
