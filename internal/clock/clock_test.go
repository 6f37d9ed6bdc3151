package clock_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/palaver-chat/palaver/internal/clock"
)

func TestClockFromAFileIsShiftedByItsContent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clock")
	read := clock.FromFile(path)
	before := read()
	if err := os.WriteFile(path, []byte("1000h -1000h"), 0o600); err != nil {
		t.Fatal(err)
	}
	wall, mono := read().Since(before)
	if wall < 1000*time.Hour || mono > 0 {
		t.Errorf("shifted by %v and %v", wall, mono)
	}
}
