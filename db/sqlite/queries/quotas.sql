-- Reads what decides whether a turn that was just inserted may stay: CountOpenTurns, and
-- what its owner and address have spent on a day.
-- Without INDEXED BY, SQLite would read all turns of the owner.

-- name: TurnLoad :one
SELECT count(CASE WHEN thread_id = @thread_id THEN 1 END) AS here,
    count(DISTINCT CASE WHEN thread_id <> @thread_id THEN thread_id END) AS busy,
    CAST(coalesce((SELECT s.tokens FROM spending s WHERE s.subject = @of_owner AND s.day = @day), 0) AS INTEGER) AS owner_tokens,
    CAST(coalesce((SELECT s.cost_nanos FROM spending s WHERE s.subject = @of_owner AND s.day = @day), 0) AS INTEGER) AS owner_nanos,
    CAST(coalesce((SELECT s.tokens FROM spending s WHERE s.subject = @of_address AND s.day = @day), 0) AS INTEGER) AS address_tokens,
    CAST(coalesce((SELECT s.cost_nanos FROM spending s WHERE s.subject = @of_address AND s.day = @day), 0) AS INTEGER) AS address_nanos
FROM turns INDEXED BY turns_open
WHERE owner = @owner AND settled_at = 0
    AND (status IN ('accepted', 'running') OR (status = 'new' AND sent_at > @sent_after));
