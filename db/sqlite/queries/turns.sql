-- name: InsertTurn :one
INSERT INTO turns (id, owner, thread_id, parent, status, created_at, client_turn_id, stream_run_id, content_hash, content, generation, sent_at, address, space_id)
VALUES (@id, @owner, @thread_id, @parent, 'new', @created_at, @client_turn_id, @stream_run_id, @content_hash, @content, @generation, @created_at, @address, @space_id)
ON CONFLICT DO NOTHING RETURNING *;

-- CROSS JOIN keeps the order of the tables. Without it, SQLite would read all rows of the
-- owner and look each up in the list.

-- name: TurnsByID :many
SELECT t.* FROM json_each(CAST(@ids AS TEXT)) j CROSS JOIN turns t ON t.id = j.value
WHERE t.owner = @owner;

-- name: TurnsByRunID :many
SELECT t.* FROM turns t JOIN stream_runs r ON r.turn_id = t.id
WHERE r.owner = @owner AND r.run_id = @run_id AND t.owner = @owner AND t.hidden = 0 ORDER BY t.seq DESC LIMIT 20;

-- Reads what decides about a new turn: ConversationState, and whether a cancel came first.

-- name: Admission :one
SELECT CAST(coalesce(c.owner, '') AS TEXT) AS owner, CAST(coalesce(c.generation, 0) AS INTEGER) AS generation,
    CAST(coalesce(d.owner, '') AS TEXT) AS deleted_owner, CAST(coalesce(d.generation, 0) AS INTEGER) AS deleted_generation, CAST(coalesce(d.places, 0) AS INTEGER) AS deleted_places,
    CAST(coalesce(c.archived, 0) AS BOOLEAN) AS archived, CAST(coalesce(c.space_id, '') AS TEXT) AS space_id, CAST(coalesce(c.scope, '') AS TEXT) AS scope,
    EXISTS (SELECT 1 FROM cancels x WHERE x.owner = @owner AND (
        (x.kind = 'turn' AND x.ref = @turn_id)
        OR (x.kind = 'client' AND x.ref = @client_turn_id AND x.thread_id IN ('', @thread_id))
        OR (x.kind = 'run' AND x.ref = @run_id AND x.created_at >= @since AND x.created_at <= @until))) AS cancelled
FROM (SELECT 1) one LEFT JOIN conversations c ON c.id = @thread_id LEFT JOIN deleted_conversations d ON d.id = @thread_id;

-- name: NextPlace :one
UPDATE conversations SET places = places + 1
WHERE id = @thread_id AND owner = @owner RETURNING places;

-- The turn, the open turns of its thread, and the thread's head; its owner's profile.

-- name: TurnContext :many
SELECT sqlc.embed(t), CAST(t.place > 0 AND t.hidden = 0 AS BOOLEAN) AS of_tree, EXISTS (SELECT 1 FROM cancels c WHERE c.owner = @owner AND (
    (c.kind = 'turn' AND c.ref = t.id)
    OR (c.kind = 'client' AND c.ref = t.client_turn_id AND c.thread_id IN ('', t.thread_id))
    OR (c.kind = 'run' AND c.ref = t.stream_run_id AND c.created_at >= t.created_at - CAST(@reach AS INTEGER) AND c.created_at <= t.created_at + CAST(@reach AS INTEGER)))) AS cancelled,
    EXISTS (SELECT 1 FROM imports m WHERE m.thread_id = t.thread_id AND m.owner = @owner AND (m.announce = 1 OR m.state NOT IN ('ready', 'failed'))) AS imports,
    CAST(coalesce(p.industry, '') AS TEXT) AS industry, CAST(coalesce(p.location, '') AS TEXT) AS location, CAST(coalesce(p.hide_samples, 0) AS BOOLEAN) AS hide_samples, CAST(coalesce(p.instructions, '') AS TEXT) AS instructions
FROM (
    SELECT CAST(@id AS TEXT) AS id
    UNION SELECT o.id FROM turns s JOIN turns o ON o.owner = s.owner AND o.thread_id = s.thread_id
        WHERE s.id = @id AND s.owner = @owner AND o.settled_at = 0 AND o.status <> 'new'
    UNION SELECT (SELECT x.id FROM turns x
        WHERE x.owner = s.owner AND x.thread_id = s.thread_id AND x.place > 0 AND x.hidden = 0
        ORDER BY x.place DESC LIMIT 1) FROM turns s WHERE s.id = @id AND s.owner = @owner) i
CROSS JOIN turns t ON t.id = i.id LEFT JOIN profiles p ON p.owner = t.owner
WHERE t.owner = @owner
ORDER BY t.place = 0, t.place, t.seq;

-- name: SettleTurn :exec
UPDATE turns SET status = @status, parent = @parent, place = @place, registry = @registry, approvals = @approvals, hidden = @hidden, settled_at = @at
WHERE id = @id AND owner = @owner AND settled_at = 0;

