package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/sqlite/sqlcgen"
)

func (s *Store) InsertTurn(ctx context.Context, t chat.Turn) (_ chat.Turn, created, cancelled bool, err error) {
	return s.insertTurn(ctx, t, false)
}

func (s *Store) SaveTurn(ctx context.Context, t chat.Turn) (chat.Turn, error) {
	row, _, _, err := s.insertTurn(ctx, t, true)
	return row, err
}

// insertTurn inserts a turn. If taken, its thread accepted it before the row could
// be written; it then replaces a row of the same message that no thread accepted.
func (s *Store) insertTurn(ctx context.Context, t chat.Turn, taken bool) (_ chat.Turn, created, cancelled bool, err error) {
	defer s.wrap("insert turn", &err)
	t.CreatedAt = record.OrNow(t.CreatedAt)
	if t.ClientTurnID == "" {
		t.ClientTurnID = t.ID
	}
	if t.ContentHash == "" {
		t.ContentHash = t.Content.Hash()
	}
	var row sqlcgen.Turn
	err = s.update(ctx, func(q *sqlcgen.Queries) error {
		created = false
		generation, err := admitTurn(ctx, q, t, taken)
		if err != nil {
			return err
		}
		if taken {
			err := q.DropUntakenTurn(ctx, sqlcgen.DropUntakenTurnParams{
				Owner: t.Owner, ThreadID: t.ThreadID, ClientTurnID: t.ClientTurnID, ID: t.ID})
			if err != nil {
				return err
			}
		}
		byClient := sqlcgen.TurnByClientIDParams{Owner: t.Owner, ThreadID: t.ThreadID, ClientTurnID: t.ClientTurnID}
		row, err = q.TurnByClientID(ctx, byClient)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			t.Generation = int(generation)
			if err := insertTurn(ctx, q, t); err != nil {
				return err
			}
			created = true
			if row, err = q.TurnByClientID(ctx, byClient); err != nil {
				return err
			}
		case err != nil:
			return err
		case row.ContentHash != t.ContentHash:
			return db.ErrTurnConflict
		case row.Status == string(chat.TurnNew):
			if err := q.SendTurn(ctx, sqlcgen.SendTurnParams{Owner: t.Owner, ID: row.ID, SentAt: record.Micros(t.CreatedAt)}); err != nil {
				return err
			}
		}
		if t.StreamRunID != "" {
			err := q.AddStreamRun(ctx, sqlcgen.AddStreamRunParams{Owner: t.Owner, RunID: t.StreamRunID, TurnID: row.ID})
			if err != nil {
				return err
			}
		}
		cancelled, err = q.TurnCancelled(ctx, sqlcgen.TurnCancelledParams{
			Owner: t.Owner, TurnID: row.ID, ClientTurnID: t.ClientTurnID, ThreadID: t.ThreadID, RunID: t.StreamRunID,
			Since: record.Micros(t.CreatedAt.Add(-record.RunCancelReach)), Until: record.Micros(t.CreatedAt.Add(record.RunCancelReach))})
		return err
	})
	if err != nil {
		return chat.Turn{}, false, false, err
	}
	stored, err := turn(row)
	return stored, created, cancelled, err
}

// admitTurn creates the turn's conversation if needed and returns its generation.
// ErrNotFound for a turn, or a retried message, of a conversation that was deleted:
// neither may show up in a new conversation with the same id.
func admitTurn(ctx context.Context, q *sqlcgen.Queries, t chat.Turn, taken bool) (generation int64, err error) {
	how := reused
	if taken { // its conversation must exist already
		how = 0
	}
	generation, err = ensureConversation(ctx, q, chat.Conversation{ID: t.ThreadID, Owner: t.Owner, CreatedAt: t.CreatedAt}, how)
	if err != nil || generation == 1 {
		return generation, err
	}
	if taken {
		if int64(t.Generation) != generation {
			return 0, db.ErrNotFound
		}
		return generation, nil
	}
	deleted, err := q.TurnDeleted(ctx, sqlcgen.TurnDeletedParams{
		Digest: record.MessageDigest(t.ThreadID, t.ClientTurnID, t.ContentHash),
		Since:  record.Micros(time.Now().Add(-record.RetriesEnd))})
	if err == nil && deleted {
		err = db.ErrNotFound
	}
	return generation, err
}

