package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	api "github.com/sashabaranov/go-openai"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
)

// Structured implements llm.Model. When the answer does not fit, a second request
// shows the model its mistake.
func (c *Client) Structured(ctx context.Context, r llm.Request, schema llm.Schema, out any) (chat.Usage, error) {
	var total chat.Usage
	s, err := compile(schema)
	if err != nil {
		return total, err
	}
	to := c.target(r, true)
	to.images, to.prompt = hasImages(r.Messages), llm.EstimatePrompt(r.Messages)
	messages := r.Messages
	for range 2 {
		text, problem, usage, err := c.ask(ctx, to, r, messages, s, out)
		total = total.Add(usage)
		if err != nil || problem == nil {
			return total, err
		}
		messages = append(append([]llm.Message(nil), r.Messages...), repair(text, problem)...)
	}
	return total, fmt.Errorf("%s %s: %s: %w", c.cfg.Provider, to.model, schema.Name, llm.ErrUnparseable)
}

// repair shows a model its answer and what is wrong with it.
func repair(text string, problem error) []llm.Message {
	var out []llm.Message
	if text = strings.TrimSpace(text); text != "" {
		out = append(out, llm.Message{Role: llm.Assistant, Text: clip(text, 8000)})
	}
	return append(out, llm.Message{Role: llm.User, Text: "Your answer could not be used: " + clip(problem.Error(), 2000) +
		"\nAnswer again with the corrected JSON object only: no explanation, no code fence."})
}

// ask reads one answer into out. It returns the answer's text, and what is wrong with it.
func (c *Client) ask(ctx context.Context, to target, r llm.Request, messages []llm.Message, s *schema, out any) (text string, problem error, usage chat.Usage, err error) {
	err = c.try(ctx, to, func(k *call, t traits) error {
		k.quiet = true // nothing comes until the answer is finished
		req := c.request(to.model, t, r, messages, nil)
		s.demand(&req, t)
		got := newAnswer(t, nil)
		err := c.send(k, t, req, messages, got)
		k.asked = answerState{limit: limitOf(req), thought: got.thoughts.Len() > 0}
		text = strings.TrimSpace(got.text.String())
		if len(got.made) > 0 {
			text = got.made[0].Arguments
		}
		if got.usage != nil {
			usage = usage.Add(c.usage(to.model, int(got.usage.Prompt), int(got.usage.Completion)))
		} else if err == nil || got.began() {
			usage = usage.Add(c.usage(to.model, llm.EstimatePrompt(messages), got.estimate()))
		}
		if got.lone && !t.thinksFirst {
			t.thinksFirst = true
			c.remember(to.model, t)
		}
		if errors.Is(err, errEmpty) || errors.Is(err, errNoRoom) {
			// Some servers take the answer for reasoning.
			if problem = s.decode(got.thoughts.String(), out); problem == nil && got.thoughts.Len() > 0 {
				return nil
			}
		}
		if errors.Is(err, errEmpty) { // the repair asks again
			return nil
		}
		if err != nil {
			return err
		}
		problem = s.decode(text, out)
		switch cut := got.ended(); {
		case problem != nil && cut == llm.FinishLength:
			return errNoRoom
		case problem != nil && cut == llm.FinishFilter:
			return errFiltered
		}
		return nil
	})
	return text, problem, usage, err
}

// demand adds the schema to a request in the given mode.
func (s *schema) demand(req *api.ChatCompletionRequest, t traits) {
	switch t.mode {
	case bySchema:
		req.ResponseFormat = &api.ChatCompletionResponseFormat{
			Type: api.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &api.ChatCompletionResponseFormatJSONSchema{
				Name: s.name, Description: s.description, Schema: s.wire, Strict: true,
			},
		}
	case byTool:
		req.Tools = []api.Tool{{Type: api.ToolTypeFunction, Function: &api.FunctionDefinition{
			Name: s.name, Description: s.description, Parameters: s.wire,
		}}}
		req.ToolChoice = api.ToolChoice{Type: api.ToolTypeFunction, Function: api.ToolFunction{Name: s.name}}
	case byPrompt:
		text := fmt.Sprintf("Answer with one JSON object only, no explanation, no code fence. It must satisfy the JSON schema %q:\n%s", s.name, s.wire)
		if len(req.Messages) > 0 && req.Messages[0].Content != "" && (t.noSystem || req.Messages[0].Role == api.ChatMessageRoleSystem) {
			req.Messages[0].Content += "\n\n" + text
			return
		}
		req.Messages = append([]api.ChatCompletionMessage{{Role: api.ChatMessageRoleSystem, Content: text}}, req.Messages...)
	}
}

// wireSchema drops keywords that strict modes of providers reject. decode validates
// answers against the full schema.
func wireSchema(raw json.RawMessage) (json.RawMessage, error) {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, err
	}
	v = dropKeywords(v, false)
	if object, ok := v.(map[string]any); ok {
		requireAll(object)
	}
	return json.Marshal(v)
}

// requireAll makes all properties of an object required, as OpenAI's strict mode demands.
// Answers may lack those that the full schema does not require.
func requireAll(object map[string]any) {
	if properties, ok := object["properties"].(map[string]any); ok {
		object["required"] = slices.Sorted(maps.Keys(properties))
	}
}

var refusedKeywords = []string{
	"minLength", "maxLength", "pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
	"multipleOf", "minItems", "maxItems", "uniqueItems", "default", "examples",
}

// dropKeywords drops refusedKeywords at every level. names says that v maps
// property names to schemas, so that its keys are not keywords.
func dropKeywords(v any, names bool) any {
	switch v := v.(type) {
	case map[string]any:
		if !names {
			for _, k := range refusedKeywords {
				delete(v, k)
			}
		}
		for k, child := range v {
			v[k] = dropKeywords(child, !names && (k == "properties" || k == "$defs" || k == "definitions"))
		}
	case []any:
		for i := range v {
			v[i] = dropKeywords(v[i], false)
		}
	}
	return v
}
