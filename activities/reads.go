package activities

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/palaver-chat/palaver/activities/transcript"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/language"
)

const (
	// rememberFor is how old what a step reads may be: as much as a step may take that searches.
	rememberFor = 10 * time.Second
	// maxReads bounds the turns whose reads are remembered.
	maxReads = 256
	// maxTexts bounds the bytes of a turn's texts that are remembered.
	maxTexts = 64 << 10
)

// turnReads remembers what the steps of turns have read in this process, for the next steps of
// the same turn, which usually run here. The zero value is empty.
type turnReads struct {
	mu    sync.Mutex
	turns map[string]*reads
	order []*reads // the oldest first
}

// reads are what a turn has read.
type reads struct {
	turn, owner string
	at          time.Time
	begun       bool // profile and registry were read, and known at head
	head        string
	profile     chat.Profile
	registry    []string
	recent      map[string][]chat.Message // by the turn that they end with
	docs        map[string]chat.Document  // that are ready
	passages    map[string]chat.Hit
	texts       map[string]string // nil: not read, or too long
	newest      int64             // the order of the newest of them; 0: this process has written none since they were read
	aside       map[string]any    // by PutAside
}

func newReads(ref TurnRef, now time.Time) *reads {
	return &reads{turn: ref.TurnID, owner: ref.Owner, at: now, recent: map[string][]chat.Message{}, docs: map[string]chat.Document{}, passages: map[string]chat.Hit{}}
}

// of calls f with the turn's reads, under the lock. A turn in a space remembers nothing, so that
// each of its reads checks whether its author still reads the space.
func (r *turnReads) of(ref TurnRef, f func(*reads)) {
	if ref.Space != "" {
		f(newReads(ref, time.Time{}))
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	for len(r.order) > 0 && (len(r.order) > maxReads || now.Sub(r.order[0].at) > rememberFor) {
		if first := r.order[0]; r.turns[first.turn] == first {
			delete(r.turns, first.turn)
		}
		r.order = r.order[1:]
	}
	known, ok := r.turns[ref.TurnID]
	if !ok || known.owner != ref.Owner {
		known = newReads(ref, now)
		if r.turns == nil {
			r.turns = map[string]*reads{}
		}
		r.turns[ref.TurnID] = known
		r.order = append(r.order, known)
	}
	f(known)
}

func (r *turnReads) forget(turnID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.turns, turnID)
}

func (r *turnReads) begin(ref TurnRef, now db.TurnContext) {
	r.of(ref, func(known *reads) {
		known.begun, known.head, known.profile, known.registry = true, now.Head, now.Profile, now.Registry
	})
}

// Texts reads the turn's texts. The settlement need not read them again if this process writes the
// next ones.
func (k *Kit) Texts(ctx context.Context, ref TurnRef) (map[string]string, error) {
	texts, err := k.Store.Texts(ctx, ref.Owner, ref.TurnID)
	if err == nil {
		k.reads.of(ref, func(known *reads) { known.texts, known.newest = bounded(maps.Clone(texts)), 0 })
	}
	return texts, err
}

// wrote remembers texts that were stored with an order.
func (r *turnReads) wrote(ref TurnRef, texts []db.Text, order int64) {
	r.of(ref, func(known *reads) {
		if known.texts == nil {
			return
		}
		for _, t := range texts {
			known.texts[t.Key] = t.Text
		}
		known.texts, known.newest = bounded(known.texts), order
	})
}

// bounded returns nil for texts that are too long to be remembered.
func bounded(texts map[string]string) map[string]string {
	size := 0
	for _, text := range texts {
		size += len(text)
	}
	if size > maxTexts {
		return nil
	}
	return texts
}

// textsToSettle returns the texts of a turn, from memory if that is certain to have all that its
// log refers to and no person has written any; newest is their order then, which the store checks.
func (k *Kit) textsToSettle(ctx context.Context, e Ending) (texts map[string]string, newest int64, err error) {
	if e.Status == chat.TurnCompleted && e.Kept == 0 && !slices.ContainsFunc(e.Log, func(e chat.Entry) bool { return !writtenByModel[e.Type] }) {
		k.reads.of(e.TurnRef, func(known *reads) {
			if known.newest != 0 {
				texts, newest = maps.Clone(known.texts), known.newest
			}
		})
		if !slices.ContainsFunc(e.Log, func(e chat.Entry) bool { _, known := texts[e.Ref]; return e.Ref != "" && !known }) && newest != 0 {
			return texts, newest, nil
		}
	}
	texts, err = k.Store.Texts(ctx, e.Owner, e.TurnID)
	return texts, 0, err
}

// writtenByModel are the entries of a log without people and tools.
var writtenByModel = map[chat.EventType]bool{chat.EventTurnStarted: true, chat.EventStatus: true, chat.EventText: true, chat.EventReasoning: true, chat.EventNotice: true}

// inOrder returns what is known for ids, each once; all is false if something is missing.
func inOrder[T any](known map[string]T, ids []string) (list []T, all bool) {
	for _, id := range language.Distinct(ids) {
		item, ok := known[id]
		if !ok {
			return nil, false
		}
		list = append(list, item)
	}
	return list, true
}

