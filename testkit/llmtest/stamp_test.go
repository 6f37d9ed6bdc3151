package llmtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestStampsAreReadFromTokensSplitAtSpaces(t *testing.T) {
	first := time.UnixMicro(1795364962962829)
	second := first.Add(15 * time.Millisecond)
	require.Equal(t, []time.Time{first, second}, Stamps(Stamp(first)+Stamp(second)))
	require.Equal(t, []time.Time{second}, Stamps(" at1795364962977829"))
	require.Empty(t, Stamps("at last"))
}
