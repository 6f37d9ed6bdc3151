package service

import (
	"log/slog"

	"github.com/palaver-chat/palaver/app/config"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/imports/connections"
	"github.com/palaver-chat/palaver/tools/mcp"
)

// OpenAccounts returns the accounts that people have connected. It opens no connection.
func OpenAccounts(cfg *config.Config, store db.Store, log *slog.Logger) (*connections.Accounts, error) {
	secrets, err := cfg.TokenSecrets()
	if err != nil {
		return nil, err
	}
	keys, err := connections.NewKeys(secrets...)
	if err != nil {
		return nil, err
	}
	servers, allowed, err := toolServers(cfg)
	if err != nil {
		return nil, err
	}
	return connections.New(connections.Options{Store: store, Keys: keys, Providers: mcp.OAuthProviders(servers, allowed), ClientID: cfg.GoogleClientID, ClientSecret: cfg.GoogleClientSecret,
		OAuthURL: cfg.GoogleOAuthURL, DriveURL: cfg.GoogleDriveBaseURL, Log: log})
}
