// Package discovery is the discovery dialect, /chat/message (docs/contract.md): a
// message about a discovery board becomes a command, and turn events its named events.
package discovery

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/boards/board"
	"github.com/palaver-chat/palaver/chat"
)

type messageBody struct {
	Message         string           `json:"message"`
	DiscoveryID     *string          `json:"discovery_id"`
	Context         json.RawMessage  `json:"discovery_context"`
	History         json.RawMessage  `json:"chat_history"`
	ReferencedItems []referencedBody `json:"referenced_items"`
	ClientTurnID    *string          `json:"client_turn_id"`
	StreamRunID     *string          `json:"stream_run_id"`
	OnBusy          *string          `json:"on_busy"`
	OnDisconnect    *string          `json:"on_disconnect"`
}

type referencedBody struct {
	ID   string     `json:"id"`
	Type board.Kind `json:"type"`
	Text string     `json:"text"`
}

// ParseMessage reads the body of POST /chat/message. Without discovery_id, the request has
// the board and the chat so far. The error is dialect.Problems.
func ParseMessage(body []byte, agents chat.Agents) (dialect.Submit, error) {
	var b messageBody
	if err := dialect.Decode(body, &b); err != nil {
		return dialect.Submit{}, err
	}
	var p dialect.Problems
	fields := dialect.Fields{ClientTurnID: b.ClientTurnID, StreamRunID: b.StreamRunID, OnBusy: b.OnBusy, OnDisconnect: b.OnDisconnect}
	s := fields.Submit(&p, agents, chat.AgentDiscovery, true)
	s.AgentUnset = false
	s.Content.Message = strings.TrimSpace(b.Message)
	p.Text("message", s.Content.Message, 1, chat.MaxMessage)
	s.Content.References = readReferences(&p, b.ReferencedItems)
	if b.DiscoveryID != nil && *b.DiscoveryID != "" {
		s.ThreadID = p.UUID("discovery_id", *b.DiscoveryID)
	} else {
		s.Content.Board = readBoard(&p, b.Context, b.History, b.ReferencedItems)
	}
	return s, p.Err()
}

func readReferences(p *dialect.Problems, items []referencedBody) []string {
	var ids []string
	for i, item := range items[:min(len(items), dialect.MaxTags+1)] {
		if item.Type != "" && item.Type.Letter() == "" {
			p.Add("referenced_items["+strconv.Itoa(i)+"].type", "must be input, fact, insight, recommendation or output")
		}
		ids = append(ids, item.ID)
	}
	n := len(*p)
	ids = p.References("referenced_items", ids)
	for i := n; i < len(*p); i++ {
		if field := &(*p)[i].Field; *field != "referenced_items" {
			*field += ".id"
		}
	}
	return ids
}

// readBoard reads the board of a request, with the chat so far.
func readBoard(p *dialect.Problems, context, history json.RawMessage, referenced []referencedBody) json.RawMessage {
	if isNull(context) {
		p.Add("discovery_context", "or discovery_id is needed")
		return nil
	}
	b, err := board.ReadContext(context, history)
	var invalid *board.Invalid
	switch {
	case errors.As(err, &invalid):
		field := invalid.Field
		if !strings.HasPrefix(field, "chat_history") {
			field = strings.TrimSuffix("discovery_context."+field, ".body")
		}
		p.Add(field, invalid.Problem)
		return nil
	case err != nil:
		p.Add("discovery_context", "cannot be read")
		return nil
	}
	for _, r := range referenced[:min(len(referenced), dialect.MaxTags)] {
		b.Refer(r.ID, r.Type, r.Text)
	}
	raw, err := json.Marshal(b)
	if err != nil {
		p.Add("discovery_context", "cannot be read")
		return nil
	}
	return raw
}

func isNull(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || string(raw) == "null"
}
