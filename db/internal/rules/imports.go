package rules

import (
	"context"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
)

func (w within) CreateImport(ctx context.Context, i chat.Import) (_ chat.Import, err error) {
	ctx, end := w.s.short(ctx, "create import")
	defer end(&err)
	err = w.s.db.Update(ctx, func(q Queries) error {
		rows, err := q.InsertImport(ctx, sqlcgen.InsertImportParams{
			ID: i.ID, Owner: i.Owner, ThreadID: i.ThreadID, TurnID: i.TurnID, Key: i.Key, SourceType: string(i.Source),
			ExternalID: i.ExternalID, ResourceKey: i.ResourceKey, Url: i.URL, Announce: flag(i.Announce),
			Address: w.address(), At: record.Micros(record.OrNow(i.CreatedAt))})
		if err != nil || rows == 0 {
			return err
		}
		if err := q.LockQuotas(ctx, []string{"imports:" + i.Owner}); err != nil {
			return err
		}
		open, err := q.CountOpenImports(ctx, i.Owner)
		switch {
		case err != nil:
			return err
		case open > db.MaxOpenImports:
			return &db.Exceeded{Bound: db.BoundOpenImports, Scope: db.OfOwner, Limit: db.MaxOpenImports}
		case !w.bounds.Anonymous:
			return nil
		}
		return markAnonymous(ctx, q, i.Owner)
	})
	if err != nil {
		return chat.Import{}, err
	}
	row, err := w.s.db.Write.ImportByID(ctx, sqlcgen.ImportByIDParams{ID: i.ID, Owner: i.Owner})
	return importOf(row), err
}

func (s *Store) CreateImport(ctx context.Context, i chat.Import) (chat.Import, error) {
	return within{s: s}.CreateImport(ctx, i)
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func importOf(r sqlcgen.ImportByIDRow) chat.Import {
	state := chat.ImportState(r.State)
	if state == chat.ImportReading && r.Progress >= chat.ReadProgress {
		state = chat.ImportIndexing
	}
	return chat.Import{
		ID: r.ID, Owner: r.Owner, ThreadID: r.ThreadID, TurnID: r.TurnID, Key: r.Key, Source: chat.SourceType(r.SourceType),
		ExternalID: r.ExternalID, ResourceKey: r.ResourceKey, URL: r.Url, State: state, Outcome: chat.ImportOutcome(r.Outcome),
		Name: r.Name, Title: r.Title, Remote: r.Remote, DocID: r.DocID, Chunks: int(r.Chunks), Code: r.Code, Message: r.Message,
		Announce: r.Announce != 0, Address: r.Address, CreatedAt: record.Time(r.CreatedAt), UpdatedAt: record.Time(r.UpdatedAt),
	}
}

func (s *Store) ImportByID(ctx context.Context, owner, id string) (_ chat.Import, err error) {
	ctx, end := s.short(ctx, "read import")
	defer end(&err)
	row, err := s.db.Read.ImportByID(ctx, sqlcgen.ImportByIDParams{ID: id, Owner: owner})
	return importOf(row), err
}

func (s *Store) OpenImports(ctx context.Context, owner, key string) (_ []chat.Import, err error) {
	ctx, end := s.short(ctx, "read open imports")
	defer end(&err)
	rows, err := s.db.Read.OpenImports(ctx, sqlcgen.OpenImportsParams{Owner: owner, Key: key})
	return rowsTo(rows, err, func(r sqlcgen.OpenImportsRow) chat.Import { return importOf(sqlcgen.ImportByIDRow(r)) })
}

func (s *Store) ListImports(ctx context.Context, owner, threadID, turnID string, limit int) (_ []chat.Import, err error) {
	ctx, end := s.short(ctx, "list imports")
	defer end(&err)
	rows, err := s.db.Read.ListImports(ctx, sqlcgen.ListImportsParams{
		Owner: owner, ThreadID: threadID, TurnID: turnID, MaxRows: int64(record.Clamp(limit, 200))})
	return rowsTo(rows, err, func(r sqlcgen.ListImportsRow) chat.Import { return importOf(sqlcgen.ImportByIDRow(r)) })
}

func (s *Store) AdvanceImports(ctx context.Context, owner, key string, step chat.ImportStep, at time.Time) (err error) {
	ctx, end := s.short(ctx, "advance imports")
	defer end(&err)
	return s.db.Update(ctx, func(q Queries) error {
		open, err := q.OpenImports(ctx, sqlcgen.OpenImportsParams{Owner: owner, Key: key})
		if err != nil {
			return err
		}
		for n, i := range open {
			outcome := step.Outcome
			if n > 0 && outcome != "" { // the first one has imported it
				outcome = chat.ImportIsKnown
			}
			step.Outcome = outcome
			if err := q.UpdateImport(ctx, importStep(owner, i.ID, step, at)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Store) AdvanceImport(ctx context.Context, owner, id string, step chat.ImportStep, at time.Time) (err error) {
	ctx, end := s.short(ctx, "advance import")
	defer end(&err)
	return s.db.Write.UpdateImport(ctx, importStep(owner, id, step, at))
}

func importStep(owner, id string, step chat.ImportStep, at time.Time) sqlcgen.UpdateImportParams {
	return sqlcgen.UpdateImportParams{
		ID: id, Owner: owner, State: string(step.State), Outcome: string(step.Outcome), Name: step.Name, Remote: step.Remote,
		DocID: step.DocID, Chunks: int64(step.Chunks), Code: step.Code, Message: step.Message, At: record.Micros(at)}
}

func (s *Store) AnnounceImport(ctx context.Context, owner, id string, announce bool) (err error) {
	ctx, end := s.short(ctx, "announce import")
	defer end(&err)
	return s.db.Write.AnnounceImport(ctx, sqlcgen.AnnounceImportParams{ID: id, Owner: owner, Announce: flag(announce)})
}
