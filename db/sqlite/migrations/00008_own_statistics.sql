-- +goose Up
-- Ranking uses the statistics of what the caller may see, not those of the index.

-- Every occurrence of every term of the index; it stores nothing itself.
CREATE VIRTUAL TABLE chunk_words USING fts5vocab('chunk_index', 'instance');

ALTER TABLE documents ADD COLUMN words INTEGER NOT NULL DEFAULT 0; -- indexed, of the edition that readers see; 0: stored by an earlier release
UPDATE documents SET words = (
    SELECT coalesce(sum(palaver_words(z.sz)), 0) FROM chunk_index_docsize z
    WHERE z.id >= documents.edition << 20 AND z.id < (documents.edition + 1) << 20
) WHERE edition > 0;
