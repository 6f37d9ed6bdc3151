-- name: UsageByOwner :many
SELECT u.owner, CAST(sum(u.threads) AS INTEGER) AS threads, CAST(sum(u.turns) AS INTEGER) AS turns, CAST(sum(u.documents) AS INTEGER) AS documents, CAST(sum(u.pictures) AS INTEGER) AS pictures,
    CAST(sum(u.message_bytes) AS INTEGER) AS message_bytes, CAST(sum(u.bytes) AS INTEGER) AS bytes
FROM (
    SELECT c.owner AS owner, count(*) AS threads, 0 AS turns, 0 AS documents, 0 AS pictures, 0 AS message_bytes, 0 AS bytes FROM conversations c GROUP BY c.owner
    UNION ALL SELECT t.owner, 0, count(*), 0, 0, 0, 0 FROM turns t GROUP BY t.owner
    UNION ALL SELECT t.owner, 0, 0, 0, 0, sum(length(CAST(m.content AS BLOB))), 0 FROM messages m JOIN turns t ON t.id = m.turn_id GROUP BY t.owner
    UNION ALL SELECT d.owner, 0, 0, count(*), 0, 0, sum(d.bytes) FROM documents d GROUP BY d.owner
    UNION ALL SELECT a.owner, 0, 0, 0, count(*), 0, sum(a.bytes) FROM attachments a GROUP BY a.owner
    UNION ALL SELECT r.owner, 0, 0, 0, 0, 0, sum(r.bytes) FROM repos r GROUP BY r.owner
    UNION ALL SELECT b.owner, 0, 0, 0, 0, 0, sum(b.bytes) FROM boards b GROUP BY b.owner
) u
GROUP BY u.owner ORDER BY sum(u.message_bytes) + sum(u.bytes) DESC, u.owner LIMIT CAST(@max_rows AS INTEGER);
