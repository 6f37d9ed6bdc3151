package identity

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/palaver-chat/palaver/api/accesskey"
	"github.com/palaver-chat/palaver/api/credential"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
)

// Keys stores personal keys.
type Keys interface {
	KeyByDigest(ctx context.Context, digest string) (db.Key, error)
	UseKey(ctx context.Context, owner, id string, at time.Time) error
}

const (
	keysTimeout = 3 * time.Second
	// Timeout for a key that is known from an earlier request.
	knownKeyTimeout = time.Second
	// The shortest time between two updates of a key's last use.
	useEvery = time.Minute
	// The most keys that are kept in memory.
	maxKnownKeys = 10_000
)

// personalKeys reads the key of every request, so that a revoked key is refused at once by
// every process. It remembers the keys of recent callers, who stay known while the
// database is unavailable.
type personalKeys struct {
	store Keys

	mu    sync.Mutex
	known map[string]knownKey // by digest
}

type knownKey struct {
	db.Key
	noted time.Time
}

// caller returns the caller that a personal key belongs to.
func (p *personalKeys) caller(ctx context.Context, token string) (Caller, error) {
	if p.store == nil {
		return Caller{}, problem.Unauthenticated
	}
	digest := accesskey.Digest(token)
	k, err := p.find(ctx, digest)
	switch {
	case errors.Is(err, db.ErrNotFound):
		return Caller{}, problem.Unauthenticated
	case err != nil:
		return Caller{}, &problem.Problem{Status: http.StatusServiceUnavailable, Code: chat.CodeDatabase, Cause: err,
			Message: messages.KeysDown}
	case !k.ExpiresAt.IsZero() && !time.Now().Before(k.ExpiresAt):
		return Caller{}, problem.Unauthenticated
	}
	return Caller{ID: k.Owner, By: credential.Key, Anonymous: k.Anonymous, Expires: k.ExpiresAt, Key: k.ID, Space: k.Space, keyDigest: digest}, nil
}

// find reads a key. While the database is unavailable a known key stays valid.
func (p *personalKeys) find(ctx context.Context, digest string) (db.Key, error) {
	p.mu.Lock()
	known, ok := p.known[digest]
	p.mu.Unlock()
	timeout := keysTimeout
	if ok {
		timeout = knownKeyTimeout
	}
	read, cancel := context.WithTimeout(ctx, timeout)
	k, err := p.store.KeyByDigest(read, digest)
	cancel()
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case errors.Is(err, db.ErrNotFound):
		delete(p.known, digest)
		return db.Key{}, err
	case err == nil:
		known.Key = k
	case !ok || !db.Unavailable(err):
		return db.Key{}, err
	}
	if now := time.Now(); now.Sub(known.noted) >= useEvery {
		known.noted = now
		go p.note(context.WithoutCancel(ctx), known.Key, now)
	}
	if p.known == nil || len(p.known) >= maxKnownKeys {
		p.known = map[string]knownKey{}
	}
	p.known[digest] = known
	return known.Key, nil
}

// note records the use of a key. If that fails, the next use after a minute is recorded.
func (p *personalKeys) note(ctx context.Context, k db.Key, at time.Time) {
	ctx, cancel := context.WithTimeout(ctx, keysTimeout)
	defer cancel()
	_ = p.store.UseKey(ctx, k.Owner, k.ID, at)
}
