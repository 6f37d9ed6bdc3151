package rules

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
)

func (s *Store) Met(ctx context.Context, owner, knownAs string, at time.Time) (err error) {
	ctx, end := s.short(ctx, "record who was seen")
	defer end(&err)
	return s.db.Write.Met(ctx, sqlcgen.MetParams{Owner: owner, At: record.Micros(at), KnownAs: knownAs})
}

func (s *Store) People(ctx context.Context, on time.Time, cursor string, limit int) (_ db.Page[db.Person], err error) {
	ctx, end := s.long(ctx, "list people")
	defer end(&err)
	from, limit, err := start(cursor, limit, 100)
	if err != nil {
		return db.Page[db.Person]{}, err
	}
	rows, err := s.db.Read.People(ctx, sqlcgen.PeopleParams{Day: day(on), At: from.At, Owner: from.ID, MaxRows: int64(limit) + 1})
	if err != nil {
		return db.Page[db.Person]{}, err
	}
	return record.Page(rows, limit, func(r sqlcgen.PeopleRow) db.Person {
		return db.Person{Owner: r.Owner, KnownAs: r.KnownAs, SeenAt: record.Time(r.SeenAt), Threads: r.Threads, Documents: r.Documents, Bytes: r.Bytes,
			Today: spending(r.Tokens, r.CostNanos)}
	}, func(r sqlcgen.PeopleRow) record.Cursor { return record.Cursor{At: r.SeenAt, ID: r.Owner} }), nil
}

// start reads where a page begins, and keeps its limit between 1 and most.
func start(cursor string, limit, most int) (record.Cursor, int, error) {
	from, err := record.ParseCursor(cursor)
	return from, record.Clamp(limit, most), err
}

func (s *Store) CountAnonymous(ctx context.Context) (n int64, err error) {
	ctx, end := s.long(ctx, "count anonymous owners")
	defer end(&err)
	return s.db.Read.CountAnonymous(ctx)
}

func (s *Store) AddModelUsage(ctx context.Context, more []db.ModelUsage) (err error) {
	ctx, end := s.short(ctx, "add the usage of models")
	defer end(&err)
	return s.db.Update(ctx, func(q Queries) error {
		for _, u := range more {
			err := q.AddModelUsage(ctx, sqlcgen.AddModelUsageParams{Day: day(u.Day), Model: u.Model, Calls: u.Calls, Unpriced: u.Unpriced,
				TokensIn: u.TokensIn, TokensOut: u.TokensOut, CostNanos: nanos(u.CostUSD)})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Store) ModelUsage(ctx context.Context, since time.Time) (_ []db.ModelUsage, err error) {
	ctx, end := s.long(ctx, "list the usage of models")
	defer end(&err)
	rows, err := s.db.Read.ModelUsage(ctx, sqlcgen.ModelUsageParams{SinceDay: day(since), MaxRows: db.MaxModelUsage})
	return rowsTo(rows, err, func(r sqlcgen.ModelUsage) db.ModelUsage {
		return db.ModelUsage{Day: time.Unix(r.Day*int64(24*time.Hour/time.Second), 0).UTC(), Model: r.Model, Calls: r.Calls, Unpriced: r.Unpriced,
			TokensIn: r.TokensIn, TokensOut: r.TokensOut, CostUSD: float64(r.CostNanos) / nanosPerUSD}
	})
}

func (s *Store) FailedDocuments(ctx context.Context, cursor string, limit int) (_ db.Page[db.FailedDocument], err error) {
	ctx, end := s.long(ctx, "list failed documents")
	defer end(&err)
	from, limit, err := start(cursor, limit, 100)
	if err != nil {
		return db.Page[db.FailedDocument]{}, err
	}
	rows, err := s.db.Read.FailedDocuments(ctx, sqlcgen.FailedDocumentsParams{At: from.At, ID: from.ID, MaxRows: int64(limit) + 1})
	if err != nil {
		return db.Page[db.FailedDocument]{}, err
	}
	return record.Page(rows, limit, func(r sqlcgen.FailedDocumentsRow) db.FailedDocument {
		return db.FailedDocument{ID: r.ID, Owner: r.Owner, Source: r.SourceType, Format: r.Format, Bytes: r.Bytes, Reason: r.Error, CreatedAt: record.Time(r.CreatedAt)}
	}, func(r sqlcgen.FailedDocumentsRow) record.Cursor { return record.Cursor{At: r.CreatedAt, ID: r.ID} }), nil
}

func (s *Store) AuditPage(ctx context.Context, owner, kind, cursor string, limit int) (p db.Page[db.AuditEntry], err error) {
	ctx, end := s.long(ctx, "read the audit log")
	defer end(&err)
	from, limit, err := start(cursor, limit, 200)
	if err != nil {
		return p, err
	}
	rows, err := s.db.Read.AuditBefore(ctx, sqlcgen.AuditBeforeParams{Before: from.At, ScannedRows: db.AuditScan, Owner: owner, Kind: kind, MaxRows: int64(limit)})
	if err != nil {
		return p, err
	}
	for _, r := range rows {
		e, err := auditEntry(sqlcgen.AuditLog(r))
		if err != nil {
			return p, err
		}
		p.Items = append(p.Items, e)
	}
	if len(rows) == limit {
		p.Next = record.Cursor{At: rows[limit-1].ID}.String()
		return p, nil
	}
	scanned, err := s.db.Read.AuditScanned(ctx, sqlcgen.AuditScannedParams{Before: from.At, ScannedRows: db.AuditScan})
	if scanned.Scanned == db.AuditScan {
		p.Next = record.Cursor{At: scanned.LastID}.String()
	}
	return p, err
}

func (s *Store) FeedbackPage(ctx context.Context, cursor string, limit int) (_ db.Page[db.RatedTurn], err error) {
	ctx, end := s.long(ctx, "list the newest feedback")
	defer end(&err)
	from, limit, err := start(cursor, limit, 50)
	if err != nil {
		return db.Page[db.RatedTurn]{}, err
	}
	rows, err := s.db.Read.FeedbackBefore(ctx, sqlcgen.FeedbackBeforeParams{At: from.At, ID: from.ID, MaxRows: int64(limit) + 1})
	if err != nil {
		return db.Page[db.RatedTurn]{}, err
	}
	return record.Page(rows, limit, func(r sqlcgen.FeedbackBeforeRow) db.RatedTurn {
		f := feedback(sqlcgen.FeedbackOfThreadRow{TurnID: r.TurnID, Owner: r.Owner, ThreadID: r.ThreadID, Good: r.Good, Reason: r.Reason, Shared: r.Shared, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt})
		return db.RatedTurn{Feedback: f, Question: r.Question, Answer: r.Answer}
	}, func(r sqlcgen.FeedbackBeforeRow) record.Cursor { return record.Cursor{At: r.UpdatedAt, ID: r.TurnID} }), nil
}

func auditEntry(r sqlcgen.AuditLog) (db.AuditEntry, error) {
	e := db.AuditEntry{ID: r.ID, At: record.Time(r.At), Kind: r.Kind, Owner: r.Owner, Channel: r.Channel,
		Address: r.Address, RequestID: r.RequestID, Times: int(r.Times)}
	if err := json.Unmarshal([]byte(r.Detail), &e.Detail); err != nil {
		return e, fmt.Errorf("audit entry %d: %w", r.ID, err)
	}
	return e, nil
}