// DocsByID keeps the ids of documents that exist and that the turn's owner may see.
func (k *Kit) DocsByID(ctx context.Context, ref TurnRef, ids []string) (docs []chat.Document, err error) {
	if ids = language.Distinct(ids); len(ids) == 0 {
		return nil, nil
	}
	var all bool
	k.reads.of(ref, func(known *reads) { docs, all = inOrder(known.docs, ids) })
	if all {
		return docs, nil
	}
	docs, err = k.Store.DocumentsByID(ctx, ref.Owner, ids)
	k.rememberDocs(ref, docs)
	return docs, err
}

// RememberAmong lets DocsByID return the documents with the ids that are among those just read.
func (k *Kit) RememberAmong(ref TurnRef, ids []string, read []chat.Document) {
	for _, d := range read {
		if slices.Contains(ids, d.ID) {
			k.rememberDocs(ref, []chat.Document{d})
		}
	}
}

func (k *Kit) rememberDocs(ref TurnRef, docs []chat.Document) {
	k.reads.of(ref, func(known *reads) {
		for _, d := range docs {
			if d.Status == chat.DocReady {
				known.docs[d.ID] = d
			}
		}
	})
}

// RememberPassages lets Passages return passages that a search has found.
func (k *Kit) RememberPassages(ref TurnRef, hits []chat.Hit) {
	k.reads.of(ref, func(known *reads) {
		for _, h := range hits {
			h.Score = 0
			known.passages[h.ID] = h
		}
	})
}

// Passages reads passages in the order of ids, without those that do not exist.
func (k *Kit) Passages(ctx context.Context, ref TurnRef, ids []string) (hits []chat.Hit, err error) {
	var all bool
	k.reads.of(ref, func(known *reads) { hits, all = inOrder(known.passages, ids) })
	if all {
		return hits, nil
	}
	return k.Store.ChunksByID(ctx, ref.Owner, ids)
}

// Profile returns the profile of the turn's owner.
func (k *Kit) Profile(ctx context.Context, ref TurnRef) (p chat.Profile, err error) {
	var begun bool
	k.reads.of(ref, func(known *reads) { p, begun = known.profile, known.begun })
	if begun {
		return p, nil
	}
	return k.Store.Profile(ctx, ref.Owner)
}

// Recent returns the last n messages before a turn, oldest first.
func (k *Kit) Recent(ctx context.Context, ref TurnRef, n int) (messages []chat.Message, err error) {
	if n > earlierMessages {
		return k.Store.Recent(ctx, ref.Owner, ref.ThreadID, ref.Parent, n)
	}
	var read bool
	k.reads.of(ref, func(known *reads) { messages, read = known.recent[ref.Parent] })
	if !read { // an answer reads as many
		if messages, err = k.Store.Recent(ctx, ref.Owner, ref.ThreadID, ref.Parent, earlierMessages); err != nil {
			return nil, err
		}
		k.reads.of(ref, func(known *reads) { known.recent[ref.Parent] = messages })
	}
	return slices.Clone(messages[max(0, len(messages)-n):]), nil
}

// RegistryAmong lists the documents that the conversation knew before the turn. It reads no
// documents when all are among those just read.
func (k *Kit) RegistryAmong(ctx context.Context, ref TurnRef, read []chat.Document) ([]chat.DocRef, error) {
	var ids []string
	k.reads.of(ref, func(known *reads) {
		if known.begun && known.head == ref.Parent {
			ids = known.registry
		}
	})
	if ids == nil {
		return k.Store.Registry(ctx, ref.Owner, ref.ThreadID, ref.Parent)
	}
	docs, err := k.docsAmong(ctx, ref, ids, read)
	var refs []chat.DocRef
	for _, d := range docs {
		if d.Status == chat.DocReady {
			refs = append(refs, chat.DocRef{ID: d.ID, Title: d.Label})
		}
	}
	return refs, err
}

// PutAside keeps a value that a step has computed for the turn's next step that takes it, if that
// runs in this process soon.
func (k *Kit) PutAside(ref TurnRef, name string, value any) {
	k.reads.of(ref, func(known *reads) {
		if known.aside == nil {
			known.aside = map[string]any{}
		}
		known.aside[name] = value
	})
}

// TakeAside returns the value that was put aside, once; nil: there is none.
func (k *Kit) TakeAside(ref TurnRef, name string) (value any) {
	k.reads.of(ref, func(known *reads) {
		value = known.aside[name]
		delete(known.aside, name)
	})
	return value
}

// readStore is the store for rendering a turn's log. What the turn's author may not read any more,
// because they have left its space, has no name.
type readStore struct {
	db.Store
	kit *Kit
	ref TurnRef
}

var _ transcript.Store = readStore{}

func (s readStore) DocumentsByID(ctx context.Context, _ string, ids []string) ([]chat.Document, error) {
	return readable(s.kit.DocsByID(ctx, s.ref, ids))
}

func (s readStore) SetsByID(ctx context.Context, owner string, ids []string) ([]chat.DocumentSet, error) {
	return readable(s.Store.SetsByID(ctx, owner, ids))
}

func (s readStore) ChunksByID(ctx context.Context, owner string, ids []string) ([]chat.Hit, error) {
	return readable(s.Store.ChunksByID(ctx, owner, ids))
}

func readable[T any](found []T, err error) ([]T, error) {
	if errors.Is(err, db.ErrNotFound) {
		return nil, nil
	}
	return found, err
}
