package rules

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
)

func (s *Store) InsertTurn(ctx context.Context, t chat.Turn) (_ chat.Turn, created, cancelled bool, err error) {
	return s.insertTurn(ctx, t, false)
}

func (s *Store) SaveTurn(ctx context.Context, t chat.Turn) (chat.Turn, error) {
	row, _, _, err := s.insertTurn(ctx, t, true)
	return row, err
}

// insertTurn inserts a turn. If accepted, its thread accepted it before the row could
// be written; it then replaces a row of the same message that no thread accepted.
func (s *Store) insertTurn(ctx context.Context, t chat.Turn, accepted bool) (_ chat.Turn, created, cancelled bool, err error) {
	ctx, end := s.short(ctx, "insert turn")
	defer end(&err)
	t.CreatedAt = record.OrNow(t.CreatedAt)
	t.ClientTurnID = cmp.Or(t.ClientTurnID, t.ID)
	if t.ContentHash == "" {
		t.ContentHash = t.Content.Hash()
	}
	var row sqlcgen.Turn
	err = s.db.Update(ctx, func(q Queries) (err error) {
		if err := q.LockInsert(ctx, t.Owner, t.ThreadID); err != nil {
			return err
		}
		now, err := q.Admission(ctx, sqlcgen.AdmissionParams(cancelsOf(t)))
		if err != nil {
			return err
		}
		if t.Generation, err = admitTurn(ctx, q, t, now, accepted); err != nil {
			return err
		}
		if accepted {
			err := q.DropUnacceptedTurn(ctx, sqlcgen.DropUnacceptedTurnParams{
				Owner: t.Owner, ThreadID: t.ThreadID, ClientTurnID: t.ClientTurnID, ID: t.ID})
			if err != nil {
				return err
			}
		}
		cancelled = now.Cancelled
		if row, created, err = writeTurn(ctx, q, t); err != nil || created {
			return err
		}
		cancelled, err = sendAgain(ctx, q, t, row)
		return err
	})
	if err != nil {
		return chat.Turn{}, false, false, err
	}
	stored, err := turn(row)
	return stored, created, cancelled, err
}

// cancelsOf names the cancels that match a turn.
func cancelsOf(t chat.Turn) sqlcgen.TurnCancelledParams {
	return sqlcgen.TurnCancelledParams{
		Owner: t.Owner, TurnID: t.ID, ClientTurnID: t.ClientTurnID, ThreadID: t.ThreadID, RunID: t.StreamRunID,
		Since: record.Micros(t.CreatedAt.Add(-record.RunCancelReach)), Until: record.Micros(t.CreatedAt.Add(record.RunCancelReach))}
}

// admitTurn creates the turn's conversation if needed and returns its generation.
// ErrNotFound for a turn, or a retried message, of a conversation that was deleted:
// neither may show up in a new conversation with the same id.
func admitTurn(ctx context.Context, q Queries, t chat.Turn, now sqlcgen.AdmissionRow, accepted bool) (int, error) {
	how := reused
	if accepted { // its conversation must exist already
		how = 0
	}
	generation, err := ensureConversation(ctx, q, chat.Conversation{ID: t.ThreadID, Owner: t.Owner, CreatedAt: t.CreatedAt},
		sqlcgen.ConversationStateRow{Owner: now.Owner, Generation: now.Generation,
			DeletedOwner: now.DeletedOwner, DeletedGeneration: now.DeletedGeneration, DeletedPlaces: now.DeletedPlaces}, how)
	if err != nil || generation == 1 {
		return int(generation), err
	}
	if accepted {
		return int(generation), found(int64(t.Generation) == generation)
	}
	deleted, err := q.TurnDeleted(ctx, sqlcgen.TurnDeletedParams{
		Digest: record.MessageDigest(t.ThreadID, t.ClientTurnID, t.ContentHash),
		Since:  record.Micros(time.Now().Add(-record.RetriesEnd))})
	if err == nil {
		err = found(!deleted)
	}
	return int(generation), err
}

