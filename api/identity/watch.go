package identity

import (
	"context"
	"errors"
	"time"

	"github.com/palaver-chat/palaver/api/credential"
	"github.com/palaver-chat/palaver/db"
)

// watchEvery is how often the credential of an open stream is checked. With the time that
// a check may take, a stream ends within 30 s of the revocation.
const watchEvery = 20 * time.Second

// Watch returns a channel that fires when the caller's credential is no longer valid: it
// has expired, its key, cookies or sessions were revoked, or its user was deleted. Call
// stop when done. While the database is unavailable only the expiry counts.
func (i *Identifier) Watch(who Caller) (ended <-chan time.Time, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	fired := make(chan time.Time, 1)
	go func() {
		defer cancel()
		expired, stopTimer := who.Expiry()
		defer stopTimer()
		check := time.NewTicker(i.WatchEvery)
		defer check.Stop()
		valid := i.validity(ctx, who)
		for {
			select {
			case <-ctx.Done():
				return
			case now := <-expired:
				fired <- now
				return
			case now := <-check.C:
				if !valid(ctx) {
					fired <- now
					return
				}
			}
		}
	}()
	return fired, cancel
}

// validity returns a function that reports whether the caller's credential is still valid.
func (i *Identifier) validity(ctx context.Context, who Caller) func(context.Context) bool {
	if who.By == credential.Key {
		return func(ctx context.Context) bool {
			ctx, cancel := context.WithTimeout(ctx, keysTimeout)
			defer cancel()
			_, err := i.Keys.KeyByDigest(ctx, who.keyDigest)
			return !errors.Is(err, db.ErrNotFound)
		}
	}
	began, known := who.generation, who.By == credential.Cookie
	read := func(ctx context.Context) (int64, bool) {
		if i.Sessions == nil {
			return 0, false
		}
		ctx, cancel := context.WithTimeout(ctx, keysTimeout)
		defer cancel()
		now, err := i.Sessions.SessionGeneration(ctx, who.ID)
		return now, err == nil
	}
	if !known {
		began, known = read(ctx)
	}
	return func(ctx context.Context) bool {
		now, ok := read(ctx)
		switch {
		case !ok:
			return true
		case !known:
			began, known = now, true
		}
		return now <= began || began < db.NoCookies && now == db.NoCookies && who.By != credential.Cookie // its user has got an account
	}
}
