package native

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat"
)

type messageJSON struct {
	ID                 string         `json:"id"`
	Role               string         `json:"role"`
	Content            string         `json:"content"`
	CreatedAt          string         `json:"created_at"`
	TurnID             string         `json:"turn_id"`
	CheckpointID       string         `json:"checkpoint_id"`
	ParentCheckpointID string         `json:"parent_checkpoint_id"`
	Metadata           map[string]any `json:"metadata"`
}

func showMessage(m chat.Message) messageJSON {
	metadata := m.Metadata
	if metadata == nil {
		metadata = map[string]any{}
	}
	return messageJSON{ID: m.ID, Role: m.Role, Content: m.Content, CreatedAt: dialect.Stamp(m.CreatedAt), TurnID: m.TurnID,
		CheckpointID: m.TurnID, ParentCheckpointID: m.Parent, Metadata: metadata}
}

type activeTurnJSON struct {
	TurnID string          `json:"turn_id"`
	Status chat.TurnStatus `json:"status"`
}

type historyJSON struct {
	ThreadID         string              `json:"thread_id"`
	Messages         []messageJSON       `json:"messages"`
	PendingInterrupt json.RawMessage     `json:"pending_interrupt"`
	ActiveTurn       *activeTurnJSON     `json:"active_turn"`
	Branches         map[string][]string `json:"branches"`
	More             bool                `json:"more"` // earlier messages exist: request them with before=<id of the first message here>
}

// endOfTurn are the fields of an answer's metadata that say how its turn ended.
var endOfTurn = []string{"finished_reason", "interrupted", "interrupted_reason", "cancelled_by"}

// add adds a message. An answer that was stopped before its first word is none: the person's
// message says how its turn ended.
func (h *historyJSON) add(m chat.Message) {
	opens := slices.IndexFunc(h.Messages, func(before messageJSON) bool { return before.TurnID == m.TurnID && before.Role == "user" })
	stopped := m.Role == "assistant" && m.Content == "" && m.Metadata["finished_reason"] == "cancelled" && len(chat.ToolResults(m.Metadata)) == 0
	if !stopped || opens < 0 {
		h.Messages = append(h.Messages, showMessage(m))
		return
	}
	asked := &h.Messages[opens]
	asked.Metadata = maps.Clone(asked.Metadata)
	for _, key := range endOfTurn {
		if v, ok := m.Metadata[key]; ok {
			asked.Metadata[key] = v
		}
	}
}

// history returns one branch of a thread.
func (h handlers) history(c *gin.Context) error {
	thread, err := threadOf(c)
	if err != nil {
		return err
	}
	var p dialect.Problems
	n := request.Limit(c, &p, 100, 500)
	head, before := c.Query("head"), c.Query("before")
	p.ID("head", head)
	p.ID("before", before)
	if err := p.Err(); err != nil {
		return err
	}
	ctx, who := c.Request.Context(), identity.Of(c)
	if head != "" {
		head = chat.TurnOf(head)
	}
	// First, because turns that it settles show in the history.
	ctx, owner, err := h.Author(ctx, who.ID, thread)
	if err != nil {
		return err
	}
	open, err := h.OpenTurns(ctx, owner, thread)
	var messages []chat.Message
	var branches map[string][]string
	if err == nil {
		messages, branches, err = h.History(ctx, owner, thread, head, before, n+1)
	}
	if err != nil && !(head == "" && h.NeverUsed(ctx, owner, thread, err)) {
		return err
	}
	more := len(messages) > n
	if more {
		messages = messages[1:]
	}
	out := historyJSON{ThreadID: thread, Messages: make([]messageJSON, 0, len(messages)), Branches: branches, More: more}
	if out.Branches == nil {
		out.Branches = map[string][]string{}
	}
	for _, m := range messages {
		out.add(m)
	}
	if len(open) > 0 {
		out.ActiveTurn = &activeTurnJSON{TurnID: open[0].ID, Status: open[0].Status}
		out.PendingInterrupt = h.pending(ctx, owner, thread)
	}
	c.JSON(http.StatusOK, out)
	return nil
}

// pending returns the question that a thread waits on, in the form of a stream event;
// nil when there is none or no worker answers.
func (h handlers) pending(ctx context.Context, owner, thread string) json.RawMessage {
	asked, err := h.Question(ctx, owner, thread)
	if err != nil {
		h.Log().Warn("querying the pending question failed; history sent without it", "thread", thread, "error", err)
	}
	if asked == nil {
		return nil
	}
	return Interrupt(*asked, "")
}
