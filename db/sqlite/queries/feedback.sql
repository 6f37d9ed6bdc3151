-- name: PutFeedback :execrows
INSERT INTO feedback (turn_id, owner, good, reason, shared, created_at, updated_at)
SELECT t.id, t.owner, @good, @reason, @shared, @at, @at
FROM turns t WHERE t.id = @turn_id AND t.owner = @owner AND t.thread_id = @thread_id AND t.settled_at > 0 AND t.hidden = 0
ON CONFLICT (turn_id) DO UPDATE SET good = excluded.good, reason = excluded.reason, shared = excluded.shared, updated_at = excluded.updated_at;
