package rules

import (
	"context"
	"time"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
)

func (s *Store) PutConnection(ctx context.Context, c db.Connection, anonymous bool) (err error) {
	ctx, end := s.short(ctx, "write a connection")
	defer end(&err)
	return s.db.Update(ctx, func(q Queries) error {
		if anonymous {
			if err := markAnonymous(ctx, q, c.Owner); err != nil {
				return err
			}
		}
		return q.PutConnection(ctx, sqlcgen.PutConnectionParams{Owner: c.Owner, Provider: c.Provider, Account: c.Account, Scope: c.Scope,
			Token: c.Token, At: record.Micros(record.OrNow(c.CreatedAt))})
	})
}

func (s *Store) Connection(ctx context.Context, owner, provider string) (_ db.Connection, err error) {
	ctx, end := s.short(ctx, "read a connection")
	defer end(&err)
	row, err := s.db.Read.Connection(ctx, sqlcgen.ConnectionParams{Owner: owner, Provider: provider})
	if err != nil {
		return db.Connection{}, err
	}
	return connection(row), nil
}

func (s *Store) Connections(ctx context.Context, owner string) (_ []db.Connection, err error) {
	ctx, end := s.short(ctx, "list connections")
	defer end(&err)
	rows, err := s.db.Read.Connections(ctx, owner)
	return rowsTo(rows, err, connection)
}

func (s *Store) ConnectedOwners(ctx context.Context, after string, limit int) (_ []string, err error) {
	ctx, end := s.short(ctx, "list owners of connections")
	defer end(&err)
	return s.db.Read.ConnectedOwners(ctx, sqlcgen.ConnectedOwnersParams{AfterOwner: after, MaxRows: int64(limit)})
}

func (s *Store) RenewConnection(ctx context.Context, c db.Connection, token string, at time.Time) (err error) {
	ctx, end := s.short(ctx, "renew a connection")
	defer end(&err)
	changed, err := s.db.Write.RenewConnection(ctx, sqlcgen.RenewConnectionParams{Token: token, At: record.Micros(at),
		Owner: c.Owner, Provider: c.Provider, Version: c.Version})
	if err == nil && changed == 0 {
		return db.ErrVersion
	}
	return err
}

func (s *Store) DeleteConnection(ctx context.Context, owner, provider string) (err error) {
	ctx, end := s.short(ctx, "delete a connection")
	defer end(&err)
	deleted, err := s.db.Write.DeleteConnection(ctx, sqlcgen.DeleteConnectionParams{Owner: owner, Provider: provider})
	if err == nil && deleted == 0 {
		return db.ErrNotFound
	}
	return err
}

func connection(row sqlcgen.Connection) db.Connection {
	return db.Connection{Owner: row.Owner, Provider: row.Provider, Account: row.Account, Scope: row.Scope, Token: row.Token,
		Version: row.Version, CreatedAt: record.Time(row.CreatedAt), UpdatedAt: record.Time(row.UpdatedAt)}
}
