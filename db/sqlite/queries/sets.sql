-- name: AddToSet :execrows
INSERT INTO set_documents (set_id, position, doc_id)
SELECT @set_id, @position, d.id FROM documents d WHERE d.id = @doc_id AND d.owner IN (@owner, '*');

-- name: SetsByID :many
SELECT s.* FROM json_each(CAST(@ids AS TEXT)) j CROSS JOIN document_sets s ON s.id = j.value WHERE s.owner = @owner;

-- name: SetMembers :many
SELECT m.set_id, m.doc_id FROM set_documents m
JOIN document_sets s ON s.id = m.set_id
JOIN documents d ON d.id = m.doc_id
WHERE m.set_id IN (SELECT j.value FROM json_each(CAST(@ids AS TEXT)) j) AND s.owner = @owner AND d.owner IN (@owner, '*')
ORDER BY m.set_id, m.position;
