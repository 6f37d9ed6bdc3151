-- Chats of boards that are deleted for good, and throw-away and temporary threads.

-- name: LeftThreads :many
SELECT c.owner, c.id FROM conversations c
WHERE c.kind <> '' AND c.id > @after_id::text
    AND (c.kind IN ('once', 'temporary') AND c.last_message_at < @before_at::bigint OR c.kind = 'board' AND NOT EXISTS (
        SELECT 1 FROM boards b WHERE b.id = c.id COLLATE "default" AND (b.deleted_at = 0 OR b.deleted_at > @deleted_after::bigint)))
ORDER BY c.id LIMIT @max_rows::bigint;

-- Replaces who has changed boards of spaces. A change that was begun before it is refused, and begins again.

-- name: ForgetSigner :exec
UPDATE boards SET content = convert_to(replace(convert_from(content, 'UTF8'), @named::text, @unnamed::text), 'UTF8'), revision = revision + 1
WHERE owner IN (SELECT 'space:' || s.id FROM spaces s) AND position(convert_to(@named, 'UTF8') IN content) > 0;
