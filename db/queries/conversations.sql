-- name: InsertConversation :exec
INSERT INTO conversations (id, owner, title, title_folded, listed, created_at, last_message_at, generation, places, address, kind, space_id)
VALUES (@id, @owner, @title, @title_folded, @listed, @created_at, @created_at, @generation, @places, @address, @kind, @space_id);

-- name: ConversationDeleted :one
SELECT count(*) FROM deleted_conversations WHERE id = @id;

-- name: ClearTitle :exec
UPDATE conversations SET title = '', title_folded = '' WHERE id = @id AND owner = @owner AND title = @title;

-- name: PinConversation :execrows
UPDATE conversations SET pinned = @pinned WHERE id = @id AND owner = @owner;

-- name: ArchiveConversation :execrows
UPDATE conversations SET archived = @archived WHERE id = @id AND owner = @owner;

-- name: ShareConversation :execrows
UPDATE conversations SET shared = @shared WHERE id = @id AND owner = @owner AND space_id <> '';

-- The author of a conversation that is shared with a space.

-- name: AuthorInSpace :one
SELECT owner FROM conversations WHERE id = @id AND space_id = @space_id AND space_id <> '' AND shared;

-- name: DeleteConversation :execrows
DELETE FROM conversations WHERE id = @id AND owner = @owner;

-- name: MessagesOfThread :many
SELECT client_turn_id, content_hash FROM turns WHERE owner = @owner AND thread_id = @thread_id;

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
SELECT industry, location, hide_samples, instructions FROM profiles WHERE owner = @owner;

-- name: PutProfile :exec
INSERT INTO profiles (owner, industry, location, hide_samples, instructions) VALUES (@owner, @industry, @location, @hide_samples, @instructions)
ON CONFLICT (owner) DO UPDATE SET industry = excluded.industry, location = excluded.location, hide_samples = excluded.hide_samples, instructions = excluded.instructions;

-- name: SessionGeneration :one
SELECT CAST(coalesce(max(sessions), 0) AS BIGINT) AS sessions FROM profiles WHERE owner = @owner OR owner = @deleted;

-- name: EndSessions :one
INSERT INTO profiles (owner, industry, location, sessions)
VALUES (@owner, '', '', (SELECT coalesce(max(d.sessions), 0) + 1 FROM profiles d WHERE d.owner = @deleted))
ON CONFLICT (owner) DO UPDATE SET sessions = CASE WHEN profiles.sessions >= excluded.sessions THEN profiles.sessions + 1 ELSE excluded.sessions END
RETURNING sessions;

-- name: RaiseSessions :exec
INSERT INTO profiles (owner, industry, location, sessions) VALUES (@owner, '', '', @sessions)
ON CONFLICT (owner) DO UPDATE SET sessions = excluded.sessions WHERE profiles.sessions < excluded.sessions;

-- The conversation that has an id now, and the deleted one that had it last;
-- generation 0: none.

-- name: ConversationState :one
SELECT CAST(coalesce(c.owner, '') AS TEXT) AS owner, CAST(coalesce(c.generation, 0) AS BIGINT) AS generation, CAST(coalesce(c.space_id, '') AS TEXT) AS space_id,
    CAST(coalesce(d.owner, '') AS TEXT) AS deleted_owner, CAST(coalesce(d.generation, 0) AS BIGINT) AS deleted_generation, CAST(coalesce(d.places, 0) AS BIGINT) AS deleted_places
FROM (SELECT 1) one LEFT JOIN conversations c ON c.id = @id LEFT JOIN deleted_conversations d ON d.id = @id;

-- name: RecordDeletedConversation :exec
INSERT INTO deleted_conversations (id, deleted_at, owner, generation, places)
SELECT c.id, CAST(@at AS BIGINT), c.owner, c.generation, c.places
FROM conversations c WHERE c.id = @id AND c.owner = @owner
ON CONFLICT (id) DO UPDATE SET deleted_at = excluded.deleted_at, owner = excluded.owner,
    generation = excluded.generation, places = excluded.places;

-- name: SetScope :exec
UPDATE conversations SET scope = @scope WHERE id = @id AND owner = @owner;
