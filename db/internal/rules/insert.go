package rules

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
)

// retryWindow is how long a message of a deleted conversation counts as a retry when
// it is sent again.
const retryWindow = 24 * time.Hour

// messageDigest identifies a message of a deleted conversation without its text.
func messageDigest(threadID, clientTurnID, contentHash string) string {
	return record.Digest(threadID + "\x00" + clientTurnID + "\x00" + contentHash)
}

func (w within) InsertTurn(ctx context.Context, t chat.Turn) (_ chat.Turn, created, cancelled bool, err error) {
	return w.insertTurn(ctx, t, false)
}

func (s *Store) SaveTurn(ctx context.Context, t chat.Turn) (_ chat.Turn, cancelled bool, _ error) {
	row, _, cancelled, err := within{s: s}.insertTurn(ctx, t, true)
	return row, cancelled, err
}

// insertTurn inserts a turn. If accepted, its thread accepted it before the row could
// be written; it then replaces a row of the same message that no thread accepted.
func (w within) insertTurn(ctx context.Context, t chat.Turn, accepted bool) (stored chat.Turn, created, cancelled bool, err error) {
	ctx, end := w.s.short(ctx, "insert turn")
	defer end(&err)
	t.CreatedAt = record.OrNow(t.CreatedAt)
	t.ClientTurnID = cmp.Or(t.ClientTurnID, t.ID)
	if t.ContentHash == "" {
		t.ContentHash = t.Content.Hash()
	}
	if t.Space != "" && !accepted {
		if _, err := w.s.reads(ctx, t.Owner, t.Space); err != nil {
			return chat.Turn{}, false, false, err
		}
	}
	var row sqlcgen.Turn
	err = w.s.db.Update(ctx, func(q Queries) (err error) {
		if cancelled, err = w.admitTurn(ctx, q, &t, accepted); err != nil {
			return err
		}
		if row, created, err = w.writeTurn(ctx, q, t); err != nil || created {
			return err
		}
		cancelled, err = sendAgain(ctx, q, t, row)
		return err
	})
	if err == nil {
		stored, err = turn(row)
	}
	if err != nil {
		return chat.Turn{}, false, false, err
	}
	return stored, created, cancelled, nil
}

// admitTurn prepares the insert of a turn: it creates the conversation if needed and
// sets the turn's generation. cancelled is true if a cancel came first.
func (w within) admitTurn(ctx context.Context, q Queries, t *chat.Turn, accepted bool) (cancelled bool, err error) {
	if err := q.LockInsert(ctx, t.Owner, t.ThreadID); err != nil {
		return false, err
	}
	now, err := q.Admission(ctx, sqlcgen.AdmissionParams(cancelsOf(*t)))
	if err != nil {
		return false, err
	}
	if accepted { // it was sent while the database was unavailable
		t.Space = cmp.Or(now.SpaceID, chat.Scope(chat.SpacesIn(now.Scope)))
	}
	if t.Generation, err = w.generationFor(ctx, q, *t, now, accepted); err != nil {
		return now.Cancelled, err
	}
	if !accepted {
		if t.Space == "" {
			t.Space, err = w.s.extendScope(ctx, q, *t, now.Scope)
		}
		return now.Cancelled, err
	}
	return now.Cancelled, q.DropUnacceptedTurn(ctx, sqlcgen.DropUnacceptedTurnParams{
		Owner: t.Owner, ThreadID: t.ThreadID, ClientTurnID: t.ClientTurnID, ID: t.ID})
}

// extendScope adds the spaces that a message names to the scope of its conversation, leaves out
// those that its owner does not read any more, and returns what is left of it. A client's
// repository goes with the answers of a space that is left; with the owner, the space returns.
func (s *Store) extendScope(ctx context.Context, q Queries, t chat.Turn, before string) (string, error) {
	had := chat.SpacesIn(before)
	var spaces, left []string
	for _, id := range slices.Concat(had, t.Content.Spaces, chat.LeftIn(before)) {
		if slices.Contains(spaces, id) || slices.Contains(left, id) {
			continue
		}
		_, err := spaceFor(ctx, q, t.Owner, id, chat.Reader)
		switch named := slices.Contains(t.Content.Spaces, id); {
		case err == nil && (named || len(spaces) < chat.MaxScope):
			spaces = append(spaces, id)
		case err == nil || errors.Is(err, db.ErrNotFound) && !named:
			left = append(left, id)
		default:
			return "", err
		}
	}
	if len(spaces) > chat.MaxScope {
		return "", db.ErrManySpaces
	}
	scope, kept := chat.Scope(spaces), chat.ScopeWithout(spaces, left)
	if kept == before {
		return scope, nil
	}
	if !s.keepAnswers && slices.ContainsFunc(had, func(id string) bool { return slices.Contains(left, id) }) {
		if err := q.DropRepo(ctx, sqlcgen.DropRepoParams{ThreadID: t.ThreadID, Owner: t.Owner}); err != nil {
			return "", err
		}
	}
	return scope, q.SetScope(ctx, sqlcgen.SetScopeParams{ID: t.ThreadID, Owner: t.Owner, Scope: kept})
}

