-- name: CreateSpace :exec
INSERT INTO spaces (id, name, everybody, links, instructions, agent, effort, tool_servers, created_at)
VALUES (@id, @name, @everybody, @links, @instructions, @agent, @effort, @tool_servers, @created_at);

-- The role is 0 for somebody who does not read the space. palaver_libraries, in the
-- migration of Postgres, has the same rule.

-- name: SpaceOf :one
SELECT s.id, s.name, s.everybody, s.links, s.instructions, s.agent, s.effort, s.tool_servers, s.created_at, s.deleted_at,
    CAST(coalesce((SELECT max(m.role) FROM space_members m WHERE m.space_id = s.id
        AND (m.kind = 'person' AND m.member = @owner
            OR m.kind = 'group' AND EXISTS (SELECT 1 FROM person_groups g WHERE g.owner = @owner AND g.name = m.member AND g.until > @now))), 0) AS BIGINT) AS role
FROM spaces s WHERE s.id = @id;

-- name: SpacesOf :many
SELECT s.id, s.name, s.everybody, s.links, s.instructions, s.agent, s.effort, s.tool_servers, s.created_at, s.deleted_at,
    CAST(coalesce((SELECT max(m.role) FROM space_members m WHERE m.space_id = s.id
        AND (m.kind = 'person' AND m.member = @owner
            OR m.kind = 'group' AND EXISTS (SELECT 1 FROM person_groups g WHERE g.owner = @owner AND g.name = m.member AND g.until > @now))), 0) AS BIGINT) AS role
FROM spaces s
WHERE s.id IN (SELECT x.space_id FROM space_members x
    WHERE x.kind = 'person' AND x.member = @owner
    OR x.kind = 'group' AND x.member IN (SELECT y.name FROM person_groups y WHERE y.owner = @owner AND y.until > @now))
ORDER BY s.created_at, s.id;

-- name: SpacesOfPerson :many
SELECT space_id FROM space_members WHERE kind = 'person' AND member = @owner ORDER BY space_id;

-- name: ChangeSpace :execrows
UPDATE spaces SET name = @name, everybody = @everybody, links = @links, instructions = @instructions, agent = @agent, effort = @effort, tool_servers = @tool_servers
WHERE id = @id AND deleted_at = 0;

-- name: SetSpaceDeleted :execrows
UPDATE spaces SET deleted_at = @at WHERE id = @id;

-- name: OldSpaces :many
SELECT id FROM spaces WHERE deleted_at > 0 AND deleted_at < CAST(@before_at AS BIGINT) ORDER BY id;

-- name: DropSpace :exec
DELETE FROM spaces WHERE id = @id;

-- name: SpaceMembers :many
SELECT kind, member, role, added_by, added_at FROM space_members WHERE space_id = @space_id ORDER BY added_at, kind, member;

-- People whom the readers of a space meet there: members, and who shares or has added something.

-- name: PeopleOfSpace :many
SELECT p.owner, p.known_as FROM profiles p WHERE p.known_as <> '' AND p.owner IN (
    SELECT m.member FROM space_members m WHERE m.space_id = @space_id AND m.kind = 'person'
    UNION SELECT c.owner FROM conversations c WHERE c.space_id = @space_id AND c.space_id <> '' AND c.shared
    UNION SELECT d.added_by FROM documents d WHERE d.owner = @library)
ORDER BY p.owner LIMIT CAST(@max_rows AS BIGINT);

-- name: PutSpaceMember :exec
INSERT INTO space_members (space_id, kind, member, role, added_by, added_at)
VALUES (@space_id, @kind, @member, @role, @added_by, @added_at)
ON CONFLICT (space_id, kind, member) DO UPDATE SET role = excluded.role;

-- name: RemoveSpaceMember :execrows
DELETE FROM space_members WHERE space_id = @space_id AND kind = @kind AND member = @member;

-- name: PersonGroups :many
SELECT name, until FROM person_groups WHERE owner = @owner ORDER BY name;

