-- name: DeleteFeedback :execrows
DELETE FROM feedback WHERE feedback.turn_id = @turn_id AND feedback.owner = @owner
    AND EXISTS (SELECT 1 FROM turns t WHERE t.id = @turn_id AND t.thread_id = @thread_id);

-- name: FeedbackOfThread :many
SELECT f.turn_id, f.owner, t.thread_id, f.good, f.reason, f.shared, f.created_at, f.updated_at
FROM feedback f JOIN turns t ON t.id = f.turn_id
WHERE t.thread_id = @thread_id AND t.owner = @owner AND f.owner = @owner
ORDER BY t.place, f.turn_id;

-- Feedback of every owner, for operators.

-- name: FeedbackAfter :many
SELECT f.turn_id, f.owner, t.thread_id, f.good, f.reason, f.shared, f.created_at, f.updated_at
FROM feedback f JOIN turns t ON t.id = f.turn_id
WHERE f.updated_at > CAST(@after_at AS BIGINT) OR (f.updated_at = CAST(@after_at AS BIGINT) AND f.turn_id > CAST(@after_id AS TEXT))
ORDER BY f.updated_at, f.turn_id
LIMIT CAST(@max_rows AS BIGINT);
