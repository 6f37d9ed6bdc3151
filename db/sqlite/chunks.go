package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/vector"
	"github.com/palaver-chat/palaver/db/sqlite/sqlcgen"
)

const (
	ordinalBits = 20 // of a chunk's internal id, edition << ordinalBits | ordinal; record.MaxChunks fit
	// storeBatch limits how long storing a text holds the write lock: about 20 ms.
	storeBatch = 64
)

// StoreText numbers chunks by their place in the list. Readers see the old text
// until the new one is complete.
func (s *Store) StoreText(ctx context.Context, owner, id, text string, chunks []chat.Chunk, vectors [][]float32) (err error) {
	defer s.wrap("store text", &err)
	if len(chunks) > record.MaxChunks {
		return fmt.Errorf("%d chunks are more than %d", len(chunks), record.MaxChunks)
	}
	if vectors != nil && len(vectors) != len(chunks) {
		return fmt.Errorf("%d vectors for %d chunks", len(vectors), len(chunks))
	}
	edition, err := s.beginEdition(ctx, owner, id, text)
	if err != nil {
		return err
	}
	for from := 0; from < len(chunks); from += storeBatch {
		to := min(from+storeBatch, len(chunks))
		err := s.storeChunks(ctx, edition, from, chunks[from:to], vectorsBetween(vectors, from, to))
		if isForeignKey(err) { // the document was deleted, or another process stored it again
			return db.ErrNotFound
		}
		if err != nil {
			return err
		}
	}
	return s.update(ctx, func(q *sqlcgen.Queries) error {
		err := record.Found(q.PublishEdition(ctx, sqlcgen.PublishEditionParams{
			Owner: owner, ID: id, Edition: edition, Chunks: int64(len(chunks))}))
		if err != nil {
			return err
		}
		if err := q.DeleteRaw(ctx, id); err != nil {
			return err
		}
		return q.DeleteOtherEditions(ctx, sqlcgen.DeleteOtherEditionsParams{DocID: id, Keep: edition})
	})
}

// beginEdition writes the text of a new edition, which no reader sees yet, and
// deletes what a failed attempt left.
func (s *Store) beginEdition(ctx context.Context, owner, id, text string) (edition int64, err error) {
	err = s.update(ctx, func(q *sqlcgen.Queries) error {
		row, err := ownDocument(ctx, q, owner, id)
		if err != nil {
			return err
		}
		err = q.DeleteOtherEditions(ctx, sqlcgen.DeleteOtherEditionsParams{DocID: id, Keep: row.Edition})
		if err != nil {
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

func (s *Store) storeChunks(ctx context.Context, edition int64, first int, chunks []chat.Chunk, vectors [][]float32) error {
	return inTx(ctx, s.writer, func(tx *sql.Tx) error {
		q, index := s.write.WithTx(tx), tx.StmtContext(ctx, s.search.index)
		for i, c := range chunks {
			id := edition<<ordinalBits | int64(first+i)
			err := q.InsertChunk(ctx, sqlcgen.InsertChunkParams{
				ID: id, Edition: edition, StartChar: int64(c.Start), EndChar: int64(c.End), Heading: c.Heading, Text: c.Text})
			if err != nil {
				return err
			}
			if _, err := index.ExecContext(ctx, id, c.Text, c.Heading); err != nil {
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
		return nil
	})
}

func (s *Store) Chunk(ctx context.Context, owner, docID, chunkID string) (_ chat.Chunk, err error) {
	defer s.wrap("read chunk", &err)
	if doc, _, ok := record.ParseChunkID(chunkID); !ok || doc != docID {
		return chat.Chunk{}, db.ErrNotFound
	}
	hits, err := s.ChunksByID(ctx, owner, []string{chunkID})
	if err != nil {
		return chat.Chunk{}, err
	}
	if len(hits) == 0 {
		return chat.Chunk{}, db.ErrNotFound
	}
	return hits[0].Chunk, nil
}

func (s *Store) ChunksByID(ctx context.Context, owner string, ids []string) (_ []chat.Hit, err error) {
	defer s.wrap("read chunks", &err)
	keys := [][2]any{}
	for _, id := range ids {
		if doc, ordinal, ok := record.ParseChunkID(id); ok {
			keys = append(keys, [2]any{doc, ordinal})
		}
	}
	list, err := record.JSON(keys)
	if err != nil {
		return nil, err
	}
	rows, err := s.read.ChunksByKey(ctx, sqlcgen.ChunksByKeyParams{Owner: owner, Keys: list})
	if err != nil {
		return nil, err
	}
	hits := make([]chat.Hit, len(rows))
	for i, row := range rows {
		hits[i] = hit(row)
	}
	return hits, nil
}

func (s *Store) DocumentChunks(ctx context.Context, owner, docID string, limit int) (_ []chat.Hit, err error) {
	defer s.wrap("read document chunks", &err)
	rows, err := s.read.DocumentChunks(ctx, sqlcgen.DocumentChunksParams{Owner: owner, ID: docID, MaxRows: int64(max(limit, 0))})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		if _, err := s.read.Document(ctx, sqlcgen.DocumentParams{Owner: owner, ID: docID}); err != nil {
			return nil, err
		}
	}
	hits := make([]chat.Hit, len(rows))
	for i, row := range rows {
		hits[i] = hit(sqlcgen.ChunksByKeyRow(row))
	}
	return hits, nil
}

func hit(r sqlcgen.ChunksByKeyRow) chat.Hit {
	return chat.Hit{Title: r.Title, Chunk: chat.Chunk{
		ID: record.ChunkID(r.DocID, r.Ordinal), DocID: r.DocID, Ordinal: int(r.Ordinal),
		Text: r.Text, Start: int(r.StartChar), End: int(r.EndChar), Heading: r.Heading}}
}
