package postgres

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/testkit/dbtest/pgtest"
	"github.com/palaver-chat/palaver/testkit/must"
)

// allStatements are all queries of a store by name, but readNearest, which has settings.
func allStatements(t *testing.T, s *Store) map[string]string {
	t.Helper()
	all := map[string]string{"rankSmall": rankSmall, "rankLarge": rankLarge, "countSmall": countSmall, "countLarge": countLarge, "readVectors": readVectors, "countVisible": countVisible, "dimensionsInUse": dimensionsInUse}
	if s.meanings.used {
		all["InsertMeanings"], all["readUnfilled"], all["fillMeanings"] = insertMeanings, readUnfilled, fillMeanings
	}
	files := must.Have(filepath.Glob("sqlcgen/*.sql.go"))(t)
	for _, path := range files {
		file := must.Have(parser.ParseFile(token.NewFileSet(), path, nil, 0))(t)
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.BasicLit); ok && strings.HasPrefix(s.Value, "`-- name: ") {
				text := strings.Trim(s.Value, "`")
				all[pgtest.StatementName(text)] = text
			}
			return true
		})
	}
	require.Greater(t, len(all), 100)
	return all
}

// plan is how Postgres would run a statement with any arguments.
func plan(t *testing.T, conn *pgx.Conn, statement string) string {
	t.Helper()
	parameters := 0
	for _, m := range regexp.MustCompile(`\$(\d+)`).FindAllStringSubmatch(statement, -1) {
		n := must.Have(strconv.Atoi(m[1]))(t)
		parameters = max(parameters, n)
	}
	arguments := ""
	if parameters > 0 {
		arguments = "(NULL" + strings.Repeat(", NULL", parameters-1) + ")"
	}
	script(t, conn, "SET plan_cache_mode = force_generic_plan", "PREPARE statement AS "+statement)
	defer script(t, conn, "DEALLOCATE statement")
	rows := must.Have(conn.Query(t.Context(), "EXPLAIN EXECUTE statement"+arguments, pgx.QueryExecModeSimpleProtocol))(t)
	lines := must.Have(pgx.CollectRows(rows, pgx.RowTo[string]))(t)
	return strings.Join(lines, "\n")
}

func script(t *testing.T, conn *pgx.Conn, statements ...string) {
	t.Helper()
	for _, s := range statements {
		_, err := conn.Exec(t.Context(), s, pgx.QueryExecModeSimpleProtocol)
		require.NoError(t, err, s)
	}
}

func TestNoStatementReadsAWholeTable(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := openStore(t, url)
	conn := must.Have(pgx.Connect(t.Context(), url))(t)
	defer func() { _ = conn.Close(t.Context()) }()
	script(t, conn, "SET enable_seqscan = off") // the tables are empty: make it very expensive
	for name, text := range allStatements(t, s) {
		switch name {
		case "CountUserData": // repos have no index by owner; it runs only when a user is removed
			continue
		case "ForgetSigner": // it reads the ids of all spaces; it runs only when a user is removed
			continue
		case "OldAudit": // for a dry run only
			continue
		case "UsageByOwner": // it sums up everything, for palaver usage only
			continue
		case "IndexProgress": // it counts the documents of all owners, for operators and the sweep
			continue
		case "dimensionsInUse": // it sums up the passages of all owners, when a worker starts
			continue
		}
		require.NotContains(t, plan(t, conn, text), "Seq Scan", "%s\n%s", name, text)
	}
}

// owners returns how many owners the filled database has: PLANS_OWNERS, or 500, with 36,000
// chunks and 60,000 messages. PLANS_OWNERS=5000 makes it 306,000 chunks and 600,000
// messages; storing and indexing them takes five minutes on 2 cores.
func owners(t *testing.T) int {
	t.Helper()
	text := os.Getenv("PLANS_OWNERS")
	if text == "" {
		return 500
	}
	n := must.Have(strconv.Atoi(text))(t)
	return n
}

// byOperators are statements that read many rows by design. No turn and no list runs them.
var byOperators = []string{"CountUserData", "IndexProgress", "OldAudit", "UsageByOwner", "LeftThreads", "OldThreads", "PruneAudit", "dimensionsInUse"}

