-- What administrators of an installation see. Only FeedbackBefore reads texts: reasons, and
-- the turns that their owners have shared.

-- name: Met :exec
INSERT INTO profiles (owner, industry, location, seen_at, known_as) VALUES (@owner, '', '', @at, @known_as)
ON CONFLICT (owner) DO UPDATE SET seen_at = CASE WHEN profiles.seen_at < excluded.seen_at THEN excluded.seen_at ELSE profiles.seen_at END,
    known_as = CASE WHEN excluded.known_as = '' THEN profiles.known_as ELSE excluded.known_as END
WHERE profiles.seen_at < excluded.seen_at - 3600000000 -- an hour
    OR (excluded.known_as <> '' AND excluded.known_as <> profiles.known_as);

-- name: People :many
SELECT p.owner, p.known_as, p.seen_at,
    (SELECT count(*) FROM conversations c WHERE c.owner = p.owner) AS threads,
    (SELECT count(*) FROM documents d WHERE d.owner = p.owner) AS documents,
    CAST((SELECT coalesce(sum(d.bytes), 0) FROM documents d WHERE d.owner = p.owner)
        + (SELECT coalesce(sum(a.bytes), 0) FROM attachments a WHERE a.owner = p.owner)
        + (SELECT coalesce(sum(r.bytes), 0) FROM repos r WHERE r.owner = p.owner)
        + (SELECT coalesce(sum(b.bytes), 0) FROM boards b WHERE b.owner = p.owner) AS BIGINT) AS bytes,
    CAST(coalesce((SELECT s.tokens FROM spending s WHERE s.subject = 'owner:' || p.owner AND s.day = CAST(@day AS BIGINT)), 0) AS BIGINT) AS tokens,
    CAST(coalesce((SELECT s.cost_nanos FROM spending s WHERE s.subject = 'owner:' || p.owner AND s.day = CAST(@day AS BIGINT)), 0) AS BIGINT) AS cost_nanos
FROM profiles p
WHERE p.seen_at > 0 AND p.seen_at <= CAST(@at AS BIGINT) AND (p.seen_at < CAST(@at AS BIGINT) OR p.owner < CAST(@owner AS TEXT))
ORDER BY p.seen_at DESC, p.owner DESC LIMIT CAST(@max_rows AS BIGINT);

-- name: CountAnonymous :one
SELECT count(*) FROM anonymous_owners;

-- name: AddModelUsage :exec
INSERT INTO model_usage (day, model, calls, unpriced, tokens_in, tokens_out, cost_nanos)
VALUES (@day, @model, @calls, @unpriced, @tokens_in, @tokens_out, @cost_nanos)
ON CONFLICT (day, model) DO UPDATE SET calls = model_usage.calls + excluded.calls, unpriced = model_usage.unpriced + excluded.unpriced,
    tokens_in = model_usage.tokens_in + excluded.tokens_in, tokens_out = model_usage.tokens_out + excluded.tokens_out,
    cost_nanos = model_usage.cost_nanos + excluded.cost_nanos;

-- name: ModelUsage :many
SELECT * FROM model_usage WHERE day >= @since_day ORDER BY day DESC, model LIMIT CAST(@max_rows AS BIGINT);

-- name: FailedDocuments :many
SELECT d.id, d.owner, d.source_type, d.format, d.bytes, d.error, d.created_at FROM documents d
WHERE d.status = 'failed' AND d.created_at <= CAST(@at AS BIGINT) AND (d.created_at < CAST(@at AS BIGINT) OR d.id < CAST(@id AS TEXT))
ORDER BY d.created_at DESC, d.id DESC LIMIT CAST(@max_rows AS BIGINT);

-- A page of the audit log is read within its newest scanned_rows entries before an id: a
-- filter that few entries match must not read the whole log.

-- name: AuditBefore :many
SELECT w.id, w.at, w.kind, w.owner, w.channel, w.address, w.request_id, w.times, w.detail FROM (
    SELECT a.id, a.at, a.kind, a.owner, a.channel, a.address, a.request_id, a.times, a.detail FROM audit_log a
    WHERE a.id < CAST(@before AS BIGINT) ORDER BY a.id DESC LIMIT CAST(@scanned_rows AS BIGINT)) w
WHERE (CAST(@owner AS TEXT) = '' OR w.owner = CAST(@owner AS TEXT)) AND (CAST(@kind AS TEXT) = '' OR w.kind = CAST(@kind AS TEXT))
ORDER BY w.id DESC LIMIT CAST(@max_rows AS BIGINT);

-- name: AuditScanned :one
SELECT count(*) AS scanned, CAST(coalesce(min(w.id), 0) AS BIGINT) AS last_id FROM (
    SELECT a.id FROM audit_log a WHERE a.id < CAST(@before AS BIGINT) ORDER BY a.id DESC LIMIT CAST(@scanned_rows AS BIGINT)) w;

-- name: FeedbackBefore :many
SELECT f.turn_id, f.owner, t.thread_id, f.good, f.reason, f.shared, f.created_at, f.updated_at,
    CAST(CASE WHEN f.shared AND t.space_id = '' THEN coalesce((SELECT m.content FROM messages m WHERE m.turn_id = f.turn_id AND m.n = 0), '') ELSE '' END AS TEXT) AS question,
    CAST(CASE WHEN f.shared AND t.space_id = '' THEN coalesce((SELECT m.content FROM messages m WHERE m.turn_id = f.turn_id AND m.role = 'assistant' ORDER BY m.n DESC LIMIT 1), '') ELSE '' END AS TEXT) AS answer
FROM feedback f JOIN turns t ON t.id = f.turn_id
WHERE f.updated_at <= CAST(@at AS BIGINT) AND (f.updated_at < CAST(@at AS BIGINT) OR f.turn_id < CAST(@id AS TEXT))
ORDER BY f.updated_at DESC, f.turn_id DESC LIMIT CAST(@max_rows AS BIGINT);
