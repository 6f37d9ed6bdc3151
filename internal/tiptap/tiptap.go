// Package tiptap reads the JSON of a TipTap document with its mentions, as a message
// editor sends it. The JSON comes from clients, so it is not trusted.
package tiptap

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// Limits of a document. Read ignores deeper nodes, later nodes and later mentions, and cuts
// longer labels.
const (
	MaxDepth    = 64
	MaxNodes    = 20_000
	MaxMentions = 200
	MaxLabel    = 300 // characters
)

// Categories of mentions that name something to read.
const (
	Document = "document"
	Set      = "set"
)

// Mention is a tagged document or set. Its id is not verified.
type Mention struct {
	ID, Category, Label string
}

// Content is the content of a TipTap document.
type Content struct {
	Mentions []Mention // each id once, in order
	Text     string    // the typed text, mentions left out
}

// IDs returns the ids of the mentions of one category, in order.
func (c Content) IDs(category string) []string {
	var ids []string
	for _, m := range c.Mentions {
		if m.Category == category {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// Labels returns the names that the mentions show in the text.
func (c Content) Labels() []string {
	var labels []string
	for _, m := range c.Mentions {
		if m.Label != "" {
			labels = append(labels, m.Label)
		}
	}
	return labels
}

var errNotObject = errors.New("tiptap: not a JSON object")

// Read reads a document. Empty input and null give an empty Content; any other input must
// be a JSON object. Read also reads the children of unknown nodes.
func Read(raw json.RawMessage) (Content, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return Content{}, nil
	}
	var root any
	if err := json.Unmarshal(raw, &root); err != nil {
		return Content{}, errNotObject // the decoder's message may quote the text
	}
	if _, ok := root.(map[string]any); !ok {
		return Content{}, errNotObject
	}
	var w walker
	w.walk(root, 0)
	w.found.Text = strings.TrimSpace(w.text.String())
	return w.found, nil
}

type walker struct {
	found Content
	text  strings.Builder
	nodes int
}

func (w *walker) walk(value any, depth int) {
	node, ok := value.(map[string]any)
	if w.nodes++; !ok || depth > MaxDepth || w.nodes > MaxNodes {
		return
	}
	switch kind, _ := node["type"].(string); kind {
	case "text":
		text, _ := node["text"].(string)
		w.text.WriteString(text)
	case "mention":
		w.mention(node)
	case "hardBreak":
		w.text.WriteByte('\n')
	}
	children, _ := node["content"].([]any)
	for _, child := range children {
		w.walk(child, depth+1)
	}
	if block(node) {
		w.text.WriteByte('\n')
	}
}

func block(node map[string]any) bool {
	switch node["type"] {
	case "paragraph", "heading", "listItem", "blockquote", "codeBlock":
		return true
	}
	return false
}

// mention adds a mention of a document or set. In the text, a space replaces it.
func (w *walker) mention(node map[string]any) {
	w.text.WriteByte(' ')
	attrs, _ := node["attrs"].(map[string]any)
	m := Mention{ID: str(attrs, "id"), Category: str(attrs, "category"), Label: str(attrs, "label")}
	if m.ID == "" || len(m.ID) > MaxLabel || len(w.found.Mentions) == MaxMentions {
		return
	}
	if m.Category != Document && m.Category != Set {
		return
	}
	if label := []rune(m.Label); len(label) > MaxLabel {
		m.Label = string(label[:MaxLabel])
	}
	same := func(o Mention) bool { return o.ID == m.ID && o.Category == m.Category }
	if !slices.ContainsFunc(w.found.Mentions, same) {
		w.found.Mentions = append(w.found.Mentions, m)
	}
}

func str(attrs map[string]any, key string) string {
	s, _ := attrs[key].(string)
	return strings.TrimSpace(s)
}
