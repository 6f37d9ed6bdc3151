package program

// A new goroutine gets a stack of the average size that the runtime found at the last
// garbage collection. Thousands of goroutines of the embedded server wait with small
// stacks, so every request of the server and of Palaver would grow its stack in several
// steps and copy it each time: 5 to 9 % of a turn's CPU. One waiting goroutine with a
// large stack raises the average to the next size. With more goroutines, such as those
// of open streams, the average falls again, and so does the effect.
const (
	stackFrame  = 16 << 10
	stackFrames = 1280 // 20 MiB
)

// startWithLargerStacks raises the size of new goroutines' stacks. stop undoes it.
func startWithLargerStacks() (stop func()) {
	done := make(chan struct{})
	go holdStack(done, stackFrames)
	return func() { close(done) }
}

// holdStack waits for done with a stack of n frames.
//
//go:noinline
func holdStack(done <-chan struct{}, n int) (sum int) {
	var frame [stackFrame]byte
	if n > 1 {
		sum = holdStack(done, n-1)
	} else {
		<-done
	}
	for _, b := range frame { // the compiler must keep it
		sum += int(b)
	}
	return sum
}
