package cli

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/palaver-chat/palaver/app/backup"
	"github.com/palaver-chat/palaver/app/config"
	"github.com/palaver-chat/palaver/app/service"
	"github.com/palaver-chat/palaver/internal/build"
)

type (
	backupCmd struct {
		To string `required:"" placeholder:"FILE.tar.gz" help:"Backup file to create. It must not exist. It contains all data and the cookie secret."`
	}
	restoreCmd struct {
		From string `arg:"" type:"existingfile" help:"File created by palaver backup."`
		Only string `enum:",palaver.db,temporal.db" default:"" help:"Restore only this database: palaver.db or temporal.db."`
	}
)

func (b backupCmd) Run(ctx context.Context, cfg *config.Config) error {
	if err := needsDataFolder(cfg); err != nil {
		return err
	}
	m, err := backup.Create(ctx, cfg.DataDir, b.To, build.Read().Version, time.Now())
	if err != nil {
		return err
	}
	printFiles(m)
	if cfg.CookieSecret != "" {
		fmt.Println("COOKIE_SECRET is a setting: keep it with your settings.")
	}
	return nil
}

func (r restoreCmd) Run(ctx context.Context, cfg *config.Config) error {
	if err := needsDataFolder(cfg); err != nil {
		return err
	}
	if err := service.MakeDataDir(cfg); err != nil {
		return err
	}
	m, replaced, err := backup.Restore(ctx, r.From, cfg.DataDir, r.Only, time.Now())
	if replaced != "" {
		fmt.Println("what was there is in", replaced)
	}
	if err != nil {
		return err
	}
	fmt.Printf("restored from %s (release %s):\n", m.At.Format(time.RFC3339), m.Release)
	printFiles(m)
	return nil
}

func needsDataFolder(cfg *config.Config) error {
	if cfg.Postgres() {
		return &config.Error{Variable: "DATABASE_URL", Problem: "the database is Postgres: use its own tools, see Backup in docs/deploy.md"}
	}
	return nil
}

func printFiles(m backup.Manifest) {
	for _, f := range m.Files {
		fmt.Fprintf(os.Stdout, "%12d  %s\n", f.Bytes, f.Name)
	}
}
