-- name: InsertConversation :exec
INSERT INTO conversations (id, owner, title, title_folded, listed, created_at, last_message_at, generation, places, address, kind)
VALUES (@id, @owner, @title, @title_folded, @listed, @created_at, @created_at, @generation, @places, @address, @kind);

-- The conversation that has an id now, and the deleted one that had it last;
-- generation 0: none.

-- name: ConversationState :one
SELECT CAST(coalesce(c.owner, '') AS TEXT) AS owner, CAST(coalesce(c.generation, 0) AS INTEGER) AS generation,
    CAST(coalesce(d.owner, '') AS TEXT) AS deleted_owner, CAST(coalesce(d.generation, 0) AS INTEGER) AS deleted_generation, CAST(coalesce(d.places, 0) AS INTEGER) AS deleted_places
FROM (SELECT 1) one LEFT JOIN conversations c ON c.id = @id LEFT JOIN deleted_conversations d ON d.id = @id;

-- name: ConversationDeleted :one
SELECT count(*) FROM deleted_conversations WHERE id = @id;

-- name: Conversation :one
SELECT c.id, c.owner, c.title, c.created_at, c.last_message_at, c.pinned, c.archived,
    CAST(coalesce((SELECT max(CASE t.status WHEN 'interrupted' THEN 2 WHEN 'new' THEN 0 ELSE 1 END) FROM turns t
        WHERE t.owner = c.owner AND t.thread_id = c.id AND t.settled_at = 0), 0) AS INTEGER) AS activity
FROM conversations c
WHERE c.id = @id AND c.owner = @owner;

-- name: ListConversations :many
SELECT c.id, c.owner, c.title, c.created_at, c.last_message_at, c.pinned, c.archived,
    CAST(coalesce((SELECT max(CASE t.status WHEN 'interrupted' THEN 2 WHEN 'new' THEN 0 ELSE 1 END) FROM turns t
        WHERE t.owner = c.owner AND t.thread_id = c.id AND t.settled_at = 0), 0) AS INTEGER) AS activity
FROM conversations c
WHERE c.owner = @owner AND c.listed = 1 AND c.kind = ''
    AND c.archived = @archived
    AND (c.pinned < @before_pinned OR (c.pinned = @before_pinned
        AND (c.last_message_at < @before_at OR (c.last_message_at = @before_at AND c.id < @before_id))))
ORDER BY c.pinned DESC, c.last_message_at DESC, c.id DESC
LIMIT CAST(@max_rows AS INTEGER);

-- name: SearchConversations :many
SELECT c.id, c.owner, c.title, c.created_at, c.last_message_at, c.pinned, c.archived,
    CAST(coalesce((SELECT max(CASE t.status WHEN 'interrupted' THEN 2 WHEN 'new' THEN 0 ELSE 1 END) FROM turns t
        WHERE t.owner = c.owner AND t.thread_id = c.id AND t.settled_at = 0), 0) AS INTEGER) AS activity,
    CAST(coalesce((SELECT m.content FROM turns t JOIN messages m ON m.turn_id = t.id
        WHERE t.owner = c.owner AND t.thread_id = c.id AND t.place > 0 AND t.hidden = 0 AND palaver_contains(m.content, CAST(@q AS TEXT))
        ORDER BY t.place DESC, m.n LIMIT 1), '') AS TEXT) AS found
FROM conversations c
WHERE c.owner = @owner AND c.listed = 1 AND c.kind = ''
    AND (c.pinned < @before_pinned OR (c.pinned = @before_pinned
        AND (c.last_message_at < @before_at OR (c.last_message_at = @before_at AND c.id < @before_id))))
    AND (instr(c.title_folded, @q) > 0 OR EXISTS (
        SELECT 1 FROM turns t JOIN messages m ON m.turn_id = t.id
        WHERE t.thread_id = c.id AND t.status <> 'new' AND t.hidden = 0 AND palaver_contains(m.content, @q)))
ORDER BY c.pinned DESC, c.last_message_at DESC, c.id DESC
LIMIT CAST(@max_rows AS INTEGER);

-- name: ShowConversation :exec
UPDATE conversations SET listed = 1, last_message_at = max(last_message_at, CAST(@at AS INTEGER)),
    title = CASE WHEN title = '' THEN CAST(@title AS TEXT) ELSE title END,
    title_folded = CASE WHEN title = '' THEN CAST(@title_folded AS TEXT) ELSE title_folded END
WHERE id = @id AND owner = @owner;

-- name: ClearTitle :exec
UPDATE conversations SET title = '', title_folded = '' WHERE id = @id AND owner = @owner AND title = @title;

-- name: RenameConversation :execrows
UPDATE conversations SET title = @title, title_folded = @title_folded, named = 1
WHERE id = @id AND owner = @owner;

-- Replaces a title that its owner did not choose.

-- name: RetitleConversation :execrows
UPDATE conversations SET title = @title, title_folded = @title_folded
WHERE id = @id AND owner = @owner AND title = @earlier AND named = 0;

-- name: PinConversation :execrows
UPDATE conversations SET pinned = @pinned WHERE id = @id AND owner = @owner;

-- name: ArchiveConversation :execrows
UPDATE conversations SET archived = @archived WHERE id = @id AND owner = @owner;

-- name: DeleteConversation :execrows
DELETE FROM conversations WHERE id = @id AND owner = @owner;

-- name: DropEmptyConversation :exec
DELETE FROM conversations WHERE conversations.id = @id AND conversations.owner = @owner AND listed = 0
    AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.thread_id = conversations.id)
    AND NOT EXISTS (SELECT 1 FROM repos r WHERE r.thread_id = conversations.id);

-- name: RecordDeletedConversation :exec
INSERT INTO deleted_conversations (id, deleted_at, owner, generation, places)
SELECT c.id, @at, c.owner, c.generation, c.places
FROM conversations c WHERE c.id = @id AND c.owner = @owner
ON CONFLICT (id) DO UPDATE SET deleted_at = excluded.deleted_at, owner = excluded.owner,
    generation = excluded.generation, places = excluded.places;

-- name: MessagesOfThread :many
SELECT client_turn_id, content_hash FROM turns WHERE owner = @owner AND thread_id = @thread_id;

-- name: RecordDeletedTurns :exec
INSERT INTO deleted_turns (digest, deleted_at)
SELECT j.value, @at FROM json_each(CAST(@digests AS TEXT)) j WHERE true
ON CONFLICT (digest) DO UPDATE SET deleted_at = excluded.deleted_at;

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
