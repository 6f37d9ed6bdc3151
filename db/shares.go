package db

import (
	"context"
	"encoding/json"
	"time"
)

// Shares keeps links with which anybody can read a conversation as it was when the link
// was made. They are deleted with their conversation.
type Shares interface {
	// CreateShare stores a link; *Exceeded when its owner has MaxShares, ErrNotFound when
	// they do not have the conversation.
	CreateShare(ctx context.Context, s Share) error
	// Shares lists all links of an owner, oldest first, without Content and Digest, and without
	// the title outside of a conversation's space.
	Shares(ctx context.Context, owner string) ([]Share, error)
	// ShareByDigest finds the link of a token, without Digest; ErrNotFound when it was
	// revoked or never existed. Links to a conversation of a space work as long as the space
	// has Links and their owner reads it.
	ShareByDigest(ctx context.Context, digest string) (Share, error)
	DeleteShare(ctx context.Context, owner, threadID, id string) error
}

// MaxShares limits the links of one owner.
const MaxShares = 100

// Share is a link to a copy of a conversation, without its token.
type Share struct {
	ID, Owner, ThreadID string
	Digest              string // SHA-256 of the token, in hex
	Title               string
	Content             json.RawMessage // the messages, as they are shown
	CreatedAt           time.Time
}
