-- name: UsageByOwner :many
SELECT u.owner, (sum(u.threads))::bigint AS threads, (sum(u.turns))::bigint AS turns, (sum(u.documents))::bigint AS documents, (sum(u.pictures))::bigint AS pictures,
    (sum(u.message_bytes))::bigint AS message_bytes, (sum(u.bytes))::bigint AS bytes
FROM (
    SELECT c.owner AS owner, count(*) AS threads, 0 AS turns, 0 AS documents, 0 AS pictures, 0 AS message_bytes, 0 AS bytes FROM conversations c GROUP BY c.owner
    UNION ALL SELECT t.owner, 0, count(*), 0, 0, 0, 0 FROM turns t GROUP BY t.owner
    UNION ALL SELECT t.owner, 0, 0, 0, 0, sum(octet_length(m.content)), 0 FROM messages m JOIN turns t ON t.id = m.turn_id GROUP BY t.owner
    UNION ALL SELECT d.owner, 0, 0, count(*), 0, 0, sum(d.bytes) FROM documents d GROUP BY d.owner
    UNION ALL SELECT a.owner, 0, 0, 0, count(*), 0, sum(a.bytes) FROM attachments a GROUP BY a.owner
    UNION ALL SELECT r.owner, 0, 0, 0, 0, 0, sum(r.bytes) FROM repos r GROUP BY r.owner
    UNION ALL SELECT b.owner, 0, 0, 0, 0, 0, sum(b.bytes) FROM boards b GROUP BY b.owner
) u
GROUP BY u.owner ORDER BY sum(u.message_bytes) + sum(u.bytes) DESC, u.owner LIMIT @max_rows::bigint;
