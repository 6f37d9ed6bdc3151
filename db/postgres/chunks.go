package postgres

import (
	"context"
	"fmt"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/vector"
	"github.com/palaver-chat/palaver/db/postgres/sqlcgen"
)

// storeBatch is how many chunks one statement writes.
const storeBatch = 200

// StoreText numbers chunks by their place in the list. Readers see the old text
// until the new one is complete.
func (s *Store) StoreText(ctx context.Context, owner, id, text string, chunks []chat.Chunk, vectors [][]float32) (err error) {
	ctx, end := s.bulkCall(ctx, "store text")
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
	return s.update(ctx, func(q *sqlcgen.Queries) error {
		if err := ownDocument(ctx, q, owner, id); err != nil {
			return err
		}
		if err := replaceText(ctx, q, id, text); err != nil {
			return err
		}
		words, err := insertChunks(ctx, q, id, chunks, encoded)
		if err != nil {
			return err
		}
		return record.Found(q.PublishText(ctx, sqlcgen.PublishTextParams{
			Owner: owner, ID: id, Chunks: int64(len(chunks)), Words: words}))
	})
}

// replaceText deletes what is stored of a document and writes its new text.
func replaceText(ctx context.Context, q *sqlcgen.Queries, id, text string) error {
	if err := q.DeleteRaw(ctx, id); err != nil {
		return err
	}
	if err := q.DeleteChunks(ctx, id); err != nil {
		return err
	}
	return q.PutDocumentText(ctx, sqlcgen.PutDocumentTextParams{DocID: id, Text: text})
}

// insertChunks writes and indexes a document's chunks with their vectors (nil: none),
// and returns the number of words indexed.
func insertChunks(ctx context.Context, q *sqlcgen.Queries, id string, chunks []chat.Chunk, vectors [][]byte) (words int64, err error) {
	for from := 0; from < len(chunks); from += storeBatch {
		to := min(from+storeBatch, len(chunks))
		insert := sqlcgen.InsertChunksParams{DocID: id}
		meant := sqlcgen.InsertVectorsParams{DocID: id}
		for i := from; i < to; i++ {
			c := chunks[i]
			text, inText := terms(c.Text)
			heading, inHeading := terms(c.Heading)
			insert.Ordinals = append(insert.Ordinals, int64(i))
			insert.Starts = append(insert.Starts, int64(c.Start))
			insert.Ends = append(insert.Ends, int64(c.End))
			insert.Headings = append(insert.Headings, c.Heading)
			insert.Texts = append(insert.Texts, c.Text)
			insert.HeadingTerms = append(insert.HeadingTerms, heading)
			insert.TextTerms = append(insert.TextTerms, text)
			insert.Words = append(insert.Words, int64(inText+inHeading))
			words += int64(inText + inHeading)
			if i < len(vectors) && vectors[i] != nil {
				meant.Ordinals, meant.Vectors = append(meant.Ordinals, int64(i)), append(meant.Vectors, vectors[i])
			}
		}
		if err := q.InsertChunks(ctx, insert); err != nil {
			return 0, err
		}
		if len(meant.Vectors) == 0 {
			continue
		}
		if err := q.InsertVectors(ctx, meant); err != nil {
			return 0, err
		}
	}
	return words, nil
}

func (s *Store) Chunk(ctx context.Context, owner, docID, chunkID string) (_ chat.Chunk, err error) {
	ctx, end := s.shortCall(ctx, "read chunk")
	defer end(&err)
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
	ctx, end := s.shortCall(ctx, "read chunks")
	defer end(&err)
	keys := sqlcgen.ChunksByKeyParams{Owner: owner}
	for _, id := range ids {
		if doc, ordinal, ok := record.ParseChunkID(id); ok {
			keys.DocIds, keys.Ordinals = append(keys.DocIds, doc), append(keys.Ordinals, ordinal)
		}
	}
	rows, err := s.q.ChunksByKey(ctx, keys)
	return inOrder(ids, rows, func(r sqlcgen.ChunksByKeyRow) string { return record.ChunkID(r.DocID, r.Ordinal) }, hit), err
}

func (s *Store) DocumentChunks(ctx context.Context, owner, docID string, limit int) (_ []chat.Hit, err error) {
	ctx, end := s.longCall(ctx, "read document chunks")
	defer end(&err)
	rows, err := s.q.DocumentChunks(ctx, sqlcgen.DocumentChunksParams{Owner: owner, ID: docID, MaxRows: int64(max(limit, 0))})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		if _, err := s.q.Document(ctx, sqlcgen.DocumentParams{Owner: owner, ID: docID}); err != nil {
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
