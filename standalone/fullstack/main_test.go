package fullstack

import (
	"flag"
	"os"
	"testing"

	"github.com/palaver-chat/palaver/testkit/dbtest/pgtest"
)

// parallel is how many tests run at once unless -parallel says otherwise. It exceeds the
// usual number, one per processor, because the tests mostly wait. A test whose limits
// are in real time, or which counts what a busy machine changes, does not call
// t.Parallel: those run first, one after another.
const parallel = "4"

func TestMain(m *testing.M) {
	flag.Parse()
	if !given("test.parallel") {
		_ = flag.Set("test.parallel", parallel) // a valid value
	}
	os.Exit(pgtest.Main(m)) // stops Postgres if it had to start it
}

func given(name string) (found bool) {
	flag.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}
