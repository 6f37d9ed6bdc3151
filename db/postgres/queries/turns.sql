-- name: InsertTurn :one
WITH turn AS (
    INSERT INTO turns (id, owner, thread_id, parent, status, created_at, client_turn_id, stream_run_id, content_hash, content, generation, sent_at, address, space_id)
    VALUES (@id, @owner, @thread_id, @parent, 'new', @created_at, @client_turn_id, @stream_run_id, @content_hash, @content, @generation, @created_at, @address, @space_id)
    ON CONFLICT DO NOTHING RETURNING *),
message AS (
    INSERT INTO messages (turn_id, n, role, created_at, content, metadata)
    SELECT turn.id, 0, @role::text, @message_at::bigint, @message::text, @metadata::text FROM turn),
run AS (
    INSERT INTO stream_runs (owner, run_id, turn_id)
    SELECT turn.owner, turn.stream_run_id, turn.id FROM turn WHERE turn.stream_run_id <> '' ON CONFLICT DO NOTHING)
SELECT * FROM turn;

-- name: TurnsByID :many
SELECT * FROM turns WHERE id = ANY(@ids::text[]) AND owner = @owner;

-- The lock of the rows waits for a draft or a text that is being written, so that the settle
-- deletes it too. It comes after that of the thread, and reads the rows as they are then.

-- name: TurnsForSettle :many
SELECT sqlc.embed(t), (SELECT coalesce(max(x.written_by), 0) FROM turn_texts x WHERE x.turn_id = t.id)::bigint AS written_by FROM (SELECT pg_advisory_xact_lock(hashtextextended('thread:' || @thread_id::text, 0))) lock CROSS JOIN turns t
WHERE t.id = ANY(@ids::text[]) AND t.owner = @owner FOR NO KEY UPDATE OF t;

-- name: TurnsByRunID :many
SELECT t.* FROM turns t JOIN stream_runs r ON r.turn_id = t.id
WHERE r.owner = @owner AND r.run_id = @run_id AND t.owner = @owner AND t.hidden = false ORDER BY t.seq DESC LIMIT 20;

-- Reads what decides about a new turn: ConversationState, and whether a cancel came first.

-- name: Admission :one
SELECT coalesce(c.owner, '')::text AS owner, coalesce(c.generation, 0)::bigint AS generation,
    coalesce(d.owner, '')::text AS deleted_owner, coalesce(d.generation, 0)::bigint AS deleted_generation, coalesce(d.places, 0)::bigint AS deleted_places,
    coalesce(c.archived, false)::boolean AS archived, coalesce(c.space_id, '')::text AS space_id, coalesce(c.scope, '')::text AS scope,
    EXISTS (SELECT 1 FROM cancels x WHERE x.owner = @owner AND (
        (x.kind = 'turn' AND x.ref = @turn_id)
        OR (x.kind = 'client' AND x.ref = @client_turn_id AND x.thread_id IN ('', @thread_id))
        OR (x.kind = 'run' AND x.ref = @run_id AND x.created_at >= @since AND x.created_at <= @until))) AS cancelled
FROM (SELECT 1) one LEFT JOIN conversations c ON c.id = @thread_id LEFT JOIN deleted_conversations d ON d.id = @thread_id;

-- name: NextPlace :one
UPDATE conversations c SET places = c.places + 1
WHERE c.id = @thread_id AND c.owner = @owner RETURNING c.places;

-- name: PlaceTurn :exec
WITH next AS (
    UPDATE conversations c SET places = c.places + 1,
        listed = c.listed OR @shown::boolean,
        last_message_at = CASE WHEN @shown THEN greatest(c.last_message_at, @at::bigint) ELSE c.last_message_at END,
        title = CASE WHEN @shown AND c.title = '' THEN @title::text ELSE c.title END,
        title_folded = CASE WHEN @shown AND c.title = '' THEN @title_folded::text ELSE c.title_folded END
    WHERE c.id = @thread_id AND c.owner = @owner RETURNING c.places)
UPDATE turns SET status = @status, asks = @asks, parent = @parent, place = (SELECT places FROM next)
WHERE turns.id = @id AND turns.owner = @owner AND turns.settled_at = 0;

