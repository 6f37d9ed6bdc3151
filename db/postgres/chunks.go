package postgres

import (
	"context"
	"fmt"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/rules"
	"github.com/palaver-chat/palaver/db/internal/vector"
	"github.com/palaver-chat/palaver/db/postgres/sqlcgen"
	"github.com/palaver-chat/palaver/internal/language"
)

// storeBatch is how many chunks one statement writes.
const storeBatch = 200

// StoreText numbers chunks by their place in the list. Readers see the old text
// until the new one is complete.
func (s *Store) StoreText(ctx context.Context, owner, id, text string, chunks []chat.Chunk, vectors [][]float32) error {
	return s.storeText(ctx, owner, id, nil, db.OwnNames{}, text, chunks, "", vectors)
}

func (s *Store) StoreVersion(ctx context.Context, owner, id, version string, own db.OwnNames, text string, chunks []chat.Chunk, model string, vectors [][]float32) error {
	return s.storeText(ctx, owner, id, &version, own, text, chunks, model, vectors)
}

func (s *Store) storeText(ctx context.Context, owner, id string, version *string, own db.OwnNames, text string, chunks []chat.Chunk, model string, vectors [][]float32) (err error) {
	ctx, end := s.Call(ctx, "store text", rules.Bulk)
	defer end(&err)
	if len(chunks) > record.MaxChunks {
		return fmt.Errorf("%d chunks are more than %d", len(chunks), record.MaxChunks)
	}
	if vectors != nil && len(vectors) != len(chunks) {
		return fmt.Errorf("%d vectors for %d chunks", len(vectors), len(chunks))
	}
	encoded := make([][]byte, len(vectors))
	for i, v := range vectors {
		encoded[i] = vector.Encode(v)
	}
	lang := language.Detect(text)
	return s.inTx(ctx, beginUpdate, func(tx plain) error {
		q := sqlcgen.New(tx)
		if err := rules.OwnVersion(ctx, queries{q}, owner, id, version); err != nil {
			return err
		}
		if err := replaceText(ctx, q, id, text); err != nil {
			return err
		}
		words, err := s.insertChunks(ctx, tx, id, lang, chunks, encoded)
		if err != nil {
			return err
		}
		if err := rules.NameOwn(ctx, queries{q}, owner, id, own, lang); err != nil {
			return err
		}
		return record.Found(q.PublishText(ctx, sqlcgen.PublishTextParams{
			Owner: owner, ID: id, Chunks: int64(len(chunks)), Words: words, Model: model, TermsVersion: language.TermsVersion}))
	})
}

// replaceText deletes the text of a document and writes its new one.
func replaceText(ctx context.Context, q *sqlcgen.Queries, id, text string) error {
	if err := q.DeleteChunks(ctx, id); err != nil {
		return err
	}
	return q.PutDocumentText(ctx, sqlcgen.PutDocumentTextParams{DocID: id, Text: text})
}

// insertChunks writes and indexes a document's chunks with their vectors (nil: none),
// and returns the number of words indexed.
func (s *Store) insertChunks(ctx context.Context, tx plain, id, lang string, chunks []chat.Chunk, vectors [][]byte) (words int64, err error) {
	q := sqlcgen.New(tx)
	for from := 0; from < len(chunks); from += storeBatch {
		to := min(from+storeBatch, len(chunks))
		insert := sqlcgen.InsertChunksParams{DocID: id}
		meant := sqlcgen.InsertVectorsParams{DocID: id}
		for i := from; i < to; i++ {
			c := chunks[i]
			frequencies, n := frequenciesOf(c.Text, c.Heading, lang)
			insert.Ordinals = append(insert.Ordinals, int64(i))
			insert.Starts = append(insert.Starts, int64(c.Start))
			insert.Ends = append(insert.Ends, int64(c.End))
			insert.Headings = append(insert.Headings, c.Heading)
			insert.Texts = append(insert.Texts, c.Text)
			insert.Pages = append(insert.Pages, record.EncodePages(c.Pages))
			insert.Words = append(insert.Words, n)
			insert.Frequencies = append(insert.Frequencies, frequencies)
			words += n
			if i < len(vectors) && vectors[i] != nil {
				meant.Ordinals, meant.Vectors = append(meant.Ordinals, int64(i)), append(meant.Vectors, vectors[i])
			}
		}
		if err := q.InsertChunks(ctx, insert); err != nil {
			return 0, err
		}
		if err := s.insertVectors(ctx, tx, meant); err != nil {
			return 0, err
		}
	}
	return words, nil
}

func (s *Store) IndexDocument(ctx context.Context, owner, id string) (err error) {
	ctx, end := s.Call(ctx, "index document", rules.Bulk)
	defer end(&err)
	return s.inTx(ctx, beginUpdate, func(tx plain) error {
		q := queries{sqlcgen.New(tx)}
		if err := rules.OwnDocument(ctx, q, owner, id); err != nil { // locks it: its chunks stay
			return err
		}
		text, err := q.DocumentText(ctx, rules.Visible{Owner: owner}, id)
		if err != nil {
			return err
		}
		lang := language.Detect(text)
		chunks, err := q.DocumentChunks(ctx, rules.Visible{Owner: owner}, id, record.MaxChunks)
		if err != nil {
			return err
		}
		var words int64
		for from := 0; from < len(chunks); from += storeBatch {
			update := sqlcgen.IndexChunksParams{DocID: id}
			for _, c := range chunks[from:min(from+storeBatch, len(chunks))] {
				frequencies, n := frequenciesOf(c.Text, c.Heading, lang)
				update.Ordinals, update.Words, update.Frequencies = append(update.Ordinals, c.Ordinal), append(update.Words, n), append(update.Frequencies, frequencies)
				words += n
			}
			if err := q.IndexChunks(ctx, update); err != nil {
				return err
			}
		}
		if err := rules.NameOwn(ctx, q, owner, id, db.OwnNames{}, lang); err != nil {
			return err
		}
		return record.Found(q.SetIndexed(ctx, sqlcgen.SetIndexedParams{ID: id, Owner: owner, Words: words, TermsVersion: language.TermsVersion}))
	})
}

func (s *Store) PutVectors(ctx context.Context, owner, id, model string, vectors [][]float32) (err error) {
	ctx, end := s.Call(ctx, "store vectors", rules.Bulk)
	defer end(&err)
	return s.inTx(ctx, beginUpdate, func(tx plain) error {
		q := sqlcgen.New(tx)
		// The update locks the document: its chunks stay until the transaction ends.
		err := record.Found(q.SetEmbedding(ctx, sqlcgen.SetEmbeddingParams{Owner: owner, ID: id, Model: model, Chunks: int64(len(vectors))}))
		if err != nil {
			return err
		}
		for from := 0; from < len(vectors); from += storeBatch {
			insert := sqlcgen.InsertVectorsParams{DocID: id}
			for i := from; i < min(from+storeBatch, len(vectors)); i++ {
				if blob := vector.Encode(vectors[i]); blob != nil {
					insert.Ordinals, insert.Vectors = append(insert.Ordinals, int64(i)), append(insert.Vectors, blob)
				}
			}
			if err := s.insertVectors(ctx, tx, insert); err != nil {
				return err
			}
		}
		return nil
	})
}
