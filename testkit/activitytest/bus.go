package activitytest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/internal/bus"
)

// Bus records what is published. A test announces a stop with a value for Stops.
type Bus struct {
	bus.Noop
	Stops chan struct{}

	mu        sync.Mutex
	deltas    []bus.Delta
	announced []string
	progress  []bus.Progress
}

func newBus() *Bus { return &Bus{Stops: make(chan struct{}, 1)} }

func (b *Bus) PublishDelta(d bus.Delta) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deltas = append(b.deltas, d)
}

func (b *Bus) PublishProgress(p bus.Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.progress = append(b.progress, p)
}

// Progress returns the reports of tools so far.
func (b *Bus) Progress() []bus.Progress {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.progress)
}

func (b *Bus) AnnounceStop(turnID string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.announced = append(b.announced, turnID)
}

func (b *Bus) SubscribeStops(context.Context, string) (<-chan struct{}, error) {
	return b.Stops, nil
}

// Deltas returns the deltas so far.
func (b *Bus) Deltas() []bus.Delta {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.deltas)
}

// Announced returns the turns whose stop was announced.
func (b *Bus) Announced() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.announced)
}

// Text checks that the deltas have no gaps, and joins them.
func (b *Bus) Text(t *testing.T) string {
	t.Helper()
	text := ""
	for _, d := range b.Deltas() {
		require.Equal(t, utf8.RuneCountInString(text), d.Offset)
		require.NotEmpty(t, d.Text)
		text += d.Text
	}
	return text
}
