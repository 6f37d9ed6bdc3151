package board

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// ReadContext reads the board and the chat so far of a request: the client's own, which is
// only shown to a model. All that has the right shape is accepted as it is: any ids, texts,
// relations and types. An error is an *Invalid.
func ReadContext(raw, history []byte) (*Board, error) {
	var f Fields
	if err := json.Unmarshal(raw, &f); err != nil || f == nil {
		return nil, invalid("body", "must be a JSON object")
	}
	if bytes.Contains(raw, []byte(`\u0000`)) || bytes.Contains(history, []byte(`\u0000`)) {
		return nil, invalid("body", "must not contain the NUL character")
	}
	b := &Board{Given: map[Kind]int{}}
	for key, into := range map[string]any{"title": &b.Title, "goal": &b.Goal} {
		if err := f.take("", key, into); err != nil {
			return nil, err
		}
	}
	for _, k := range Kinds {
		if err := b.readColumn(k, f); err != nil {
			return nil, err
		}
	}
	return b, b.readChat(history)
}

func (b *Board) readColumn(k Kind, f Fields) error {
	names := keysOf[k]
	var list []Fields
	if err := f.take("", names.column, &list); err != nil {
		return err
	}
	if len(b.Items)+len(list) > MaxItems {
		return invalid(names.column, "has too many items: a board has at most %d", MaxItems)
	}
	first := len(b.Items)
	for i, fields := range list {
		item, field := Item{Kind: k, Version: Version{N: 1, By: Imported}}, fmt.Sprintf("%s[%d]", names.column, i)
		if fields == nil {
			return invalid(field, "must be an object")
		}
		var also []string
		known := map[string]any{names.id: &item.ID, "text": &item.Version.Text, "status": &item.Status, names.related: &item.Related, "related_ids": &also}
		if k == Input {
			known["title"] = &item.Title
		}
		if k == Input || k == Output {
			known["type"] = &item.Type
		}
		for key, into := range known {
			if err := fields.take(field, key, into); err != nil {
				return err
			}
		}
		item.Related = append(item.Related, also...)
		var stale bool
		if json.Unmarshal(fields["stale"], &stale) == nil && stale {
			item.Stale = []string{"import"}
		}
		fields.takeSources(&item)
		b.remember(k, item.ID)
		b.Items = append(b.Items, item)
	}
	for i := range b.Items[first:] {
		if item := &b.Items[first+i]; item.ID == "" {
			item.ID = b.nextID(k)
		}
	}
	return nil
}

// readChat reads the chat so far, of which the newest MaxMessages count.
func (b *Board) readChat(history []byte) error {
	f := Fields{}
	if len(history) > 0 {
		f["chat_history"] = history
	}
	if err := f.take("", "chat_history", &b.History); err != nil {
		return err
	}
	for i, m := range b.History {
		if m.Role != "user" && m.Role != "assistant" {
			return invalid(fmt.Sprintf("chat_history[%d].role", i), "must be user or assistant")
		}
	}
	b.History = b.History[max(0, len(b.History)-MaxMessages):]
	return nil
}

// Refer adds an item that a message refers to, unless it is on the board.
func (b *Board) Refer(id string, k Kind, text string) {
	if b.Find(id) == nil && strings.TrimSpace(text) != "" {
		b.Sent = append(b.Sent, Item{ID: id, Kind: k, Version: Version{N: 1, Text: text}})
	}
}
