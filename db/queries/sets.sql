-- name: InsertSet :execrows
INSERT INTO document_sets (id, owner, name, address) VALUES (@id, @owner, @name, @address)
ON CONFLICT (id) DO UPDATE SET name = excluded.name WHERE document_sets.owner = excluded.owner;

-- name: UpdateSet :execrows
UPDATE document_sets SET name = @name WHERE id = @id AND owner = @owner;

-- name: DeleteSet :execrows
DELETE FROM document_sets WHERE id = @id AND owner = @owner;

-- name: ClearSet :exec
DELETE FROM set_documents WHERE set_id = @set_id;

-- name: ListSets :many
SELECT * FROM document_sets WHERE owner = @owner AND seq < @before_seq ORDER BY seq DESC LIMIT CAST(@max_rows AS BIGINT);
