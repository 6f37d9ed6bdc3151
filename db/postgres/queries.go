package postgres

import (
	"context"
	"slices"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/rules"
	"github.com/palaver-chat/palaver/db/postgres/sqlcgen"
)

// queries implements rules.Queries for Postgres.
type queries struct{ *sqlcgen.Queries }

var _ rules.Queries = queries{}

// database lets the rules run queries of s.
func (s *Store) database() rules.Database {
	in := func(run func(context.Context, func(*sqlcgen.Queries) error) error) func(context.Context, func(rules.Queries) error) error {
		return func(ctx context.Context, f func(rules.Queries) error) error {
			return run(ctx, func(q *sqlcgen.Queries) error { return f(queries{q}) })
		}
	}
	return rules.Database{Read: queries{s.q}, Write: queries{s.q}, Update: in(s.update), View: in(s.view), Call: s.call}
}

func (q queries) LockInsert(ctx context.Context, owner, threadID string) error {
	return q.Queries.LockInsert(ctx, sqlcgen.LockInsertParams{Owner: owner, ThreadID: threadID})
}

func (q queries) LockThreadOfTurn(ctx context.Context, owner, turnID string) error {
	return q.Queries.LockThreadOfTurn(ctx, sqlcgen.LockThreadOfTurnParams{Owner: owner, TurnID: turnID})
}

func (q queries) TurnsForSettle(ctx context.Context, owner, threadID, id string, others ...string) (turns []sqlcgen.Turn, newest int64, _ error) {
	rows, err := q.Queries.TurnsForSettle(ctx, sqlcgen.TurnsForSettleParams{Owner: owner, ThreadID: threadID, Ids: append(others, id)})
	for _, row := range rows {
		if turns = append(turns, row.Turn); row.Turn.ID == id {
			newest = row.WrittenBy
		}
	}
	return turns, newest, err
}

func (q queries) DocumentForChange(ctx context.Context, owner, id string) (sqlcgen.DocumentRow, error) {
	row, err := q.Queries.DocumentForChange(ctx, sqlcgen.DocumentForChangeParams{Owner: owner, ID: id})
	return sqlcgen.DocumentRow(row), err
}

func (q queries) AttachmentsByID(ctx context.Context, owner string, ids []string) ([]sqlcgen.AttachmentsByIDRow, error) {
	return q.Queries.AttachmentsByID(ctx, sqlcgen.AttachmentsByIDParams{Owner: owner, Ids: ids})
}

func (q queries) ChunksByInternalID(ctx context.Context, see rules.Visible, ids []int64) ([]sqlcgen.ChunksByInternalIDRow, error) {
	return q.Queries.ChunksByInternalID(ctx, sqlcgen.ChunksByInternalIDParams{Owners: see.Owners(), Authors: see.Authors(), Threads: see.Threads(), Ids: ids})
}

func (q queries) ChunksByKey(ctx context.Context, see rules.Visible, docIDs []string, ordinals []int64) ([]sqlcgen.ChunksByKeyRow, error) {
	return q.Queries.ChunksByKey(ctx, sqlcgen.ChunksByKeyParams{Owners: see.Owners(), Authors: see.Authors(), Threads: see.Threads(), DocIds: docIDs, Ordinals: ordinals})
}

func (q queries) DocumentsByID(ctx context.Context, see rules.Visible, ids []string) ([]sqlcgen.DocumentsByIDRow, error) {
	return q.Queries.DocumentsByID(ctx, sqlcgen.DocumentsByIDParams{Owners: see.Owners(), Authors: see.Authors(), Threads: see.Threads(), Ids: ids})
}

func (q queries) DocumentsTitled(ctx context.Context, see rules.Visible, titles []string) ([]sqlcgen.DocumentsTitledRow, error) {
	return q.Queries.DocumentsTitled(ctx, sqlcgen.DocumentsTitledParams{Owners: see.Owners(), Authors: see.Authors(), Threads: see.Threads(), Titles: titles})
}

func (q queries) DocumentText(ctx context.Context, see rules.Visible, id string) (string, error) {
	return q.Queries.DocumentText(ctx, sqlcgen.DocumentTextParams{Owners: see.Owners(), Authors: see.Authors(), Threads: see.Threads(), ID: id})
}

func (q queries) DocumentChunks(ctx context.Context, see rules.Visible, id string, limit int64) ([]sqlcgen.DocumentChunksRow, error) {
	return q.Queries.DocumentChunks(ctx, sqlcgen.DocumentChunksParams{Owners: see.Owners(), Authors: see.Authors(), Threads: see.Threads(), ID: id, MaxRows: limit})
}

func (q queries) VisibleDocuments(ctx context.Context, see rules.Visible, limit int64) ([]sqlcgen.VisibleDocumentsRow, error) {
	return q.Queries.VisibleDocuments(ctx, sqlcgen.VisibleDocumentsParams{Owners: see.Owners(), Owner: see.Owner, Authors: see.Authors(), Threads: see.Threads(), MaxRows: limit})
}

func (q queries) EventsOfTurns(ctx context.Context, owner string, ids []string) ([]sqlcgen.EventsOfTurnsRow, error) {
	return q.Queries.EventsOfTurns(ctx, sqlcgen.EventsOfTurnsParams{Owner: owner, Ids: ids})
}

