package cli

import (
	"context"
	"log/slog"
	"os"

	"github.com/palaver-chat/palaver/app/admin"
	"github.com/palaver-chat/palaver/app/config"
	"github.com/palaver-chat/palaver/app/service"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

func (i ingestCmd) Run(ctx context.Context, cfg *config.Config, log *slog.Logger, additions service.Additions, store db.Store) error {
	owner, err := i.owner()
	if err != nil {
		return err
	}
	model, err := additions.NewModel(cfg)
	if err != nil {
		return err
	}
	in := admin.Ingester{Store: store, Model: model, Types: additions.Types(), OCR: service.FindOCR(ctx, cfg, log), Owner: owner, MaxMB: cfg.MaxUploadMB, Log: log}
	return in.Load(ctx, i.Paths, os.Stdout)
}

// owner returns the owner of the documents, or an error about --owner and --public.
func (i ingestCmd) owner() (string, error) {
	switch {
	case i.Public && i.Owner != "":
		return "", &config.Error{Variable: "--owner", Problem: "public documents have no owner; use either --public or --owner"}
	case i.Public:
		return chat.PublicOwner, nil
	case i.Owner == "" || i.Owner == chat.PublicOwner:
		return "", &config.Error{Variable: "--owner", Problem: "required: the user id that the documents belong to, or use --public"}
	}
	return i.Owner, nil
}