-- name: InsertMessage :exec
INSERT INTO messages (turn_id, n, role, created_at, content, metadata)
VALUES (@turn_id, @n, @role, @created_at, @content, @metadata);

-- name: InsertEvent :exec
INSERT INTO turn_events (turn_id, n, event) VALUES (@turn_id, @n, @event);

-- name: EventsOfTurns :many
SELECT e.turn_id, e.event FROM json_each(CAST(@ids AS TEXT)) j
CROSS JOIN turns t ON t.id = j.value JOIN turn_events e ON e.turn_id = t.id
WHERE t.owner = @owner AND t.settled_at > 0 ORDER BY e.turn_id, e.n;

-- name: PutText :execrows
INSERT INTO turn_texts (turn_id, key, text, written_by)
SELECT t.id, @key, @text, @written_by FROM turns t WHERE t.id = @turn_id AND t.owner = @owner AND t.settled_at = 0
ON CONFLICT (turn_id, key) DO UPDATE SET text = excluded.text, written_by = max(turn_texts.written_by, excluded.written_by)
WHERE excluded.written_by = 0 OR excluded.written_by >= turn_texts.written_by;

-- An open turn without texts has one row, with no key.
-- name: Texts :many
SELECT CAST(coalesce(x.key, '') AS TEXT) AS "key", CAST(coalesce(x.text, '') AS TEXT) AS text
FROM turns t LEFT JOIN turn_texts x ON x.turn_id = t.id
WHERE t.id = @turn_id AND t.owner = @owner AND t.settled_at = 0;

-- name: SaveDraft :execrows
INSERT INTO drafts (turn_id, piece, attempt, text)
SELECT t.id, @piece, @attempt, @text FROM turns t WHERE t.id = @turn_id AND t.owner = @owner AND t.settled_at = 0
ON CONFLICT (turn_id, piece) DO UPDATE SET attempt = excluded.attempt, text = excluded.text
WHERE excluded.attempt >= drafts.attempt;

-- name: DeleteDrafts :exec
DELETE FROM drafts WHERE turn_id = @turn_id;

-- name: DeleteTexts :exec
DELETE FROM turn_texts WHERE turn_id = @turn_id;

-- name: Head :one
SELECT id FROM turns
WHERE owner = @owner AND thread_id = @thread_id AND place > 0 AND hidden = 0
ORDER BY place DESC LIMIT 1;

-- A conversation without a head has one row, with no turn.

-- name: HeadTurn :one
SELECT CAST(coalesce(t.id, '') AS TEXT) AS id, CAST(coalesce(t.content, '') AS TEXT) AS content,
    EXISTS (SELECT 1 FROM turns o WHERE o.owner = @owner AND o.thread_id = @thread_id AND o.settled_at = 0 AND o.status <> 'new') AS open
FROM conversations c LEFT JOIN turns t ON t.id = (SELECT x.id FROM turns x
    WHERE x.owner = c.owner AND x.thread_id = c.id AND x.place > 0 AND x.hidden = 0
    ORDER BY x.place DESC LIMIT 1)
WHERE c.id = @thread_id AND c.owner = @owner;

-- name: HeadOfConversation :one
SELECT CAST(coalesce((SELECT t.id FROM turns t
    WHERE t.owner = c.owner AND t.thread_id = c.id AND t.place > 0 AND t.hidden = 0
    ORDER BY t.place DESC LIMIT 1), '') AS TEXT) AS head
FROM conversations c WHERE c.id = @thread_id AND c.owner = @owner;

-- name: Tree :many
SELECT id, parent FROM turns
WHERE owner = @owner AND thread_id = @thread_id AND place > 0 AND hidden = 0
ORDER BY place;

-- Without INDEXED BY, SQLite would read all turns of the owner.

-- name: CountOpenTurns :one
SELECT count(CASE WHEN thread_id = @thread_id THEN 1 END) AS here,
    count(DISTINCT CASE WHEN thread_id <> @thread_id THEN thread_id END) AS busy
FROM turns INDEXED BY turns_open
WHERE owner = @owner AND settled_at = 0
    AND (status IN ('accepted', 'running') OR (status = 'new' AND sent_at > @sent_after));

-- name: TurnOfMessage :one
SELECT t.* FROM turns t JOIN messages m ON m.turn_id = t.id
WHERE t.id = @id AND m.n = @n AND t.owner = @owner AND t.thread_id = @thread_id AND t.status <> 'new' AND t.hidden = 0;

