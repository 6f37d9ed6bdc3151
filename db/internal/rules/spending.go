package rules

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"math"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
)

const nanosPerUSD = 1e9

// TurnSpending is what one turn has used, and for whom it counts.
type TurnSpending struct {
	Subjects          []string // the owner first
	Day               int64
	Tokens, CostNanos int64
}

func day(t time.Time) int64 { return t.Unix() / int64(24*time.Hour/time.Second) }

func ownerSubject(owner string) string { return "owner:" + owner }

func addressSubject(address string) string { return "address:" + address }

// subject is the owner or, without one, the address.
func subject(owner, address string) string {
	if owner == "" {
		return addressSubject(address)
	}
	return ownerSubject(owner)
}

// spentBy returns what a turn has used according to its terminal event.
func spentBy(row sqlcgen.Turn, e db.Settlement) TurnSpending {
	usage := chat.Usage{}
	switch {
	case e.Terminal.Response != nil:
		usage = e.Terminal.Response.Usage
	case e.Terminal.Usage != nil:
		usage = *e.Terminal.Usage
	}
	s := TurnSpending{Day: day(e.At), Tokens: int64(usage.Tokens()), CostNanos: nanos(usage.CostUSD)}
	if s.Tokens == 0 && s.CostNanos == 0 {
		return s
	}
	s.Subjects = []string{ownerSubject(row.Owner)}
	if row.Address != "" {
		s.Subjects = append(s.Subjects, addressSubject(row.Address))
	}
	return s
}

func nanos(usd float64) int64 { return int64(math.Round(usd * nanosPerUSD)) }

func (s *Store) Spent(ctx context.Context, owner, address string, on time.Time) (_ db.Spending, err error) {
	ctx, end := s.short(ctx, "read spending")
	defer end(&err)
	row, err := s.db.Read.Spent(ctx, sqlcgen.SpentParams{Subject: subject(owner, address), Day: day(on)})
	if errors.Is(err, sql.ErrNoRows) {
		return db.Spending{}, nil
	}
	return spending(row.Tokens, row.CostNanos), err
}

func spending(tokens, costNanos int64) db.Spending {
	return db.Spending{Tokens: tokens, CostUSD: float64(costNanos) / nanosPerUSD}
}

func (s *Store) SpendOnDocument(ctx context.Context, owner, id string, more db.Spending, at time.Time) (err error) {
	ctx, end := s.short(ctx, "add spending")
	defer end(&err)
	return s.db.Update(ctx, func(q Queries) error {
		spender := owner
		if chat.IsSpaceOwner(owner) { // a space has no budget: that of who added the document counts
			d, err := q.Document(ctx, sqlcgen.DocumentParams{Owner: owner, ID: id})
			if err != nil && !errors.Is(err, sql.ErrNoRows) {
				return err
			}
			spender = cmp.Or(d.AddedBy, owner)
		}
		err := q.AddSpending(ctx, sqlcgen.AddSpendingParams{
			Subject: ownerSubject(spender), Day: day(at), Tokens: more.Tokens, CostNanos: nanos(more.CostUSD)})
		if err != nil {
			return err
		}
		return q.AddSpendingOfAddress(ctx, sqlcgen.AddSpendingOfAddressParams{
			Owner: owner, DocID: id, Day: day(at), Tokens: more.Tokens, CostNanos: nanos(more.CostUSD)})
	})
}

func (s *Store) Spend(ctx context.Context, owner, address string, more db.Spending, at time.Time) (err error) {
	ctx, end := s.short(ctx, "add spending")
	defer end(&err)
	subjects := []string{ownerSubject(owner)}
	if address != "" {
		subjects = append(subjects, addressSubject(address))
	}
	return s.db.Update(ctx, func(q Queries) error {
		for _, subject := range subjects {
			err := q.AddSpending(ctx, sqlcgen.AddSpendingParams{
				Subject: subject, Day: day(at), Tokens: more.Tokens, CostNanos: nanos(more.CostUSD)})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Store) PruneSpending(ctx context.Context, before time.Time) (err error) {
	ctx, end := s.short(ctx, "prune spending")
	defer end(&err)
	_, err = s.db.Write.PruneSpending(ctx, day(before))
	return err
}

// checkTurnBounds checks the bounds of a turn that was just inserted.
func (w within) checkTurnBounds(ctx context.Context, q Queries, t sqlcgen.Turn) error {
	b := w.bounds
	if b.BusyThreads == 0 && b.QueuedTurns == 0 && b.Daily == (db.Spending{}) {
		return nil
	}
	if err := q.LockQuotas(ctx, []string{"turns:" + t.Owner}); err != nil {
		return err
	}
	now := time.Now()
	load, err := q.TurnLoad(ctx, sqlcgen.TurnLoadParams{
		Owner: t.Owner, ThreadID: t.ThreadID, SentAfter: record.Micros(now.Add(-justSent)),
		OfOwner: ownerSubject(t.Owner), OfAddress: addressSubject(w.address()), Day: day(now)})
	switch {
	case err != nil:
		return err
	case b.BusyThreads > 0 && load.Busy >= int64(b.BusyThreads):
		return &db.Exceeded{Bound: db.BoundBusy, Scope: db.OfOwner, Limit: float64(b.BusyThreads)}
	case b.QueuedTurns > 0 && load.Here > int64(b.QueuedTurns):
		return &db.Exceeded{Bound: db.BoundQueued, Scope: db.OfOwner, Limit: float64(b.QueuedTurns)}
	}
	if e := spending(load.OwnerTokens, load.OwnerNanos).Exceeds(b.Daily, db.OfOwner); e != nil {
		return e
	}
	if e := spending(load.AddressTokens, load.AddressNanos).Exceeds(b.Daily, db.OfAddress); e != nil {
		return e
	}
	return nil
}