-- The turn, the open turns of its thread, and the thread's head; its owner's profile.

-- name: TurnContext :many
SELECT sqlc.embed(t), (t.place > 0 AND NOT t.hidden)::boolean AS of_tree, EXISTS (SELECT 1 FROM cancels c WHERE c.owner = @owner AND (
    (c.kind = 'turn' AND c.ref = t.id)
    OR (c.kind = 'client' AND c.ref = t.client_turn_id AND c.thread_id IN ('', t.thread_id))
    OR (c.kind = 'run' AND c.ref = t.stream_run_id AND c.created_at >= t.created_at - @reach::bigint AND c.created_at <= t.created_at + @reach))) AS cancelled,
    EXISTS (SELECT 1 FROM imports m WHERE m.thread_id = t.thread_id AND m.owner = @owner AND (m.announce = 1 OR m.state NOT IN ('ready', 'failed'))) AS imports,
    coalesce(p.industry, '')::text AS industry, coalesce(p.location, '')::text AS location, coalesce(p.hide_samples, false)::boolean AS hide_samples, coalesce(p.instructions, '')::text AS instructions
FROM turns t LEFT JOIN profiles p ON p.owner = t.owner
WHERE t.owner = @owner AND t.id IN (
    SELECT @id::text AS id
    UNION SELECT o.id FROM turns o
        WHERE o.owner = @owner AND o.thread_id = (SELECT s.thread_id FROM turns s WHERE s.id = @id AND s.owner = @owner) AND o.settled_at = 0 AND o.status <> 'new'
    UNION SELECT h.id FROM turns s CROSS JOIN LATERAL (SELECT x.id FROM turns x
        WHERE x.owner = @owner AND x.thread_id = s.thread_id AND x.place > 0 AND NOT x.hidden
        ORDER BY x.place DESC LIMIT 1) h WHERE s.id = @id AND s.owner = @owner)
ORDER BY t.place = 0, t.place, t.seq;

-- name: SettleTurn :exec
WITH turn AS (
    UPDATE turns t SET status = @status, parent = @parent, place = @place, registry = @registry, approvals = @approvals, hidden = @hidden, settled_at = @at
    WHERE t.id = @id AND t.owner = @owner AND t.settled_at = 0),
message AS (
    INSERT INTO messages (turn_id, n, role, created_at, content, metadata)
    SELECT @id, unnest(@message_numbers::bigint[]), unnest(@roles::text[]), unnest(@message_times::bigint[]), unnest(@contents::text[]), unnest(@metadata::text[])),
conversation AS (
    UPDATE conversations c SET listed = true, last_message_at = greatest(c.last_message_at, @at),
        title = CASE WHEN c.title = '' THEN @title::text ELSE c.title END,
        title_folded = CASE WHEN c.title = '' THEN @title_folded::text ELSE c.title_folded END
    WHERE c.id = @thread_id AND c.owner = @owner),
spent AS (
    INSERT INTO spending (subject, day, tokens, cost_nanos)
    SELECT unnest(@subjects::text[]), @day::bigint, @tokens::bigint, @cost_nanos::bigint
    ON CONFLICT (subject, day) DO UPDATE SET tokens = spending.tokens + excluded.tokens, cost_nanos = spending.cost_nanos + excluded.cost_nanos),
deleted_drafts AS (DELETE FROM drafts d WHERE d.turn_id = @id),
deleted_texts AS (DELETE FROM turn_texts x WHERE x.turn_id = @id)
INSERT INTO turn_events (turn_id, n, event)
SELECT @id, unnest(@event_numbers::bigint[]), unnest(@events::text[]);

-- name: EventsOfTurns :many
SELECT e.turn_id, e.event FROM turn_events e JOIN turns t ON t.id = e.turn_id
WHERE e.turn_id = ANY(@ids::text[]) AND t.owner = @owner AND t.settled_at > 0 ORDER BY e.turn_id, e.n;

-- PutTexts and SaveDraft lock the turn's row (FOR SHARE), so they wait for a settle
-- that runs, and a settle waits for them.

