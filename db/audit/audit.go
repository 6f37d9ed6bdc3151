// Package audit records what operators must be able to prove later, such as deletions and
// refused sign-ins: in the process's log at once, and in the store soon after. Entries have
// names, ids and numbers, never a text that a person wrote.
package audit

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/palaver-chat/palaver/db"
)

// Kinds of entries.
const (
	Started            = "started"         // a process started, with these settings
	SignInRefused      = "sign_in_refused" // counted
	LimitHit           = "limit_hit"       // counted
	Decided            = "decision"        // about tool calls
	Deleted            = "deletion"
	Exported           = "export"
	Claimed            = "claim" // an account took over what an anonymous caller had stored
	Connected          = "account_connected"
	Disconnected       = "account_disconnected"
	KeyCreated         = "key_created"
	KeyRevoked         = "key_revoked"
	SessionsEnded      = "sessions_ended"
	ShareCreated       = "share_created"
	ShareRevoked       = "share_revoked"
	AdminRead          = "admin_read"          // an administrator read what the page of administrators shows
	AdminRefused       = "admin_refused"       // counted: somebody else tried to
	SpaceChanged       = "space_changed"       // created, changed, deleted, restored, or its members were
	DocumentMoved      = "document_moved"      // into a space, or out of one
	SpaceRefused       = "space_refused"       // counted
	ConversationShared = "conversation_shared" // with a space, or not any more
)

// Kinds lists every kind.
var Kinds = []string{Started, SignInRefused, LimitHit, Decided, Deleted, Exported, Claimed, Connected, Disconnected, KeyCreated, KeyRevoked, SessionsEnded, ShareCreated, ShareRevoked, AdminRead, AdminRefused, SpaceChanged, DocumentMoved, SpaceRefused, ConversationShared}

// Command is the channel of palaver's command line; the others are a chat.Channel.
const Command = "command"

const (
	window     = time.Minute // counted entries of one window are stored as one
	maxWaiting = 1000        // most entries that wait to be stored
	// maxCounted is the most different counted entries of one window. Further ones are
	// counted without owner and address: refused requests must not fill the database.
	maxCounted = 200
	// maxOfCaller is the most different counted entries of one kind and caller in a window.
	// Further ones are counted together.
	maxOfCaller  = 20
	batch        = 100
	storeTimeout = 3 * time.Second
	retryAfter   = time.Second
	closeTimeout = 2 * time.Second
)

// Store keeps the entries.
type Store interface {
	AppendAudit(ctx context.Context, entries []db.AuditEntry) error
}

// Log records entries without waiting for the store. A nil Log records nothing. Close it
// when done.
type Log struct {
	store Store
	log   *slog.Logger
	now   func() time.Time

	mu      sync.Mutex
	waiting []db.AuditEntry
	counted map[counter]*db.AuditEntry
	lost    int
	closed  bool

	wake chan struct{}
	stop chan struct{}
	done chan struct{}
}

// counter identifies a counted entry.
type counter struct{ kind, owner, channel, address, what string }

