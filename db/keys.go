package db

import (
	"context"
	"time"
)

// Keys keeps the keys with which other programs act for a person.
type Keys interface {
	// CreateKey stores a key; *Exceeded when its owner has MaxKeys. With k.Anonymous, the
	// owner becomes one of the Visitors. ErrNotFound if the owner does not read k.Space. Such a
	// key is deleted when its owner is removed from the space or leaves it.
	CreateKey(ctx context.Context, k Key) error
	// Keys lists an owner's keys, oldest first.
	Keys(ctx context.Context, owner string) ([]Key, error)
	// KeyByDigest finds the owner of a key; ErrNotFound when it was revoked or never
	// existed. The caller checks whether it has expired.
	KeyByDigest(ctx context.Context, digest string) (Key, error)
	// UseKey records when a key was used last.
	UseKey(ctx context.Context, owner, id string, at time.Time) error
	DeleteKey(ctx context.Context, owner, id string) error
}

// MaxKeys limits the keys of one owner.
const MaxKeys = 20

// Key is a personal key, without the key itself.
type Key struct {
	ID, Owner string
	Name      string // as its owner knows it
	Digest    string // SHA-256 of the key, in hex
	Anonymous bool   // the owner has no account
	CreatedAt time.Time
	UsedAt    time.Time // zero: never
	ExpiresAt time.Time // zero: never
	Space     string    // it works in this space only; empty: it is not bound to one
}
