package identity

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/palaver-chat/palaver/api/accesskey"
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
	// How long other processes may accept a key that was revoked.
	keysReadEvery = 30 * time.Second
	keysTimeout   = 3 * time.Second
	// The shortest time between two updates of a key's last use.
	useEvery = time.Minute
	// The most keys that are kept in memory.
	maxKnownKeys = 10_000
)

// personalKeys keeps the keys of recent callers in memory, so that most requests do not
// read the database, and known keys stay valid while it is unavailable.
type personalKeys struct {
	store Keys

	mu    sync.Mutex
	known map[string]knownKey // by digest
	// Counts calls of Forget: a key that was read before one must not be kept after it.
	invalidations int
}

type knownKey struct {
	db.Key
	until, noted time.Time
}

// caller returns the caller that a personal key belongs to.
func (p *personalKeys) caller(ctx context.Context, token string) (Caller, error) {
	if p.store == nil {
		return Caller{}, problem.Unauthenticated
	}
	k, err := p.find(ctx, accesskey.Digest(token))
	switch {
	case errors.Is(err, db.ErrNotFound):
		return Caller{}, problem.Unauthenticated
	case err != nil:
		return Caller{}, &problem.Problem{Status: http.StatusServiceUnavailable, Code: chat.CodeDatabase, Cause: err,
			Message: messages.KeysDown}
	case !k.ExpiresAt.IsZero() && !time.Now().Before(k.ExpiresAt):
		return Caller{}, problem.Unauthenticated
	}
	return Caller{ID: k.Owner, Anonymous: k.Anonymous, Expires: k.ExpiresAt, Key: k.ID}, nil
}

// find reads a key. While the database is unavailable a known key stays valid.
func (p *personalKeys) find(ctx context.Context, digest string) (db.Key, error) {
	now := time.Now()
	p.mu.Lock()
	known, ok := p.known[digest]
	invalidations := p.invalidations
	p.mu.Unlock()
	if !ok || now.After(known.until) {
		ctx, cancel := context.WithTimeout(ctx, keysTimeout)
		defer cancel()
		k, err := p.store.KeyByDigest(ctx, digest)
		switch {
		case err == nil:
			known.Key, known.until = k, now.Add(keysReadEvery)
		case !ok || !db.Unavailable(err):
			p.Forget(digest)
			return db.Key{}, err
		}
	}
	if now.Sub(known.noted) >= useEvery {
		known.noted = now
		go p.note(context.WithoutCancel(ctx), known.Key, now)
	}
	p.keep(digest, known, invalidations)
	return known.Key, nil
}

// note records the use of a key. If that fails, the next use after a minute is recorded.
func (p *personalKeys) note(ctx context.Context, k db.Key, at time.Time) {
	ctx, cancel := context.WithTimeout(ctx, keysTimeout)
	defer cancel()
	_ = p.store.UseKey(ctx, k.Owner, k.ID, at)
}

func (p *personalKeys) keep(digest string, k knownKey, invalidations int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.invalidations != invalidations {
		return
	}
	if p.known == nil || len(p.known) >= maxKnownKeys {
		p.known = map[string]knownKey{}
	}
	p.known[digest] = k
}

// Forget drops a key from memory.
func (p *personalKeys) Forget(digest string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.known, digest)
	p.invalidations++
}

// ForgetKey makes this process read a key again, because it was revoked.
func (i *Identifier) ForgetKey(digest string) { i.personal.Forget(digest) }
