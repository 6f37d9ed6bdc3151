package rules

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
)

func (w within) CreateBoard(ctx context.Context, b db.Board) (err error) {
	ctx, end := w.s.long(ctx, "create board")
	defer end(&err)
	now := time.Now()
	return w.s.db.Update(ctx, func(q Queries) error {
		if err := q.PruneBoards(ctx, record.Micros(now.Add(-db.DeletedBoardsFor))); err != nil {
			return err
		}
		rows, err := q.InsertBoard(ctx, sqlcgen.InsertBoardParams{
			ID: b.ID, Owner: b.Owner, Title: b.Title, Items: int64(b.Items), Bytes: int64(len(b.Content)),
			At: record.Micros(now), Address: w.address(), Content: record.Bytes(b.Content)})
		if err != nil {
			return err
		}
		if rows > 0 {
			return w.checkBounds(ctx, q, b.Owner, aBoard)
		}
		_, err = q.BoardSize(ctx, sqlcgen.BoardSizeParams{Owner: b.Owner, ID: b.ID})
		return err
	})
}

func (w within) PutBoard(ctx context.Context, b db.Board) (revision int, err error) {
	ctx, end := w.s.long(ctx, "store board")
	defer end(&err)
	err = w.s.db.Update(ctx, func(q Queries) error {
		before, err := q.BoardSize(ctx, sqlcgen.BoardSizeParams{Owner: b.Owner, ID: b.ID})
		if err != nil {
			return err
		}
		rows, err := q.PutBoard(ctx, sqlcgen.PutBoardParams{
			ID: b.ID, Owner: b.Owner, Title: b.Title, Items: int64(b.Items), Bytes: int64(len(b.Content)),
			At: record.Micros(time.Now()), Match: int64(b.Revision), Content: record.Bytes(b.Content)})
		if err != nil {
			return err
		}
		if rows == 0 {
			return db.ErrVersion
		}
		if int64(len(b.Content)) <= before {
			return nil // an owner who has reached a bound can still delete items
		}
		return w.checkBounds(ctx, q, b.Owner, aBoard)
	})
	if err != nil {
		return 0, err
	}
	return b.Revision + 1, nil
}

func (s *Store) Board(ctx context.Context, owner, id string) (_ db.Board, err error) {
	ctx, end := s.long(ctx, "read board")
	defer end(&err)
	if owner, err = s.Library(ctx, owner); err != nil {
		return db.Board{}, err
	}
	row, err := s.db.Read.Board(ctx, sqlcgen.BoardParams{Owner: owner, ID: id})
	if err != nil {
		return db.Board{}, err
	}
	b := board(sqlcgen.ListBoardsRow{ID: row.ID, Owner: row.Owner, Title: row.Title, Items: row.Items,
		Revision: row.Revision, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt})
	b.Content = row.Content
	return b, nil
}

func (s *Store) HasBoard(ctx context.Context, owner, id string) (err error) {
	ctx, end := s.short(ctx, "look for board")
	defer end(&err)
	_, err = s.db.Read.BoardSize(ctx, sqlcgen.BoardSizeParams{Owner: owner, ID: id})
	return err
}

// kindOf is the kind of a thread that may be the chat of a board.
func kindOf(ctx context.Context, q Queries, owner, threadID string) (chat.ThreadKind, error) {
	_, err := q.BoardSize(ctx, sqlcgen.BoardSizeParams{Owner: owner, ID: threadID})
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return chat.ThreadConversation, nil
	case err != nil:
		return "", err
	}
	return chat.ThreadBoard, nil
}

func (s *Store) LeftThreads(ctx context.Context, now time.Time, after string, limit int) (left []chat.ThreadRef, err error) {
	ctx, end := s.short(ctx, "list left threads")
	defer end(&err)
	rows, err := s.db.Read.LeftThreads(ctx, sqlcgen.LeftThreadsParams{AfterID: after, BeforeAt: record.Micros(now.Add(-db.OnceKept)),
		DeletedAfter: record.Micros(now.Add(-db.DeletedBoardsFor)), MaxRows: int64(limit)})
	for _, row := range rows {
		left = append(left, chat.ThreadRef{Owner: row.Owner, ThreadID: row.ID})
	}
	return left, err
}

func (s *Store) ListBoards(ctx context.Context, owner, cur string, limit int) (p db.Page[db.Board], err error) {
	ctx, end := s.short(ctx, "list boards")
	defer end(&err)
	if owner, err = s.Library(ctx, owner); err != nil {
		return p, err
	}
	from, err := record.ParseCursor(cur)
	if err != nil {
		return p, err
	}
	limit = record.Clamp(limit, 100)
	rows, err := s.db.Read.ListBoards(ctx, sqlcgen.ListBoardsParams{Owner: owner, BeforeAt: from.At, BeforeID: from.ID, MaxRows: int64(limit) + 1})
	if err != nil {
		return p, err
	}
	return record.Page(rows, limit, board, func(r sqlcgen.ListBoardsRow) record.Cursor {
		return record.Cursor{At: r.UpdatedAt, ID: r.ID}
	}), nil
}

func (s *Store) DeleteBoard(ctx context.Context, owner, id string) (err error) {
	ctx, end := s.short(ctx, "delete board")
	defer end(&err)
	now := time.Now()
	return s.db.Update(ctx, func(q Queries) error {
		if err := q.PruneBoards(ctx, record.Micros(now.Add(-db.DeletedBoardsFor))); err != nil {
			return err
		}
		return record.Found(q.DeleteBoard(ctx, sqlcgen.DeleteBoardParams{Owner: owner, ID: id, At: record.Micros(now)}))
	})
}

func (s *Store) RestoreBoard(ctx context.Context, owner, id string) (err error) {
	ctx, end := s.short(ctx, "restore board")
	defer end(&err)
	after := record.Micros(time.Now().Add(-db.DeletedBoardsFor))
	return record.Found(s.db.Write.RestoreBoard(ctx, sqlcgen.RestoreBoardParams{Owner: owner, ID: id, After: after}))
}

func board(r sqlcgen.ListBoardsRow) db.Board {
	return db.Board{ID: r.ID, Owner: r.Owner, Title: r.Title, Items: int(r.Items), Revision: int(r.Revision),
		CreatedAt: record.Time(r.CreatedAt), UpdatedAt: record.Time(r.UpdatedAt)}
}