-- name: PutTexts :execrows
INSERT INTO turn_texts (turn_id, key, text, written_by)
SELECT t.id, n.key, n.text, n.written_by
FROM (SELECT unnest(@keys::text[]) AS key, unnest(@texts::text[]) AS text, unnest(@written_by::bigint[]) AS written_by) n
CROSS JOIN (SELECT o.id FROM turns o WHERE o.id = @turn_id AND o.owner = @owner AND o.settled_at = 0 FOR SHARE) t
WHERE NOT EXISTS (
    SELECT 1 FROM turn_texts x JOIN (SELECT unnest(@keys::text[]) AS key, unnest(@written_by::bigint[]) AS written_by) y ON y.key = x.key
    WHERE x.turn_id = @turn_id AND y.written_by <> 0 AND x.written_by > y.written_by)
ON CONFLICT (turn_id, key) DO UPDATE SET text = excluded.text, written_by = greatest(turn_texts.written_by, excluded.written_by)
WHERE excluded.written_by = 0 OR excluded.written_by >= turn_texts.written_by;

-- An open turn without texts has one row, with no key.
-- name: Texts :many
SELECT coalesce(x.key, '')::text AS key, coalesce(x.text, '')::text AS text
FROM turns t LEFT JOIN turn_texts x ON x.turn_id = t.id
WHERE t.id = @turn_id AND t.owner = @owner AND t.settled_at = 0;

-- name: SaveDraft :execrows
INSERT INTO drafts (turn_id, piece, attempt, text)
SELECT t.id, @piece, @attempt, @text FROM turns t WHERE t.id = @turn_id AND t.owner = @owner AND t.settled_at = 0
FOR SHARE OF t
ON CONFLICT (turn_id, piece) DO UPDATE SET attempt = excluded.attempt, text = excluded.text
WHERE excluded.attempt >= drafts.attempt;

-- name: Head :one
SELECT id FROM turns
WHERE owner = @owner AND thread_id = @thread_id AND place > 0 AND NOT hidden
ORDER BY place DESC LIMIT 1;

-- A conversation without a head has one row, with no turn.

-- name: HeadTurn :one
SELECT coalesce(t.id, '')::text AS id, coalesce(t.content, '')::text AS content,
    EXISTS (SELECT 1 FROM turns o WHERE o.owner = @owner AND o.thread_id = @thread_id AND o.settled_at = 0 AND o.status <> 'new') AS open
FROM conversations c LEFT JOIN LATERAL (SELECT x.id, x.content FROM turns x
    WHERE x.owner = c.owner AND x.thread_id = @thread_id AND x.place > 0 AND NOT x.hidden
    ORDER BY x.place DESC LIMIT 1) t ON true
WHERE c.id = @thread_id AND c.owner = @owner;

-- name: HeadOfConversation :one
SELECT coalesce((SELECT t.id FROM turns t
    WHERE t.owner = c.owner AND t.thread_id = @thread_id AND t.place > 0 AND NOT t.hidden
    ORDER BY t.place DESC LIMIT 1), '')::text AS head
FROM conversations c WHERE c.id = @thread_id AND c.owner = @owner;

-- name: Tree :many
SELECT id, parent FROM turns
WHERE owner = @owner AND thread_id = @thread_id AND place > 0 AND NOT hidden
ORDER BY place;

-- name: CountOpenTurns :one
SELECT count(CASE WHEN thread_id = @thread_id THEN 1 END) AS here,
    count(DISTINCT CASE WHEN thread_id <> @thread_id THEN thread_id END) AS busy
FROM turns
WHERE owner = @owner AND settled_at = 0
    AND (status IN ('accepted', 'running') OR (status = 'new' AND sent_at > @sent_after));

-- name: TurnOfMessage :one
SELECT t.* FROM turns t JOIN messages m ON m.turn_id = t.id
WHERE t.id = @id AND m.n = @n AND t.owner = @owner AND t.thread_id = @thread_id AND t.status <> 'new' AND NOT t.hidden;

