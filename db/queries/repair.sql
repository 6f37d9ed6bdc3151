-- name: OpenThreads :many
SELECT owner, thread_id FROM turns
WHERE settled_at = 0 AND status <> 'new' AND created_at < @before_at AND (owner, thread_id) > (@after_owner, @after_thread)
GROUP BY owner, thread_id ORDER BY owner, thread_id LIMIT CAST(@max_rows AS BIGINT);

-- name: BusyThreads :many
SELECT DISTINCT thread_id FROM turns
WHERE owner = @owner AND settled_at = 0 AND status IN ('accepted', 'running') ORDER BY thread_id LIMIT CAST(@max_rows AS BIGINT);

-- name: ProcessingDocuments :many
SELECT d.owner, d.id FROM raw_documents r JOIN documents d ON d.id = r.doc_id
WHERE r.doc_id > @after_id AND d.status = 'processing' AND d.created_at < @before_at
ORDER BY r.doc_id LIMIT CAST(@max_rows AS BIGINT);

-- name: UnacceptedTurns :many
SELECT owner, thread_id, id FROM turns
WHERE status = 'new' AND created_at < @before_at AND sent_at < @before_at AND id > @after_id
ORDER BY id LIMIT CAST(@max_rows AS BIGINT);

-- name: OpenTurnCounts :many
SELECT status, count(*) AS number, CAST(min(created_at) AS BIGINT) AS oldest FROM turns
WHERE settled_at = 0 AND status <> 'new' GROUP BY status ORDER BY status;

-- name: UnfinishedImports :many
SELECT owner, key FROM imports
WHERE state NOT IN ('ready', 'failed') AND updated_at < @before_at AND key > @after_key
GROUP BY owner, key ORDER BY key LIMIT CAST(@max_rows AS BIGINT);

-- name: OwnerOfTurn :one
SELECT owner FROM turns WHERE id = @id;

-- name: InsertLease :execrows
INSERT INTO leases (name, holder, beat) VALUES (@name, @holder, 1) ON CONFLICT (name) DO NOTHING;

-- name: TakeLease :execrows
UPDATE leases SET holder = @holder, beat = beat + 1
WHERE name = @name AND (holder = @holder OR (holder = @dead_holder AND beat = @dead_beat));

-- name: Lease :one
SELECT holder, beat FROM leases WHERE name = @name;

-- name: EndLease :exec
DELETE FROM leases WHERE name = @name AND holder = @holder;
