//go:build long

package fullstack

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// maxSilence is how long a viewer of a turn may receive nothing after its worker died, while another one runs.
const maxSilence = 10 * time.Second

func TestLongSixtyTurnsSurviveAKilledWorker(t *testing.T) {
	require.LessOrEqual(t, turnsWithKills(t, 60), maxSilence)
}
