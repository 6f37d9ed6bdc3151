-- Transactions that change a thread have its lock, so that they see each other's
-- outcome; locks end with their transaction, so that they work through a
-- transaction pooler too. An owner's lock comes before a thread's.

-- name: LockThread :exec
SELECT pg_advisory_xact_lock(hashtextextended('thread:' || @thread_id::text, 0));

-- name: LockThreadOfTurn :exec
SELECT (SELECT pg_advisory_xact_lock(hashtextextended('thread:' || t.thread_id, 0)) FROM turns t
    WHERE t.id = @turn_id AND t.owner = @owner);

-- A cancel excludes its owner's inserts of turns: either sees the other.

-- name: LockInsert :exec
SELECT pg_advisory_xact_lock_shared(hashtextextended('cancels:' || @owner::text, 0)),
    pg_advisory_xact_lock(hashtextextended('thread:' || @thread_id::text, 0));

-- name: LockCancels :exec
SELECT pg_advisory_xact_lock(hashtextextended('cancels:' || @owner::text, 0));

-- The locks of quotas come last: a transaction counts what is stored while it has
-- them. They are taken in the order of the names.

-- name: LockQuotas :exec
SELECT pg_advisory_xact_lock(hashtextextended('quota:' || n.name, 0))
FROM unnest(@names::text[]) WITH ORDINALITY AS n (name, position) ORDER BY n.position;
