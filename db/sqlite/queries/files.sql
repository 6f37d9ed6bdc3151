-- name: AttachmentsByID :many
SELECT a.id, a.owner, coalesce(a.thread_id, '') AS thread_id, a.mime, a.bytes, a.space_id
FROM json_each(CAST(@ids AS TEXT)) j CROSS JOIN attachments a ON a.id = j.value
WHERE a.owner = @owner;

-- name: UseAttachments :exec
UPDATE attachments SET thread_id = nullif(CAST(@thread_id AS TEXT), '')
WHERE id IN (SELECT j.value FROM json_each(CAST(@ids AS TEXT)) j) AND owner = @owner AND thread_id IS NULL;
