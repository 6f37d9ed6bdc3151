-- These queries move the data of an anonymous caller to the account that they sign in to.

-- name: InsertClaim :exec
INSERT INTO claims (owner, account, began_at) VALUES (@owner, @account, @began_at) ON CONFLICT DO NOTHING;

-- name: ClaimAccount :one
SELECT account FROM claims WHERE owner = @owner;

-- name: Claims :many
SELECT owner, account, began_at FROM claims WHERE began_at < CAST(@before_at AS BIGINT) AND owner > @after_owner ORDER BY owner LIMIT CAST(@max_rows AS BIGINT);

-- name: DeleteClaim :exec
DELETE FROM claims WHERE owner = @owner AND account = @account;

-- name: DeleteUserClaims :exec
DELETE FROM claims WHERE owner = @owner OR account = @owner;

-- name: TurnRunsInThread :one
SELECT EXISTS (SELECT 1 FROM turns WHERE owner = @owner AND thread_id = @thread_id AND settled_at = 0
    AND (status IN ('accepted', 'running') OR (status = 'new' AND sent_at > @sent_after)));

-- name: MoveConversation :execrows
UPDATE conversations SET owner = @new_owner, address = '' WHERE id = @id AND owner = @owner;

-- name: MoveThreadStreamRuns :exec
UPDATE stream_runs SET owner = @new_owner
WHERE stream_runs.owner = @owner AND stream_runs.turn_id IN (SELECT t.id FROM turns t WHERE t.owner = @owner AND t.thread_id = @thread_id);

-- name: MoveThreadTurns :exec
UPDATE turns SET owner = @new_owner, address = '' WHERE thread_id = @thread_id AND owner = @owner;

-- name: MoveThreadFeedback :exec
UPDATE feedback SET owner = @new_owner
WHERE feedback.owner = @owner AND feedback.turn_id IN (SELECT t.id FROM turns t WHERE t.owner = @owner AND t.thread_id = @thread_id);

-- name: MoveThreadShares :exec
UPDATE shares SET owner = @new_owner WHERE thread_id = @thread_id AND owner = @owner;

-- name: MoveThreadAttachments :exec
UPDATE attachments SET owner = @new_owner, address = '' WHERE thread_id = CAST(@thread_id AS TEXT) AND owner = @owner;

-- name: MoveThreadRepo :exec
UPDATE repos SET owner = @new_owner, address = '' WHERE thread_id = @thread_id AND owner = @owner;

-- name: MoveThreadImports :exec
UPDATE imports SET owner = @new_owner, address = ''
WHERE thread_id = CAST(@thread_id AS TEXT) AND owner = @owner AND state IN ('ready', 'failed');

-- name: MoveThreadBoard :exec
UPDATE boards SET owner = @new_owner, address = '' WHERE id = @thread_id AND owner = @owner;

-- name: CountUnfinished :one
SELECT
    (SELECT count(*) FROM documents d WHERE d.owner = @owner AND d.status = 'processing') AS documents,
    (SELECT count(*) FROM imports i WHERE i.owner = @owner AND i.state NOT IN ('ready', 'failed')) AS imports,
    (SELECT count(*) FROM turns t WHERE t.owner = @owner AND t.settled_at = 0 AND t.status = 'new' AND t.sent_at > @sent_after) AS messages;

-- An owner has one document of each source. If the account has it, too, the moved document
-- stays, but a new version of the source does not replace it.

-- name: DetachSameDocuments :exec
UPDATE documents SET external_id = ''
WHERE documents.owner = @owner AND documents.external_id <> '' AND EXISTS (
    SELECT 1 FROM documents o WHERE o.owner = @new_owner AND o.source_type = documents.source_type AND o.external_id = documents.external_id AND o.external_id <> '');

-- name: MoveDocuments :execrows
UPDATE documents SET owner = @new_owner, address = '' WHERE owner = @owner;

-- name: MoveSets :exec
UPDATE document_sets SET owner = @new_owner, address = '' WHERE owner = @owner;

-- name: MoveAttachments :exec
UPDATE attachments SET owner = @new_owner, address = '' WHERE owner = @owner;

-- name: MoveBoards :exec
UPDATE boards SET owner = @new_owner, address = '' WHERE owner = @owner;

-- name: MoveImports :exec
UPDATE imports SET owner = @new_owner, address = '' WHERE owner = @owner;

-- name: MoveDeletedConversations :exec
UPDATE deleted_conversations SET owner = @new_owner WHERE owner = @owner AND owner <> '';
