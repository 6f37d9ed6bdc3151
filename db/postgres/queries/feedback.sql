-- name: PutFeedback :execrows
INSERT INTO feedback (turn_id, owner, good, reason, shared, created_at, updated_at)
SELECT t.id, t.owner, @good::boolean, @reason::text, @shared::boolean, @at::bigint, @at::bigint
FROM turns t WHERE t.id = @turn_id AND t.owner = @owner AND t.thread_id = @thread_id AND t.settled_at > 0 AND NOT t.hidden
ON CONFLICT (turn_id) DO UPDATE SET good = excluded.good, reason = excluded.reason, shared = excluded.shared, updated_at = excluded.updated_at;
