package service

import (
	"context"
	"os"
	"strings"

	"github.com/palaver-chat/palaver/app/config"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/imports"
	"github.com/palaver-chat/palaver/internal/guard"
)

// newImporter makes the importer with its sources. own has the access tokens of people; it
// is nil if they cannot connect accounts.
func newImporter(ctx context.Context, cfg *config.Config, additions Additions, own imports.Credentials) (*imports.Importer, error) {
	allowed, err := guard.ParsePrefixes(cfg.AllowPrivate)
	if err != nil {
		return nil, &config.Error{Variable: "ALLOW_PRIVATE_ADDRESSES", Problem: err.Error()}
	}
	account, err := serviceAccount(cfg.GoogleServiceAccount)
	if err != nil {
		return nil, err
	}
	drive, err := imports.NewDrive(ctx, imports.DriveAccess{
		APIKey: cfg.GoogleAPIKey, ServiceAccount: account, Own: own, BaseURL: cfg.GoogleDriveBaseURL})
	if err != nil {
		return nil, err
	}
	return &imports.Importer{
		Sources:      append(imports.Sources{drive.Source(), imports.NewPages(guard.New(allowed)).Source()}, additions.ImportSources...),
		Types:        additions.Types(),
		MaxBytes:     int64(cfg.MaxUploadMB) * megabyte,
		FetchTimeout: cfg.ImportTimeout,
		RetryBudget:  cfg.ImportRetryBudget,
	}, nil
}

// serviceAccount returns the JSON of a service account's key. The setting is that JSON, or
// the path of a file with it.
func serviceAccount(setting string) (string, error) {
	if setting == "" || strings.HasPrefix(strings.TrimSpace(setting), "{") {
		return setting, nil
	}
	raw, err := os.ReadFile(setting)
	if err != nil {
		return "", &config.Error{Variable: "GOOGLE_SERVICE_ACCOUNT", Problem: "the file cannot be read; give its path, or the JSON itself"}
	}
	return string(raw), nil
}

// importBounds returns a function that returns the limits of what an owner's imports may
// store. An owner with an address is anonymous; address is "" for an account.
func importBounds(cfg *config.Config) func(address string) db.Bounds {
	limits := callerLimits(cfg)
	return func(address string) db.Bounds {
		b := db.Bounds{Owner: limits.Owner}
		if address != "" {
			b.Anonymous, b.Address, b.PerAddress, b.Everybody = true, address, limits.PerAddress, limits.Everybody
		}
		return b
	}
}
