-- name: Conversation :one
SELECT c.id, c.owner, c.title, c.created_at, c.last_message_at, c.pinned, c.archived, c.space_id, c.scope, c.shared,
    CAST(coalesce((SELECT max(CASE WHEN t.asks = 'tool_approval' THEN 3 WHEN t.status = 'interrupted' THEN 2 WHEN t.status = 'new' THEN 0 ELSE 1 END) FROM turns t
        WHERE t.owner = c.owner AND t.thread_id = c.id AND t.settled_at = 0), 0) AS INTEGER) AS activity
FROM conversations c
WHERE c.id = @id AND c.owner = @owner;

-- A person's conversations in no space, and those of spaces that they do not read any more.

-- name: ListConversations :many
SELECT c.id, c.owner, c.title, c.created_at, c.last_message_at, c.pinned, c.archived, c.space_id, c.scope, c.shared,
    CAST(coalesce((SELECT max(CASE WHEN t.asks = 'tool_approval' THEN 3 WHEN t.status = 'interrupted' THEN 2 WHEN t.status = 'new' THEN 0 ELSE 1 END) FROM turns t
        WHERE t.owner = c.owner AND t.thread_id = c.id AND t.settled_at = 0), 0) AS INTEGER) AS activity
FROM conversations c
WHERE c.owner = @owner AND c.listed = 1 AND c.kind = '' AND (c.space_id = '' OR c.space_id NOT IN (SELECT x.id FROM spaces x JOIN space_members y ON y.space_id = x.id
        WHERE x.deleted_at = 0 AND (y.kind = 'person' AND y.member = @owner
            OR y.kind = 'group' AND y.member IN (SELECT z.name FROM person_groups z WHERE z.owner = @owner AND z.until > @now))))
    AND c.archived = @archived
    AND (c.pinned < @before_pinned OR (c.pinned = @before_pinned
        AND (c.last_message_at < @before_at OR (c.last_message_at = @before_at AND c.id < @before_id))))
ORDER BY c.pinned DESC, c.last_message_at DESC, c.id DESC
LIMIT CAST(@max_rows AS INTEGER);

-- Answers that may have read in a space are not searched.

-- name: SearchConversations :many
SELECT c.id, c.owner, c.title, c.created_at, c.last_message_at, c.pinned, c.archived, c.space_id, c.scope, c.shared,
    CAST(coalesce((SELECT max(CASE WHEN t.asks = 'tool_approval' THEN 3 WHEN t.status = 'interrupted' THEN 2 WHEN t.status = 'new' THEN 0 ELSE 1 END) FROM turns t
        WHERE t.owner = c.owner AND t.thread_id = c.id AND t.settled_at = 0), 0) AS INTEGER) AS activity,
    CAST(coalesce((SELECT m.content FROM turns t JOIN messages m ON m.turn_id = t.id
        WHERE t.owner = c.owner AND t.thread_id = c.id AND t.place > 0 AND t.hidden = 0 AND (t.space_id = '' OR m.role = 'user') AND palaver_contains(m.content, CAST(@q AS TEXT))
        ORDER BY t.place DESC, m.n LIMIT 1), '') AS TEXT) AS found
FROM conversations c
WHERE c.owner = @owner AND c.listed = 1 AND c.kind = '' AND c.space_id = ''
    AND (c.pinned < @before_pinned OR (c.pinned = @before_pinned
        AND (c.last_message_at < @before_at OR (c.last_message_at = @before_at AND c.id < @before_id))))
    AND (instr(c.title_folded, @q) > 0 OR EXISTS (
        SELECT 1 FROM turns t JOIN messages m ON m.turn_id = t.id
        WHERE t.thread_id = c.id AND t.status <> 'new' AND t.hidden = 0 AND (t.space_id = '' OR m.role = 'user') AND palaver_contains(m.content, @q)))
ORDER BY c.pinned DESC, c.last_message_at DESC, c.id DESC
LIMIT CAST(@max_rows AS INTEGER);

-- A person's own conversations in a space, and those that others share there.

-- name: ConversationsInSpace :many
SELECT c.id, c.owner, c.title, c.created_at, c.last_message_at, CAST(c.pinned AND c.owner = @owner AS BOOLEAN) AS pinned, c.archived, c.space_id, c.scope, c.shared,
    CAST(coalesce((SELECT max(CASE WHEN t.asks = 'tool_approval' THEN 3 WHEN t.status = 'interrupted' THEN 2 WHEN t.status = 'new' THEN 0 ELSE 1 END) FROM turns t
        WHERE t.owner = c.owner AND t.thread_id = c.id AND t.settled_at = 0), 0) AS INTEGER) AS activity,
    CAST(coalesce((SELECT m.content FROM turns t JOIN messages m ON m.turn_id = t.id
        WHERE t.owner = c.owner AND t.thread_id = c.id AND t.place > 0 AND t.hidden = 0 AND palaver_contains(m.content, CAST(@q AS TEXT))
        ORDER BY t.place DESC, m.n LIMIT 1), '') AS TEXT) AS found
FROM conversations c
WHERE c.space_id = @space_id AND c.space_id <> '' AND (c.owner = @owner OR c.shared) AND c.listed = 1 AND c.kind = '' AND (CAST(@q AS TEXT) <> '' OR c.archived = @archived)
    AND ((c.pinned AND c.owner = @owner) < @before_pinned OR ((c.pinned AND c.owner = @owner) = @before_pinned
        AND (c.last_message_at < @before_at OR (c.last_message_at = @before_at AND c.id < @before_id))))
    AND (instr(c.title_folded, @q) > 0 OR EXISTS (
        SELECT 1 FROM turns t JOIN messages m ON m.turn_id = t.id
        WHERE t.thread_id = c.id AND t.status <> 'new' AND t.hidden = 0 AND palaver_contains(m.content, @q)))
ORDER BY pinned DESC, c.last_message_at DESC, c.id DESC
LIMIT CAST(@max_rows AS INTEGER);

-- name: ShowConversation :exec
UPDATE conversations SET listed = 1, last_message_at = max(last_message_at, CAST(@at AS INTEGER)),
    title = CASE WHEN title = '' THEN CAST(@title AS TEXT) ELSE title END,
    title_folded = CASE WHEN title = '' THEN CAST(@title_folded AS TEXT) ELSE title_folded END
WHERE id = @id AND owner = @owner;

-- name: RenameConversation :execrows
UPDATE conversations SET title = @title, title_folded = @title_folded, named = 1
WHERE id = @id AND owner = @owner;

-- Replaces a title that its owner did not choose.

-- name: RetitleConversation :execrows
UPDATE conversations SET title = @title, title_folded = @title_folded
WHERE id = @id AND owner = @owner AND title = @earlier AND named = 0;

-- name: DropEmptyConversation :exec
DELETE FROM conversations WHERE conversations.id = @id AND conversations.owner = @owner AND listed = 0
    AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.thread_id = conversations.id)
    AND NOT EXISTS (SELECT 1 FROM repos r WHERE r.thread_id = conversations.id);

-- name: RecordDeletedTurns :exec
INSERT INTO deleted_turns (digest, deleted_at)
SELECT j.value, @at FROM json_each(CAST(@digests AS TEXT)) j WHERE true
ON CONFLICT (digest) DO UPDATE SET deleted_at = excluded.deleted_at;
