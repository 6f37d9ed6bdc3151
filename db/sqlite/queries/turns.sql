-- name: InsertTurn :execrows
INSERT INTO turns (id, owner, thread_id, parent, status, created_at, client_turn_id, stream_run_id, content_hash, content, generation, sent_at)
VALUES (@id, @owner, @thread_id, @parent, 'new', @created_at, @client_turn_id, @stream_run_id, @content_hash, @content, @generation, @created_at)
ON CONFLICT DO NOTHING;

-- name: DropUntakenTurn :exec
DELETE FROM turns
WHERE owner = @owner AND thread_id = @thread_id AND client_turn_id = @client_turn_id AND status = 'new' AND id <> @id;

-- name: SendTurn :exec
UPDATE turns SET sent_at = @sent_at WHERE id = @id AND owner = @owner AND status = 'new';

-- name: DropTurn :execrows
DELETE FROM turns
WHERE id = @id AND owner = @owner AND status = 'new' AND created_at < @before_at AND sent_at < @before_at;

-- name: Turn :one
SELECT * FROM turns WHERE id = @id AND owner = @owner;

-- name: TurnsByID :many
SELECT t.* FROM json_each(CAST(@ids AS TEXT)) j JOIN turns t ON t.id = j.value
WHERE t.owner = @owner ORDER BY j.key;

-- name: TurnByClientID :one
SELECT * FROM turns WHERE owner = @owner AND thread_id = @thread_id AND client_turn_id = @client_turn_id;

-- name: NewestTurnByClientID :one
SELECT * FROM turns WHERE owner = @owner AND client_turn_id = @client_turn_id ORDER BY seq DESC LIMIT 1;

-- name: TurnByRunID :one
SELECT t.* FROM turns t JOIN stream_runs r ON r.turn_id = t.id
WHERE r.owner = @owner AND r.run_id = @run_id AND t.owner = @owner ORDER BY t.seq DESC LIMIT 1;

-- name: AddStreamRun :exec
INSERT INTO stream_runs (owner, run_id, turn_id) VALUES (@owner, @run_id, @turn_id) ON CONFLICT DO NOTHING;

-- name: TurnCancelled :one
SELECT EXISTS (SELECT 1 FROM cancels c WHERE c.owner = @owner AND (
    (c.kind = 'turn' AND c.ref = @turn_id)
    OR (c.kind = 'client' AND c.ref = @client_turn_id AND c.thread_id IN ('', @thread_id))
    OR (c.kind = 'run' AND c.ref = @run_id AND c.created_at >= @since AND c.created_at <= @until)));

-- name: PutCancel :exec
INSERT INTO cancels (owner, kind, thread_id, ref, reason, created_at)
VALUES (@owner, @kind, @thread_id, @ref, @reason, @at)
ON CONFLICT (owner, kind, ref, thread_id) DO UPDATE SET reason = excluded.reason, created_at = excluded.created_at;

-- name: PruneCancels :exec
DELETE FROM cancels WHERE created_at < @older_than;

-- name: NextPlace :one
UPDATE conversations SET places = max(places, coalesce((SELECT max(t.place) FROM turns t
    WHERE t.owner = @owner AND t.thread_id = @thread_id AND t.place > 0), 0)) + 1
WHERE id = @thread_id AND owner = @owner RETURNING places;

-- name: LastPlace :one
SELECT CAST(coalesce(max(place), 0) AS INTEGER) AS place FROM turns
WHERE owner = @owner AND thread_id = @thread_id AND place > 0;

-- name: TurnsAfter :many
SELECT * FROM turns
WHERE owner = @owner AND thread_id = @thread_id AND place > 0 AND place > @place
ORDER BY place LIMIT CAST(@max_rows AS INTEGER);

-- name: MarkTurn :exec
UPDATE turns SET status = @status, parent = @parent, place = @place
WHERE id = @id AND owner = @owner AND settled_at = 0;

-- name: SettleTurn :exec
UPDATE turns SET status = @status, parent = @parent, place = @place, registry = @registry, approvals = @approvals, hidden = @hidden, settled_at = @at
WHERE id = @id AND owner = @owner AND settled_at = 0;

-- name: InsertMessage :exec
INSERT INTO messages (turn_id, n, role, created_at, content, folded, metadata)
VALUES (@turn_id, @n, @role, @created_at, @content, '', @metadata);

-- name: InsertEvent :exec
INSERT INTO turn_events (turn_id, n, event) VALUES (@turn_id, @n, @event);

-- name: LastEvent :one
SELECT event FROM turn_events WHERE turn_id = @turn_id ORDER BY n DESC LIMIT 1;

-- name: EventsAfter :many
SELECT e.event FROM turn_events e JOIN turns t ON t.id = e.turn_id
WHERE e.turn_id = @turn_id AND t.owner = @owner AND e.n > @after_n ORDER BY e.n;

