-- Chats of boards that are deleted for good, and throw-away and temporary threads.

-- name: LeftThreads :many
SELECT c.owner, c.id FROM conversations c
WHERE c.kind <> '' AND c.id > @after_id
    AND (c.kind IN ('once', 'temporary') AND c.last_message_at < @before_at OR c.kind = 'board' AND NOT EXISTS (
        SELECT 1 FROM boards b WHERE b.id = c.id AND (b.deleted_at = 0 OR b.deleted_at > @deleted_after)))
ORDER BY c.id LIMIT CAST(@max_rows AS INTEGER);

-- Replaces who has changed boards of spaces. A change that was begun before it is refused, and begins again.

-- name: ForgetSigner :exec
UPDATE boards SET content = CAST(replace(CAST(content AS TEXT), CAST(@named AS TEXT), CAST(@unnamed AS TEXT)) AS BLOB), revision = revision + 1
WHERE owner IN (SELECT 'space:' || s.id FROM spaces s) AND instr(CAST(content AS TEXT), CAST(@named AS TEXT)) > 0;