// writeTurn writes the turn with its user message, which is shown once the turn is
// accepted, and its stream run id. It assigns the message's pictures to the
// conversation. If the message has a turn already, it returns that one.
func writeTurn(ctx context.Context, q Queries, t chat.Turn) (row sqlcgen.Turn, created bool, err error) {
	content, err := record.JSON(t.Content)
	if err != nil {
		return row, false, fmt.Errorf("content: %w", err)
	}
	message, err := storedMessage(t.ID, 0, record.FirstMessage(t))
	if err != nil {
		return row, false, err
	}
	row, err = q.InsertTurn(ctx, sqlcgen.Turn{
		ID: t.ID, Owner: t.Owner, ThreadID: t.ThreadID, Parent: t.Parent, CreatedAt: record.Micros(t.CreatedAt),
		ClientTurnID: t.ClientTurnID, StreamRunID: t.StreamRunID, ContentHash: t.ContentHash, Content: content,
		Generation: int64(t.Generation)}, message)
	switch {
	case errors.Is(err, sql.ErrNoRows): // one of its ids is in use
		row, err = existingTurn(ctx, q, t)
		return row, false, err
	case err != nil:
		return row, false, err
	}
	return row, true, useAttachments(ctx, q, t.Owner, t.ThreadID, t.Content.Attachments)
}

// sendAgain records that the message of a stored turn was sent again, as t.
func sendAgain(ctx context.Context, q Queries, t chat.Turn, row sqlcgen.Turn) (cancelled bool, err error) {
	if row.Status == string(chat.TurnNew) {
		if err := q.SendTurn(ctx, sqlcgen.SendTurnParams{Owner: t.Owner, ID: row.ID, SentAt: record.Micros(t.CreatedAt)}); err != nil {
			return false, err
		}
	}
	t.ID = row.ID
	cancelled, err = q.TurnCancelled(ctx, cancelsOf(t))
	if err != nil || t.StreamRunID == "" {
		return cancelled, err
	}
	return cancelled, q.AddStreamRun(ctx, sqlcgen.AddStreamRunParams{Owner: t.Owner, RunID: t.StreamRunID, TurnID: row.ID})
}

// existingTurn is the turn that the same message made before. ErrTurnConflict when
// one of t's ids belongs to another turn or other content.
func existingTurn(ctx context.Context, q Queries, t chat.Turn) (sqlcgen.Turn, error) {
	row, err := q.TurnByClientID(ctx, sqlcgen.TurnByClientIDParams{Owner: t.Owner, ThreadID: t.ThreadID, ClientTurnID: t.ClientTurnID})
	if errors.Is(err, sql.ErrNoRows) {
		if _, err := q.Turn(ctx, sqlcgen.TurnParams{Owner: t.Owner, ID: t.ID}); err != nil {
			return row, err
		}
		return row, db.ErrTurnConflict
	}
	if err == nil && row.ContentHash != t.ContentHash {
		err = db.ErrTurnConflict
	}
	return row, err
}

func (s *Store) AbandonTurn(ctx context.Context, owner, id string) (err error) {
	ctx, end := s.short(ctx, "abandon turn")
	defer end(&err)
	return s.db.Write.SendTurn(ctx, sqlcgen.SendTurnParams{Owner: owner, ID: id})
}

func (s *Store) DropTurn(ctx context.Context, owner, id string, before time.Time) (err error) {
	ctx, end := s.short(ctx, "drop turn")
	defer end(&err)
	return s.db.Update(ctx, func(q Queries) error {
		if err := q.LockThreadOfTurn(ctx, owner, id); err != nil {
			return err
		}
		t, err := q.Turn(ctx, sqlcgen.TurnParams{Owner: owner, ID: id})
		if err != nil {
			return err
		}
		dropped, err := q.DropTurn(ctx, sqlcgen.DropTurnParams{Owner: owner, ID: id, BeforeAt: record.Micros(before)})
		if err != nil || dropped == 0 {
			return err
		}
		return q.DropEmptyConversation(ctx, sqlcgen.DropEmptyConversationParams{Owner: owner, ID: t.ThreadID})
	})
}

