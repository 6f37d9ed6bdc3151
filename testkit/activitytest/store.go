package activitytest

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// Store is a real store with faults and hooks for tests. Lock Mu to change a hook while an
// activity runs.
type Store struct {
	db.Store
	Mu             sync.Mutex
	OnPut          func(key string) error // before a text is stored
	OnTexts        func()                 // before texts are read
	OnDraft        func(db.Draft) error
	OnSettle       func(db.Settlement) error
	OnSync         func()       // before what was stored is synced
	Unavailable    atomic.Bool  // these calls fail with db.ErrUnavailable
	Full           atomic.Bool  // the disk is full: no turn can be saved, but all can be read
	AvailableAfter atomic.Int32 // failed drafts until it is available again; 0: never
}

func (s *Store) Turn(ctx context.Context, owner, id string) (chat.Turn, error) {
	if s.Unavailable.Load() {
		return chat.Turn{}, db.ErrUnavailable
	}
	return s.Store.Turn(ctx, owner, id)
}

func (s *Store) SaveTurn(ctx context.Context, t chat.Turn) (_ chat.Turn, cancelled bool, _ error) {
	if s.Unavailable.Load() || s.Full.Load() {
		return chat.Turn{}, false, db.ErrUnavailable
	}
	return s.Store.SaveTurn(ctx, t)
}

func (s *Store) Cancelled(ctx context.Context, t chat.Turn) (bool, error) {
	if s.Unavailable.Load() {
		return false, db.ErrUnavailable
	}
	return s.Store.Cancelled(ctx, t)
}

func (s *Store) Texts(ctx context.Context, owner, turnID string) (map[string]string, error) {
	if s.OnTexts != nil {
		s.OnTexts()
	}
	return s.Store.Texts(ctx, owner, turnID)
}

func (s *Store) Sync(ctx context.Context) error {
	if s.OnSync != nil {
		s.OnSync()
	}
	return s.Store.Sync(ctx)
}

func (s *Store) mayPut(keys ...string) error {
	if s.Unavailable.Load() {
		return db.ErrUnavailable
	}
	s.Mu.Lock()
	hook := s.OnPut
	s.Mu.Unlock()
	if hook == nil {
		return nil
	}
	for _, key := range keys {
		if err := hook(key); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) PutText(ctx context.Context, owner, turnID, key, text string) error {
	if err := s.mayPut(key); err != nil {
		return err
	}
	return s.Store.PutText(ctx, owner, turnID, key, text)
}

func (s *Store) PutTexts(ctx context.Context, owner, turnID string, texts []db.Text) error {
	keys := make([]string, len(texts))
	for i, t := range texts {
		keys[i] = t.Key
	}
	if err := s.mayPut(keys...); err != nil {
		return err
	}
	return s.Store.PutTexts(ctx, owner, turnID, texts)
}

func (s *Store) SaveDraft(ctx context.Context, owner string, d db.Draft) error {
	if s.Unavailable.Load() {
		if s.AvailableAfter.Load() > 0 && s.AvailableAfter.Add(-1) == 0 {
			s.Unavailable.Store(false)
		}
		return db.ErrUnavailable
	}
	s.Mu.Lock()
	hook := s.OnDraft
	s.Mu.Unlock()
	if hook != nil {
		if err := hook(d); err != nil {
			return err
		}
	}
	return s.Store.SaveDraft(ctx, owner, d)
}

func (s *Store) Settle(ctx context.Context, e db.Settlement) (db.SettledTurn, error) {
	if s.Unavailable.Load() {
		return db.SettledTurn{}, db.ErrUnavailable
	}
	if s.OnSettle != nil {
		if err := s.OnSettle(e); err != nil {
			return db.SettledTurn{}, err
		}
	}
	return s.Store.Settle(ctx, e)
}
