-- name: AttachmentsByID :many
SELECT id, owner, coalesce(thread_id, '') AS thread_id, mime, bytes, space_id FROM attachments
WHERE id = ANY(@ids::text[]) AND owner = @owner;

-- name: UseAttachments :exec
UPDATE attachments SET thread_id = nullif(@thread_id::text, '')
WHERE id = ANY(@ids::text[]) AND owner = @owner AND thread_id IS NULL;
