package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/rules"
	"github.com/palaver-chat/palaver/db/internal/vector"
	"github.com/palaver-chat/palaver/db/sqlite/sqlcgen"
	"github.com/palaver-chat/palaver/internal/language"
)

const (
	ordinalBits = 20 // of a chunk's internal id, edition << ordinalBits | ordinal; record.MaxChunks fit
	// storeBatch limits how long storing a text holds the write lock: about 20 ms.
	storeBatch = 64
)

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
	edition, err := s.beginEdition(ctx, owner, id, version, text)
	if err != nil {
		return err
	}
	lang := language.Detect(text)
	var words int64
	for from := 0; from < len(chunks); from += storeBatch {
		to := min(from+storeBatch, len(chunks))
		stored, err := s.storeChunks(ctx, edition, lang, from, chunks[from:to], vectorsBetween(vectors, from, to))
		if isForeignKey(err) { // the document was deleted, or another process stored it again
			return db.ErrNotFound
		}
		if err != nil {
			return err
		}
		words += stored
	}
	return s.update(ctx, func(q *sqlcgen.Queries) error {
		if err := rules.OwnVersion(ctx, queries{Queries: q}, owner, id, version); err != nil {
			return err
		}
		if err := rules.NameOwn(ctx, queries{Queries: q}, owner, id, own, lang); err != nil {
			return err
		}
		err := record.Found(q.PublishEdition(ctx, sqlcgen.PublishEditionParams{
			Owner: owner, ID: id, Edition: edition, Chunks: int64(len(chunks)), Words: words, Model: model, TermsVersion: language.TermsVersion}))
		if err != nil {
			return err
		}
		return q.DeleteOtherEditions(ctx, id)
	})
}

// beginEdition writes the text of a new edition, which no reader sees yet, and
// deletes what a failed attempt left.
func (s *Store) beginEdition(ctx context.Context, owner, id string, version *string, text string) (edition int64, err error) {
	err = s.update(ctx, func(q *sqlcgen.Queries) error {
		if err := rules.OwnVersion(ctx, queries{Queries: q}, owner, id, version); err != nil {
			return err
		}
		if err := q.DeleteOtherEditions(ctx, id); err != nil {
			return err
		}
		edition, err = q.InsertEdition(ctx, sqlcgen.InsertEditionParams{DocID: id, Text: text})
		return err
	})
	return edition, err
}

func vectorsBetween(vectors [][]float32, from, to int) [][]float32 {
	if vectors == nil {
		return nil
	}
	return vectors[from:to]
}

// storeChunks writes and indexes chunks with their vectors, and returns the number of
// words indexed.
func (s *Store) storeChunks(ctx context.Context, edition int64, lang string, first int, chunks []chat.Chunk, vectors [][]float32) (words int64, err error) {
	err = inTx(ctx, s.writer, func(tx *sql.Tx) error {
		q, index := s.write.WithTx(tx), tx.StmtContext(ctx, s.search.index)
		for i, c := range chunks {
			id := edition<<ordinalBits | int64(first+i)
			err := q.InsertChunk(ctx, sqlcgen.InsertChunkParams{
				ID: id, Edition: edition, StartChar: int64(c.Start), EndChar: int64(c.End), Heading: c.Heading, Text: c.Text,
				Pages: record.EncodePages(c.Pages)})
			if err != nil {
				return err
			}
			if err := indexOne(ctx, index, id, lang, c.Text, c.Heading); err != nil {
				return err
			}
			if vectors == nil {
				continue
			}
			if blob := vector.Encode(vectors[i]); blob != nil {
				if err := q.InsertVector(ctx, sqlcgen.InsertVectorParams{ID: id, Vector: blob}); err != nil {
					return err
				}
			}
		}
		begin := edition<<ordinalBits | int64(first)
		return tx.StmtContext(ctx, s.search.words).QueryRowContext(ctx, begin, begin+int64(len(chunks))).Scan(&words)
	})
	return words, err
}

