-- name: DropUnacceptedTurn :exec
DELETE FROM turns
WHERE owner = @owner AND thread_id = @thread_id AND client_turn_id = @client_turn_id AND status = 'new' AND id <> @id;

-- name: SetSentAt :exec
UPDATE turns SET sent_at = @sent_at WHERE id = @id AND owner = @owner AND status = 'new';

-- name: DropTurn :execrows
DELETE FROM turns
WHERE id = @id AND owner = @owner AND status = 'new' AND created_at < @before_at AND sent_at < @before_at;

-- name: DropWaitingTurn :execrows
DELETE FROM turns WHERE id = @id AND owner = @owner AND place = 0 AND settled_at = 0;

-- name: Turn :one
SELECT * FROM turns WHERE id = @id AND owner = @owner;

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

-- name: MarkTurn :exec
UPDATE turns SET status = @status, asks = @asks, parent = @parent, place = @place
WHERE id = @id AND owner = @owner AND settled_at = 0;

-- name: PassOnChildren :exec
UPDATE turns SET parent = @parent
WHERE owner = @owner AND thread_id = @thread_id AND parent = @id;

-- name: LastEvent :one
SELECT event FROM turn_events WHERE turn_id = @turn_id ORDER BY n DESC LIMIT 1;

-- name: EventsAfter :many
SELECT e.event, t.space_id, t.author FROM turn_events e JOIN turns t ON t.id = e.turn_id
WHERE e.turn_id = @turn_id AND t.owner = @owner AND t.settled_at > 0 AND e.n > @after_n ORDER BY e.n;

-- name: Text :one
SELECT x.text FROM turn_texts x JOIN turns t ON t.id = x.turn_id
WHERE x.turn_id = @turn_id AND x.key = @key AND t.owner = @owner AND t.settled_at = 0;

-- name: Draft :one
SELECT d.attempt, d.text FROM drafts d JOIN turns t ON t.id = d.turn_id
WHERE d.turn_id = @turn_id AND d.piece = @piece AND t.owner = @owner;

-- name: OpenTurns :many
SELECT * FROM turns
WHERE owner = @owner AND thread_id = @thread_id AND settled_at = 0 AND status <> 'new'
ORDER BY place = 0, place, seq;

-- name: WaitingMessages :many
SELECT m.turn_id, m.n, m.role, m.created_at, m.content, m.metadata FROM turns t JOIN messages m ON m.turn_id = t.id AND m.n = 0
WHERE t.owner = @owner AND t.thread_id = @thread_id AND t.settled_at = 0 AND t.place = 0 AND t.status <> 'new'
ORDER BY t.seq;

-- name: Summaries :many
SELECT s.turn_id, s.text, s.created_at, t.space_id FROM turns t JOIN summaries s ON s.turn_id = t.id
WHERE t.owner = @owner AND t.thread_id = @thread_id ORDER BY t.seq;

-- name: PutSummary :execrows
INSERT INTO summaries (turn_id, text, created_at)
SELECT t.id, @text, @created_at FROM turns t WHERE t.id = @turn_id AND t.owner = @owner
ON CONFLICT (turn_id) DO UPDATE SET text = excluded.text, created_at = excluded.created_at;

-- name: LastPlace :one
SELECT CAST(coalesce(max(place), 0) AS BIGINT) AS place FROM turns
WHERE owner = @owner AND thread_id = @thread_id AND place > 0;

-- name: TurnsAfter :many
SELECT * FROM turns
WHERE owner = @owner AND thread_id = @thread_id AND place > 0 AND place > @place
ORDER BY place LIMIT CAST(@max_rows AS BIGINT);
