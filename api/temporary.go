package api

import (
	"context"
	"time"

	"github.com/palaver-chat/palaver/chat"
)

// deleteTemporaryTimeout limits the deletion of a temporary thread.
const deleteTemporaryTimeout = 30 * time.Second

// deleteTemporary deletes a temporary thread whose client has received its whole answer. If
// the client did not wait or the process ended, the thread is pruned later
// (app/admin).
func (s *server) deleteTemporary(t chat.Turn) {
	ctx, cancel := context.WithTimeout(context.Background(), deleteTemporaryTimeout)
	defer cancel()
	err := s.Threads.Delete(ctx, t.ThreadID)
	if err == nil {
		err = s.Threads.ForgetThread(ctx, t.ThreadID)
	}
	if err == nil {
		err = s.Store.DeleteConversation(ctx, t.Owner, t.ThreadID)
	}
	if err != nil && !notFound(err) {
		s.Log.Warn("deleting a temporary thread failed; it is pruned later", "thread", t.ThreadID, "turn", t.ID, "error", err)
	}
}
