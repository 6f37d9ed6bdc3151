package sqlite

import (
	"context"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/rules"
	"github.com/palaver-chat/palaver/db/sqlite/sqlcgen"
)

// queries implements rules.Queries for SQLite. Lists are passed as JSON.
type queries struct {
	*sqlcgen.Queries
	noLocks
}

var _ rules.Queries = queries{}

// database lets the rules run queries of s.
func (s *Store) database() rules.Database {
	in := func(run func(context.Context, func(*sqlcgen.Queries) error) error) func(context.Context, func(rules.Queries) error) error {
		return func(ctx context.Context, f func(rules.Queries) error) error {
			return run(ctx, func(q *sqlcgen.Queries) error { return f(queries{Queries: q}) })
		}
	}
	return rules.Database{
		Read: queries{Queries: s.read}, Write: queries{Queries: s.write}, Update: in(s.update), View: in(s.view),
		Call: func(ctx context.Context, operation string, _ rules.Size) (context.Context, func(*error)) {
			return ctx, func(err *error) { s.wrap(operation, err) }
		},
	}
}

// noLocks takes no locks: a writing transaction holds the only write lock from its beginning.
type noLocks struct{}

func (noLocks) LockThread(context.Context, string) error               { return nil }
func (noLocks) LockThreadOfTurn(context.Context, string, string) error { return nil }
func (noLocks) LockInsert(context.Context, string, string) error       { return nil }
func (noLocks) LockCancels(context.Context, string) error              { return nil }
func (noLocks) LockQuotas(context.Context, []string) error             { return nil }

func (q queries) TurnsForSettle(ctx context.Context, owner, _, id string, others ...string) (turns []sqlcgen.Turn, newest int64, err error) {
	if turns, err = q.TurnsByID(ctx, owner, append(others, id)); err == nil {
		newest, err = q.NewestText(ctx, sqlcgen.NewestTextParams{TurnID: id, Owner: owner})
	}
	return turns, newest, err
}

func (q queries) DocumentForChange(ctx context.Context, owner, id string) (sqlcgen.DocumentRow, error) {
	return q.Document(ctx, sqlcgen.DocumentParams{Owner: owner, ID: id})
}

func (q queries) AttachmentsByID(ctx context.Context, owner string, ids []string) ([]sqlcgen.AttachmentsByIDRow, error) {
	return q.Queries.AttachmentsByID(ctx, sqlcgen.AttachmentsByIDParams{Owner: owner, Ids: record.Strings(ids)})
}

func (q queries) ChunksByInternalID(ctx context.Context, see rules.Visible, ids []int64) ([]sqlcgen.ChunksByInternalIDRow, error) {
	list, err := record.JSON(ids)
	if err != nil {
		return nil, err
	}
	return q.Queries.ChunksByInternalID(ctx, sqlcgen.ChunksByInternalIDParams{Owners: record.Strings(see.Owners()), Authors: record.Strings(see.Authors()), Threads: record.Strings(see.Threads()), Ids: list})
}

func (q queries) ChunksByKey(ctx context.Context, see rules.Visible, docIDs []string, ordinals []int64) ([]sqlcgen.ChunksByKeyRow, error) {
	keys := make([][2]any, len(docIDs))
	for i, id := range docIDs {
		keys[i] = [2]any{id, ordinals[i]}
	}
	list, err := record.JSON(keys)
	if err != nil {
		return nil, err
	}
	return q.Queries.ChunksByKey(ctx, sqlcgen.ChunksByKeyParams{Owners: record.Strings(see.Owners()), Authors: record.Strings(see.Authors()), Threads: record.Strings(see.Threads()), Keys: list})
}

func (q queries) DocumentsByID(ctx context.Context, see rules.Visible, ids []string) ([]sqlcgen.DocumentsByIDRow, error) {
	return q.Queries.DocumentsByID(ctx, sqlcgen.DocumentsByIDParams{Owners: record.Strings(see.Owners()), Authors: record.Strings(see.Authors()), Threads: record.Strings(see.Threads()), Ids: record.Strings(ids)})
}

func (q queries) DocumentsTitled(ctx context.Context, see rules.Visible, titles []string) ([]sqlcgen.DocumentsTitledRow, error) {
	return q.Queries.DocumentsTitled(ctx, sqlcgen.DocumentsTitledParams{Owners: record.Strings(see.Owners()), Authors: record.Strings(see.Authors()), Threads: record.Strings(see.Threads()), Titles: record.Strings(titles)})
}

func (q queries) DocumentText(ctx context.Context, see rules.Visible, id string) (string, error) {
	return q.Queries.DocumentText(ctx, sqlcgen.DocumentTextParams{Owners: record.Strings(see.Owners()), Authors: record.Strings(see.Authors()), Threads: record.Strings(see.Threads()), ID: id})
}

func (q queries) DocumentChunks(ctx context.Context, see rules.Visible, id string, limit int64) ([]sqlcgen.DocumentChunksRow, error) {
	return q.Queries.DocumentChunks(ctx, sqlcgen.DocumentChunksParams{Owners: record.Strings(see.Owners()), Authors: record.Strings(see.Authors()), Threads: record.Strings(see.Threads()), ID: id, MaxRows: limit})
}

func (q queries) VisibleDocuments(ctx context.Context, see rules.Visible, limit int64) ([]sqlcgen.VisibleDocumentsRow, error) {
	return q.Queries.VisibleDocuments(ctx, sqlcgen.VisibleDocumentsParams{Owners: record.Strings(see.Owners()), Owner: see.Owner, Authors: record.Strings(see.Authors()), Threads: record.Strings(see.Threads()), MaxRows: limit})
}

