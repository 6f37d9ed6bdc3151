-- name: PutFeedback :execrows
INSERT INTO feedback (turn_id, owner, good, reason, created_at, updated_at)
SELECT t.id, t.owner, @good::boolean, @reason::text, @at::bigint, @at::bigint
FROM turns t WHERE t.id = @turn_id AND t.owner = @owner AND t.thread_id = @thread_id AND t.settled_at > 0 AND NOT t.hidden
ON CONFLICT (turn_id) DO UPDATE SET good = excluded.good, reason = excluded.reason, updated_at = excluded.updated_at;

-- name: DeleteFeedback :execrows
DELETE FROM feedback WHERE feedback.turn_id = @turn_id AND feedback.owner = @owner
    AND EXISTS (SELECT 1 FROM turns t WHERE t.id = @turn_id AND t.thread_id = @thread_id);

-- name: FeedbackOfThread :many
SELECT f.turn_id, f.owner, t.thread_id, f.good, f.reason, f.created_at, f.updated_at
FROM feedback f JOIN turns t ON t.id = f.turn_id
WHERE t.thread_id = @thread_id AND t.owner = @owner AND f.owner = @owner
ORDER BY t.place, f.turn_id;

-- Feedback of every owner, for operators.

-- name: FeedbackAfter :many
SELECT f.turn_id, f.owner, t.thread_id, f.good, f.reason, f.created_at, f.updated_at
FROM feedback f JOIN turns t ON t.id = f.turn_id
WHERE f.updated_at > @after_at::bigint OR (f.updated_at = @after_at::bigint AND f.turn_id > @after_id::text)
ORDER BY f.updated_at, f.turn_id
LIMIT @max_rows::bigint;
