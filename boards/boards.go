// Package boards reads and changes stored discovery boards.
package boards

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/palaver-chat/palaver/boards/board"
	"github.com/palaver-chat/palaver/db"
)

// Reader and Writer are the parts of a store that boards need. A Writer may enforce bounds.
type (
	Reader interface {
		Board(ctx context.Context, owner, id string) (db.Board, error)
	}
	Writer interface {
		PutBoard(ctx context.Context, b db.Board) (revision int, err error)
	}
)

var (
	// ErrBusy means that others changed the board during each of maxTries tries.
	ErrBusy = errors.New("the board is being changed by many people at once")
	// ErrTooLarge means that the board would have more than board.MaxBytes.
	ErrTooLarge = errors.New("the board is too large")
)

// maxTries is how often a change is tried while others change the board at the same time. It
// is more than the calls of one model message, which run at once (llm.MaxCalls).
const maxTries = 40

// Load reads a board.
func Load(ctx context.Context, store Reader, owner, id string) (db.Board, *board.Board, error) {
	stored, err := store.Board(ctx, owner, id)
	if err != nil {
		return db.Board{}, nil, err
	}
	b := new(board.Board)
	return stored, b, json.Unmarshal(stored.Content, b)
}

// Stored converts a board to the form in which the store keeps it.
func Stored(b *board.Board) (db.Board, error) {
	raw, err := json.Marshal(b)
	if err != nil {
		return db.Board{}, err
	}
	if len(raw) > board.MaxBytes {
		return db.Board{}, ErrTooLarge
	}
	return db.Board{Title: b.Title, Items: len(b.Items), Content: raw}, nil
}

// Change reads a board, changes it and stores it. If somebody else stored the board in
// between, Change reads it and calls change again, so no change is lost. If match is set and
// the board has another revision, it returns db.ErrVersion. change says whether to store the
// board, and returns an error that Change returns as refused.
func Change(ctx context.Context, from Reader, to Writer, owner, id string, match *int, change func(*board.Board) (store bool, refused error)) (revision int, refused, err error) {
	for range maxTries {
		stored, b, err := Load(ctx, from, owner, id)
		if err != nil {
			return 0, nil, err
		}
		if !db.VersionFits(match, stored.Revision) {
			return 0, nil, db.ErrVersion
		}
		store, refused := change(b)
		if !store {
			return 0, refused, nil
		}
		next, err := Stored(b)
		if err != nil {
			return 0, nil, err
		}
		next.ID, next.Owner, next.Revision = id, owner, stored.Revision
		revision, err := to.PutBoard(ctx, next)
		if !errors.Is(err, db.ErrVersion) {
			return revision, refused, err
		}
	}
	return 0, nil, ErrBusy
}