-- name: BranchMessages :many
WITH RECURSIVE branch (id, parent, space_id, author, depth) AS (
    SELECT h.id, h.parent, h.space_id, h.author, 0 FROM turns h
    WHERE h.id = @head AND h.owner = @owner AND h.thread_id = @thread_id
        AND (NOT @of_tree::boolean OR h.status <> 'new' AND h.place > 0 AND NOT h.hidden)
    UNION ALL
    SELECT t.id, t.parent, t.space_id, t.author, branch.depth + 1 FROM branch JOIN turns t ON t.id = branch.parent
    WHERE t.owner = @owner AND branch.depth + 1 < @max_turns::bigint
)
SELECT branch.id AS turn_id, m.n, m.role, m.created_at, m.content, m.metadata, branch.parent, branch.space_id, branch.author
FROM branch CROSS JOIN LATERAL (
    SELECT x.* FROM messages x
    WHERE x.turn_id = branch.id AND (branch.depth > 0 OR x.n < @before_n) AND (@prompts::boolean OR x.role <> 'system')
    ORDER BY x.n DESC LIMIT @max_rows::bigint) m -- turn by turn by its key: the planner overrates branch and would read all messages
ORDER BY branch.depth, m.n DESC
LIMIT @max_rows::bigint;

-- The newest summary on the branch that ends at a turn of the tree.

-- name: Summary :one
WITH RECURSIVE back (id, parent, depth) AS (
    SELECT h.id, h.parent, 0 FROM turns h
    WHERE h.id = @head AND h.owner = @owner AND h.thread_id = @thread_id AND h.status <> 'new' AND h.place > 0 AND NOT h.hidden
    UNION ALL
    SELECT t.id, t.parent, back.depth + 1 FROM back JOIN turns t ON t.id = back.parent
    WHERE t.owner = @owner AND NOT EXISTS (SELECT 1 FROM summaries x WHERE x.turn_id = back.id)
)
SELECT s.turn_id, s.text, s.created_at, o.space_id FROM back JOIN summaries s ON s.turn_id = back.id JOIN turns o ON o.id = s.turn_id ORDER BY back.depth LIMIT 1;

-- The newest settled turn of the branch that ends at a turn of the tree.

-- name: Snapshot :one
WITH RECURSIVE back (id, parent, settled_at, registry, approvals) AS (
    SELECT h.id, h.parent, h.settled_at, h.registry, h.approvals FROM turns h
    WHERE h.id = @head AND h.owner = @owner AND h.thread_id = @thread_id AND h.status <> 'new' AND h.place > 0 AND NOT h.hidden
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
    WHERE h.id = @head AND h.owner = @owner AND h.thread_id = @thread_id AND h.status <> 'new' AND h.place > 0 AND NOT h.hidden
    UNION ALL
    SELECT t.id, t.parent, t.settled_at, t.registry FROM back JOIN turns t ON t.id = back.parent
    WHERE t.owner = @owner AND back.settled_at = 0
)
SELECT coalesce(d.id, '')::text AS id, coalesce(d.title, '')::text AS title,
    CAST(EXISTS (SELECT 1 FROM documents o WHERE o.owner IN (@owner, '*') AND o.title_folded = d.title_folded AND o.id <> d.id) AS BOOLEAN) AS twin
FROM back LEFT JOIN LATERAL jsonb_array_elements_text(back.registry::jsonb) WITH ORDINALITY AS k (id, n) ON true
LEFT JOIN documents d ON d.id = k.id AND d.status = 'ready' AND d.owner IN (@owner, '*')
WHERE back.settled_at > 0 ORDER BY k.n;

-- name: RegistryDocuments :many
SELECT d.id, d.title,
    CAST((SELECT count(*) FROM documents o WHERE o.owner = ANY(@owners::text[]) AND (o.owner <> ALL(@authors::text[]) OR o.thread_id = ANY(@threads::text[])) AND o.title_folded = d.title_folded AND o.id <> d.id) > 0 AS BOOLEAN) AS twin
FROM documents d
WHERE d.id = ANY(@ids::text[]) AND d.status = 'ready' AND d.owner = ANY(@owners::text[]) AND (d.owner <> ALL(@authors::text[]) OR d.thread_id = ANY(@threads::text[]));
