package activities_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/activities"
)

func TestDraftIntervalGrowsUnlessThereIsNoBus(t *testing.T) {
	for _, c := range []struct {
		age  time.Duration
		bus  bool
		want time.Duration
	}{
		{0, true, 0},
		{2 * time.Second, true, 200 * time.Millisecond},
		{time.Minute, true, time.Second},
		{time.Minute, false, 0},
	} {
		require.Equal(t, c.want, activities.DraftWait(c.age, c.bus), "%s %t", c.age, c.bus)
	}
}