// This test checks which plans Postgres chooses by itself, with as many rows as a used
// installation has: it may not choose an index that exists. Not parallel: the test keeps the
// server busy, and other tests count what the server reads.
func TestNoStatementOfATurnOrAListScansALargeTable(t *testing.T) {
	url := pgtest.Database(t)
	s := openStore(t, url)
	conn := must.Have(pgx.Connect(t.Context(), url))(t)
	defer func() { _ = conn.Close(t.Context()) }()
	require.NoError(t, pgtest.Fill(t.Context(), conn, owners(t)))
	require.NoError(t, s.IndexVectors(t.Context()))
	large := regexp.MustCompile(`Seq Scan on (chunks|chunk_vectors|messages|turns|turn_events|stream_runs|conversations|documents|document_texts)\b`)
	require.Regexp(t, large, plan(t, conn, "SELECT count(*) FROM messages m WHERE m.content = $1"), "the pattern")
	for name, text := range allStatements(t, s) {
		if !slices.Contains(byOperators, name) {
			assert.NotRegexp(t, large, plan(t, conn, text), "%s\n%s", name, text)
		}
	}
	if s.meanings.used {
		script(t, conn, "BEGIN", searchSettings)
		nearest := plan(t, conn, readNearest(pgtest.FilledDimensions))
		assert.NotRegexp(t, large, nearest)
		assert.Contains(t, nearest, "Index Scan using "+indexName(pgtest.FilledDimensions))
		script(t, conn, "ROLLBACK")
	}
}

// A join between columns of two collations cannot use their indexes.
func TestForeignKeyColumnsHaveTheCollationOfTheirTargets(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	openStore(t, url)
	conn := must.Have(pgx.Connect(t.Context(), url))(t)
	defer func() { _ = conn.Close(t.Context()) }()
	rows, err := conn.Query(t.Context(), `SELECT k.conrelid::regclass || '.' || a.attname || ' and ' || k.confrelid::regclass || '.' || b.attname, a.attcollation = b.attcollation
		FROM pg_constraint k
		CROSS JOIN LATERAL unnest(k.conkey, k.confkey) AS u (own, other)
		JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.own
		JOIN pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = u.other
		WHERE k.contype = 'f'`)
	require.NoError(t, err)
	defer rows.Close()
	pairs := 0
	for rows.Next() {
		var columns string
		var same bool
		require.NoError(t, rows.Scan(&columns, &same))
		require.True(t, same, columns)
		pairs++
	}
	require.NoError(t, rows.Err())
	require.Greater(t, pairs, 10)
}

// ofAnOwner are statements that may read the rows of an owner: lists, counts, a person's removal.
var ofAnOwner = []string{"BusyThreads", "ClearDocumentAddresses", "ClearThreadAddresses", "CountOpenTurns", "CountUnfinished", "CountUserData",
	"DeleteThreadDocuments", "DeletedDocuments", "DetachSameDocuments", "FilesOfOwner", "ListConversations", "People", "PeopleOfSpace", "SearchConversations", "ShareConversation",
	"StoredThreads", "TurnLoad", "UserThreads"}

// The plan of a prepared statement is made while the tables may be empty, and stays until they are
// analyzed. An index that begins with the owner looks as good as the key then, but it reads all
// rows of a person.
func TestNoLookUpByIDReadsAllRowsOfAnOwner(t *testing.T) {
	t.Parallel()
	s := openStore(t, pgtest.Database(t))
	pooled := must.Have(s.pool.Acquire(t.Context()))(t)
	defer pooled.Release()
	byOwner := regexp.MustCompile(`on (turns|conversations|documents|attachments|boards|repos)\b[^\n]*\n\s+Index Cond: \(\(?(\w+\.)?owner = [$\w.()]+\)\n`)
	require.Regexp(t, byOwner, plan(t, pooled.Conn(), "SELECT count(*) FROM conversations WHERE owner = $1 AND title = $2"), "the pattern")
	for name, text := range allStatements(t, s) {
		if !slices.Contains(ofAnOwner, name) {
			assert.NotRegexp(t, byOwner, plan(t, pooled.Conn(), text), "%s\n%s", name, text)
		}
	}
}
