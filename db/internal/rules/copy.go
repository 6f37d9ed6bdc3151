package rules

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
)

// maxCopied limits the turns of a copy.
const maxCopied = 200

func (w within) CopyBranch(ctx context.Context, threadID, head string, c chat.Conversation) (_ chat.Conversation, err error) {
	ctx, end := w.s.long(ctx, "copy a branch")
	defer end(&err)
	author, err := w.s.AuthorInSpace(ctx, c.Owner, threadID)
	if err != nil {
		return chat.Conversation{}, err
	}
	var made sqlcgen.ConversationRow
	err = w.s.db.Update(ctx, func(q Queries) error {
		from, err := q.Conversation(ctx, sqlcgen.ConversationParams{ID: threadID, Owner: author})
		if err != nil {
			return err
		}
		if from.SpaceID != c.Space || c.Space == "" || author != c.Owner && !from.Shared {
			return db.ErrNotFound
		}
		branch, err := settledBranch(ctx, q, author, threadID, head)
		if err != nil {
			return err
		}
		c.Title = from.Title
		if err := w.createListed(ctx, q, c, listed); err != nil {
			return err
		}
		if err := copyTurns(ctx, q, branch, c); err != nil {
			return err
		}
		made, err = q.Conversation(ctx, sqlcgen.ConversationParams{ID: c.ID, Owner: c.Owner})
		return err
	})
	return conversation(made), err
}

// settledBranch returns the newest settled turns of a branch, oldest first.
func settledBranch(ctx context.Context, q Queries, owner, threadID, head string) (turns []sqlcgen.Turn, err error) {
	b, err := findBranch(ctx, q, owner, threadID, head)
	if err != nil {
		return nil, err
	}
	for at := b.head; at != chat.RootCheckpoint && len(turns) < maxCopied; {
		t, err := q.Turn(ctx, sqlcgen.TurnParams{Owner: owner, ID: at})
		if err != nil {
			return nil, err
		}
		if at = t.Parent; t.SettledAt > 0 {
			turns = append(turns, t)
		}
	}
	slices.Reverse(turns)
	return turns, nil
}

func copyTurns(ctx context.Context, q Queries, turns []sqlcgen.Turn, to chat.Conversation) error {
	parent := chat.RootCheckpoint
	for _, t := range turns {
		place, err := q.NextPlace(ctx, sqlcgen.NextPlaceParams{Owner: to.Owner, ThreadID: to.ID})
		if err != nil {
			return err
		}
		id := uuid.Must(uuid.NewV7()).String()
		err = q.CopyTurn(ctx, sqlcgen.CopyTurnParams{ID: id, Owner: to.Owner, ThreadID: to.ID, Generation: 1, Parent: parent, Place: place, FromID: t.ID})
		if err == nil {
			err = q.CopyMessages(ctx, sqlcgen.CopyMessagesParams{ID: id, FromID: t.ID})
		}
		if err == nil {
			err = q.CopyEvents(ctx, sqlcgen.CopyEventsParams{ID: id, ThreadID: to.ID, FromID: t.ID})
		}
		if err != nil {
			return err
		}
		parent = id
	}
	return q.ShowConversation(ctx, sqlcgen.ShowConversationParams{ID: to.ID, Owner: to.Owner, At: record.Micros(record.OrNow(to.CreatedAt))})
}
