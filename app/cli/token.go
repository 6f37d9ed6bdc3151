package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"text/tabwriter"
	"time"

	"github.com/palaver-chat/palaver/api/accesskey"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/audit"
)

type tokenCmd struct {
	Create tokenCreateCmd `cmd:"" help:"Create a key for a user and print it. It cannot be shown again."`
	List   tokenListCmd   `cmd:"" help:"List a user's keys."`
	Revoke tokenRevokeCmd `cmd:"" help:"Revoke a key. It is refused at once; its open streams end within 30 seconds."`
}

type (
	tokenCreateCmd struct {
		User      string `required:"" help:"User id: the subject of the user's token, or the id from /api/me."`
		Name      string `required:"" help:"What the key is for."`
		Days      int    `help:"Days until the key expires; 0: it does not expire."`
		Anonymous bool   `help:"The user has no account, so the limits of anonymous callers apply."`
		Space     string `help:"Id of a space of the user. The key works in it only."`
	}
	tokenListCmd struct {
		User string `required:"" help:"User id."`
	}
	tokenRevokeCmd struct {
		User string `required:"" help:"User id."`
		ID   string `arg:"" help:"Id of the key, as list prints it."`
	}
)

func (t tokenCreateCmd) Run(ctx context.Context, log *slog.Logger, store db.Store) error {
	if !identity.IsUserID(t.User) {
		return fmt.Errorf("%q cannot be a user id", t.User)
	}
	key, k, err := accesskey.Create(ctx, store, accesskey.New{Owner: t.User, Anonymous: t.Anonymous, Name: t.Name, Days: t.Days, Space: t.Space})
	if errors.Is(err, db.ErrNotFound) {
		return fmt.Errorf("user %s does not read the space %s", t.User, t.Space)
	}
	if err != nil {
		return err
	}
	record(store, log, audit.KeyCreated, t.User, map[string]any{"key": k.ID})
	_, err = fmt.Println(key)
	return err
}

func (t tokenListCmd) Run(ctx context.Context, store db.Store) error {
	list, err := store.Keys(ctx, t.User)
	if err != nil {
		return err
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(out, "ID\tNAME\tCREATED\tUSED\tENDS") // Flush returns the error
	for _, k := range list {
		_, _ = fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\n", k.ID, k.Name, day(k.CreatedAt), day(k.UsedAt), day(k.ExpiresAt))
	}
	return out.Flush()
}

func (t tokenRevokeCmd) Run(ctx context.Context, log *slog.Logger, store db.Store) error {
	switch err := store.DeleteKey(ctx, t.User, t.ID); {
	case errors.Is(err, db.ErrNotFound):
		return fmt.Errorf("user %s has no key %s; palaver token list shows the keys", t.User, t.ID)
	case err != nil:
		return err
	}
	record(store, log, audit.KeyRevoked, t.User, map[string]any{"key": t.ID})
	return nil
}

func day(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.Format(time.DateOnly)
}
