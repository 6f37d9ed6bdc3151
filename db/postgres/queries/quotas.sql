-- Reads what decides whether a turn that was just inserted may stay: CountOpenTurns, and
-- what its owner and address have spent on a day.

-- name: TurnLoad :one
SELECT count(CASE WHEN thread_id = @thread_id THEN 1 END) AS here,
    count(DISTINCT CASE WHEN thread_id <> @thread_id THEN thread_id END) AS busy,
    (coalesce((SELECT s.tokens FROM spending s WHERE s.subject = @of_owner AND s.day = @day), 0))::bigint AS owner_tokens,
    (coalesce((SELECT s.cost_nanos FROM spending s WHERE s.subject = @of_owner AND s.day = @day), 0))::bigint AS owner_nanos,
    (coalesce((SELECT s.tokens FROM spending s WHERE s.subject = @of_address AND s.day = @day), 0))::bigint AS address_tokens,
    (coalesce((SELECT s.cost_nanos FROM spending s WHERE s.subject = @of_address AND s.day = @day), 0))::bigint AS address_nanos
FROM turns
WHERE owner = @owner AND settled_at = 0
    AND (status IN ('accepted', 'running') OR (status = 'new' AND sent_at > @sent_after));
