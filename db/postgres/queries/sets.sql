-- name: InsertSet :execrows
INSERT INTO document_sets (id, owner, name, address) VALUES (@id, @owner, @name, @address)
ON CONFLICT (id) DO UPDATE SET name = excluded.name WHERE document_sets.owner = excluded.owner;

-- name: UpdateSet :execrows
UPDATE document_sets SET name = @name WHERE id = @id AND owner = @owner;

-- name: DeleteSet :execrows
DELETE FROM document_sets WHERE id = @id AND owner = @owner;

-- name: ClearSet :exec
DELETE FROM set_documents WHERE set_id = @set_id;

-- name: LockDocuments :many
SELECT id FROM documents WHERE id = ANY(@ids::text[]) AND owner IN (@owner, '*') ORDER BY id FOR KEY SHARE;

-- name: FillSet :exec
INSERT INTO set_documents (set_id, position, doc_id)
SELECT @set_id, unnest(@positions::bigint[]), unnest(@doc_ids::text[]);

-- name: ListSets :many
SELECT * FROM document_sets WHERE owner = @owner AND seq < @before_seq ORDER BY seq DESC LIMIT @max_rows::bigint;

-- name: SetsByID :many
SELECT * FROM document_sets WHERE id = ANY(@ids::text[]) AND owner = @owner;

-- name: SetMembers :many
SELECT m.set_id, m.doc_id FROM set_documents m
JOIN document_sets s ON s.id = m.set_id
JOIN documents d ON d.id = m.doc_id
WHERE m.set_id = ANY(@ids::text[]) AND s.owner = @owner AND d.owner IN (@owner, '*')
ORDER BY m.set_id, m.position;
