package config

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// cookieSecretFile holds the secret that was made on the first start.
const cookieSecretFile = "cookie_secret"

// CookieKey returns COOKIE_SECRET, or the secret in the data folder. If there is none
// yet, it makes one that only the file's owner can read. Processes that start at once
// use the same one.
func (c *Config) CookieKey() ([]byte, error) {
	if c.CookieSecret != "" {
		return []byte(c.CookieSecret), nil
	}
	path := filepath.Join(c.DataDir, cookieSecretFile)
	secret, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		secret, err = makeSecret(path)
	}
	if err != nil {
		return nil, fmt.Errorf("cookie secret: %w", err)
	}
	secret = []byte(strings.TrimSpace(string(secret)))
	if len(secret) < shortestSecret {
		return nil, fmt.Errorf("cookie secret: %s is damaged; delete it to have a new one made", path)
	}
	return secret, nil
}

// makeSecret writes a new secret to a temporary file and links it to path. If another
// process was first, the link fails. The file at path then has the secret.
func makeSecret(path string) ([]byte, error) {
	random := make([]byte, 32)
	rand.Read(random)
	f, err := os.CreateTemp(filepath.Dir(path), cookieSecretFile+".*") // mode 0600
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.WriteString(hex.EncodeToString(random) + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return nil, err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return os.ReadFile(path)
}

// hasCookieSecret reports whether CookieKey would not make a new secret.
func (c *Config) hasCookieSecret() bool {
	_, err := os.Stat(filepath.Join(c.DataDir, cookieSecretFile))
	return c.CookieSecret != "" || !errors.Is(err, fs.ErrNotExist)
}
