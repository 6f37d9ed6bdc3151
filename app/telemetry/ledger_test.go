package telemetry

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

// failingOnce is a store that cannot be reached at its first call.
type failingOnce struct {
	db.Administration
	calls  int
	stored []db.ModelUsage
}

func (s *failingOnce) AddModelUsage(_ context.Context, more []db.ModelUsage) error {
	if s.calls++; s.calls == 1 {
		return errors.New("unreachable")
	}
	s.stored = append(s.stored, more...)
	return nil
}

func TestUsageOfModelsIsStoredByDayAndModelAlsoAfterAnOutage(t *testing.T) {
	t.Parallel()
	store := &failingOnce{}
	l := NewLedger(store, slog.New(slog.DiscardHandler))
	day := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	l.now = func() time.Time { return day.Add(5 * time.Hour) }
	m := must.Have(NewMetrics(prometheus.NewRegistry()))(t)
	m.Ledger = l
	m.used("m1", chat.Usage{TokensIn: 10, TokensOut: 1, CostUSD: 0.5, Calls: 1})
	l.flush() // fails
	m.used("m1", chat.Usage{TokensIn: 20, TokensOut: 2, CostUSD: 0.25, Calls: 1, Unpriced: true})
	m.used("m1", chat.Usage{})
	l.Close()
	require.Equal(t, []db.ModelUsage{{Day: day, Model: "m1", Calls: 2, Unpriced: 1, TokensIn: 30, TokensOut: 3, CostUSD: 0.75}}, store.stored)
	NewLedger(store, slog.New(slog.DiscardHandler)).Close()
	require.Equal(t, 2, store.calls, "nothing to store")
}
