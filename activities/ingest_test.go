package activities

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/llm"
)

func (b *testBundle) ingested(id string) chat.Document {
	b.t.Helper()
	_, err := run[any](b, b.Ingest, IngestRequest{Owner: owner, DocID: id})
	require.NoError(b.t, err)
	d, err := b.store.Document(context.Background(), owner, id)
	require.NoError(b.t, err)
	return d
}

func TestIngestMakesADocumentSearchable(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.upload("Leave", "md", []byte("# Leave\n\n"+leave))
	d := b.ingested(id)
	require.Equal(t, chat.DocReady, d.Status)
	require.Positive(t, d.Chunks)
	hits, err := b.store.SearchText(context.Background(), owner, db.Words("lapse"), nil, 5)
	require.NoError(t, err)
	require.Equal(t, id, hits[0].DocID)
	require.Equal(t, d, b.ingested(id), "a second attempt changes nothing")
}

func TestUnreadableUploadIsMarkedFailedWithItsReason(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d := b.ingested(b.upload("Broken", "pdf", []byte("not a PDF")))
	require.Equal(t, chat.DocFailed, d.Status)
	require.NotEmpty(t, d.Error)
	require.NotContains(t, d.Error, "not a PDF")
}

func TestIngestOfADeletedDocumentIsNoError(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, fn := range []any{b.Ingest, b.FailIngest} {
		_, err := run[any](b, fn, IngestRequest{Owner: owner, DocID: uuid.NewString()})
		require.NoError(t, err)
	}
}

func TestFailIngestMarksTheDocumentFailed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.upload("Doc", "txt", []byte(leave))
	_, err := run[any](b, b.FailIngest, IngestRequest{Owner: owner, DocID: id})
	require.NoError(t, err)
	d, err := b.store.Document(context.Background(), owner, id)
	require.NoError(t, err)
	require.Equal(t, chat.DocFailed, d.Status)
	require.Equal(t, ReasonIngestFailed, d.Error)
}

func TestEmbeddingsAreMadeInBatches(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var batches []int
	b.model.embed = func(texts []string) ([][]float32, error) {
		batches = append(batches, len(texts))
		out := make([][]float32, len(texts))
		for i := range out {
			out[i] = []float32{1, 0}
		}
		return out, nil
	}
	id := b.upload("Long", "txt", []byte(strings.Repeat(leave+" ", 2000)))
	d := b.ingested(id)
	total := 0
	for _, n := range batches {
		require.LessOrEqual(t, n, embedBatch)
		total += n
	}
	require.Equal(t, d.Chunks, total)
	require.Greater(t, len(batches), 1)
	hits, err := b.store.SearchVector(context.Background(), owner, []float32{1, 0}, []string{id}, 3)
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
			b.model.embed = embed
			require.Equal(t, chat.DocReady, b.ingested(b.upload("Doc", "txt", []byte(leave))).Status)
		})
	}
	b := setup(t)
	b.model.embed = func([]string) ([][]float32, error) {
		return nil, &llm.Error{Code: chat.CodeModelUnavailable, Retryable: true, Err: errors.New("planted")}
	}
	id := b.upload("Doc", "txt", []byte(leave))
	_, err := run[any](b, b.Ingest, IngestRequest{Owner: owner, DocID: id})
	var app *temporal.ApplicationError
	require.ErrorAs(t, err, &app)
	require.False(t, app.NonRetryable(), "an unavailable model is retried")
	require.NotContains(t, err.Error(), "planted")
}

// losesVectors is a store whose database is lost at the first write of vectors.
type losesVectors struct {
	db.Store
	lost bool
}

func (s *losesVectors) StoreVersion(ctx context.Context, owner, id, version, title, text string, chunks []chat.Chunk, model string, vectors [][]float32) error {
	if vectors != nil && !s.lost {
		s.lost = true
		return db.ErrUnavailable
	}
	return s.Store.StoreVersion(ctx, owner, id, version, title, text, chunks, model, vectors)
}

func (s *losesVectors) PutVectors(context.Context, string, string, string, [][]float32) error {
	return db.ErrUnavailable // after the document is ready, no attempt would write them
}

func TestIngestIsRetriedWhenTheDatabaseIsLostAtTheVectors(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.model.embed = func(texts []string) ([][]float32, error) { return make([][]float32, len(texts)), nil }
	b.Store = &losesVectors{Store: b.store}
	id := b.upload("Doc", "txt", []byte(leave))
	_, err := run[any](b, b.Ingest, IngestRequest{Owner: owner, DocID: id})
	require.Error(t, err, "Temporal retries")
	d := b.ingested(id)
	require.Equal(t, chat.DocReady, d.Status)
	done, total, err := b.store.EmbeddingProgress(t.Context(), owner, "scripted")
	require.NoError(t, err)
	require.Equal(t, []int{1, 1}, []int{done, total})
}

func TestExistingDocumentsAreEmbeddedAndAgainWhenTheModelChanges(t *testing.T) {
	b := setup(t)
	first, second := b.doc("Dogs", "Dogs bark at the moon."), b.doc("Cars", "Automobiles need fuel.")
	embedAll := func() error {
		_, err := b.env.ExecuteActivity(b.EmbedDocuments)
		return err
	}
	lacking := func() int {
		done, total, err := b.store.EmbeddingProgress(t.Context(), owner, "scripted")
		require.NoError(t, err)
		return total - done
	}
	require.NoError(t, embedAll(), "without a model there is nothing to do")
	require.Equal(t, 2, lacking())

	fails := true
	b.model.embed = func(texts []string) ([][]float32, error) {
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
	hits, err := b.store.SearchVector(t.Context(), owner, []float32{1, 0}, nil, 5)
	require.NoError(t, err)
	require.Len(t, hits, 2)

	for _, id := range []string{first, second} { // as a process with another model leaves them
		require.NoError(t, b.store.PutVectors(t.Context(), owner, id, "another", [][]float32{{1, 0, 0}}))
	}
	require.Equal(t, 2, lacking())
	require.NoError(t, embedAll())
	require.Zero(t, lacking())
}