-- name: ClearPersonGroups :exec
DELETE FROM person_groups WHERE owner = @owner;

-- name: AddPersonGroup :exec
INSERT INTO person_groups (owner, name, until) VALUES (@owner, @name, @until)
ON CONFLICT (owner, name) DO UPDATE SET until = excluded.until;

-- name: DeleteUserMemberships :exec
DELETE FROM space_members WHERE kind = 'person' AND member = @owner;

-- name: ForgetAdder :exec
UPDATE space_members SET added_by = '' WHERE added_by = @owner;

-- name: ForgetContributor :exec
UPDATE documents SET added_by = '' WHERE added_by = @owner AND added_by <> '';

-- name: ForgetAuthor :exec
UPDATE turns SET author = '-' WHERE author = @owner AND author <> '';

-- Copies a turn of a conversation that is shared with a space.

-- name: CopyTurn :exec
INSERT INTO turns (id, owner, thread_id, generation, space_id, author, parent, place, status, created_at, settled_at, client_turn_id, stream_run_id, content_hash, registry, content)
SELECT @id, @owner, @thread_id, @generation, t.space_id, CASE WHEN t.author = '' THEN t.owner ELSE t.author END, @parent, @place, t.status, t.created_at, t.settled_at, t.client_turn_id, '', t.content_hash, t.registry, t.content
FROM turns t WHERE t.id = @from_id AND t.settled_at > 0;

-- name: CopyMessages :exec
INSERT INTO messages (turn_id, n, role, created_at, content, metadata)
SELECT @id, m.n, m.role, m.created_at, m.content, m.metadata FROM messages m WHERE m.turn_id = @from_id;

-- name: CopyEvents :exec
INSERT INTO turn_events (turn_id, n, event)
SELECT @id, e.n, replace(replace(e.event, e.turn_id, CAST(@id AS TEXT)), t.thread_id, CAST(@thread_id AS TEXT))
FROM turn_events e JOIN turns t ON t.id = e.turn_id WHERE e.turn_id = @from_id;

-- Gives a document to another owner: from a person to a space, or back.

-- name: GiveDocument :execrows
UPDATE documents SET owner = @to_owner, added_by = @added_by, deleted_at = @deleted_at, thread_id = '', address = ''
WHERE id = @id AND owner = @owner;

-- A document that belongs to a conversation in a space: to the reader's own, also before its
-- first message, or to one that its author shares there.

-- name: AttachedInSpace :one
SELECT d.owner, d.thread_id FROM documents d LEFT JOIN conversations c ON c.id = d.thread_id
WHERE d.id = @id AND d.thread_id <> ''
    AND (d.owner = @reader AND c.id IS NULL OR d.owner = c.owner AND c.space_id = @space_id AND c.space_id <> '' AND (c.shared OR c.owner = @reader));

-- The conversations, still shared with the space, from which messages were copied that name
-- documents of them.

-- name: CopiedAttachments :many
SELECT DISTINCT d.owner, d.thread_id FROM turns t
JOIN conversations c ON c.owner = t.author AND c.space_id = @space_id AND c.space_id <> '' AND c.shared
JOIN documents d ON d.thread_id = c.id AND d.thread_id <> '' AND d.owner = c.owner
WHERE t.owner = @owner AND t.thread_id = @thread_id AND t.author <> '' AND t.content LIKE '%"' || d.id || '"%';

-- name: DeletedDocuments :many
SELECT id, title, added_by, deleted_at FROM documents WHERE owner = @owner AND deleted_at > 0
ORDER BY deleted_at DESC, id LIMIT 200;

-- name: PruneDeletedDocuments :execrows
DELETE FROM documents WHERE deleted_at > 0 AND deleted_at < CAST(@before_at AS BIGINT);

-- Waits for other changes of the space's members.

-- name: LockSpace :execrows
UPDATE spaces SET name = name WHERE id = @id;

-- name: LockOldSpace :execrows
UPDATE spaces SET name = name WHERE id = @id AND deleted_at > 0 AND deleted_at < CAST(@before_at AS BIGINT);