// insertTurn writes the turn with its user message, which is shown once the turn
// is accepted, and assigns the message's pictures to the conversation.
func insertTurn(ctx context.Context, q *sqlcgen.Queries, t chat.Turn) error {
	content, err := record.JSON(t.Content)
	if err != nil {
		return fmt.Errorf("content: %w", err)
	}
	rows, err := q.InsertTurn(ctx, sqlcgen.InsertTurnParams{
		ID: t.ID, Owner: t.Owner, ThreadID: t.ThreadID, Parent: t.Parent, CreatedAt: record.Micros(t.CreatedAt),
		ClientTurnID: t.ClientTurnID, StreamRunID: t.StreamRunID, ContentHash: t.ContentHash, Content: content,
		Generation: int64(t.Generation)})
	if err != nil {
		return err
	}
	if rows == 0 { // the turn id belongs to another turn
		if _, err := q.Turn(ctx, sqlcgen.TurnParams{Owner: t.Owner, ID: t.ID}); err != nil {
			return err
		}
		return db.ErrTurnConflict
	}
	if err := useAttachments(ctx, q, t.Owner, t.ThreadID, t.Content.Attachments); err != nil {
		return err
	}
	return insertMessage(ctx, q, t.ID, 0, record.FirstMessage(t))
}

func (s *Store) AbandonTurn(ctx context.Context, owner, id string) (err error) {
	defer s.wrap("abandon turn", &err)
	return s.write.SendTurn(ctx, sqlcgen.SendTurnParams{Owner: owner, ID: id})
}

