package api

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"

	"github.com/palaver-chat/palaver/testkit/must"
)

// slowClock sets the API's clock back by a duration.
func slowClock(offset time.Duration) func(*Deps) {
	return func(d *Deps) { d.Config.ClockOffset = -offset }
}

func TestClockOffsetShiftsTurnIDsAndCreationTimes(t *testing.T) {
	t.Parallel()
	b := setup(t, slowClock(time.Hour))
	c := b.client()
	earliest := time.Now().Add(-time.Hour).Truncate(time.Second)
	turnID := c.ask(map[string]any{"thread_id": someThread}).until("response")["turn_id"].(string)
	seconds, _ := uuid.MustParse(turnID).Time().UnixTime()
	turn := must.Have(b.store.Turn(t.Context(), c.id(), turnID))(t)
	for what, made := range map[string]time.Time{"turn id": time.Unix(seconds, 0), "created_at": turn.CreatedAt} {
		assert.True(t, !made.Before(earliest) && !made.After(time.Now().Add(-time.Hour)), "%s is of %s, not of an hour ago", what, made)
	}
}
