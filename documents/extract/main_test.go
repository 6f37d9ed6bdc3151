package extract

import (
	"os"
	"testing"
	"time"
)

// A busy machine under the race detector takes longer than people should wait.
func TestMain(m *testing.M) {
	readTime, readerEnd = 15*time.Minute, 5*time.Minute
	os.Exit(m.Run())
}
