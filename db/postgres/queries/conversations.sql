-- name: Conversation :one
SELECT c.id, c.owner, c.title, c.created_at, c.last_message_at, c.pinned, c.archived, c.space_id, c.scope, c.shared,
    coalesce((SELECT max(CASE WHEN t.asks = 'tool_approval' THEN 3 WHEN t.status = 'interrupted' THEN 2 WHEN t.status = 'new' THEN 0 ELSE 1 END) FROM turns t
        WHERE t.owner = c.owner AND t.thread_id = @id AND t.settled_at = 0), 0)::bigint AS activity
FROM conversations c
WHERE c.id = @id AND c.owner = @owner;

-- A person's conversations in no space, and those of spaces that they do not read any more.

-- name: ListConversations :many
SELECT c.id, c.owner, c.title, c.created_at, c.last_message_at, c.pinned, c.archived, c.space_id, c.scope, c.shared,
    coalesce((SELECT max(CASE WHEN t.asks = 'tool_approval' THEN 3 WHEN t.status = 'interrupted' THEN 2 WHEN t.status = 'new' THEN 0 ELSE 1 END) FROM turns t
        WHERE t.owner = c.owner AND t.thread_id = c.id AND t.settled_at = 0), 0)::bigint AS activity
FROM conversations c
WHERE c.owner = @owner AND c.listed AND c.kind = '' AND (c.space_id = '' OR c.space_id NOT IN (SELECT x.id FROM spaces x JOIN space_members y ON y.space_id = x.id
        WHERE x.deleted_at = 0 AND (y.kind = 'person' AND y.member = @owner
            OR y.kind = 'group' AND y.member IN (SELECT z.name FROM person_groups z WHERE z.owner = @owner AND z.until > @now))))
    AND c.archived = @archived
    AND (c.pinned < @before_pinned OR (c.pinned = @before_pinned
        AND (c.last_message_at < @before_at::bigint OR (c.last_message_at = @before_at::bigint AND c.id < @before_id::text))))
ORDER BY c.pinned DESC, c.last_message_at DESC, c.id DESC
LIMIT @max_rows::bigint;

-- Answers that may have read in a space are not searched.

-- name: SearchConversations :many
SELECT c.id, c.owner, c.title, c.created_at, c.last_message_at, c.pinned, c.archived, c.space_id, c.scope, c.shared,
    coalesce((SELECT max(CASE WHEN t.asks = 'tool_approval' THEN 3 WHEN t.status = 'interrupted' THEN 2 WHEN t.status = 'new' THEN 0 ELSE 1 END) FROM turns t
        WHERE t.owner = c.owner AND t.thread_id = c.id AND t.settled_at = 0), 0)::bigint AS activity,
    coalesce((SELECT m.content FROM turns t JOIN messages m ON m.turn_id = t.id
        WHERE t.owner = c.owner AND t.thread_id = c.id AND t.place > 0 AND NOT t.hidden AND (t.space_id = '' OR m.role = 'user') AND strpos(palaver_fold(m.content), @q::text) > 0
        ORDER BY t.place DESC, m.n LIMIT 1), '')::text AS found
FROM conversations c
WHERE c.owner = @owner AND c.listed AND c.kind = '' AND c.space_id = ''
    AND (c.pinned < @before_pinned OR (c.pinned = @before_pinned
        AND (c.last_message_at < @before_at::bigint OR (c.last_message_at = @before_at::bigint AND c.id < @before_id::text))))
    AND (strpos(c.title_folded, @q::text) > 0 OR EXISTS (
        SELECT 1 FROM turns t JOIN messages m ON m.turn_id = t.id
        WHERE t.thread_id = c.id AND t.status <> 'new' AND NOT t.hidden AND (t.space_id = '' OR m.role = 'user') AND strpos(palaver_fold(m.content), @q::text) > 0))
ORDER BY c.pinned DESC, c.last_message_at DESC, c.id DESC
LIMIT @max_rows::bigint;

-- A person's own conversations in a space, and those that others share there.

-- name: ConversationsInSpace :many
SELECT c.id, c.owner, c.title, c.created_at, c.last_message_at, CAST(c.pinned AND c.owner = @owner AS BOOLEAN) AS pinned, c.archived, c.space_id, c.scope, c.shared,
    coalesce((SELECT max(CASE WHEN t.asks = 'tool_approval' THEN 3 WHEN t.status = 'interrupted' THEN 2 WHEN t.status = 'new' THEN 0 ELSE 1 END) FROM turns t
        WHERE t.owner = c.owner AND t.thread_id = c.id AND t.settled_at = 0), 0)::bigint AS activity,
    coalesce((SELECT m.content FROM turns t JOIN messages m ON m.turn_id = t.id
        WHERE t.owner = c.owner AND t.thread_id = c.id AND t.place > 0 AND NOT t.hidden AND strpos(palaver_fold(m.content), @q::text) > 0
        ORDER BY t.place DESC, m.n LIMIT 1), '')::text AS found
FROM conversations c
WHERE c.space_id = @space_id AND c.space_id <> '' AND (c.owner = @owner OR c.shared) AND c.listed AND c.kind = '' AND (CAST(@q AS TEXT) <> '' OR c.archived = @archived)
    AND ((c.pinned AND c.owner = @owner) < @before_pinned OR ((c.pinned AND c.owner = @owner) = @before_pinned
        AND (c.last_message_at < @before_at::bigint OR (c.last_message_at = @before_at::bigint AND c.id < @before_id::text))))
    AND (strpos(c.title_folded, @q::text) > 0 OR EXISTS (
        SELECT 1 FROM turns t JOIN messages m ON m.turn_id = t.id
        WHERE t.thread_id = c.id AND t.status <> 'new' AND NOT t.hidden AND strpos(palaver_fold(m.content), @q::text) > 0))
ORDER BY pinned DESC, c.last_message_at DESC, c.id DESC
LIMIT @max_rows::bigint;

-- name: ShowConversation :exec
UPDATE conversations SET listed = true, last_message_at = greatest(last_message_at, @at::bigint),
    title = CASE WHEN title = '' THEN @title::text ELSE title END,
    title_folded = CASE WHEN title = '' THEN @title_folded::text ELSE title_folded END
WHERE id = @id AND owner = @owner;

-- name: RenameConversation :execrows
UPDATE conversations SET title = @title, title_folded = @title_folded, named = true
WHERE id = @id AND owner = @owner;

-- Replaces a title that its owner did not choose.

-- name: RetitleConversation :execrows
UPDATE conversations SET title = @title, title_folded = @title_folded
WHERE id = @id AND owner = @owner AND title = @earlier AND named = false;

-- name: DropEmptyConversation :exec
DELETE FROM conversations c WHERE c.id = @id AND c.owner = @owner AND NOT c.listed
    AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.thread_id = @id)
    AND NOT EXISTS (SELECT 1 FROM repos r WHERE r.thread_id = @id);

-- name: RecordDeletedTurns :exec
INSERT INTO deleted_turns (digest, deleted_at)
SELECT unnest(@digests::text[]), @at::bigint ON CONFLICT (digest) DO UPDATE SET deleted_at = excluded.deleted_at;