// indexOne indexes a chunk by the terms of its text and heading.
func indexOne(ctx context.Context, index *sql.Stmt, id int64, lang, text, heading string) error {
	_, err := index.ExecContext(ctx, id, strings.Join(record.Terms(text, lang), " "), strings.Join(record.Terms(heading, lang), " "))
	return err
}

// IndexDocument indexes in pieces, so that it never holds the write lock for long. An attempt
// that ends early leaves entries of both versions; the next one replaces all.
func (s *Store) IndexDocument(ctx context.Context, owner, id string) (err error) {
	ctx, end := s.Call(ctx, "index document", rules.Bulk)
	defer end(&err)
	text, err := queries{Queries: s.read}.DocumentText(ctx, rules.Visible{Owner: owner}, id)
	if err != nil {
		return err
	}
	lang := language.Detect(text)
	var words, last int64
	for more := true; more; {
		err := inTx(ctx, s.writer, func(tx *sql.Tx) error {
			chunks, err := s.write.WithTx(tx).EditionChunks(ctx, sqlcgen.EditionChunksParams{ID: id, Owner: owner, AfterID: last, MaxRows: storeBatch})
			if more = len(chunks) == storeBatch; err != nil || len(chunks) == 0 {
				return err
			}
			if last > 0 && last>>ordinalBits != chunks[0].ID>>ordinalBits { // stored again
				more = false
				return nil
			}
			index := tx.StmtContext(ctx, s.search.index)
			for _, c := range chunks {
				if err := indexOne(ctx, index, c.ID, lang, c.Text, c.Heading); err != nil {
					return err
				}
			}
			last = chunks[len(chunks)-1].ID
			var some int64
			err = tx.StmtContext(ctx, s.search.words).QueryRowContext(ctx, chunks[0].ID, last+1).Scan(&some)
			words += some
			return err
		})
		if err != nil {
			return err
		}
	}
	return s.update(ctx, func(q *sqlcgen.Queries) error {
		if now, err := (queries{Queries: q}).DocumentText(ctx, rules.Visible{Owner: owner}, id); err != nil || now != text { // stored again
			return err
		}
		if err := rules.NameOwn(ctx, queries{Queries: q}, owner, id, db.OwnNames{}, lang); err != nil {
			return err
		}
		return record.Found(q.SetIndexed(ctx, sqlcgen.SetIndexedParams{ID: id, Owner: owner, Words: words, TermsVersion: language.TermsVersion}))
	})
}

// vectorBatch limits how long storing vectors holds the write lock.
const vectorBatch = 512

func (s *Store) PutVectors(ctx context.Context, owner, id, model string, vectors [][]float32) (err error) {
	ctx, end := s.Call(ctx, "store vectors", rules.Bulk)
	defer end(&err)
	n := int64(len(vectors))
	edition, err := s.read.ReadyEdition(ctx, sqlcgen.ReadyEditionParams{Owner: owner, ID: id, Chunks: n})
	if err != nil {
		return err
	}
	for from := 0; from < len(vectors); from += vectorBatch {
		err := s.update(ctx, func(q *sqlcgen.Queries) error {
			for i := from; i < min(from+vectorBatch, len(vectors)); i++ {
				blob := vector.Encode(vectors[i])
				if blob == nil {
					continue
				}
				if err := q.InsertVector(ctx, sqlcgen.InsertVectorParams{ID: edition<<ordinalBits | int64(i), Vector: blob}); err != nil {
					return err
				}
			}
			return nil
		})
		if isForeignKey(err) { // the document was deleted, or stored again
			return db.ErrNotFound
		}
		if err != nil {
			return err
		}
	}
	return s.update(ctx, func(q *sqlcgen.Queries) error {
		now, err := q.ReadyEdition(ctx, sqlcgen.ReadyEditionParams{Owner: owner, ID: id, Chunks: n})
		if err != nil {
			return err
		}
		if now != edition {
			return db.ErrNotFound
		}
		return record.Found(q.SetEmbedding(ctx, sqlcgen.SetEmbeddingParams{Owner: owner, ID: id, Model: model, Chunks: n}))
	})
}
