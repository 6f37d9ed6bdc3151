package cli

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/palaver-chat/palaver/api/export"
	"github.com/palaver-chat/palaver/app/admin"
	"github.com/palaver-chat/palaver/app/config"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/audit"
)

type auditCmd struct {
	Since string `placeholder:"24h" help:"Only entries since a time such as 2026-05-01T12:00:00Z, or a duration before now."`
	Owner string `help:"Only entries about this user id."`
	Kind  string `help:"Only entries of this kind: ${audit_kinds}."`
	JSON  bool   `name:"json" help:"Print JSON, one entry per line."`
}

func (a auditCmd) Run(ctx context.Context, store db.Store) error {
	filter := db.AuditFilter{Owner: a.Owner, Kind: a.Kind}
	var err error
	if filter.Since, err = since(a.Since, time.Now()); err != nil {
		return err
	}
	if a.Kind != "" && !slices.Contains(audit.Kinds, a.Kind) {
		return &config.Error{Variable: "--kind", Problem: "use one of " + strings.Join(audit.Kinds, ", ")}
	}
	return admin.PrintAudit(ctx, store, filter, a.JSON, os.Stdout)
}

// since parses a duration before now, or a time in RFC 3339; it returns zero for "".
func since(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	return time.Time{}, &config.Error{Variable: "--since", Problem: "use a duration such as 24h, or a time such as 2026-05-01T12:00:00Z"}
}

type exportUserCmd struct {
	ID string `arg:"" help:"User id: the subject of the user's token, or the id from /api/me."`
	To string `required:"" placeholder:"FILE.zip" help:"File to create. It must not exist."`
}

func (e exportUserCmd) Run(ctx context.Context, log *slog.Logger, store db.Store) error {
	file, err := os.OpenFile(e.To, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	err = errors.Join(export.Write(ctx, store, e.ID, time.Now().UTC(), file), file.Close())
	record(store, log, audit.Exported, e.ID, map[string]any{"complete": err == nil})
	if err != nil {
		return errors.Join(err, os.Remove(e.To))
	}
	return nil
}

// record adds an entry to the audit log about what a command did for a user.
func record(store db.Store, log *slog.Logger, kind, user string, detail map[string]any) {
	l := audit.Open(store, log)
	l.Record(db.AuditEntry{Kind: kind, Owner: user, Channel: audit.Command, Detail: detail})
	l.Close()
}
