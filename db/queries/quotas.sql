-- name: Spent :one
SELECT tokens, cost_nanos FROM spending WHERE subject = @subject AND day = @day;

-- name: AddSpending :exec
INSERT INTO spending (subject, day, tokens, cost_nanos) VALUES (@subject, @day, @tokens, @cost_nanos)
ON CONFLICT (subject, day) DO UPDATE SET tokens = spending.tokens + excluded.tokens, cost_nanos = spending.cost_nanos + excluded.cost_nanos;

-- name: PruneSpending :execrows
DELETE FROM spending WHERE day < @before_day;

-- name: MarkAnonymous :exec
INSERT INTO anonymous_owners (owner, seen_at)
SELECT CAST(@owner AS TEXT), CAST(@at AS BIGINT)
WHERE NOT EXISTS (SELECT 1 FROM anonymous_owners a WHERE a.owner = CAST(@owner AS TEXT) AND a.seen_at + 86400000000 >= CAST(@at AS BIGINT)) -- db.SeenEvery; a conflict would lock the row
ON CONFLICT (owner) DO UPDATE SET seen_at = excluded.seen_at WHERE anonymous_owners.seen_at < excluded.seen_at;

-- name: AnonymousSeen :one
SELECT seen_at FROM anonymous_owners WHERE owner = @owner;

-- name: SetAnonymousSeen :exec
UPDATE anonymous_owners SET seen_at = @at WHERE owner = @owner AND seen_at < @at;

-- name: UnmarkAnonymous :exec
DELETE FROM anonymous_owners WHERE owner = @owner;

-- name: ClearThreadAddresses :exec
UPDATE conversations SET address = '' WHERE owner = @owner AND address <> '';

-- name: ClearDocumentAddresses :exec
UPDATE documents SET address = '' WHERE owner = @owner AND address <> '';

-- name: ClearSetAddresses :exec
UPDATE document_sets SET address = '' WHERE owner = @owner AND address <> '';

-- name: ClearAttachmentAddresses :exec
UPDATE attachments SET address = '' WHERE owner = @owner AND address <> '';

-- name: ClearRepoAddresses :exec
UPDATE repos SET address = '' WHERE owner = @owner AND address <> '';

-- name: ClearBoardAddresses :exec
UPDATE boards SET address = '' WHERE owner = @owner AND address <> '';

-- name: DeleteUserSpending :exec
DELETE FROM spending WHERE subject = @subject;

-- These queries count what is stored by an owner, by an address, and by everybody without
-- an account. For an empty owner or address, or a false flag, they count nothing.

-- name: StoredThreads :one
SELECT
    (SELECT count(*) FROM conversations o WHERE o.owner = @owner) AS of_owner,
    (SELECT count(*) FROM conversations a WHERE a.address = @address AND a.address <> '') AS of_address,
    (SELECT count(*) FROM conversations v WHERE v.address <> '' AND CAST(@everybody AS BOOLEAN)) AS of_everybody;

-- name: StoredSets :one
SELECT
    (SELECT count(*) FROM document_sets o WHERE o.owner = @owner) AS of_owner,
    (SELECT count(*) FROM document_sets a WHERE a.address = @address AND a.address <> '') AS of_address,
    (SELECT count(*) FROM document_sets v WHERE v.address <> '' AND CAST(@everybody AS BOOLEAN)) AS of_everybody;

-- name: AddSpendingOfAddress :exec
INSERT INTO spending (subject, day, tokens, cost_nanos)
SELECT 'address:' || d.address, CAST(@day AS BIGINT), CAST(@tokens AS BIGINT), CAST(@cost_nanos AS BIGINT) FROM documents d
WHERE d.id = @doc_id AND d.owner = @owner AND d.address <> ''
ON CONFLICT (subject, day) DO UPDATE SET tokens = spending.tokens + excluded.tokens, cost_nanos = spending.cost_nanos + excluded.cost_nanos;

-- It locks the row, so that a visit comes before or after the whole transaction.

-- name: LockUnused :execrows
UPDATE anonymous_owners SET seen_at = seen_at WHERE owner = @owner AND seen_at < @before_at;

-- name: UnusedOwners :many
SELECT owner FROM anonymous_owners WHERE seen_at < @before_at AND owner > @after_owner
ORDER BY owner LIMIT CAST(@max_rows AS BIGINT);

-- name: FilesOfOwner :one
SELECT d.number AS documents, p.number AS pictures, b.number AS boards, CAST(d.bytes + p.bytes + r.bytes + b.bytes AS BIGINT) AS bytes FROM
    (SELECT count(*) AS number, coalesce(sum(x.bytes), 0) AS bytes FROM documents x WHERE x.owner = @owner) d,
    (SELECT count(*) AS number, coalesce(sum(x.bytes), 0) AS bytes FROM attachments x WHERE x.owner = @owner) p,
    (SELECT coalesce(sum(x.bytes), 0) AS bytes FROM repos x WHERE x.owner = @owner) r,
    (SELECT count(*) AS number, coalesce(sum(x.bytes), 0) AS bytes FROM boards x WHERE x.owner = @owner) b;

-- name: FilesOfAddress :one
SELECT d.number AS documents, p.number AS pictures, b.number AS boards, CAST(d.bytes + p.bytes + r.bytes + b.bytes AS BIGINT) AS bytes FROM
    (SELECT count(*) AS number, coalesce(sum(x.bytes), 0) AS bytes FROM documents x WHERE x.address = @address AND x.address <> '') d,
    (SELECT count(*) AS number, coalesce(sum(x.bytes), 0) AS bytes FROM attachments x WHERE x.address = @address AND x.address <> '') p,
    (SELECT coalesce(sum(x.bytes), 0) AS bytes FROM repos x WHERE x.address = @address AND x.address <> '') r,
    (SELECT count(*) AS number, coalesce(sum(x.bytes), 0) AS bytes FROM boards x WHERE x.address = @address AND x.address <> '') b;

-- name: FilesOfEverybody :one
SELECT d.number AS documents, p.number AS pictures, b.number AS boards, CAST(d.bytes + p.bytes + r.bytes + b.bytes AS BIGINT) AS bytes FROM
    (SELECT count(*) AS number, coalesce(sum(x.bytes), 0) AS bytes FROM documents x WHERE x.address <> '') d,
    (SELECT count(*) AS number, coalesce(sum(x.bytes), 0) AS bytes FROM attachments x WHERE x.address <> '') p,
    (SELECT coalesce(sum(x.bytes), 0) AS bytes FROM repos x WHERE x.address <> '') r,
    (SELECT count(*) AS number, coalesce(sum(x.bytes), 0) AS bytes FROM boards x WHERE x.address <> '') b;
