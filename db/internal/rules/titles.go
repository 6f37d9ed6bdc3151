package rules

import (
	"context"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
	"github.com/palaver-chat/palaver/internal/tiptap"
)

// showWith lists a turn's conversation, with a title from its message unless it has one.
func showWith(row sqlcgen.Turn) (*sqlcgen.ShowConversationParams, error) {
	title, err := titleFrom(row)
	return &sqlcgen.ShowConversationParams{
		Owner: row.Owner, ID: row.ThreadID, At: row.CreatedAt, Title: title, TitleFolded: record.Fold(title)}, err
}

// titleFrom makes a title from a turn's message.
func titleFrom(row sqlcgen.Turn) (string, error) {
	t, err := turn(row)
	return chat.TitleFrom(tiptap.TitleWords(t.Content)), err
}

// titleWithAnswer replaces the title that was made from the message of a conversation's
// first turn by one that was made when the answer was there.
func titleWithAnswer(ctx context.Context, q Queries, row sqlcgen.Turn, title string) error {
	if row.Parent != chat.RootCheckpoint || title == "" {
		return nil
	}
	earlier, err := titleFrom(row)
	if err != nil || earlier == title {
		return err
	}
	return retitle(ctx, q, row.Owner, row.ThreadID, earlier, title)
}

// clearTitle removes a title that was made from a rolled back turn: a thread that
// shows no other turn has no title.
func clearTitle(ctx context.Context, q Queries, row sqlcgen.Turn) error {
	head, err := threadHead(ctx, q, row.Owner, row.ThreadID)
	if err != nil || head != chat.RootCheckpoint {
		return err
	}
	title, err := titleFrom(row)
	if err != nil {
		return err
	}
	return q.ClearTitle(ctx, sqlcgen.ClearTitleParams{Owner: row.Owner, ID: row.ThreadID, Title: title})
}
