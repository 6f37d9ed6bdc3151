-- name: InsertConversation :exec
INSERT INTO conversations (id, owner, title, title_folded, listed, created_at, last_message_at, generation, places, address, kind)
VALUES (@id, @owner, @title, @title_folded, @listed, @created_at, @created_at, @generation, @places, @address, @kind);

-- The conversation that has an id now, and the deleted one that had it last;
-- generation 0: none.

-- name: ConversationState :one
SELECT coalesce(c.owner, '')::text AS owner, coalesce(c.generation, 0)::bigint AS generation,
    coalesce(d.owner, '')::text AS deleted_owner, coalesce(d.generation, 0)::bigint AS deleted_generation, coalesce(d.places, 0)::bigint AS deleted_places
FROM (SELECT 1) one LEFT JOIN conversations c ON c.id = @id LEFT JOIN deleted_conversations d ON d.id = @id;

-- name: ConversationDeleted :one
SELECT count(*) FROM deleted_conversations WHERE id = @id;

-- name: Conversation :one
SELECT c.id, c.owner, c.title, c.created_at, c.last_message_at, c.pinned, c.archived,
    coalesce((SELECT max(CASE t.status WHEN 'interrupted' THEN 2 WHEN 'new' THEN 0 ELSE 1 END) FROM turns t
        WHERE t.owner = c.owner AND t.thread_id = @id AND t.settled_at = 0), 0)::bigint AS activity
FROM conversations c
WHERE c.id = @id AND c.owner = @owner;

-- name: ListConversations :many
SELECT c.id, c.owner, c.title, c.created_at, c.last_message_at, c.pinned, c.archived,
    coalesce((SELECT max(CASE t.status WHEN 'interrupted' THEN 2 WHEN 'new' THEN 0 ELSE 1 END) FROM turns t
        WHERE t.owner = c.owner AND t.thread_id = c.id AND t.settled_at = 0), 0)::bigint AS activity
FROM conversations c
WHERE c.owner = @owner AND c.listed AND c.kind = ''
    AND c.archived = @archived
    AND (c.pinned < @before_pinned OR (c.pinned = @before_pinned
        AND (c.last_message_at < @before_at::bigint OR (c.last_message_at = @before_at::bigint AND c.id < @before_id::text))))
ORDER BY c.pinned DESC, c.last_message_at DESC, c.id DESC
LIMIT @max_rows::bigint;

-- name: SearchConversations :many
SELECT c.id, c.owner, c.title, c.created_at, c.last_message_at, c.pinned, c.archived,
    coalesce((SELECT max(CASE t.status WHEN 'interrupted' THEN 2 WHEN 'new' THEN 0 ELSE 1 END) FROM turns t
        WHERE t.owner = c.owner AND t.thread_id = c.id AND t.settled_at = 0), 0)::bigint AS activity,
    coalesce((SELECT m.content FROM turns t JOIN messages m ON m.turn_id = t.id
        WHERE t.owner = c.owner AND t.thread_id = c.id AND t.place > 0 AND NOT t.hidden AND strpos(palaver_fold(m.content), @q::text) > 0
        ORDER BY t.place DESC, m.n LIMIT 1), '')::text AS found
FROM conversations c
WHERE c.owner = @owner AND c.listed AND c.kind = ''
    AND (c.pinned < @before_pinned OR (c.pinned = @before_pinned
        AND (c.last_message_at < @before_at::bigint OR (c.last_message_at = @before_at::bigint AND c.id < @before_id::text))))
    AND (strpos(c.title_folded, @q::text) > 0 OR EXISTS (
        SELECT 1 FROM turns t JOIN messages m ON m.turn_id = t.id
        WHERE t.thread_id = c.id AND t.status <> 'new' AND NOT t.hidden AND strpos(palaver_fold(m.content), @q::text) > 0))
ORDER BY c.pinned DESC, c.last_message_at DESC, c.id DESC
LIMIT @max_rows::bigint;

-- name: ShowConversation :exec
UPDATE conversations SET listed = true, last_message_at = greatest(last_message_at, @at::bigint),
    title = CASE WHEN title = '' THEN @title::text ELSE title END,
    title_folded = CASE WHEN title = '' THEN @title_folded::text ELSE title_folded END
