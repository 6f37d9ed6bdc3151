-- name: Count :one
INSERT INTO limits (key, count, begun_at, reset_at) VALUES (@key, @n, @now, @reset_at)
ON CONFLICT (key) DO UPDATE SET
    count = CASE WHEN limits.reset_at > excluded.begun_at THEN limits.count + excluded.count ELSE excluded.count END,
    begun_at = CASE WHEN limits.reset_at > excluded.begun_at THEN limits.begun_at ELSE excluded.begun_at END,
    reset_at = CASE WHEN limits.reset_at > excluded.begun_at THEN limits.reset_at ELSE excluded.reset_at END
RETURNING count, reset_at;

-- name: Counted :one
SELECT count, reset_at FROM limits WHERE key = @key AND reset_at > @now;

-- name: ForgetCount :exec
DELETE FROM limits WHERE key = @key;

-- name: PruneCounts :exec
DELETE FROM limits WHERE reset_at < @older_than;
