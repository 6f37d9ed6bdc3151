package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/openapi"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/boards"
	"github.com/palaver-chat/palaver/boards/board"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
)

// boardJSON is a board in a list.
type boardJSON struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	Items     int       `json:"items"`
	Revision  int       `json:"revision"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

func showBoard(b db.Board) boardJSON {
	return boardJSON{b.ID, b.Title, b.Items, b.Revision, b.CreatedAt, b.UpdatedAt}
}

func (s *server) listBoards(c *gin.Context) error {
	page, err := readPage(c, 50, 100, s.Store.ListBoards)
	if err != nil {
		return err
	}
	return respond(c, http.StatusOK, listOf(page, showBoard))
}

// createBoard makes a board, empty or from a file.
func (s *server) createBoard(c *gin.Context) error {
	who := identity.Of(c)
	if err := s.limits.AdmitChange(c.Request.Context(), who, "boards"); err != nil {
		return err
	}
	b, err := readBoard(c)
	if err != nil {
		return err
	}
	if db.SpaceOf(c.Request.Context()) != "" {
		b.Sign(who.ID, board.Board{})
	}
	stored, err := boards.Stored(b)
	if err != nil {
		return describeBoard(err)
	}
	stored.ID, stored.Owner, stored.Revision = uuid.NewString(), libraryOf(c.Request.Context(), who.ID), 1
	if err := s.limits.Insert(who).CreateBoard(c.Request.Context(), stored); err != nil {
		return err
	}
	return s.answerBoard(c, http.StatusCreated, stored.ID, stored.Revision, b)
}

func (s *server) getBoard(c *gin.Context, id string) error {
	stored, b, err := boards.Load(c.Request.Context(), s.Store, identity.Of(c).ID, id)
	if err != nil {
		return err
	}
	return s.answerBoard(c, http.StatusOK, stored.ID, stored.Revision, b)
}

// putBoard replaces the content of a board with a file. It does not reuse item numbers
// that the board has used.
func (s *server) putBoard(c *gin.Context) error {
	next, err := readBoard(c)
	if err != nil {
		return err
	}
	id, revision, err := s.changeBoard(c, func(b *board.Board) (bool, error) {
		b.Replace(next)
		return true, nil
	})
	if err != nil {
		return err
	}
	return s.answerBoard(c, http.StatusOK, id, revision, next)
}

type renameBoardBody struct {
	Title *string `json:"title"`
	Goal  *string `json:"goal"`
}

func (s *server) patchBoard(c *gin.Context) error {
	var body renameBoardBody
	if err := request.Decode(c, &body); err != nil {
		return err
	}
	var after board.Board
	id, revision, err := s.changeBoard(c, func(b *board.Board) (bool, error) {
		title, goal := b.Title, b.Goal
		if body.Title != nil {
			title = *body.Title
		}
		if body.Goal != nil {
			goal = *body.Goal
		}
		err := b.Rename(title, goal)
		after = *b
		return true, err
	})
	if err != nil {
		return err
	}
	return s.answerBoard(c, http.StatusOK, id, revision, &after)
}

func (s *server) boardByID(c *gin.Context, id string, do func(ctx context.Context, owner, id string) error) error {
	who := identity.Of(c)
	if err := s.limits.AdmitChange(c.Request.Context(), who, "boards"); err != nil {
		return err
	}
	return do(c.Request.Context(), libraryOf(c.Request.Context(), who.ID), id)
}

// columnItemBody changes an item. A field that is left out keeps its value.
type columnItemBody struct {
	Title      *string   `json:"title"`
	Text       *string   `json:"text"`
	Type       *string   `json:"type"`
	Status     *string   `json:"status"`
	RelatedIDs *[]string `json:"related_ids"`
	Stale      *bool     `json:"stale"`
}

type newItemBody struct {
	EntityType   board.Kind `json:"entity_type"`
	Title        string     `json:"title"`
	Text         string     `json:"text"`
	Type         string     `json:"type"`
	Status       string     `json:"status"`
	RelatedIDs   []string   `json:"related_ids"`
	AllowSimilar bool       `json:"allow_similar"`
	// DocumentID is the library document that an input stands for.
	DocumentID string      `json:"document_id"`
	Citation   *sourceBody `json:"citation"`
}

// sourceBody is the passage of a document that an item is taken from.
type sourceBody struct {
	DocumentID string `json:"document_id"`
	Quote      string `json:"quote"`
}

func (s *server) addBoardItem(c *gin.Context) error {
	var body newItemBody
	if err := request.Decode(c, &body); err != nil {
		return err
	}
	from := board.Params{DocumentID: body.DocumentID, Title: body.Title, Text: body.Text}
	if body.Citation != nil {
		from.Citation = &board.Citation{DocumentID: body.Citation.DocumentID, Quote: body.Citation.Quote}
	}
	return s.answerChange(c, http.StatusCreated, func(b *board.Board) (board.Result, error) {
		if err := s.source(c, &from); err != nil {
			return board.Result{}, err
		}
		if similar := b.Similar(body.EntityType, body.Text); len(similar) > 0 && !body.AllowSimilar {
			return board.Result{}, &board.SimilarItems{IDs: similar}
		}
		return b.Add(board.AddedItem{Kind: body.EntityType, Title: from.Title, Text: body.Text, Type: body.Type,
			Related: body.RelatedIDs, Status: body.Status, DocumentID: from.DocumentID, Citation: from.Citation}, board.Person, time.Now().UTC())
	})
}

// source checks the document or citation of an item, and completes it (boards.Source).
func (s *server) source(c *gin.Context, p *board.Params) error {
	return boards.Source(c.Request.Context(), s.Store, identity.Of(c).ID, p)
}

func (s *server) patchBoardItem(c *gin.Context) error {
	var body columnItemBody
	if err := request.Decode(c, &body); err != nil {
		return err
	}
	if body.Stale != nil && *body.Stale {
		return problem.Invalid("stale", "must be false")
	}
	return s.answerChange(c, http.StatusOK, func(b *board.Board) (board.Result, error) {
		return b.Edit(c.Param("item_id"), board.Edit{Title: body.Title, Text: body.Text, Type: body.Type, Status: body.Status,
			Related: body.RelatedIDs, Fresh: body.Stale != nil}, board.Person, time.Now().UTC())
	})
}

func (s *server) deleteBoardItem(c *gin.Context) error {
	return s.answerChange(c, http.StatusOK, func(b *board.Board) (board.Result, error) {
		return b.Delete(c.Param("item_id"), board.Person, time.Now().UTC())
	})
}

func (s *server) undoBoardChange(c *gin.Context) error {
	n, err := strconv.Atoi(c.Param("change"))
	if err != nil {
		return problem.NotFound
	}
	return s.answerChange(c, http.StatusOK, func(b *board.Board) (board.Result, error) {
		return b.Undo(n, board.Person, time.Now().UTC())
	})
}

// boardChangeJSON describes a change of a board.
type boardChangeJSON struct {
	Change   int            `json:"change"`  // its number, to undo it
	Items    []board.Fields `json:"items"`   // as they are now
	Deleted  []string       `json:"deleted"` // ids of items that no longer exist
	Impact   int            `json:"impact"`  // how many items are downstream
	Revision int            `json:"revision"`
}

// answerChange makes a change and answers with what it has changed.
func (s *server) answerChange(c *gin.Context, status int, change func(*board.Board) (board.Result, error)) error {
	var answer boardChangeJSON
	_, revision, err := s.changeBoard(c, func(b *board.Board) (bool, error) {
		r, err := change(b)
		answer = showChange(b, r)
		return err == nil, err
	})
	if err != nil {
		return err
	}
	answer.Revision = revision
	c.Header("ETag", etag(revision))
	return respond(c, status, answer)
}

func showChange(b *board.Board, r board.Result) boardChangeJSON {
	out := boardChangeJSON{Change: r.Change, Items: []board.Fields{}, Deleted: []string{}, Impact: r.Impact}
	for _, id := range r.Items {
		if item := b.Find(id); item != nil {
			out.Items = append(out.Items, item.Fields())
		} else {
			out.Deleted = append(out.Deleted, id)
		}
	}
	return out
}

// changeBoard reads the board whose id is in the path, changes it and stores it
// (boards.Change).
func (s *server) changeBoard(c *gin.Context, change func(*board.Board) (store bool, err error)) (id string, revision int, err error) {
	if id, err = request.PathID(c, "id"); err != nil {
		return "", 0, err
	}
	match, err := ifMatch(c)
	if err != nil {
		return "", 0, err
	}
	ctx, who := c.Request.Context(), identity.Of(c)
	if err := s.limits.AdmitChange(ctx, who, "boards"); err != nil {
		return "", 0, err
	}
	revision, refused, err := boards.Change(db.InSpace(ctx, ""), s.Store, s.limits.Insert(who), libraryOf(ctx, who.ID), id, match, func(b *board.Board) (bool, error) {
		before := *b
		before.Items = slices.Clone(b.Items)
		store, refused := change(b)
		if db.SpaceOf(ctx) != "" {
			b.Sign(who.ID, before)
		}
		return store, refused
	})
	if err == nil {
		err = refused
	}
	return id, revision, describeBoard(err)
}

func readBoard(c *gin.Context) (*board.Board, error) {
	raw, err := request.Body(c, board.MaxBytes)
	if err != nil {
		return nil, err
	}
	if err := dialect.CheckSize(raw); err != nil {
		return nil, err
	}
	b, err := board.Read(raw, time.Now().UTC())
	return b, describeBoard(err)
}

// describeBoard converts an error about a board to an error of the API.
func describeBoard(err error) error {
	var (
		invalid *board.Invalid
		similar *board.SimilarItems
		changed *board.ItemChanged
		decided *board.AlreadyDecidedError
	)
	conflict := func(code string, message messages.Message, details ...dialect.Problem) error {
		return &problem.Problem{Status: http.StatusConflict, Code: code, Message: message, Details: details}
	}
	switch {
	case errors.As(err, &invalid):
		return problem.Invalid(invalid.Field, invalid.Problem)
	case errors.As(err, &similar):
		var ids dialect.Problems
		for _, id := range similar.IDs {
			ids.Say(id, messages.FieldSimilar)
		}
		return conflict(chat.CodeSimilarItems, messages.BoardSimilar, ids...)
	case errors.As(err, &changed):
		return conflict(chat.CodeItemChanged, messages.BoardChanged,
			dialect.Problem{Field: "seen", Problem: changed.Seen.Text}, dialect.Problem{Field: "now", Problem: changed.Now.Text})
	case errors.As(err, &decided):
		return conflict(chat.CodeDecided, messages.BoardDecided.With(messages.Params{"state": string(decided.State)}))
	case errors.Is(err, boards.ErrTooLarge):
		return problem.TooLarge(messages.BoardTooLarge.With(messages.Params{"limit": board.MaxBytes >> 20}))
	case errors.Is(err, boards.ErrBusy):
		return problem.Limited(messages.BoardBusy, time.Second)
	case errors.Is(err, board.ErrBuiltOn):
		return conflict(chat.CodeBuiltOn, messages.BoardBuiltOn)
	case errors.Is(err, board.ErrNoItem), errors.Is(err, board.ErrNoChange), errors.Is(err, board.ErrNoProposal):
		return problem.NotFound
	}
	return err
}

// boardFileBody describes a board's file to OpenAPI. The column determines how the fields
// for an item's id (fact_id) and relations (related_inputs) are named. Unknown fields are
// kept.
type boardFileBody struct {
	Title           string          `json:"title"`
	Goal            string          `json:"goal"`
	Inputs          []fileItemJSON  `json:"inputs"`
	Facts           []fileItemJSON  `json:"facts"`
	Insights        []fileItemJSON  `json:"insights"`
	Recommendations []fileItemJSON  `json:"recommendations"`
	Outputs         []fileItemJSON  `json:"outputs"`
	ChatHistory     []board.Message `json:"chat_history"`
}

// fileItemJSON are the fields that items of every column have.
type fileItemJSON struct {
	Text         string   `json:"text"`
	Status       string   `json:"status"`
	Version      int      `json:"version"`
	Stale        bool     `json:"stale"`
	StaleBecause []string `json:"stale_because,omitempty"`
}

var (
	// anyBoard is a board in a response: a boardFileBody, the unknown fields of its file, and its id, revision, changes and proposals.
	anyBoard    = map[string]any{}
	boardChange = openapi.Shape{Value: boardChangeJSON{}, Holds: map[string]any{"items": []any{map[string]any{}}}}
	boardMatch  = []openapi.Param{{Name: "If-Match", About: "The expected revision. If the board's revision differs, the response is 412."}}
	// changesBoard are the error statuses of routes that change a board.
	changesBoard = []int{http.StatusConflict, http.StatusPreconditionFailed, http.StatusTooManyRequests}
)
