package documents

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/palaver-chat/palaver/agents/documents/mention"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/language"
)

// maxCodePassages is the number of passages that are searched for a code.
const maxCodePassages = 20

// withCodedTitles replaces document codes in a message with titles, for codes that only the
// document's text has: it replaces "HR-POL-11" with the title of the policy whose first line
// says "Document number HR-POL-11". It keeps a code that several documents state as their
// own. turnID is the turn of the message; empty when the text is not a message.
func (a *Activities) withCodedTitles(ctx context.Context, owner, turnID, message string, visible []chat.Document) (string, error) {
	codes := mention.PossibleCodes(message, visible)
	for _, c := range slices.Backward(codes) { // the last first, so that earlier places stay
		hits, err := a.passagesWith(ctx, owner, turnID, c.Words)
		if err != nil {
			return "", err
		}
		from, to, titles := 0, 0, []string(nil)
		for _, h := range hits {
			if i, j, ok := c.IsOwn(h.Text, h.Start); ok {
				from, to, titles = i, j, append(titles, h.DocID+"\n"+h.Title)
			}
		}
		if titles = language.Distinct(titles); len(titles) == 1 {
			_, title, _ := strings.Cut(titles[0], "\n")
			message = message[:from] + language.WithoutExtension(title) + message[to:]
		}
	}
	return message, nil
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
	if hits, known := a.codes.find(key, a.Time()); known && turnID != "" {
		return hits, nil
	}
	hits, err := a.Store.SearchText(ctx, owner, db.Words(words...), nil, maxCodePassages)
	if err == nil && turnID != "" {
		a.codes.keep(key, hits, a.Time())
	}
	return hits, err
}