// Open returns a Log, and starts the goroutine that stores its entries.
func Open(store Store, log *slog.Logger) *Log {
	l := &Log{store: store, log: log.With("part", "audit"), now: time.Now, counted: map[counter]*db.AuditEntry{},
		wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	go l.run()
	return l
}

// Record logs an entry and has it stored.
func (l *Log) Record(e db.AuditEntry) {
	if l == nil {
		return
	}
	e.At, e.Times = l.now(), 1
	l.write(e)
	l.mu.Lock()
	l.add(e)
	l.mu.Unlock()
	l.nudge()
}

// Count logs an entry that may come often, and has it stored once a minute with the number
// of times. Entries of one kind, owner and address are counted apart if what differs.
func (l *Log) Count(e db.AuditEntry, what string) {
	if l == nil {
		return
	}
	e.At, e.Times = l.now(), 1
	l.write(e)
	l.mu.Lock()
	defer l.mu.Unlock()
	key := counter{e.Kind, e.Owner, e.Channel, e.Address, what}
	if l.counted[key] == nil && l.ofCaller(key) >= maxOfCaller {
		key.what, e.Detail = others, map[string]any{others: true}
	}
	if l.counted[key] == nil && len(l.counted) >= maxCounted {
		key = counter{kind: e.Kind}
		e.Owner, e.Channel, e.Address, e.RequestID = "", "", "", ""
		e.Detail = map[string]any{others: true}
	}
	if same := l.counted[key]; same != nil {
		same.Times++
		return
	}
	l.counted[key] = &e
}

// others is the detail of entries that are counted together.
const others = "others"

// ofCaller returns how many different entries of this window are of the kind and the caller.
// The caller of ofCaller holds mu.
func (l *Log) ofCaller(of counter) (n int) {
	for key := range l.counted {
		if key.what = of.what; key == of {
			n++
		}
	}
	return n
}

// write writes an entry to the process's log.
func (l *Log) write(e db.AuditEntry) {
	attrs := []any{"kind", e.Kind}
	for _, a := range []struct{ name, value string }{{"owner", e.Owner}, {"channel", e.Channel}, {"address", e.Address}, {"request_id", e.RequestID}} {
		if a.value != "" {
			attrs = append(attrs, a.name, a.value)
		}
	}
	if len(e.Detail) > 0 {
		attrs = append(attrs, "detail", e.Detail)
	}
	level := slog.LevelInfo
	if e.Kind == Started {
		level = slog.LevelDebug // its detail has all settings; the stored entry has them, too
	}
	l.log.Log(context.Background(), level, "audit", attrs...)
}

// add queues an entry. The caller holds mu.
func (l *Log) add(e db.AuditEntry) {
	if len(l.waiting) >= maxWaiting || l.closed {
		l.lost++
		l.log.Error("storing an audit entry failed: the queue is full or closed; it is in this log only", "kind", e.Kind, "owner", e.Owner, "lost", l.lost)
		return
	}
	l.waiting = append(l.waiting, e)
}

func (l *Log) nudge() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *Log) run() {
	defer close(l.done)
	tick := time.NewTicker(window)
	defer tick.Stop()
	for {
		select {
		case <-l.wake:
		case <-tick.C:
			l.flushCounted()
		case <-l.stop:
		}
		if l.stopping() { // even if more entries wait: Close stores them, within its own timeout
			return
		}
		if err := l.storeAll(context.Background()); err != nil {
			l.log.Warn("audit entries not stored yet; retrying", "error", err)
			time.AfterFunc(retryAfter, l.nudge)
		}
	}
}

func (l *Log) stopping() bool {
	select {
	case <-l.stop:
		return true
	default:
		return false
	}
}

// flushCounted queues the counted entries.
func (l *Log) flushCounted() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.counted {
		l.add(*e)
	}
	clear(l.counted)
}

// storeAll stores the waiting entries, in batches.
func (l *Log) storeAll(ctx context.Context) error {
	for {
		l.mu.Lock()
		next := l.waiting[:min(batch, len(l.waiting))]
		l.mu.Unlock()
		if len(next) == 0 {
			return nil
		}
		limited, cancel := context.WithTimeout(ctx, storeTimeout)
		err := l.store.AppendAudit(limited, next)
		cancel()
		if err != nil {
			return err
		}
		l.mu.Lock()
		l.waiting = append([]db.AuditEntry(nil), l.waiting[len(next):]...)
		l.mu.Unlock()
	}
}

// Close stores the waiting entries. It takes a few seconds at most.
func (l *Log) Close() {
	if l == nil {
		return
	}
	close(l.stop)
	<-l.done
	l.flushCounted()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	err := l.storeAll(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if left := len(l.waiting); left > 0 {
		l.log.Error("storing audit entries failed; they are in this log only", "entries", left, "error", cmp.Or(err, errors.New("closed")))
	}
}