func (s *Store) Turn(ctx context.Context, owner, id string) (_ chat.Turn, err error) {
	ctx, end := s.short(ctx, "read turn")
	defer end(&err)
	row, err := s.db.Read.Turn(ctx, sqlcgen.TurnParams{Owner: owner, ID: id})
	if err != nil {
		return chat.Turn{}, err
	}
	return turn(row)
}

func (s *Store) HeadContent(ctx context.Context, owner, threadID string) (content chat.Content, ok bool, err error) {
	ctx, end := s.short(ctx, "read the newest message")
	defer end(&err)
	row, err := s.db.Read.HeadTurn(ctx, sqlcgen.HeadTurnParams{Owner: owner, ThreadID: threadID})
	if err != nil || row.ID == "" {
		return content, false, err
	}
	t, err := turn(sqlcgen.Turn{ID: row.ID, Content: row.Content})
	return t.Content, err == nil, err
}

func (s *Store) FindTurn(ctx context.Context, owner string, ref db.CancelRef) (_ chat.Turn, err error) {
	ctx, end := s.short(ctx, "find turn")
	defer end(&err)
	kind, id, err := record.CancelKind(ref)
	if err != nil {
		return chat.Turn{}, err
	}
	var row sqlcgen.Turn
	switch {
	case kind == "turn":
		row, err = s.db.Read.Turn(ctx, sqlcgen.TurnParams{Owner: owner, ID: id})
	case kind == "run":
		row, err = s.db.Read.TurnByRunID(ctx, sqlcgen.TurnByRunIDParams{Owner: owner, RunID: id})
	case ref.ThreadID == "":
		row, err = s.db.Read.NewestTurnByClientID(ctx, sqlcgen.NewestTurnByClientIDParams{Owner: owner, ClientTurnID: id})
	default:
		row, err = s.db.Read.TurnByClientID(ctx, sqlcgen.TurnByClientIDParams{Owner: owner, ThreadID: ref.ThreadID, ClientTurnID: id})
	}
	if err != nil {
		return chat.Turn{}, err
	}
	return turn(row)
}

func (s *Store) Cancel(ctx context.Context, owner string, ref db.CancelRef, reason chat.CancelReason) (err error) {
	ctx, end := s.short(ctx, "cancel")
	defer end(&err)
	kind, id, err := record.CancelKind(ref)
	if err != nil {
		return err
	}
	put := sqlcgen.PutCancelParams{Owner: owner, Kind: kind, Ref: id, Reason: string(reason), At: record.Micros(time.Now())}
	if kind == "client" {
		put.ThreadID = ref.ThreadID
	}
	return s.db.Update(ctx, func(q Queries) error {
		if err := q.LockCancels(ctx, owner); err != nil {
			return err
		}
		if err := q.PruneCancels(ctx, record.Micros(time.Now().Add(-24*time.Hour))); err != nil {
			return err
		}
		return q.PutCancel(ctx, put)
	})
}

func (s *Store) Cancelled(ctx context.Context, owner, turnID string) (cancelled bool, err error) {
	ctx, end := s.short(ctx, "look for a cancel")
	defer end(&err)
	t, err := s.Turn(ctx, owner, turnID)
	if err != nil {
		return false, err
	}
	return s.db.Read.TurnCancelled(ctx, cancelsOf(t))
}

