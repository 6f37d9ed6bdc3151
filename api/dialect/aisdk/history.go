package aisdk

import (
	"context"
	"net/http"
	"slices"

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

// thread returns one branch of a conversation as AI SDK messages, in whole turns: at most
// limit messages, but at least one turn.
func (h handlers) thread(c *gin.Context) error {
	thread, name, err := h.threadOf(c)
	if err != nil {
		return err
	}
	c.Header("X-Thread-Id", thread)
	var p dialect.Problems
	n, head, before := request.Limit(c, &p, 200, 500), c.Query("head"), c.Query("before")
	p.ID("head", head)
	p.ID("before", before)
	if err := p.Err(); err != nil {
		return err
	}
	ctx, who := c.Request.Context(), identity.Of(c)
	ctx, owner, err := h.Author(ctx, who.ID, thread)
	if err != nil {
		return err
	}
	asked, more, err := h.openings(ctx, owner, thread, chat.TurnOf(head), before, n)
	if err != nil {
		return err
	}
	logs, err := h.Logs(ctx, owner, turnsOf(asked))
	if err != nil {
		return err
	}
	pictures, err := dialect.PicturesOf(ctx, h, owner, logs)
	if err != nil {
		return err
	}
	messages := []Message{}
	for _, m := range slices.Backward(asked) {
		log, known := logs[m.TurnID]
		if !known {
			continue // deleted meanwhile
		}
		turn := []Message{UserMessage(m, pictures[m.TurnID])}
		if len(log.Events) > 0 {
			to := dialect.Stream{Thread: name, Turn: log.Turn, RunID: log.Turn.StreamRunID}
			turn = append(turn, AssistantMessage(to, log.Events))
		}
		if len(messages) > 0 && len(messages)+len(turn) > n {
			more = true
			break
		}
		messages = append(turn, messages...)
	}
	c.JSON(http.StatusOK, threadJSON{name, messages, more})
	return nil
}

// openings returns the first messages of the turns whose stored messages are among the
// newest n before a message, oldest first. A turn with more than n stored messages, which
// asked many questions, is found too. more says whether there is an earlier turn.
func (h handlers) openings(ctx context.Context, owner, thread, head, before string, n int) (found []chat.Message, more bool, _ error) {
	for {
		page, _, err := h.History(ctx, owner, thread, head, before, n+1)
		if err != nil {
			return nil, false, err
		}
		if more = len(page) > n; more {
			page = page[1:]
		}
		for _, m := range page {
			if m.OpensTurn() {
				found = append(found, m)
			}
		}
		if len(found) > 0 || !more {
			return found, more, nil
		}
		before = page[0].ID
	}
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
