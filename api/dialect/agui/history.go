package agui

import (
	"context"
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/chat"
)

// maxHistory limits the messages of a snapshot. It has the newest turns that fit, and at
// least one.
const maxHistory = 500

// history returns the newest branch of a thread as messages. Those of a settled turn are the
// ones that a client has after the turn's runs, with the same ids and in the same order. Of a
// running turn it has only the person's message, and running is set. It is empty for a thread
// that does not exist.
func (h handlers) history(ctx context.Context, owner, thread string, in Run) (list []messageJSON, running bool, _ error) {
	rows, _, err := h.History(ctx, owner, thread, "", "", maxHistory+1)
	if h.NotFound(err) {
		return []messageJSON{}, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	turns := turnsOf(rows)
	ids := make([]string, len(turns))
	for i, t := range turns {
		ids[i] = t[0].TurnID
	}
	logs, err := h.Logs(ctx, owner, ids)
	if err != nil {
		return nil, false, err
	}
	pictures, err := dialect.PicturesOf(ctx, h, owner, logs)
	if err != nil {
		return nil, false, err
	}
	view := h.ViewOf(in.Submit.View)
	list = []messageJSON{}
	for _, stored := range slices.Backward(turns) {
		log, there := logs[stored[0].TurnID]
		if !there {
			continue // deleted meanwhile
		}
		running = running || !log.Turn.Status.Settled()
		turn := messagesOf(stored, log, pictures[log.Turn.ID], view, in.Known)
		if len(list) > 0 && len(list)+len(turn) > maxHistory {
			break
		}
		list = append(turn, list...)
	}
	return list, running, nil
}

// turnsOf groups stored messages by turn. It leaves out the first turn if its first message
// is not there, unless there is no other.
func turnsOf(rows []chat.Message) (turns [][]chat.Message) {
	for i, m := range rows {
		if i == 0 || rows[i-1].TurnID != m.TurnID {
			turns = append(turns, nil)
		}
		turns[len(turns)-1] = append(turns[len(turns)-1], m)
	}
	if len(turns) > 1 && len(rows) > maxHistory && !turns[0][0].OpensTurn() {
		turns = turns[1:]
	}
	return turns
}

// messagesOf returns a turn's messages: what a client assembles from the stream of its log.
// stored are the turn's messages in the store. Questions and their answers are no messages of
// the stream, so a client that has the turn gets only those that it has already: others would
// be appended to its conversation, because clients keep the places of their messages.
func messagesOf(stored []chat.Message, log dialect.TurnLog, pictures []chat.Attachment, view dialect.View, known map[string]bool) []messageJSON {
	var out []messageJSON
	var f messageAssembler
	asked, answered := map[string]chat.Message{}, map[string]chat.Message{} // by interrupt
	for _, m := range stored {
		id, _ := m.Metadata["interrupt_id"].(string)
		switch {
		case m.OpensTurn():
			out = append(out, personsMessage(m, pictures))
		case m.Metadata["kind"] == "question":
			asked[id] = m
		case m.Metadata["kind"] == "answer":
			answered[id] = m
		}
	}
	w := NewWire(dialect.Stream{Turn: log.Turn}, Run{}, nil)
	shown := dialect.EventFilter{View: view}
	for _, e := range log.Events {
		shown.Note(e)
		if shown.Shows(e) {
			w.event(e)
			f.fold(w.take())
		}
		if e.Interrupt == nil {
			continue
		}
		switch e.Type {
		case chat.EventInterrupt:
			f.aside(asked[e.Interrupt.ID], "assistant")
		case chat.EventResumed:
			f.aside(answered[e.Interrupt.ID], "user")
		}
	}
	f.cite(w.state.Citations)
	has := func(m messageJSON) bool { return known[m.ID] }
	clientHasTurn := slices.ContainsFunc(out, has) || slices.ContainsFunc(f.messages, func(m assembledMessage) bool { return !m.aside && has(m.messageJSON) })
	for _, m := range f.messages {
		if !m.aside || !clientHasTurn || has(m.messageJSON) {
			out = append(out, m.messageJSON)
		}
	}
	for i := range out {
		if out[i].Metadata == nil {
			out[i].Metadata = map[string]any{}
		}
		out[i].Metadata["turn_id"] = log.Turn.ID
	}
	return out
}

// personsMessage returns the message that opened a turn, under the id that its client gave it.
func personsMessage(m chat.Message, pictures []chat.Attachment) messageJSON {
	one := messageJSON{ID: m.ID, Role: "user", Content: m.Content}
	if id, ok := m.Metadata["client_turn_id"].(string); ok && id != "" {
		one.ID, _, _ = strings.Cut(id, "#")
	}
	if len(pictures) == 0 {
		return one
	}
	var parts []partJSON
	if m.Content != "" {
		parts = append(parts, partJSON{Type: "text", Text: m.Content})
	}
	for _, a := range pictures {
		parts = append(parts, partJSON{Type: "image", Source: &sourceJSON{"url", chat.AttachmentURL(a.ID)}})
	}
	one.Content = parts
	return one
}

// messageAssembler assembles messages from chunks, as clients do.
type messageAssembler struct{ messages []assembledMessage }

type assembledMessage struct {
	messageJSON
	aside bool // a question or an answer, which is in no stream
}

// aside adds a question or an answer, if it is stored.
func (f *messageAssembler) aside(m chat.Message, role string) {
	if m.ID != "" {
		f.messages = append(f.messages, assembledMessage{messageJSON{ID: m.ID, Role: role, Content: m.Content}, true})
	}
}

func (f *messageAssembler) fold(chunks []chunk) {
	for _, c := range chunks {
		switch c.Type {
		case textStart:
			if f.text(c.MessageID) < 0 {
				f.messages = append(f.messages, assembledMessage{messageJSON: messageJSON{ID: c.MessageID, Role: c.Role, Content: ""}})
			}
		case textContent:
			m := &f.messages[f.text(c.MessageID)]
			m.Content = m.Content.(string) + c.Delta
		case toolStart:
			if f.call(c.ToolCallID) < 0 {
				f.messages = append(f.messages, assembledMessage{messageJSON: messageJSON{ID: c.ToolCallID, Role: "assistant",
					ToolCalls: []callJSON{{c.ToolCallID, "function", functionJSON{Name: c.ToolCallName}}}}})
			}
		case toolArgs:
			f.messages[f.call(c.ToolCallID)].ToolCalls[0].Function.Arguments += c.Delta
		case toolResult: // it stands behind its call, and behind results that stand there already
			at := f.call(c.ToolCallID) + 1
			for at < len(f.messages) && f.messages[at].Role == "tool" {
				at++
			}
			f.messages = slices.Insert(f.messages, at, assembledMessage{messageJSON: messageJSON{
				ID: c.MessageID, Role: c.Role, ToolCallID: c.ToolCallID, Content: *c.Content, Metadata: c.Metadata}})
		}
	}
}

// text returns the index of a text of the answer, -1 if there is none.
func (f *messageAssembler) text(id string) int {
	return slices.IndexFunc(f.messages, func(m assembledMessage) bool {
		return m.ID == id && m.Role == "assistant" && m.ToolCalls == nil && !m.aside
	})
}

// call returns the index of a tool call, -1 if there is none.
func (f *messageAssembler) call(id string) int {
	return slices.IndexFunc(f.messages, func(m assembledMessage) bool { return m.ID == id && m.ToolCalls != nil })
}

// cite adds the answer's citations to its last text.
func (f *messageAssembler) cite(citations []chat.Citation) {
	for i, m := range slices.Backward(f.messages) {
		if len(citations) > 0 && m.Role == "assistant" && m.ToolCalls == nil && !m.aside {
			f.messages[i].Metadata = map[string]any{"citations": citations}
			return
		}
	}
}