// generationFor creates the turn's conversation if needed and returns its generation.
// ErrNotFound for a turn, or a retried message, of a conversation that was deleted:
// neither may show up in a new conversation with the same id.
func (w within) generationFor(ctx context.Context, q Queries, t chat.Turn, now sqlcgen.AdmissionRow, accepted bool) (int, error) {
	how := reused
	if accepted { // its conversation must exist already
		how = 0
	}
	generation, err := w.ensureConversation(ctx, q, chat.Conversation{ID: t.ThreadID, Owner: t.Owner, CreatedAt: t.CreatedAt, Kind: t.Content.ThreadKind(), Space: chat.Home(t.Space)},
		sqlcgen.ConversationStateRow{Owner: now.Owner, Generation: now.Generation, SpaceID: now.SpaceID,
			DeletedOwner: now.DeletedOwner, DeletedGeneration: now.DeletedGeneration, DeletedPlaces: now.DeletedPlaces}, how)
	if err == nil && now.Archived { // a new message makes it not archived
		_, err = q.ArchiveConversation(ctx, sqlcgen.ArchiveConversationParams{Owner: t.Owner, ID: t.ThreadID, Archived: false})
	}
	if err != nil || generation == 1 {
		return int(generation), err
	}
	if accepted {
		return int(generation), found(int64(t.Generation) == generation)
	}
	deleted, err := q.TurnDeleted(ctx, sqlcgen.TurnDeletedParams{
		Digest: messageDigest(t.ThreadID, t.ClientTurnID, t.ContentHash),
		Since:  record.Micros(time.Now().Add(-retryWindow))})
	if err == nil {
		err = found(!deleted)
	}
	return int(generation), err
}

// writeTurn writes the turn with its user message, which is shown once the turn is
// accepted, and its stream run id. It assigns the message's pictures to the
// conversation. If the message has a turn already, it returns that one.
func (w within) writeTurn(ctx context.Context, q Queries, t chat.Turn) (row sqlcgen.Turn, created bool, err error) {
	content, err := record.JSON(t.Content)
	if err != nil {
		return row, false, fmt.Errorf("content: %w", err)
	}
	message, err := storedMessage(t.ID, 0, firstMessage(t))
	if err != nil {
		return row, false, err
	}
	row, err = q.InsertTurn(ctx, sqlcgen.Turn{
		ID: t.ID, Owner: t.Owner, ThreadID: t.ThreadID, Parent: t.Parent, CreatedAt: record.Micros(t.CreatedAt),
		ClientTurnID: t.ClientTurnID, StreamRunID: t.StreamRunID, ContentHash: t.ContentHash, Content: content,
		Generation: int64(t.Generation), SpaceID: t.Space, Address: w.address()}, message)
	switch {
	case errors.Is(err, sql.ErrNoRows): // one of its ids is in use
		row, err = existingTurn(ctx, q, t)
		return row, false, err
	case err != nil:
		return row, false, err
	}
	if err := w.checkTurnBounds(ctx, q, row); err != nil {
		return row, false, err
	}
	return row, true, useAttachments(ctx, q, t.Owner, t.ThreadID, t.Content.Attachments)
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

// sendAgain records that the message of a stored turn was sent again, as t.
func sendAgain(ctx context.Context, q Queries, t chat.Turn, row sqlcgen.Turn) (cancelled bool, err error) {
	if row.Status == string(chat.TurnNew) {
		if err := q.SetSentAt(ctx, sqlcgen.SetSentAtParams{Owner: t.Owner, ID: row.ID, SentAt: record.Micros(t.CreatedAt)}); err != nil {
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

func (s *Store) AbandonTurn(ctx context.Context, owner, id string) (err error) {
	ctx, end := s.short(ctx, "abandon turn")
	defer end(&err)
	return s.db.Write.SetSentAt(ctx, sqlcgen.SetSentAtParams{Owner: owner, ID: id})
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

func (s *Store) DropWaiting(ctx context.Context, owner string, ids []string) (err error) {
	ctx, end := s.short(ctx, "drop waiting turns")
	defer end(&err)
	return s.db.Update(ctx, func(q Queries) error {
		dropped := int64(0)
		for _, id := range ids {
			if err := q.LockThreadOfTurn(ctx, owner, id); err != nil {
				return err
			}
			n, err := q.DropWaitingTurn(ctx, sqlcgen.DropWaitingTurnParams{Owner: owner, ID: id})
			if err != nil {
				return err
			}
			dropped += n
		}
		return found(dropped > 0)
	})
}

// firstMessage is the user's message of a turn.
func firstMessage(t chat.Turn) chat.Message {
	metadata := map[string]any{"client_turn_id": t.ClientTurnID}
	if t.StreamRunID != "" {
		metadata["stream_run_id"] = t.StreamRunID
	}
	if len(t.Content.TaggedDocs) > 0 {
		metadata["tagged_doc_ids"] = t.Content.TaggedDocs
	}
	if len(t.Content.References) > 0 {
		metadata["references"] = t.Content.References
	}
	if len(t.Content.Attachments) > 0 {
		metadata["attachments"] = t.Content.Attachments
	}
	if len(t.Content.TipTap) > 0 {
		metadata["tiptap_json"] = t.Content.TipTap
	}
	return chat.Message{Role: "user", Content: t.Content.Message, CreatedAt: t.CreatedAt, Metadata: metadata}
}
