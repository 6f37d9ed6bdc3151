package activities

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/documents/extract"
	"github.com/palaver-chat/palaver/internal/memlimit"
)

// A file of 200 kB can unpack to 50 MB of text. If only the size of the file counted, any
// number of such files would be processed at once.
func TestMemoryOfACompressedFileIsCountedByItsText(t *testing.T) {
	b := setup(t)
	text := strings.Repeat(leave+" ", 100)
	packed := extract.Type{Name: "packed", Label: "packed", Extensions: []string{".packed"}, Binary: true,
		Is:   func([]byte, string) bool { return true },
		Read: func(context.Context, []byte) (string, error) { return text, nil }}
	b.DocumentTypes = append(b.DocumentTypes, packed)
	b.IngestMemory = memlimit.New(ingestMemory * int64(len(text)) / 2) // less than it needs, so it runs alone
	var free error
	b.model.embed = func(texts []string) ([][]float32, error) {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		release, err := b.IngestMemory.Acquire(ctx, 1)
		if err == nil {
			release()
		}
		free = err
		return oneVector(texts)
	}
	require.Equal(t, chat.DocReady, b.ingested(b.upload("Small", "packed", []byte("x"))).Status)
	require.ErrorIs(t, free, context.DeadlineExceeded, "its memory is taken while it is processed")
	release, err := b.IngestMemory.Acquire(t.Context(), 1)
	require.NoError(t, err, "and free afterwards")
	release()
}