-- name: BranchMessages :many
WITH RECURSIVE branch (id, parent, space_id, author, depth) AS (
    SELECT h.id, h.parent, h.space_id, h.author, 0 FROM turns h
    WHERE h.id = @head AND h.owner = @owner AND h.thread_id = @thread_id
        AND (NOT CAST(@of_tree AS BOOLEAN) OR h.status <> 'new' AND h.place > 0 AND h.hidden = 0)
    UNION ALL
    SELECT t.id, t.parent, t.space_id, t.author, branch.depth + 1 FROM branch JOIN turns t ON t.id = branch.parent
    WHERE t.owner = @owner
    LIMIT CAST(@max_turns AS INTEGER)
)
SELECT m.turn_id, m.n, m.role, m.created_at, m.content, m.metadata, branch.parent, branch.space_id, branch.author
FROM branch JOIN messages m ON m.turn_id = branch.id
WHERE (branch.depth > 0 OR m.n < @before_n) AND (CAST(@prompts AS BOOLEAN) OR m.role <> 'system')
ORDER BY branch.depth, m.n DESC
LIMIT CAST(@max_rows AS INTEGER);

-- The newest summary on the branch that ends at a turn of the tree.

-- name: Summary :one
WITH RECURSIVE back (id, parent, depth) AS (
    SELECT h.id, h.parent, 0 FROM turns h
    WHERE h.id = @head AND h.owner = @owner AND h.thread_id = @thread_id AND h.status <> 'new' AND h.place > 0 AND h.hidden = 0
    UNION ALL
    SELECT t.id, t.parent, back.depth + 1 FROM back JOIN turns t ON t.id = back.parent
    WHERE t.owner = @owner AND NOT EXISTS (SELECT 1 FROM summaries x WHERE x.turn_id = back.id)
)
SELECT s.turn_id, s.text, s.created_at, o.space_id FROM back JOIN summaries s ON s.turn_id = back.id JOIN turns o ON o.id = s.turn_id ORDER BY back.depth LIMIT 1;

-- The newest settled turn of the branch that ends at a turn of the tree.

-- name: Snapshot :one
WITH RECURSIVE back (id, parent, settled_at, registry, approvals) AS (
    SELECT h.id, h.parent, h.settled_at, h.registry, h.approvals FROM turns h
    WHERE h.id = @head AND h.owner = @owner AND h.thread_id = @thread_id AND h.status <> 'new' AND h.place > 0 AND h.hidden = 0
    UNION ALL
    SELECT t.id, t.parent, t.settled_at, t.registry, t.approvals FROM back JOIN turns t ON t.id = back.parent
    WHERE t.owner = @owner AND back.settled_at = 0
)
SELECT back.id, back.registry, back.approvals FROM back WHERE back.settled_at > 0;

-- The documents known to the turn that Snapshot finds; one row with no document when there
-- are none.

-- name: KnownDocuments :many
WITH RECURSIVE back (id, parent, settled_at, registry) AS (
    SELECT h.id, h.parent, h.settled_at, h.registry FROM turns h
    WHERE h.id = @head AND h.owner = @owner AND h.thread_id = @thread_id AND h.status <> 'new' AND h.place > 0 AND h.hidden = 0
    UNION ALL
    SELECT t.id, t.parent, t.settled_at, t.registry FROM back JOIN turns t ON t.id = back.parent
    WHERE t.owner = @owner AND back.settled_at = 0
)
SELECT CAST(coalesce(d.id, '') AS TEXT) AS id, CAST(coalesce(d.title, '') AS TEXT) AS title,
    CAST(EXISTS (SELECT 1 FROM documents o WHERE o.owner IN (@owner, '*') AND o.title_folded = d.title_folded AND o.id <> d.id) AS BOOLEAN) AS twin
FROM back LEFT JOIN json_each(back.registry) k ON true
LEFT JOIN documents d ON d.id = k.value AND d.status = 'ready' AND d.owner IN (@owner, '*')
WHERE back.settled_at > 0 ORDER BY k.key;

-- name: RegistryDocuments :many
SELECT d.id, d.title,
    CAST(EXISTS (SELECT 1 FROM documents o WHERE o.owner IN (SELECT w.value FROM json_each(CAST(@owners AS TEXT)) w) AND (o.owner NOT IN (SELECT w.value FROM json_each(CAST(@authors AS TEXT)) w) OR o.thread_id IN (SELECT w.value FROM json_each(CAST(@threads AS TEXT)) w)) AND o.title_folded = d.title_folded AND o.id <> d.id) AS BOOLEAN) AS twin
FROM json_each(CAST(@ids AS TEXT)) j CROSS JOIN documents d ON d.id = j.value
WHERE d.status = 'ready' AND d.owner IN (SELECT w.value FROM json_each(CAST(@owners AS TEXT)) w) AND (d.owner NOT IN (SELECT w.value FROM json_each(CAST(@authors AS TEXT)) w) OR d.thread_id IN (SELECT w.value FROM json_each(CAST(@threads AS TEXT)) w));

-- name: NewestText :one
SELECT CAST(coalesce(max(x.written_by), 0) AS INTEGER) AS written_by FROM turn_texts x JOIN turns t ON t.id = x.turn_id
WHERE x.turn_id = @turn_id AND t.owner = @owner;