func (q queries) EventsOfTurns(ctx context.Context, owner string, ids []string) ([]sqlcgen.EventsOfTurnsRow, error) {
	return q.Queries.EventsOfTurns(ctx, sqlcgen.EventsOfTurnsParams{Owner: owner, Ids: record.Strings(ids)})
}

func (q queries) RegistryDocuments(ctx context.Context, see rules.Visible, ids []string) ([]sqlcgen.RegistryDocumentsRow, error) {
	return q.Queries.RegistryDocuments(ctx, sqlcgen.RegistryDocumentsParams{Owners: record.Strings(see.Owners()), Authors: record.Strings(see.Authors()), Threads: record.Strings(see.Threads()), Ids: record.Strings(ids)})
}

func (q queries) SetMembers(ctx context.Context, owner string, ids []string) ([]sqlcgen.SetMembersRow, error) {
	return q.Queries.SetMembers(ctx, sqlcgen.SetMembersParams{Owner: owner, Ids: record.Strings(ids)})
}

func (q queries) SetsByID(ctx context.Context, owner string, ids []string) ([]sqlcgen.DocumentSet, error) {
	return q.Queries.SetsByID(ctx, sqlcgen.SetsByIDParams{Owner: owner, Ids: record.Strings(ids)})
}

func (q queries) TurnsByID(ctx context.Context, owner string, ids []string) ([]sqlcgen.Turn, error) {
	return q.Queries.TurnsByID(ctx, sqlcgen.TurnsByIDParams{Owner: owner, Ids: record.Strings(ids)})
}

func (q queries) RecordDeletedTurns(ctx context.Context, digests []string, at int64) error {
	return q.Queries.RecordDeletedTurns(ctx, sqlcgen.RecordDeletedTurnsParams{Digests: record.Strings(digests), At: at})
}

func (q queries) UseAttachments(ctx context.Context, owner, threadID string, ids []string) error {
	return q.Queries.UseAttachments(ctx, sqlcgen.UseAttachmentsParams{Owner: owner, ThreadID: threadID, Ids: record.Strings(ids)})
}

func (q queries) InsertTurn(ctx context.Context, t sqlcgen.Turn, m sqlcgen.Message) (sqlcgen.Turn, error) {
	row, err := q.Queries.InsertTurn(ctx, sqlcgen.InsertTurnParams{
		ID: t.ID, Owner: t.Owner, ThreadID: t.ThreadID, Parent: t.Parent, CreatedAt: t.CreatedAt,
		ClientTurnID: t.ClientTurnID, StreamRunID: t.StreamRunID, ContentHash: t.ContentHash, Content: t.Content,
		Generation: t.Generation, SpaceID: t.SpaceID, Address: t.Address})
	if err != nil {
		return row, err
	}
	if err := q.InsertMessage(ctx, sqlcgen.InsertMessageParams(m)); err != nil || t.StreamRunID == "" {
		return row, err
	}
	return row, q.AddStreamRun(ctx, sqlcgen.AddStreamRunParams{Owner: t.Owner, RunID: t.StreamRunID, TurnID: t.ID})
}

func (q queries) PlaceTurn(ctx context.Context, t sqlcgen.Turn, show *sqlcgen.ShowConversationParams) error {
	if show != nil {
		if err := q.ShowConversation(ctx, *show); err != nil {
			return err
		}
	}
	place, err := q.NextPlace(ctx, sqlcgen.NextPlaceParams{Owner: t.Owner, ThreadID: t.ThreadID})
	if err != nil {
		return err
	}
	return q.MarkTurn(ctx, sqlcgen.MarkTurnParams{Owner: t.Owner, ID: t.ID, Status: t.Status, Asks: t.Asks, Parent: t.Parent, Place: place})
}

func (q queries) SettleTurn(ctx context.Context, e rules.Ending) error {
	t := e.Turn
	err := q.Queries.SettleTurn(ctx, sqlcgen.SettleTurnParams{
		Owner: t.Owner, ID: t.ID, Status: t.Status, Parent: t.Parent, Place: t.Place,
		Registry: t.Registry, Approvals: t.Approvals, Hidden: t.Hidden, At: t.SettledAt})
	if err != nil {
		return err
	}
	for _, m := range e.Messages {
		if err := q.InsertMessage(ctx, sqlcgen.InsertMessageParams(m)); err != nil {
			return err
		}
	}
	for _, ev := range e.Events {
		if err := q.InsertEvent(ctx, sqlcgen.InsertEventParams(ev)); err != nil {
			return err
		}
	}
	for _, subject := range e.Spent.Subjects {
		err := q.AddSpending(ctx, sqlcgen.AddSpendingParams{
			Subject: subject, Day: e.Spent.Day, Tokens: e.Spent.Tokens, CostNanos: e.Spent.CostNanos})
		if err != nil {
			return err
		}
	}
	if err := q.ShowConversation(ctx, e.Show); err != nil {
		return err
	}
	if err := q.DeleteTexts(ctx, t.ID); err != nil {
		return err
	}
	return q.DeleteDrafts(ctx, t.ID)
}

func (q queries) DeleteUpload(ctx context.Context, docID string) error {
	if err := q.DeleteRaw(ctx, docID); err != nil {
		return err
	}
	if err := q.DeleteScans(ctx, docID); err != nil {
		return err
	}
	return q.DeleteOtherEditions(ctx, docID)
}

func (q queries) FillSet(ctx context.Context, set chat.DocumentSet) error {
	if err := q.ClearSet(ctx, set.ID); err != nil {
		return err
	}
	for i, id := range set.DocIDs {
		err := record.Found(q.AddToSet(ctx, sqlcgen.AddToSetParams{Owner: set.Owner, SetID: set.ID, Position: int64(i), DocID: id}))
		if err != nil {
			return err
		}
	}
	return nil
}