func (s *Store) TurnContext(ctx context.Context, owner, turnID string) (c db.TurnContext, err error) {
	ctx, end := s.short(ctx, "read turn context")
	defer end(&err)
	rows, err := s.db.Read.TurnContext(ctx, sqlcgen.TurnContextParams{Owner: owner, ID: turnID, Reach: record.RunCancelReach.Microseconds()})
	if err != nil {
		return db.TurnContext{}, err
	}
	found, head := false, sqlcgen.Turn{ID: chat.RootCheckpoint, Approvals: "[]", SettledAt: 1}
	for _, row := range rows {
		t, err := turn(row.Turn)
		if err != nil {
			return db.TurnContext{}, err
		}
		if t.ID == turnID {
			found, c.Turn, c.Cancelled = true, t, row.Cancelled
		}
		if row.Turn.SettledAt == 0 && t.Status != chat.TurnNew {
			c.Open = append(c.Open, t)
		}
		if row.OfTree && row.Turn.Place > head.Place {
			head = row.Turn
		}
	}
	if !found {
		return db.TurnContext{}, db.ErrNotFound
	}
	c.Head = head.ID
	if head.SettledAt == 0 {
		c.Approvals, err = s.Approvals(ctx, owner, head.ThreadID, head.ID)
		return c, err
	}
	c.Approvals, err = approvals(head.ID, head.Approvals)
	return c, err
}

func (s *Store) MarkTurn(ctx context.Context, owner, id string, status chat.TurnStatus, parent string) (err error) {
	ctx, end := s.short(ctx, "mark turn")
	defer end(&err)
	switch status {
	case chat.TurnAccepted, chat.TurnRunning, chat.TurnInterrupted:
	default:
		return fmt.Errorf("a turn cannot be marked %q", status)
	}
	if status == chat.TurnAccepted && parent == "" { // usually it has begun by now, and there is nothing to write
		row, err := s.db.Read.Turn(ctx, sqlcgen.TurnParams{Owner: owner, ID: id})
		if err != nil || row.Status != string(chat.TurnNew) && row.Place > 0 {
			return err
		}
	}
	return s.db.Update(ctx, func(q Queries) error {
		if err := q.LockThreadOfTurn(ctx, owner, id); err != nil {
			return err
		}
		known, err := knownTurns(ctx, q, owner, id, parent)
		if err != nil {
			return err
		}
		row, ok := known[id]
		if !ok || row.SettledAt != 0 {
			return found(ok)
		}
		return markTurn(ctx, q, known, row, status, parent)
	})
}

func markTurn(ctx context.Context, q Queries, known turnsByID, row sqlcgen.Turn, status chat.TurnStatus, parent string) (err error) {
	var show *sqlcgen.ShowConversationParams
	if row.Status == string(chat.TurnNew) {
		if show, err = showWith(row); err != nil {
			return err
		}
	}
	// The status accepted may be written after the turn has begun.
	if status != chat.TurnAccepted || row.Status == string(chat.TurnNew) {
		row.Status = string(status)
	}
	if parent == "" && row.Place == 0 {
		parent = row.Parent
	}
	if parent != "" {
		if row.Parent, err = placedUnder(ctx, q, known, row, parent); err != nil {
			return err
		}
		if row.Place == 0 {
			return q.PlaceTurn(ctx, row, show)
		}
	}
	if show != nil {
		if err := q.ShowConversation(ctx, *show); err != nil {
			return err
		}
	}
	return q.MarkTurn(ctx, sqlcgen.MarkTurnParams{Owner: row.Owner, ID: row.ID, Status: row.Status, Parent: row.Parent, Place: row.Place})
}

// showWith lists a turn's conversation, with a title from its message unless it has one.
func showWith(row sqlcgen.Turn) (*sqlcgen.ShowConversationParams, error) {
	title, err := titleFrom(row)
	return &sqlcgen.ShowConversationParams{
		Owner: row.Owner, ID: row.ThreadID, At: row.CreatedAt, Title: title, TitleFolded: record.Fold(title)}, err
}

func (s *Store) UnmarkTurn(ctx context.Context, owner, id string, status chat.TurnStatus) (err error) {
	ctx, end := s.short(ctx, "unmark turn")
	defer end(&err)
	if status != chat.TurnNew && status != chat.TurnAccepted {
		return fmt.Errorf("a turn cannot be unmarked to %q", status)
	}
	return s.db.Update(ctx, func(q Queries) error {
		if err := q.LockThreadOfTurn(ctx, owner, id); err != nil {
			return err
		}
		return q.MarkTurn(ctx, sqlcgen.MarkTurnParams{Owner: owner, ID: id, Status: string(status)})
	})
}

