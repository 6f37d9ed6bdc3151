-- name: LockDocuments :many
SELECT id FROM documents WHERE id = ANY(@ids::text[]) AND owner IN (@owner, '*') ORDER BY id FOR KEY SHARE;

-- name: FillSet :exec
INSERT INTO set_documents (set_id, position, doc_id)
SELECT @set_id, unnest(@positions::bigint[]), unnest(@doc_ids::text[]);

-- name: SetsByID :many
SELECT * FROM document_sets WHERE id = ANY(@ids::text[]) AND owner = @owner;

-- name: SetMembers :many
SELECT m.set_id, m.doc_id FROM set_documents m
JOIN document_sets s ON s.id = m.set_id
JOIN documents d ON d.id = m.doc_id
WHERE m.set_id = ANY(@ids::text[]) AND s.owner = @owner AND d.owner IN (@owner, '*')
ORDER BY m.set_id, m.position;
