package api

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/boards"
	"github.com/palaver-chat/palaver/boards/board"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// A board's chat is a thread whose id is the board's. It has no row until its first
// message, and is in no list of conversations.

// agentOnBoard returns the agent that answers on a thread: the boards' agent if the thread
// is the chat of a board. For the chat of a deleted board it returns a not-found error.
func (s *server) agentOnBoard(ctx context.Context, owner, thread string, agent chat.Agent) (chat.Agent, error) {
	err := s.Store.HasBoard(ctx, owner, thread)
	switch {
	case err == nil && db.SpaceOf(ctx) != "": // the board would keep what it quotes of the space
		return "", problem.Invalid("space_id", "is not used in the chat of a board")
	case err == nil:
		return chat.AgentDiscovery, nil
	case notFound(err) && agent != chat.AgentDiscovery:
		return agent, nil
	}
	return agent, err
}

// emptyBoardChat reports whether a thread that has no row is the chat of a board.
func (s *server) emptyBoardChat(ctx context.Context, owner, thread string, err error) bool {
	return notFound(err) && s.Store.HasBoard(ctx, owner, thread) == nil
}

// answerBoard answers with a whole board: the file that people export, with the board's
// ids and revision, what can be undone, and the proposals.
func (s *server) answerBoard(c *gin.Context, status int, id string, revision int, b *board.Board) error {
	if db.SpaceOf(c.Request.Context()) == "" { // a board of a space has no chat
		history, err := boards.Chat(c.Request.Context(), s.Store, identity.Of(c).ID, id, b)
		if err != nil {
			return err
		}
		b.History = history
	}
	f := b.File()
	f.Put("id", id)
	if db.SpaceOf(c.Request.Context()) == "" {
		f.Put("thread_id", id)
	}
	f.Put("revision", revision)
	f.Put("changes", b.Undoable())
	f.Put("proposals", append([]board.Proposal{}, b.Proposals...))
	c.Header("ETag", etag(revision))
	c.JSON(status, f)
	return nil
}

// deleteBoard hides a board and stops what runs in its chat. The chat is deleted with
// the board, once that cannot be restored any more (app/admin).
func (s *server) deleteBoard(c *gin.Context, id string) error {
	if err := s.boardByID(c, id, s.Store.DeleteBoard); err != nil {
		return err
	}
	if db.SpaceOf(c.Request.Context()) != "" {
		return respondEmpty(c, nil)
	}
	if _, err := s.Threads.Cancel(c.Request.Context(), id, chat.Cancel{Reason: chat.UserCancelled, Channel: identity.Of(c).Channel}); err != nil {
		s.Log.Warn("stopping the chat of a deleted board failed; its turn continues", "thread", id, "error", err)
	}
	return respondEmpty(c, nil)
}

func (s *server) restoreBoard(c *gin.Context, id string) error {
	return respondEmpty(c, s.boardByID(c, id, s.Store.RestoreBoard))
}

// boardThread returns an error if the id of a new conversation is the id of a board.
func (s *server) boardThread(ctx context.Context, owner, id string) error {
	err := s.Store.HasBoard(ctx, owner, id)
	if err == nil {
		return dialect.Problems{{Field: "id", Problem: "is that of a discovery board"}}
	}
	if notFound(err) {
		return nil
	}
	return err
}

var _ boards.Chats = db.Store(nil)