func (q queries) RegistryDocuments(ctx context.Context, see rules.Visible, ids []string) ([]sqlcgen.RegistryDocumentsRow, error) {
	return q.Queries.RegistryDocuments(ctx, sqlcgen.RegistryDocumentsParams{Owners: see.Owners(), Authors: see.Authors(), Threads: see.Threads(), Ids: ids})
}

func (q queries) SetMembers(ctx context.Context, owner string, ids []string) ([]sqlcgen.SetMembersRow, error) {
	return q.Queries.SetMembers(ctx, sqlcgen.SetMembersParams{Owner: owner, Ids: ids})
}

func (q queries) SetsByID(ctx context.Context, owner string, ids []string) ([]sqlcgen.DocumentSet, error) {
	return q.Queries.SetsByID(ctx, sqlcgen.SetsByIDParams{Owner: owner, Ids: ids})
}

func (q queries) TurnsByID(ctx context.Context, owner string, ids []string) ([]sqlcgen.Turn, error) {
	return q.Queries.TurnsByID(ctx, sqlcgen.TurnsByIDParams{Owner: owner, Ids: ids})
}

func (q queries) RecordDeletedTurns(ctx context.Context, digests []string, at int64) error {
	return q.Queries.RecordDeletedTurns(ctx, sqlcgen.RecordDeletedTurnsParams{Digests: digests, At: at})
}

func (q queries) UseAttachments(ctx context.Context, owner, threadID string, ids []string) error {
	return q.Queries.UseAttachments(ctx, sqlcgen.UseAttachmentsParams{Owner: owner, ThreadID: threadID, Ids: ids})
}

func (q queries) InsertTurn(ctx context.Context, t sqlcgen.Turn, m sqlcgen.Message) (sqlcgen.Turn, error) {
	row, err := q.Queries.InsertTurn(ctx, sqlcgen.InsertTurnParams{
		ID: t.ID, Owner: t.Owner, ThreadID: t.ThreadID, Parent: t.Parent, CreatedAt: t.CreatedAt,
		ClientTurnID: t.ClientTurnID, StreamRunID: t.StreamRunID, ContentHash: t.ContentHash, Content: t.Content,
		Generation: t.Generation, SpaceID: t.SpaceID, Address: t.Address, Role: m.Role, MessageAt: m.CreatedAt, Message: m.Content, Metadata: m.Metadata})
	return sqlcgen.Turn(row), err
}

func (q queries) PlaceTurn(ctx context.Context, t sqlcgen.Turn, show *sqlcgen.ShowConversationParams) error {
	p := sqlcgen.PlaceTurnParams{Owner: t.Owner, ThreadID: t.ThreadID, ID: t.ID, Status: t.Status, Asks: t.Asks, Parent: t.Parent}
	if show != nil {
		p.Shown, p.At, p.Title, p.TitleFolded = true, show.At, show.Title, show.TitleFolded
	}
	return q.Queries.PlaceTurn(ctx, p)
}

func (q queries) SettleTurn(ctx context.Context, e rules.Ending) error {
	t := e.Turn
	p := sqlcgen.SettleTurnParams{
		Owner: t.Owner, ThreadID: t.ThreadID, ID: t.ID, Status: t.Status, Parent: t.Parent, Place: t.Place,
		Registry: t.Registry, Approvals: t.Approvals, Hidden: t.Hidden, At: t.SettledAt,
		Title: e.Show.Title, TitleFolded: e.Show.TitleFolded,
		Subjects: e.Spent.Subjects, Day: e.Spent.Day, Tokens: e.Spent.Tokens, CostNanos: e.Spent.CostNanos}
	for _, m := range e.Messages {
		p.MessageNumbers, p.Roles = append(p.MessageNumbers, m.N), append(p.Roles, m.Role)
		p.MessageTimes, p.Contents = append(p.MessageTimes, m.CreatedAt), append(p.Contents, m.Content)
		p.Metadata = append(p.Metadata, m.Metadata)
	}
	for _, ev := range e.Events {
		p.EventNumbers, p.Events = append(p.EventNumbers, ev.N), append(p.Events, ev.Event)
	}
	return q.Queries.SettleTurn(ctx, p)
}

func (q queries) DeleteUpload(ctx context.Context, docID string) error {
	if err := q.DeleteScans(ctx, docID); err != nil {
		return err
	}
	return q.DeleteRaw(ctx, docID)
}

func (q queries) FillSet(ctx context.Context, set chat.DocumentSet) error {
	// Lock the documents before the set's rows, in the same order as a delete of a
	// document does, so that the two cannot deadlock.
	visible, err := q.LockDocuments(ctx, sqlcgen.LockDocumentsParams{Owner: set.Owner, Ids: set.DocIDs})
	if err != nil {
		return err
	}
	fill := sqlcgen.FillSetParams{SetID: set.ID, DocIds: set.DocIDs}
	for i, id := range set.DocIDs {
		if !slices.Contains(visible, id) {
			return db.ErrNotFound
		}
		fill.Positions = append(fill.Positions, int64(i))
	}
	if err := q.ClearSet(ctx, set.ID); err != nil {
		return err
	}
	return q.Queries.FillSet(ctx, fill)
}
