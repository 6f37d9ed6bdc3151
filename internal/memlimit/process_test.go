package memlimit

import (
	"runtime"
	"runtime/metrics"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestTheLimitOfTheContainerIsRead(t *testing.T) {
	for _, test := range []struct {
		name string
		file string
		text string
		want int64
	}{
		{"cgroups 2", files[0], "2147483648\n", 2 << 30},
		{"cgroups 2 without a limit", files[0], "max\n", 0},
		{"cgroups 1", files[1], "536870912\n", 512 << 20},
		{"cgroups 1 without a limit", files[1], "9223372036854771712\n", 0},
		{"nonsense", files[0], "a lot", 0},
		{"no container", "etc/hosts", "", 0},
	} {
		require.Equal(t, test.want, ofContainer(fstest.MapFS{test.file: {Data: []byte(test.text)}}), test.name)
	}
}

func TestGarbageIsCollectedOnceInSixtyFourMegabytesAtMost(t *testing.T) {
	t.Setenv("GOGC", "")
	CollectLess()
	defer floor.Store(nil)
	runtime.GC()
	goal := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}}
	metrics.Read(goal)
	require.Greater(t, goal[0].Value.Uint64(), uint64(128<<20))
}
