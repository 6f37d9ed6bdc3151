package ingest

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/documents/extract"
	"github.com/palaver-chat/palaver/internal/memlimit"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/testkit/activitytest"
	"github.com/palaver-chat/palaver/workflows"
)

func (b *bundle) ingested(id string) chat.Document {
	b.T.Helper()
	_, err := activitytest.Run[any](b.Fixture, b.Ingest, workflows.IngestRequest{Owner: owner, DocID: id})
	require.NoError(b.T, err)
	d, err := b.Store.Document(context.Background(), owner, id)
	require.NoError(b.T, err)
	return d
}

func TestIngestMakesADocumentSearchable(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.Upload("Leave", "md", []byte("# Leave\n\n"+leave))
	d := b.ingested(id)
	require.Equal(t, chat.DocReady, d.Status)
	require.Positive(t, d.Chunks)
	hits, err := b.Store.SearchText(context.Background(), owner, db.Words("lapse"), nil, 5)
	require.NoError(t, err)
	require.Equal(t, id, hits[0].DocID)
	require.Equal(t, d, b.ingested(id), "a second attempt changes nothing")
}

func TestUnreadableUploadIsMarkedFailedWithItsReason(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d := b.ingested(b.Upload("Broken", "pdf", []byte("not a PDF")))
	require.Equal(t, chat.DocFailed, d.Status)
	require.NotEmpty(t, d.Error)
	require.NotContains(t, d.Error, "not a PDF")
}

func TestPagesThatCouldNotBeReadAreCounted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	raw, err := os.ReadFile("../extract/testdata/scanned.pdf")
	require.NoError(t, err)
	d := b.ingested(b.Upload("Letters", "pdf", raw))
	require.Equal(t, chat.DocReady, d.Status)
	require.Equal(t, 5, d.PageCount)
	require.Equal(t, 3, d.UnreadPages)
}

func TestIngestOfADeletedDocumentIsNoError(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, fn := range []any{b.Ingest, b.FailIngest} {
		_, err := activitytest.Run[any](b.Fixture, fn, workflows.IngestRequest{Owner: owner, DocID: uuid.NewString()})
		require.NoError(t, err)
	}
}

func TestFailIngestMarksTheDocumentFailed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.Upload("Doc", "txt", []byte(leave))
	_, err := activitytest.Run[any](b.Fixture, b.FailIngest, workflows.IngestRequest{Owner: owner, DocID: id})
	require.NoError(t, err)
	d, err := b.Store.Document(context.Background(), owner, id)
	require.NoError(t, err)
	require.Equal(t, chat.DocFailed, d.Status)
	require.Equal(t, chat.ReasonIngestFailed, d.Error)
}

func TestEmbeddingsAreMadeInBatches(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var batches []int
	b.Model.OnEmbed = func(texts []string) ([][]float32, error) {
		batches = append(batches, len(texts))
		out := make([][]float32, len(texts))
		for i := range out {
			out[i] = []float32{1, 0}
		}
		return out, nil
	}
	id := b.Upload("Long", "txt", []byte(strings.Repeat(leave+" ", 2000)))
	d := b.ingested(id)
	total := 0
	for _, n := range batches {
		require.LessOrEqual(t, n, embedBatch)
		total += n
	}
	require.Equal(t, d.Chunks, total)
	require.Greater(t, len(batches), 1)
	hits, err := b.Store.SearchVector(context.Background(), owner, []float32{1, 0}, []string{id}, 3)
	require.NoError(t, err)
	require.Len(t, hits, 3)
}

func TestDocumentIsIndexedWithoutVectorsWhenEmbeddingFailsForGood(t *testing.T) {
	t.Parallel()
	for name, embed := range map[string]func([]string) ([][]float32, error){
		"refused": func([]string) ([][]float32, error) {
			return nil, &llm.Error{Code: chat.CodeModelRejected, Err: errors.New("no")}
		},
		"too few":        func([]string) ([][]float32, error) { return nil, nil },
		"none after all": func([]string) ([][]float32, error) { return nil, llm.ErrNoEmbeddings },
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			b.Model.OnEmbed = embed
			require.Equal(t, chat.DocReady, b.ingested(b.Upload("Doc", "txt", []byte(leave))).Status)
		})
	}
	b := setup(t)
	b.Model.OnEmbed = func([]string) ([][]float32, error) {
		return nil, &llm.Error{Code: chat.CodeModelUnavailable, Retryable: true, Err: errors.New("planted")}
	}
	id := b.Upload("Doc", "txt", []byte(leave))
	_, err := activitytest.Run[any](b.Fixture, b.Ingest, workflows.IngestRequest{Owner: owner, DocID: id})
	var app *temporal.ApplicationError
	require.ErrorAs(t, err, &app)
	require.False(t, app.NonRetryable(), "an unavailable model is retried")
	require.NotContains(t, err.Error(), "planted")
}

// Rule W13.
func TestExistingDocumentsAreEmbeddedAndAgainWhenTheModelChanges(t *testing.T) {
	b := setup(t)
	first, second := b.Doc("Dogs", "Dogs bark at the moon."), b.Doc("Cars", "Automobiles need fuel.")
	embedAll := func() error {
		_, err := b.Env.ExecuteActivity(b.EmbedDocuments)
		return err
	}
	lacking := func() int {
		done, total, err := b.Store.EmbeddingProgress(t.Context(), owner, "scripted")
		require.NoError(t, err)
		return total - done
	}
	require.NoError(t, embedAll(), "without a model there is nothing to do")
	require.Equal(t, 2, lacking())

	fails := true
	b.Model.OnEmbed = func(texts []string) ([][]float32, error) {
		if fails {
			return nil, &llm.Error{Code: chat.CodeModelUnavailable, Retryable: true, Err: errors.New("503")}
		}
		vectors := make([][]float32, len(texts))
		for i := range texts {
			vectors[i] = []float32{float32(len(texts[i])), 1}
		}
		return vectors, nil
	}
	require.Error(t, embedAll(), "Temporal retries")
	fails = false
	require.NoError(t, embedAll())
	require.Zero(t, lacking())
	hits, err := b.Store.SearchVector(t.Context(), owner, []float32{1, 0}, nil, 5)
	require.NoError(t, err)
	require.Len(t, hits, 2)

	for _, id := range []string{first, second} { // as a process with another model leaves them
		require.NoError(t, b.Store.PutVectors(t.Context(), owner, id, "another", [][]float32{{1, 0, 0}}))
	}
	require.Equal(t, 2, lacking())
	require.NoError(t, embedAll())
	require.Zero(t, lacking())
}

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
	b.Model.OnEmbed = func(texts []string) ([][]float32, error) {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		release, err := b.IngestMemory.Acquire(ctx, 1)
		if err == nil {
			release()
		}
		free = err
		return activitytest.SameVector(texts)
	}
	require.Equal(t, chat.DocReady, b.ingested(b.Upload("Small", "packed", []byte("x"))).Status)
	require.ErrorIs(t, free, context.DeadlineExceeded, "its memory is taken while it is processed")
	release, err := b.IngestMemory.Acquire(t.Context(), 1)
	require.NoError(t, err, "and free afterwards")
	release()
}
