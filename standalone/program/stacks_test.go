package program

import (
	"runtime"
	"runtime/metrics"
	"testing"

	"github.com/stretchr/testify/require"
)

// startingSize returns the stack size of new goroutines after a garbage collection.
func startingSize(t *testing.T) uint64 {
	t.Helper()
	runtime.GC()
	sample := []metrics.Sample{{Name: "/gc/stack/starting-size:bytes"}}
	metrics.Read(sample)
	require.Equal(t, metrics.KindUint64, sample[0].Value.Kind())
	return sample[0].Value.Uint64()
}

// The embedded server has about 3,000 waiting goroutines.
func TestGoroutinesStartWithLargerStacksBesideThoseThatWait(t *testing.T) {
	done := make(chan struct{})
	defer close(done)
	for range 2000 {
		go func() { <-done }()
	}
	before := startingSize(t)
	stop := startWithLargerStacks()
	defer stop()
	require.Less(t, before, uint64(8<<10))
	size := before
	for tries := 0; size < 16<<10 && tries < 1000; tries++ { // its stack grows in steps until the goroutine waits
		runtime.Gosched()
		size = startingSize(t)
	}
	require.GreaterOrEqual(t, size, uint64(16<<10))
}
