package db

import (
	"context"
	"time"
)

// DeletedBoardsFor is how long a deleted board can be restored.
const DeletedBoardsFor = 24 * time.Hour

// OnceKept is how long a throw-away thread is kept if its client did not wait for its end.
const OnceKept = time.Hour

// Boards keeps discovery boards. Their content is opaque to the store; boards/board
// reads and writes it. To change a board, read it, change it, and write it with the
// revision that you read.
type Boards interface {
	Board(ctx context.Context, owner, id string) (Board, error)
	// HasBoard returns ErrNotFound when there is no such board.
	HasBoard(ctx context.Context, owner, id string) error
	// ListBoards lists boards without their content, the last changed first; limit 1 to 100.
	ListBoards(ctx context.Context, owner, cursor string, limit int) (Page[Board], error)
	// DeleteBoard hides a board; RestoreBoard can bring it back for DeletedBoardsFor.
	// Both return ErrNotFound when there is nothing to delete, or restore.
	DeleteBoard(ctx context.Context, owner, id string) error
	RestoreBoard(ctx context.Context, owner, id string) error
}

// Board is a stored discovery board.
type Board struct {
	ID, Owner, Title     string
	Items                int // the number of items on it
	Revision             int // from 1; grows by one with every write
	CreatedAt, UpdatedAt time.Time
	Content              []byte // JSON
}
