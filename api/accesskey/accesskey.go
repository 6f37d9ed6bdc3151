// Package accesskey makes personal keys: with one, another program acts for its owner.
// The owner sees a key once, when it is created; only its digest is stored.
package accesskey

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// Limits of keys.
const (
	MaxName     = 100 // characters
	MaxPerOwner = db.MaxKeys
	MaxDays     = 3650
)

// Errors of Create.
var (
	ErrName = errors.New("the name must have 1 to 100 characters")
	ErrDays = errors.New("the days must be from 0 (no end) to 3650")
	ErrMany = errors.New("there are 20 keys; revoke one first")
)

const prefix = "plv_"

// Is reports whether a bearer token is a personal key.
func Is(token string) bool { return strings.HasPrefix(token, prefix) }

// Digest returns the digest under which a key is stored. Keys are random, so a fast hash
// is enough.
func Digest(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// Store keeps keys.
type Store interface {
	CreateKey(ctx context.Context, k db.Key) error
}

// New describes a key to create.
type New struct {
	Owner     string
	Anonymous bool // the owner has no account
	Name      string
	Days      int    // until it expires; 0: it does not expire
	Space     string // it works in this space only; empty: it is not bound to one
}

// Create stores a new key. It returns the secret key, which cannot be read again, and its
// stored record. db.ErrNotFound if the owner does not read the space.
func Create(ctx context.Context, store Store, n New) (key string, _ db.Key, _ error) {
	name, days := chat.OneLine(n.Name), n.Days
	if name == "" || utf8.RuneCountInString(name) > MaxName || strings.ContainsRune(name, 0) {
		return "", db.Key{}, ErrName
	}
	if days < 0 || days > MaxDays {
		return "", db.Key{}, ErrDays
	}
	key = prefix + rand.Text() + rand.Text()
	k := db.Key{ID: uuid.NewString(), Owner: n.Owner, Name: name, Digest: Digest(key), Anonymous: n.Anonymous, Space: n.Space, CreatedAt: time.Now().UTC().Truncate(time.Microsecond)}
	if days > 0 {
		k.ExpiresAt = k.CreatedAt.AddDate(0, 0, days)
	}
	err := store.CreateKey(ctx, k)
	if errors.As(err, new(*db.Exceeded)) {
		return "", db.Key{}, ErrMany
	}
	return key, k, err
}