func (s *Store) DropTurn(ctx context.Context, owner, id string, before time.Time) (err error) {
	defer s.wrap("drop turn", &err)
	return s.update(ctx, func(q *sqlcgen.Queries) error {
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
	defer s.wrap("read turn", &err)
	row, err := s.read.Turn(ctx, sqlcgen.TurnParams{Owner: owner, ID: id})
	if err != nil {
		return chat.Turn{}, err
	}
	return turn(row)
}

func (s *Store) HeadContent(ctx context.Context, owner, threadID string) (content chat.Content, ok bool, err error) {
	defer s.wrap("read the newest message", &err)
	head, err := s.Head(ctx, owner, threadID)
	if err != nil || head == chat.RootCheckpoint {
		return content, false, err
	}
	t, err := s.Turn(ctx, owner, head)
	return t.Content, err == nil, err
}

func (s *Store) FindTurn(ctx context.Context, owner string, ref db.CancelRef) (_ chat.Turn, err error) {
	defer s.wrap("find turn", &err)
	kind, id, err := record.CancelKind(ref)
	if err != nil {
		return chat.Turn{}, err
	}
	var row sqlcgen.Turn
	switch {
	case kind == "turn":
		row, err = s.read.Turn(ctx, sqlcgen.TurnParams{Owner: owner, ID: id})
	case kind == "run":
		row, err = s.read.TurnByRunID(ctx, sqlcgen.TurnByRunIDParams{Owner: owner, RunID: id})
	case ref.ThreadID == "":
		row, err = s.read.NewestTurnByClientID(ctx, sqlcgen.NewestTurnByClientIDParams{Owner: owner, ClientTurnID: id})
	default:
		row, err = s.read.TurnByClientID(ctx, sqlcgen.TurnByClientIDParams{Owner: owner, ThreadID: ref.ThreadID, ClientTurnID: id})
	}
	if err != nil {
		return chat.Turn{}, err
	}
	return turn(row)
}

func (s *Store) Cancel(ctx context.Context, owner string, ref db.CancelRef, reason chat.CancelReason) (err error) {
	defer s.wrap("cancel", &err)
	kind, id, err := record.CancelKind(ref)
	if err != nil {
		return err
	}
	put := sqlcgen.PutCancelParams{Owner: owner, Kind: kind, Ref: id, Reason: string(reason), At: record.Micros(time.Now())}
	if kind == "client" {
		put.ThreadID = ref.ThreadID
	}
	return s.update(ctx, func(q *sqlcgen.Queries) error {
		if err := q.PruneCancels(ctx, record.Micros(time.Now().Add(-24*time.Hour))); err != nil {
			return err
		}
		return q.PutCancel(ctx, put)
	})
}

func (s *Store) Cancelled(ctx context.Context, owner, turnID string) (cancelled bool, err error) {
	defer s.wrap("look for a cancel", &err)
	t, err := s.read.Turn(ctx, sqlcgen.TurnParams{Owner: owner, ID: turnID})
	if err != nil {
		return false, err
	}
	return s.read.TurnCancelled(ctx, sqlcgen.TurnCancelledParams{
		Owner: owner, TurnID: t.ID, ClientTurnID: t.ClientTurnID, ThreadID: t.ThreadID, RunID: t.StreamRunID,
		Since: t.CreatedAt - record.RunCancelReach.Microseconds(), Until: t.CreatedAt + record.RunCancelReach.Microseconds()})
}

func (s *Store) TurnContext(ctx context.Context, owner, id string) (standing db.TurnContext, err error) {
	defer s.wrap("read turn context", &err)
	if standing.Turn, err = s.Turn(ctx, owner, id); err != nil {
		return standing, err
	}
	thread := standing.Turn.ThreadID
	if standing.Cancelled, err = s.Cancelled(ctx, owner, id); err != nil {
		return standing, err
	}
	if standing.Open, err = s.OpenTurns(ctx, owner, thread); err != nil {
		return standing, err
	}
	if standing.Head, err = s.Head(ctx, owner, thread); err != nil {
		return standing, err
	}
	standing.Approvals, err = s.Approvals(ctx, owner, thread, standing.Head)
	return standing, err
}

func (s *Store) MarkTurn(ctx context.Context, owner, id string, status chat.TurnStatus, parent string) (err error) {
	defer s.wrap("mark turn", &err)
	switch status {
	case chat.TurnAccepted, chat.TurnRunning, chat.TurnInterrupted:
	default:
		return fmt.Errorf("a turn cannot be marked %q", status)
	}
	return s.update(ctx, func(q *sqlcgen.Queries) error {
		row, err := q.Turn(ctx, sqlcgen.TurnParams{Owner: owner, ID: id})
		if err != nil || row.SettledAt != 0 {
			return err
		}
		if row.Status == string(chat.TurnNew) {
			err := q.ListConversation(ctx, sqlcgen.ListConversationParams{Owner: owner, ID: row.ThreadID, At: row.CreatedAt})
			if err != nil {
				return err
			}
			if err := nameAfter(ctx, q, row); err != nil {
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
			if err := place(ctx, q, &row, parent); err != nil {
				return err
			}
		}
		return q.MarkTurn(ctx, sqlcgen.MarkTurnParams{Owner: owner, ID: id, Status: row.Status, Parent: row.Parent, Place: row.Place})
	})
}

func (s *Store) UnmarkTurn(ctx context.Context, owner, id string, status chat.TurnStatus) (err error) {
	defer s.wrap("unmark turn", &err)
	if status != chat.TurnNew && status != chat.TurnAccepted {
		return fmt.Errorf("a turn cannot be unmarked to %q", status)
	}
	return s.write.MarkTurn(ctx, sqlcgen.MarkTurnParams{Owner: owner, ID: id, Status: string(status)})
}

// nameAfter gives a conversation without a title one made from a turn's message.
func nameAfter(ctx context.Context, q *sqlcgen.Queries, row sqlcgen.Turn) error {
	t, err := turn(row)
	if err != nil {
		return err
	}
	title := chat.TitleFrom(t.Content.Message)
	return q.TitleConversation(ctx, sqlcgen.TitleConversationParams{
		Owner: t.Owner, ID: t.ThreadID, Title: title, TitleFolded: record.Fold(title)})
}

// place puts a turn under parent in its thread's tree; a turn without a place gets
// the last one. A parent must have an earlier place, so that there are no cycles; a
// rolled back parent is replaced by its own parent. ErrNotFound when there is no
// such parent.
func place(ctx context.Context, q *sqlcgen.Queries, row *sqlcgen.Turn, parent string) error {
	for parent = chat.TurnOf(parent); parent != chat.RootCheckpoint; {
		p, err := q.Turn(ctx, sqlcgen.TurnParams{Owner: row.Owner, ID: parent})
		if err != nil {
			return err
		}
		if p.ThreadID != row.ThreadID || p.Place == 0 || (row.Place > 0 && p.Place >= row.Place) {
			return db.ErrNotFound
		}
		if p.Hidden == 0 {
			break
		}
		parent = p.Parent
	}
	row.Parent = parent
	if row.Place > 0 {
		return nil
	}
	next, err := q.NextPlace(ctx, sqlcgen.NextPlaceParams{Owner: row.Owner, ThreadID: row.ThreadID})
	row.Place = next
	return err
}

func (s *Store) PutText(ctx context.Context, owner, turnID, key, text string) error {
	return s.PutTexts(ctx, owner, turnID, []db.Text{{Key: key, Text: text}})
}

func (s *Store) PutTexts(ctx context.Context, owner, turnID string, texts []db.Text) (err error) {
	defer s.wrap("put texts", &err)
	return s.update(ctx, func(q *sqlcgen.Queries) error {
		row, err := q.Turn(ctx, sqlcgen.TurnParams{Owner: owner, ID: turnID})
		if err == nil && row.SettledAt != 0 {
			err = db.ErrSettled
		}
		if err != nil {
			return err
		}
		for _, t := range texts {
			rows, err := q.PutText(ctx, sqlcgen.PutTextParams{Owner: owner, TurnID: turnID, Key: t.Key, Text: t.Text, WrittenBy: t.Order})
			if err != nil {
				return err
			}
			if rows == 0 {
				return db.ErrOutdated
			}
		}
		return nil
	})
}

func (s *Store) Texts(ctx context.Context, owner, turnID string) (_ map[string]string, err error) {
	defer s.wrap("read texts", &err)
	texts := map[string]string{}
	err = s.view(ctx, func(q *sqlcgen.Queries) error {
		turn, err := q.Turn(ctx, sqlcgen.TurnParams{Owner: owner, ID: turnID})
		switch {
		case err != nil:
			return err
		case turn.SettledAt != 0:
			return db.ErrSettled
		}
		rows, err := q.Texts(ctx, sqlcgen.TextsParams{Owner: owner, TurnID: turnID})
		for _, row := range rows {
			texts[row.Key] = row.Text
		}
		return err
	})
	return texts, err
}

func (s *Store) SaveDraft(ctx context.Context, owner string, d db.Draft) (err error) {
	defer s.wrap("save draft", &err)
	rows, err := s.write.SaveDraft(ctx, sqlcgen.SaveDraftParams{
		Owner: owner, TurnID: d.TurnID, Piece: int64(d.Piece), Attempt: int64(d.Attempt), Text: d.Text})
	if err != nil || rows > 0 {
		return err
	}
	return s.whyClosed(ctx, owner, d.TurnID)
}

// whyClosed explains why a write to a turn changed nothing; nil when the turn is
// open (a draft of a lower attempt).
func (s *Store) whyClosed(ctx context.Context, owner, turnID string) error {
	row, err := s.write.Turn(ctx, sqlcgen.TurnParams{Owner: owner, ID: turnID})
	if err == nil && row.SettledAt != 0 {
		return db.ErrSettled
	}
	return err
}

func (s *Store) Draft(ctx context.Context, owner, turnID string, piece int) (_ db.Draft, err error) {
	defer s.wrap("read draft", &err)
	row, err := s.read.Draft(ctx, sqlcgen.DraftParams{Owner: owner, TurnID: turnID, Piece: int64(piece)})
	if err != nil {
		return db.Draft{}, err
	}
	return db.Draft{TurnID: turnID, Piece: piece, Attempt: int(row.Attempt), Text: row.Text}, nil
}

func (s *Store) OpenTurns(ctx context.Context, owner, threadID string) (_ []chat.Turn, err error) {
	defer s.wrap("list open turns", &err)
	rows, err := s.read.OpenTurns(ctx, sqlcgen.OpenTurnsParams{Owner: owner, ThreadID: threadID})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		if _, err := s.read.Conversation(ctx, sqlcgen.ConversationParams{Owner: owner, ID: threadID}); err != nil {
			return nil, err
		}
	}
	return turns(rows)
}

func (s *Store) TurnsAfter(ctx context.Context, owner, threadID string, place, limit int) (_ []chat.Turn, err error) {
	defer s.wrap("read the next turns", &err)
	rows, err := s.read.TurnsAfter(ctx, sqlcgen.TurnsAfterParams{
		Owner: owner, ThreadID: threadID, Place: int64(place), MaxRows: int64(record.Clamp(limit, record.MaxHistory))})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		if _, err := s.read.Conversation(ctx, sqlcgen.ConversationParams{Owner: owner, ID: threadID}); err != nil {
			return nil, err
		}
	}
	return turns(rows)
}

func (s *Store) LastPlace(ctx context.Context, owner, threadID string) (place int, err error) {
	defer s.wrap("read the last place", &err)
	last, err := s.read.LastPlace(ctx, sqlcgen.LastPlaceParams{Owner: owner, ThreadID: threadID})
	if err == nil && last == 0 {
		_, err = s.read.Conversation(ctx, sqlcgen.ConversationParams{Owner: owner, ID: threadID})
	}
	return int(last), err
}

func (s *Store) CountOpenTurns(ctx context.Context, owner, threadID string) (here, busy int, err error) {
	defer s.wrap("count open turns", &err)
	n, err := s.read.CountOpenTurns(ctx, sqlcgen.CountOpenTurnsParams{
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
