-- Queries about old rows and about the size of what is stored.

-- name: OldThreads :many
SELECT c.owner, c.id FROM conversations c
WHERE c.kind = '' AND c.last_message_at < CAST(@before_at AS BIGINT) AND c.id > CAST(@after_id AS TEXT)
    AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.owner = c.owner AND t.thread_id = c.id AND t.settled_at = 0 AND t.status <> 'new')
ORDER BY c.id LIMIT CAST(@max_rows AS BIGINT);

-- Whether a thread that was listed as old is still unused. The chat of a deleted board always is.

-- name: ThreadIsUnused :one
SELECT count(*) > 0 FROM conversations c
WHERE c.owner = @owner AND c.id = @id AND (c.kind = 'board' OR c.last_message_at < CAST(@before_at AS BIGINT) AND NOT EXISTS (
    SELECT 1 FROM turns t WHERE t.owner = c.owner AND t.thread_id = c.id AND t.settled_at = 0
        AND (c.kind = '' AND t.status <> 'new' OR t.created_at >= CAST(@before_at AS BIGINT) OR t.sent_at >= CAST(@before_at AS BIGINT))));

-- name: LeftImports :one
SELECT count(*) FROM imports i
WHERE i.state IN ('ready', 'failed') AND i.updated_at < CAST(@before_at AS BIGINT) AND i.doc_id <> '' AND NOT EXISTS (SELECT 1 FROM documents d WHERE d.id = i.doc_id);

-- name: PruneImports :execrows
DELETE FROM imports WHERE imports.id IN (SELECT i.id FROM imports i
    WHERE i.state IN ('ready', 'failed') AND i.updated_at < CAST(@before_at AS BIGINT) AND i.doc_id <> '' AND NOT EXISTS (SELECT 1 FROM documents d WHERE d.id = i.doc_id) LIMIT CAST(@max_rows AS BIGINT));
