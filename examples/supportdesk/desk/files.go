package desk

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
)

// Files are tickets in a folder, one file each, for trying the example out.
type Files struct{ Dir string }

// Create implements Tickets. The key is the file's name, so the same key has one file.
func (f Files) Create(_ context.Context, key string, ticket json.RawMessage) (number string, err error) {
	if err := os.MkdirAll(f.Dir, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(f.Dir, key+".json")
	if err := os.WriteFile(path+".new", ticket, 0o600); err != nil {
		return "", err
	}
	return key, os.Rename(path+".new", path)
}
