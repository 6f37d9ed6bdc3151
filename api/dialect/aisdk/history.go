package aisdk

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat"
)

type threadJSON struct {
	ID       string    `json:"id"`
	Messages []Message `json:"messages"`
	More     bool      `json:"more"` // earlier messages exist: request them with before=<id of the first message here>
}

// thread returns one branch of a conversation as AI SDK messages.
func (h handlers) thread(c *gin.Context) error {
	thread, name, err := h.threadOf(c)
	if err != nil {
		return err
	}
	var p dialect.Problems
	n, head, before := request.Limit(c, &p, 200, 500), c.Query("head"), c.Query("before")
	p.ID("head", head)
	p.ID("before", before)
	if err := p.Err(); err != nil {
		return err
	}
	ctx, who := c.Request.Context(), identity.Of(c)
	page, _, err := h.History(ctx, who.ID, thread, chat.TurnOf(head), before, n+1)
	if err != nil {
		return err
	}
	logs, err := h.Logs(ctx, who.ID, turnsOf(page))
	if err != nil {
		return err
	}
	attached, err := h.attachedTo(ctx, who.ID, logs)
	if err != nil {
		return err
	}
	more := len(page) > n
	messages := []Message{}
	for _, m := range page {
		if m.Role != "user" || len(messages) > 0 && messages[len(messages)-1].Metadata["turn_id"] == m.TurnID {
			continue // answers and questions are part of the assistant message
		}
		log, known := logs[m.TurnID]
		turn := log.Turn
		if !known || m.Content != turn.Content.Message {
			continue // deleted meanwhile, or an answer whose message is on the previous page
		}
		messages = append(messages, UserMessage(m, attachmentsOf(turn, attached)))
		if len(log.Events) > 0 {
			to := dialect.Stream{Thread: name, Turn: turn, RunID: turn.StreamRunID}
			if end := &log.Events[len(log.Events)-1]; h.Operator(c) {
				*end = end.ForOperator()
			}
			messages = append(messages, AssistantMessage(to, log.Events))
		}
	}
	c.JSON(http.StatusOK, threadJSON{name, messages, more})
	return nil
}

// turnsOf returns the ids of the messages' turns.
func turnsOf(messages []chat.Message) (ids []string) {
	for _, m := range messages {
		if len(ids) == 0 || ids[len(ids)-1] != m.TurnID {
			ids = append(ids, m.TurnID)
		}
	}
	return ids
}

// attachedTo returns the pictures of all turns, by id.
func (h handlers) attachedTo(ctx context.Context, owner string, logs map[string]dialect.TurnLog) (map[string]chat.Attachment, error) {
	var ids []string
	for _, l := range logs {
		ids = append(ids, l.Turn.Content.Attachments...)
	}
	attached := make(map[string]chat.Attachment, len(ids))
	if len(ids) == 0 {
		return attached, nil
	}
	list, err := h.AttachmentsByID(ctx, owner, ids)
	for _, a := range list {
		attached[a.ID] = a
	}
	return attached, err
}

// attachmentsOf returns a turn's pictures in their order, without deleted ones.
func attachmentsOf(t chat.Turn, attached map[string]chat.Attachment) []chat.Attachment {
	var pictures []chat.Attachment
	for _, id := range t.Content.Attachments {
		if a, there := attached[id]; there {
			pictures = append(pictures, a)
		}
	}
	return pictures
}