// titleFrom makes a title from a turn's message.
func titleFrom(row sqlcgen.Turn) (string, error) {
	t, err := turn(row)
	return chat.TitleFrom(t.Content.Message), err
}

// turnsByID are turns that the transaction has read already.
type turnsByID map[string]sqlcgen.Turn

// knownTurns reads turns by their ids or checkpoints, in one statement.
func knownTurns(ctx context.Context, q Queries, owner string, ids ...string) (turnsByID, error) {
	for i, id := range ids {
		ids[i] = chat.TurnOf(id)
	}
	rows, err := q.TurnsByID(ctx, owner, ids)
	return byID(rows), err
}

func byID(rows []sqlcgen.Turn) turnsByID {
	known := turnsByID{}
	for _, row := range rows {
		known[row.ID] = row
	}
	return known
}

// turn returns a known turn or reads it.
func (known turnsByID) turn(ctx context.Context, q Queries, owner, id string) (sqlcgen.Turn, error) {
	if row, ok := known[id]; ok {
		return row, nil
	}
	return q.Turn(ctx, sqlcgen.TurnParams{Owner: owner, ID: id})
}

func found(ok bool) error {
	if !ok {
		return db.ErrNotFound
	}
	return nil
}

// place puts a turn under parent in its thread's tree; a turn without a place gets
// the last one. ErrNotFound as for placedUnder.
func place(ctx context.Context, q Queries, known turnsByID, row *sqlcgen.Turn, parent string) (err error) {
	if row.Parent, err = placedUnder(ctx, q, known, *row, parent); err != nil || row.Place > 0 {
		return err
	}
	row.Place, err = q.NextPlace(ctx, sqlcgen.NextPlaceParams{Owner: row.Owner, ThreadID: row.ThreadID})
	return err
}

// placedUnder is the parent that a turn gets. It must have an earlier place, so that
// there are no cycles; a rolled back turn is replaced by its own parent. ErrNotFound
// when there is no such parent.
func placedUnder(ctx context.Context, q Queries, known turnsByID, row sqlcgen.Turn, parent string) (string, error) {
	for parent = chat.TurnOf(parent); parent != chat.RootCheckpoint; {
		p, err := known.turn(ctx, q, row.Owner, parent)
		if err != nil {
			return "", err
		}
		if p.ThreadID != row.ThreadID || p.Place == 0 || (row.Place > 0 && p.Place >= row.Place) {
			return "", db.ErrNotFound
		}
		if !p.Hidden {
			break
		}
		parent = p.Parent
	}
	return parent, nil
}

func (s *Store) Texts(ctx context.Context, owner, turnID string) (_ map[string]string, err error) {
	ctx, end := s.short(ctx, "read texts")
	defer end(&err)
	rows, err := s.db.Read.Texts(ctx, sqlcgen.TextsParams{Owner: owner, TurnID: turnID})
	if err == nil && len(rows) == 0 {
		err = s.WhyClosed(ctx, owner, turnID)
	}
	if err != nil {
		return nil, err
	}
	texts := make(map[string]string, len(rows))
	for _, row := range rows {
		if row.Key != "" {
			texts[row.Key] = row.Text
		}
	}
	return texts, nil
}

func (s *Store) SaveDraft(ctx context.Context, owner string, d db.Draft) (err error) {
	ctx, end := s.short(ctx, "save draft")
	defer end(&err)
	rows, err := s.db.Write.SaveDraft(ctx, sqlcgen.SaveDraftParams{
		Owner: owner, TurnID: d.TurnID, Piece: int64(d.Piece), Attempt: int64(d.Attempt), Text: d.Text})
	if err != nil || rows > 0 {
		return err
	}
	return s.WhyClosed(ctx, owner, d.TurnID)
}