-- name: EventsOfTurns :many
SELECT e.turn_id, e.event FROM json_each(CAST(@ids AS TEXT)) j
JOIN turns t ON t.id = j.value JOIN turn_events e ON e.turn_id = t.id
WHERE t.owner = @owner AND t.settled_at > 0 ORDER BY j.key, e.n;

-- name: PutText :execrows
INSERT INTO turn_texts (turn_id, key, text, written_by)
SELECT t.id, @key, @text, @written_by FROM turns t WHERE t.id = @turn_id AND t.owner = @owner AND t.settled_at = 0
ON CONFLICT (turn_id, key) DO UPDATE SET text = excluded.text, written_by = max(turn_texts.written_by, excluded.written_by)
WHERE excluded.written_by = 0 OR excluded.written_by >= turn_texts.written_by;

-- name: Texts :many
SELECT x.key, x.text FROM turn_texts x JOIN turns t ON t.id = x.turn_id
WHERE x.turn_id = @turn_id AND t.owner = @owner;

-- name: SaveDraft :execrows
INSERT INTO drafts (turn_id, piece, attempt, text)
SELECT t.id, @piece, @attempt, @text FROM turns t WHERE t.id = @turn_id AND t.owner = @owner AND t.settled_at = 0
ON CONFLICT (turn_id, piece) DO UPDATE SET attempt = excluded.attempt, text = excluded.text
WHERE excluded.attempt >= drafts.attempt;

-- name: Draft :one
SELECT d.attempt, d.text FROM drafts d JOIN turns t ON t.id = d.turn_id
WHERE d.turn_id = @turn_id AND d.piece = @piece AND t.owner = @owner;

-- name: DeleteDrafts :exec
DELETE FROM drafts WHERE turn_id = @turn_id;

-- name: DeleteTexts :exec
DELETE FROM turn_texts WHERE turn_id = @turn_id;

-- name: Head :one
SELECT id FROM turns
WHERE owner = @owner AND thread_id = @thread_id AND place > 0 AND hidden = 0
ORDER BY place DESC LIMIT 1;

-- name: Tree :many
SELECT id, parent FROM turns
WHERE owner = @owner AND thread_id = @thread_id AND place > 0 AND hidden = 0
ORDER BY place;

-- name: OpenTurns :many
SELECT * FROM turns
WHERE owner = @owner AND thread_id = @thread_id AND settled_at = 0 AND status <> 'new'
ORDER BY place = 0, place, seq;

-- name: CountOpenTurns :one
SELECT count(CASE WHEN thread_id = @thread_id THEN 1 END) AS here,
    count(DISTINCT CASE WHEN thread_id <> @thread_id THEN thread_id END) AS busy
FROM turns
WHERE owner = @owner AND settled_at = 0
    AND (status IN ('accepted', 'running') OR (status = 'new' AND sent_at > @sent_after));

-- name: TurnOfMessage :one
SELECT t.* FROM turns t JOIN messages m ON m.turn_id = t.id
WHERE t.id = @id AND m.n = @n AND t.owner = @owner AND t.thread_id = @thread_id AND t.status <> 'new' AND t.hidden = 0;

-- name: WaitingMessages :many
SELECT m.turn_id, m.n, m.role, m.created_at, m.content, m.metadata FROM turns t JOIN messages m ON m.turn_id = t.id AND m.n = 0
WHERE t.owner = @owner AND t.thread_id = @thread_id AND t.settled_at = 0 AND t.place = 0 AND t.status <> 'new'
ORDER BY t.seq;

-- name: BranchMessages :many
WITH RECURSIVE branch (id, parent, depth) AS (
    SELECT h.id, h.parent, 0 FROM turns h
    WHERE h.id = @head AND h.owner = @owner AND h.thread_id = @thread_id
    UNION ALL
    SELECT t.id, t.parent, branch.depth + 1 FROM branch JOIN turns t ON t.id = branch.parent
    WHERE t.owner = @owner
    LIMIT CAST(@max_turns AS INTEGER)
)
SELECT m.turn_id, m.n, m.role, m.created_at, m.content, m.metadata, branch.parent
FROM branch JOIN messages m ON m.turn_id = branch.id
WHERE (branch.depth > 0 OR m.n < @before_n) AND (CAST(@prompts AS INTEGER) = 1 OR m.role <> 'system')
ORDER BY branch.depth, m.n DESC
LIMIT CAST(@max_rows AS INTEGER);

-- name: RegistryDocuments :many
SELECT d.id, d.title FROM documents d JOIN json_each(CAST(@ids AS TEXT)) j ON d.id = j.value
WHERE d.status = 'ready' AND d.owner IN (@owner, '*') ORDER BY j.key;
