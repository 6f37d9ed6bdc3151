-- name: UserThreads :many
SELECT id FROM conversations WHERE owner = @owner ORDER BY id;

-- name: UserDocuments :many
SELECT id FROM documents WHERE owner = @owner ORDER BY id;

-- name: UserImports :many
SELECT DISTINCT key FROM imports WHERE owner = @owner ORDER BY key;

-- name: UserAttachments :many
SELECT id FROM attachments WHERE owner = @owner ORDER BY id;

-- name: CountUserData :one
SELECT
    (SELECT count(*) FROM conversations c JOIN turns t ON t.thread_id = c.id WHERE c.owner = @owner) AS turns,
    (SELECT count(*) FROM conversations c JOIN turns t ON t.thread_id = c.id JOIN messages m ON m.turn_id = t.id WHERE c.owner = @owner) AS messages,
    (SELECT count(*) FROM document_sets s WHERE s.owner = @owner) AS sets,
    (SELECT count(*) FROM attachments a WHERE a.owner = @owner) AS attachments,
    (SELECT count(*) FROM repos r WHERE r.owner = @owner) AS repos,
    (SELECT count(*) FROM boards b WHERE b.owner = @owner) AS boards,
    (SELECT count(*) FROM profiles p WHERE p.owner = @owner AND p.industry || p.location || p.instructions <> '') AS profiles,
    (SELECT count(*) FROM cancels c WHERE c.owner = @owner) AS cancels,
    (SELECT count(*) FROM connections n WHERE n.owner = @owner) AS connections,
    (SELECT count(*) FROM access_keys k WHERE k.owner = @owner) AS access_keys,
    (SELECT count(*) FROM shares h WHERE h.owner = @owner) AS shares,
    (SELECT count(*) FROM feedback f WHERE f.owner = @owner) AS feedback;

-- name: DeleteUserDocuments :exec
DELETE FROM documents WHERE owner = @owner;

-- name: DeleteUserSets :exec
DELETE FROM document_sets WHERE owner = @owner;

-- name: DeleteUserAttachments :exec
DELETE FROM attachments WHERE owner = @owner;

-- name: DeleteUserBoards :exec
DELETE FROM boards WHERE owner = @owner;

-- name: DeleteUserProfile :exec
DELETE FROM profiles WHERE owner = @owner;

-- name: DeleteUserCancels :exec
DELETE FROM cancels WHERE owner = @owner;

-- name: ClearOwnerOfDeleted :exec
UPDATE deleted_conversations SET owner = '' WHERE owner = @owner AND owner <> '';
