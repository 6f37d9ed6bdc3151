package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/dialect/native"
	"github.com/palaver-chat/palaver/api/follow"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/transcript"
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
	return messageJSON{ID: m.ID, Role: m.Role, Content: m.Content, CreatedAt: stamp(m.CreatedAt), TurnID: m.TurnID,
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

// threadDeadline limits workflow queries for a page of a conversation: the messages
// come from the database, without a worker.
func threadDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	return request.FractionOfDeadline(ctx, 3)
}

func (s *server) history(c *gin.Context) error {
	thread, err := threadID(c)
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
	open, err := s.openTurns(ctx, who.ID, thread)
	if err != nil {
		return err
	}
	h, err := s.Store.History(ctx, who.ID, thread, head, before, n+1)
	if err != nil {
		return err
	}
	more := len(h.Messages) > n
	if more {
		h.Messages = h.Messages[1:]
	}
	out := historyJSON{ThreadID: thread, Messages: make([]messageJSON, 0, len(h.Messages)), Branches: h.Branches, More: more}
	if out.Branches == nil {
		out.Branches = map[string][]string{}
	}
	for _, m := range h.Messages {
		out.Messages = append(out.Messages, showMessage(m))
	}
	if len(open) > 0 {
		out.ActiveTurn = &activeTurnJSON{TurnID: open[0].ID, Status: open[0].Status}
		out.PendingInterrupt = s.pending(ctx, who.ID, thread)
	}
	c.JSON(http.StatusOK, out)
	return nil
}

// pending returns the question that a thread waits on, in the form of a stream event;
// nil when there is none or no worker answers.
func (s *server) pending(ctx context.Context, owner, thread string) json.RawMessage {
	asked, err := s.asked(ctx, owner, thread)
	if err != nil {
		s.Log.Warn("querying the pending question failed; history sent without it", "thread", thread, "error", err)
	}
	if asked == nil {
		return nil
	}
	return native.Interrupt(*asked, "")
}

// asked returns the interrupt that a thread of owner's waits on, nil when there is
// none.
func (s *server) asked(ctx context.Context, owner, thread string) (*chat.Event, error) {
	ctx, cancel := threadDeadline(ctx)
	defer cancel()
	state, err := s.Threads.State(ctx, thread)
	if err != nil || state.Pending == nil || state.Owner != owner {
		return nil, err
	}
	events, err := s.render(ctx, follow.Ref{Owner: owner, ThreadID: thread, TurnID: state.TurnID},
		[]chat.Entry{{Type: chat.EventInterrupt, Question: state.Pending, Ref: state.Pending.Ref}})
	if errors.Is(err, db.ErrSettled) { // its turn has ended meanwhile
		return nil, nil
	}
	if err != nil || len(events) == 0 || events[0].Interrupt == nil {
		return nil, err
	}
	return &events[0], nil
}

// render completes log entries with their texts.
func (s *server) render(ctx context.Context, ref follow.Ref, entries []chat.Entry) ([]chat.Event, error) {
	return transcript.Render(ctx, s.Store, transcript.Ref(ref), entries)
}
