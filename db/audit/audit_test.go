package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/db"
)

// fakeStore keeps entries, unless it is broken. It blocks while held.
type fakeStore struct {
	mu      sync.Mutex
	entries []db.AuditEntry
	err     error
	hold    chan struct{}
}

func (s *fakeStore) AppendAudit(ctx context.Context, entries []db.AuditEntry) error {
	if s.hold != nil {
		select {
		case <-s.hold:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.entries = append(s.entries, entries...)
	}
	return s.err
}

func (s *fakeStore) set(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

func (s *fakeStore) kept() []db.AuditEntry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]db.AuditEntry(nil), s.entries...)
}

func TestEntriesAreLoggedAndStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		s := &fakeStore{}
		l := Open(s, slog.New(slog.NewTextHandler(&out, nil)))
		l.Record(db.AuditEntry{Kind: Decided, Owner: "ann", Channel: "api", Address: "192.0.2.1", RequestID: "r1", Detail: map[string]any{"tool": "send"}})
		synctest.Wait()
		require.Len(t, s.kept(), 1)
		require.Equal(t, 1, s.kept()[0].Times)
		l.Close()
		for _, part := range []string{"msg=audit", "kind=decision", "owner=ann", "channel=api", "address=192.0.2.1", "request_id=r1", "send"} {
			require.Contains(t, out.String(), part)
		}
	})
}

func TestRefusalsOfOneAddressAreStoredOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{}
		l := Open(s, slog.New(slog.DiscardHandler))
		for range 1000 {
			l.Count(db.AuditEntry{Kind: SignInRefused, Address: "192.0.2.1"}, "unauthenticated")
		}
		for i := range 1000 { // of one caller, each about another thing
			l.Count(db.AuditEntry{Kind: SpaceRefused, Owner: "eve"}, fmt.Sprint(i))
		}
		for i := range 1000 { // each from a new address
			l.Count(db.AuditEntry{Kind: SignInRefused, Address: fmt.Sprint("2001:db8::", i)}, "unauthenticated")
		}
		time.Sleep(window + time.Second) // the clock of the synctest bubble
		synctest.Wait()
		entries := s.kept()
		require.LessOrEqual(t, len(entries), maxCounted+1, "refused requests do not fill the database")
		total, ofOne := 0, 0
		for _, e := range entries {
			total += e.Times
			if e.Owner == "eve" {
				ofOne++
			}
			if e.Address == "192.0.2.1" {
				require.Equal(t, 1000, e.Times)
			}
		}
		require.Equal(t, 3000, total)
		require.Equal(t, maxOfCaller+1, ofOne)
		l.Close()
	})
}

func TestUnavailableStoreLosesNoEntryAndBlocksNoCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{err: db.ErrUnavailable}
		l := Open(s, slog.New(slog.DiscardHandler))
		for range 500 {
			l.Record(db.AuditEntry{Kind: Deleted})
		}
		time.Sleep(time.Minute)
		require.Empty(t, s.kept())
		s.set(nil)
		time.Sleep(2 * retryAfter)
		synctest.Wait()
		require.Len(t, s.kept(), 500)
		l.Close()
	})
}

func TestEntriesThatCannotBeStoredAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		s := &fakeStore{err: errors.New("disk full")}
		l := Open(s, slog.New(slog.NewTextHandler(&out, nil)))
		for range maxWaiting + 5 {
			l.Record(db.AuditEntry{Kind: Exported})
		}
		l.Close()
		require.Equal(t, 5, strings.Count(out.String(), "storing an audit entry failed"))
		require.Contains(t, out.String(), fmt.Sprintf("entries=%d", maxWaiting))
		require.Equal(t, maxWaiting+5, strings.Count(out.String(), "msg=audit "), "every one was logged")
	})
}

func TestHangingStoreBlocksNeitherRequestsNorClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{hold: make(chan struct{})}
		l := Open(s, slog.New(slog.DiscardHandler))
		began := time.Now()
		for range 10 {
			l.Record(db.AuditEntry{Kind: Deleted})
		}
		require.Zero(t, time.Since(began))
		l.Close()
		require.LessOrEqual(t, time.Since(began), storeTimeout+closeTimeout)
	})
}

func TestNilLogRecordsNothing(t *testing.T) {
	var l *Log
	l.Record(db.AuditEntry{})
	l.Count(db.AuditEntry{}, "")
	l.Close()
}
