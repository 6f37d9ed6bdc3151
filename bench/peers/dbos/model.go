package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// prompts are Palaver's own, so that every system sends the model the same text.
type prompts struct{ intent, docs, answer string }

func readPrompts(dir string) (prompts, error) {
	texts := map[string]string{}
	for _, name := range []string{"intent", "docs", "inquire", "rules"} {
		b, err := os.ReadFile(filepath.Join(dir, name+".md"))
		if err != nil {
			return prompts{}, err
		}
		texts[name] = strings.TrimSpace(string(b))
	}
	return prompts{intent: texts["intent"], docs: texts["docs"], answer: texts["inquire"] + "\n\n" + texts["rules"]}, nil
}

func (p prompts) documents(known []document, tagged []string) string {
	documents, _ := json.Marshal(known) // strings only
	ids, _ := json.Marshal(tagged)
	return fmt.Sprintf("%s\n\nKnown documents: %s\nTagged already: %s", p.docs, documents, ids)
}

func question(passages []passage, message string) string {
	var b strings.Builder
	for i, p := range passages {
		fmt.Fprintf(&b, "<passage id=\"%d\" title=\"%s\">\n%s\n</passage>\n", i+1, p.Title, p.Text)
	}
	fmt.Fprintf(&b, "\n<question>\n%s\n</question>", message)
	return b.String()
}

type schemaOf struct {
	Name string
	JSON json.RawMessage
}

type intent struct {
	Action string `json:"action"`
}

var intentSchema = schemaOf{"intent_classification", json.RawMessage(`{"type":"object","additionalProperties":false,
"required":["action","confidence","enable_web_search","multi_action_detected","actions","reasoning"],
"properties":{"action":{"type":"string","enum":["summarize","inquire","compare","audit"]},
"confidence":{"type":"string","enum":["high","medium","low"]},"enable_web_search":{"type":"boolean"},"multi_action_detected":{"type":"boolean"},
"actions":{"type":"array","items":{"type":"string","enum":["summarize","inquire","compare","audit"]}},"reasoning":{"type":"string"}}}`)}

type docResolution struct {
	ResolvedIDs []string `json:"resolved_uuids"`
}

var docsSchema = schemaOf{"document_resolution", json.RawMessage(`{"type":"object","additionalProperties":false,
"required":["resolved_uuids","unresolved_names","inference_confidence","has_implicit_refs","reasoning"],
"properties":{"resolved_uuids":{"type":"array","items":{"type":"string"}},"unresolved_names":{"type":"array","items":{"type":"string"}},
"inference_confidence":{"type":"string","enum":["high","medium","low"]},"has_implicit_refs":{"type":"boolean"},"reasoning":{"type":"string"}}}`)}

// model calls an OpenAI-compatible endpoint.
type model struct {
	url    string
	client *http.Client
}

func newModel(baseURL string) *model {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 128
	return &model{url: baseURL + "/chat/completions", client: &http.Client{Transport: t}}
}

func (m *model) post(ctx context.Context, system string, earlier []said, user string, more map[string]any) (*http.Response, error) {
	type line struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	messages := []line{{"system", system}}
	for _, s := range earlier {
		messages = append(messages, line(s))
	}
	body := map[string]any{"model": "scripted", "temperature": 0, "messages": append(messages, line{"user", user})}
	for k, v := range more {
		body[k] = v
	}
	b, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url, bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := m.client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		defer func() { _ = resp.Body.Close() }()
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 4096)) // for the error's text
		return nil, fmt.Errorf("the model answered %s: %s", resp.Status, text)
	}
	return resp, nil
}

func (m *model) structured(ctx context.Context, s schemaOf, system string, earlier []said, user string, into any) error {
	resp, err := m.post(ctx, system, earlier, user, map[string]any{"response_format": map[string]any{
		"type": "json_schema", "json_schema": map[string]any{"name": s.Name, "strict": true, "schema": s.JSON}}})
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	var reply struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if err := json.NewDecoder(resp.Body).Decode(&reply); err != nil {
		return err
	}
	if len(reply.Choices) == 0 {
		return errors.New("the model returned no answer")
	}
	return json.Unmarshal([]byte(reply.Choices[0].Message.Content), into)
}

func (m *model) stream(ctx context.Context, system string, earlier []said, user string, emit func(string)) (string, error) {
	resp, err := m.post(ctx, system, earlier, user, map[string]any{"stream": true, "stream_options": map[string]any{"include_usage": true}})
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	var text strings.Builder
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		if data == "[DONE]" {
			return text.String(), nil
		}
		var chunk struct {
			Choices []struct{ Delta struct{ Content string } }
		}
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			return "", err
		}
		if len(chunk.Choices) > 0 && chunk.Choices[0].Delta.Content != "" {
			text.WriteString(chunk.Choices[0].Delta.Content)
			emit(chunk.Choices[0].Delta.Content)
		}
	}
	return "", errors.Join(errors.New("the model's stream ended early"), lines.Err())
}
