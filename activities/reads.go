package activities

import (
	"context"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// reads keeps the messages before a turn for the steps of one activity, which read
// them more than once.
type reads struct {
	mu      sync.Mutex // held while reading, so that a concurrent step waits for it
	earlier []chat.Message
	known   bool
}

type readsKey struct{}

// withReads lets the steps of an activity share what they read.
func withReads(ctx context.Context) context.Context {
	return context.WithValue(ctx, readsKey{}, &reads{})
}

// recent returns the last n messages before a turn, oldest first.
func (a *Activities) recent(ctx context.Context, ref TurnRef, n int) ([]chat.Message, error) {
	r, shared := ctx.Value(readsKey{}).(*reads)
	if !shared || n > earlierMessages {
		return a.Store.Recent(ctx, ref.Owner, ref.ThreadID, ref.Parent, n)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.known {
		earlier, err := a.Store.Recent(ctx, ref.Owner, ref.ThreadID, ref.Parent, earlierMessages)
		if err != nil {
			return nil, err
		}
		r.earlier, r.known = earlier, true
	}
	return r.earlier[max(0, len(r.earlier)-n):], nil
}

// codeLifetime is how long the passages found for a code are used again. It is about as
// long as the model takes to resolve a message.
const codeLifetime = 2 * time.Second

// codePassages keeps the passages that were found for codes in the message of a turn: the
// rules look for them, then the resolver, then the retrieval. The zero value is empty.
type codePassages struct {
	mu    sync.Mutex
	found map[string]foundPassages // by owner, turn and words
}

type foundPassages struct {
	hits []chat.Hit
	at   time.Time
}

func (c *codePassages) find(key string, now time.Time) ([]chat.Hit, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, known := c.found[key]
	return f.hits, known && now.Sub(f.at) < codeLifetime
}

func (c *codePassages) keep(key string, hits []chat.Hit, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.found == nil {
		c.found = map[string]foundPassages{}
	}
	maps.DeleteFunc(c.found, func(_ string, f foundPassages) bool { return now.Sub(f.at) >= codeLifetime })
	c.found[key] = foundPassages{hits, now}
}

// passagesWith returns the passages that have most of the words of a code. Without a
// turn it always searches.
func (a *Activities) passagesWith(ctx context.Context, owner, turnID string, words []string) ([]chat.Hit, error) {
	key := owner + " " + turnID + " " + strings.Join(words, " ")
	if hits, known := a.codes.find(key, a.now()); known && turnID != "" {
		return hits, nil
	}
	hits, err := a.Store.SearchText(ctx, owner, db.Words(words...), nil, maxCodePassages)
	if err == nil && turnID != "" {
		a.codes.keep(key, hits, a.now())
	}
	return hits, err
}