WHERE id = @id AND owner = @owner;

-- name: ClearTitle :exec
UPDATE conversations SET title = '', title_folded = '' WHERE id = @id AND owner = @owner AND title = @title;

-- name: RenameConversation :execrows
UPDATE conversations SET title = @title, title_folded = @title_folded, named = true
WHERE id = @id AND owner = @owner;

-- Replaces a title that its owner did not choose.

-- name: RetitleConversation :execrows
UPDATE conversations SET title = @title, title_folded = @title_folded
WHERE id = @id AND owner = @owner AND title = @earlier AND named = false;

-- name: PinConversation :execrows
UPDATE conversations SET pinned = @pinned WHERE id = @id AND owner = @owner;

-- name: ArchiveConversation :execrows
UPDATE conversations SET archived = @archived WHERE id = @id AND owner = @owner;

-- name: DeleteConversation :execrows
DELETE FROM conversations WHERE id = @id AND owner = @owner;

-- name: DropEmptyConversation :exec
DELETE FROM conversations c WHERE c.id = @id AND c.owner = @owner AND NOT c.listed
    AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.thread_id = @id)
    AND NOT EXISTS (SELECT 1 FROM repos r WHERE r.thread_id = @id);

-- name: RecordDeletedConversation :exec
INSERT INTO deleted_conversations (id, deleted_at, owner, generation, places)
SELECT c.id, @at::bigint, c.owner, c.generation, c.places
FROM conversations c WHERE c.id = @id AND c.owner = @owner
ON CONFLICT (id) DO UPDATE SET deleted_at = excluded.deleted_at, owner = excluded.owner,
    generation = excluded.generation, places = excluded.places;

-- name: MessagesOfThread :many
SELECT client_turn_id, content_hash FROM turns WHERE owner = @owner AND thread_id = @thread_id;

-- name: RecordDeletedTurns :exec
INSERT INTO deleted_turns (digest, deleted_at)
SELECT unnest(@digests::text[]), @at::bigint ON CONFLICT (digest) DO UPDATE SET deleted_at = excluded.deleted_at;

-- name: PruneDeletedTurns :exec
DELETE FROM deleted_turns WHERE deleted_at < @older_than;

-- name: TurnDeleted :one
SELECT EXISTS (SELECT 1 FROM deleted_turns WHERE digest = @digest AND deleted_at >= @since);

-- name: DeleteTurnCancels :exec
DELETE FROM cancels WHERE cancels.owner = @owner AND (
    kind = 'turn' AND ref IN (SELECT t.id FROM turns t WHERE t.thread_id = @thread_id AND t.owner = @owner)
    OR kind = 'client' AND cancels.thread_id = ''
        AND ref IN (SELECT t.client_turn_id FROM turns t WHERE t.thread_id = @thread_id AND t.owner = @owner));

-- name: DeleteRunCancels :exec
DELETE FROM cancels WHERE cancels.owner = @owner AND kind = 'run'
    AND ref IN (SELECT r.run_id FROM stream_runs r JOIN turns t ON t.id = r.turn_id
        WHERE t.thread_id = @thread_id AND t.owner = @owner AND r.owner = @owner);

-- name: DeleteThreadCancels :exec
DELETE FROM cancels WHERE owner = @owner AND thread_id = @thread_id AND thread_id <> '';

-- name: Profile :one
SELECT industry, location FROM profiles WHERE owner = @owner;

-- name: PutProfile :exec
INSERT INTO profiles (owner, industry, location) VALUES (@owner, @industry, @location)
ON CONFLICT (owner) DO UPDATE SET industry = excluded.industry, location = excluded.location;

-- name: SessionGeneration :one
SELECT sessions FROM profiles WHERE owner = @owner;

-- name: EndSessions :one
INSERT INTO profiles (owner, industry, location, sessions) VALUES (@owner, '', '', 1)
ON CONFLICT (owner) DO UPDATE SET sessions = profiles.sessions + 1
RETURNING sessions;