// WhyClosed explains why a write to a turn changed nothing; nil when the turn is
// open (a draft of a lower attempt).
func (s *Store) WhyClosed(ctx context.Context, owner, turnID string) error {
	row, err := s.db.Read.Turn(ctx, sqlcgen.TurnParams{Owner: owner, ID: turnID})
	if err == nil && row.SettledAt != 0 {
		return db.ErrSettled
	}
	return err
}

func (s *Store) Draft(ctx context.Context, owner, turnID string, piece int) (_ db.Draft, err error) {
	ctx, end := s.short(ctx, "read draft")
	defer end(&err)
	row, err := s.db.Read.Draft(ctx, sqlcgen.DraftParams{Owner: owner, TurnID: turnID, Piece: int64(piece)})
	if err != nil {
		return db.Draft{}, err
	}
	return db.Draft{TurnID: turnID, Piece: piece, Attempt: int(row.Attempt), Text: row.Text}, nil
}

func (s *Store) OpenTurns(ctx context.Context, owner, threadID string) (_ []chat.Turn, err error) {
	ctx, end := s.short(ctx, "list open turns")
	defer end(&err)
	rows, err := s.db.Read.OpenTurns(ctx, sqlcgen.OpenTurnsParams{Owner: owner, ThreadID: threadID})
	if err == nil && len(rows) == 0 {
		err = s.known(ctx, owner, threadID)
	}
	if err != nil {
		return nil, err
	}
	return turns(rows)
}

func (s *Store) TurnsAfter(ctx context.Context, owner, threadID string, place, limit int) (_ []chat.Turn, err error) {
	ctx, end := s.short(ctx, "read the next turns")
	defer end(&err)
	rows, err := s.db.Read.TurnsAfter(ctx, sqlcgen.TurnsAfterParams{
		Owner: owner, ThreadID: threadID, Place: int64(place), MaxRows: int64(record.Clamp(limit, record.MaxHistory))})
	if err == nil && len(rows) == 0 {
		err = s.known(ctx, owner, threadID)
	}
	if err != nil {
		return nil, err
	}
	return turns(rows)
}

func (s *Store) LastPlace(ctx context.Context, owner, threadID string) (place int, err error) {
	ctx, end := s.short(ctx, "read the last place")
	defer end(&err)
	last, err := s.db.Read.LastPlace(ctx, sqlcgen.LastPlaceParams{Owner: owner, ThreadID: threadID})
	if err == nil && last == 0 {
		err = s.known(ctx, owner, threadID)
	}
	return int(last), err
}

func (s *Store) CountOpenTurns(ctx context.Context, owner, threadID string) (here, busy int, err error) {
	ctx, end := s.short(ctx, "count open turns")
	defer end(&err)
	n, err := s.db.Read.CountOpenTurns(ctx, sqlcgen.CountOpenTurnsParams{
		Owner: owner, ThreadID: threadID, SentAfter: record.Micros(time.Now().Add(-record.JustSent))})
	return int(n.Here), int(n.Busy), err
}

func turns(rows []sqlcgen.Turn) (_ []chat.Turn, err error) {
	list := make([]chat.Turn, len(rows))
	for i, row := range rows {
		if list[i], err = turn(row); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func turn(row sqlcgen.Turn) (chat.Turn, error) {
	t := chat.Turn{
		ID: row.ID, ThreadID: row.ThreadID, Owner: row.Owner, Parent: row.Parent,
		ClientTurnID: row.ClientTurnID, StreamRunID: row.StreamRunID, ContentHash: row.ContentHash,
		Status: chat.TurnStatus(row.Status), CreatedAt: record.Time(row.CreatedAt), SettledAt: record.Time(row.SettledAt),
		Place: int(row.Place), Generation: int(row.Generation),
	}
	if err := json.Unmarshal([]byte(row.Content), &t.Content); err != nil {
		return chat.Turn{}, fmt.Errorf("content of turn %s: %w", row.ID, err)
	}
	return t, nil
}
