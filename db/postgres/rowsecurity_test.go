package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/dbtest/pgtest"
	"github.com/palaver-chat/palaver/testkit/must"
)

// reader makes a role that owns nothing but may read every table, as Supabase's
// roles may, and connects as it.
func reader(t *testing.T, database string) (_ *pgx.Conn, address string) {
	t.Helper()
	u := must.Have(url.Parse(database))(t)
	role := u.Path[1:] + "_reader"
	pgtest.Exec(t, database, "CREATE ROLE "+role+" LOGIN", "GRANT USAGE ON SCHEMA public TO "+role,
		"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO "+role)
	t.Cleanup(func() { pgtest.Exec(t, database, "DROP OWNED BY "+role, "DROP ROLE "+role) })
	address = pgtest.With(database, func(u *url.URL) { u.User = url.User(role) })
	conn := must.Have(pgx.Connect(t.Context(), address))(t)
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	return conn, address
}

// fillTables writes a row into every table for owner, who may be PublicOwner.
func fillTables(t *testing.T, s *Store, owner, name string) {
	t.Helper()
	ctx := t.Context()
	require.NoError(t, s.PutProfile(ctx, owner, chat.Profile{Industry: name}))
	if owner != chat.PublicOwner {
		must.Have(s.BeginClaim(ctx, name, owner, time.Now()))(t)
	}
	for _, id := range []string{name, name + "2"} {
		_, _, _, err := s.InsertTurn(ctx, chat.Turn{ID: id, Owner: owner, ThreadID: "c-" + name, StreamRunID: "r", Content: chat.Content{Message: name}})
		require.NoError(t, err)
		require.NoError(t, s.PutText(ctx, owner, id, "k", name))
		require.NoError(t, s.SaveDraft(ctx, owner, db.Draft{TurnID: id, Piece: 1, Text: name}))
	}
	must.Have(s.Settle(ctx, db.Settlement{Owner: owner, ThreadID: "c-" + name, TurnID: name, Status: chat.TurnCompleted, Text: name, Terminal: chat.Event{N: 1}}))(t)
	require.NoError(t, s.PutFeedback(ctx, db.Feedback{Owner: owner, ThreadID: "c-" + name, TurnID: name, Reason: name}))
	require.NoError(t, s.CreateShare(ctx, db.Share{ID: "h-" + name, Owner: owner, ThreadID: "c-" + name, Digest: name, Title: name, Content: []byte(`"` + name + `"`)}))
	require.NoError(t, s.PutSummary(ctx, owner, db.Summary{TurnID: name, Text: name, At: time.Now()}))
	require.NoError(t, s.Cancel(ctx, owner, db.CancelRef{TurnID: name}, chat.UserCancelled))
	for _, id := range []string{"d-" + name, "raw-" + name} {
		require.NoError(t, s.CreateDocument(ctx, chat.Document{ID: id, Owner: owner, Title: name}, []byte(name)))
	}
	require.NoError(t, s.PutScan(ctx, owner, "raw-"+name, "", 1, name))
	require.NoError(t, s.StoreText(ctx, owner, "d-"+name, name, []chat.Chunk{{Text: name, End: len(name)}}, [][]float32{{1}}))
	must.Have(s.CreateImport(ctx, chat.Import{ID: "i-" + name, Owner: owner, Key: name, Source: chat.SourceLink, URL: name}))(t)
	require.NoError(t, s.SpendOnDocument(ctx, owner, "d-"+name, db.Spending{Tokens: 1}, time.Now()))
	anonymous := s.Within(db.Bounds{Anonymous: true, Address: "address"})
	require.NoError(t, anonymous.CreateSet(ctx, chat.DocumentSet{ID: "s-" + name, Owner: owner, Name: name, DocIDs: []string{"d-" + name}}))
	require.NoError(t, s.PutAttachment(ctx, chat.Attachment{ID: "a-" + name, Owner: owner, MIME: name}, []byte(name)))
	must.Have(s.PutRepo(ctx, owner, "c-"+name, []byte(name), name, nil))(t)
	require.NoError(t, s.CreateBoard(ctx, db.Board{ID: "b-" + name, Owner: owner, Title: name, Content: []byte(name)}))
	must.Have(s.Count(ctx, name, 1, time.Hour, time.Now()))(t)
	require.NoError(t, s.PutConnection(ctx, db.Connection{Owner: owner, Provider: "google", Account: name, Token: name}, false))
	require.NoError(t, s.CreateKey(ctx, db.Key{ID: "k-" + name, Owner: owner, Name: name, Digest: name}))
	require.NoError(t, s.AppendAudit(ctx, []db.AuditEntry{{Kind: name, Owner: owner}}))
	require.NoError(t, s.CreateSpace(ctx, owner, chat.Space{ID: "p-" + name, Name: name}))
	require.NoError(t, s.PutGroups(ctx, owner, []string{name}, time.Now().Add(time.Hour)))
	must.Have(s.CreateConversation(ctx, chat.Conversation{ID: "x-" + name, Owner: owner}))(t)
	require.NoError(t, s.DeleteConversation(ctx, owner, "x-"+name))
}

func TestRowSecurityShowsOnlyOwnAndPublicRows(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	s := openStore(t, database)
	fillTables(t, s, "ann", "Marzipan")
	fillTables(t, s, "bob", "Nougat")
	fillTables(t, s, chat.PublicOwner, "Everybodys")
	conn, _ := reader(t, database)
	public := map[string]bool{"documents": true, "raw_documents": true, "scans": true, "document_texts": true, "chunks": true, "chunk_vectors": true}

	as := func(subject string, f func(tx pgx.Tx)) {
		claims := ""
		if subject != "" {
			text := must.Have(json.Marshal(map[string]string{"sub": subject, "role": "authenticated"}))(t)
			claims = string(text)
		}
		tx := must.Have(conn.Begin(t.Context()))(t)
		must.Have(tx.Exec(t.Context(), "SELECT set_config('request.jwt.claims', $1, true)", claims))(t)
		f(tx)
		require.NoError(t, tx.Rollback(t.Context()))
	}
	rows := func(tx pgx.Tx, table, of string) (n int) {
		// Without text: bytea of a vector and keys without a name.
		where := fmt.Sprintf("strpos(x::text || convert_from(%s, 'UTF8'), '%s') > 0", map[bool]string{true: "x.raw", false: "''"}[table == "raw_documents"], of)
		switch {
		case of == "":
			where = "true"
		case table == "chunk_vectors":
			where = "id IN (SELECT id FROM chunks WHERE text = '" + of + "')"
		}
		require.NoError(t, tx.QueryRow(t.Context(), "SELECT count(*) FROM "+table+" x WHERE "+where).Scan(&n), table)
		return n
	}
	for _, table := range append(tables(), "leases", "tool_servers", "limits", "goose_db_version") {
		as("ann", func(tx pgx.Tx) {
			if slices.Contains([]string{"deleted_conversations", "deleted_turns", "leases", "tool_servers", "limits", "anonymous_owners", "claims", "spending", "model_usage", "connections", "access_keys", "shares", "person_groups", "space_members", "goose_db_version"}, table) { // no rows for anybody but the owner of the tables
				require.Zero(t, rows(tx, table, ""), table)
				return
			}
			require.NotZero(t, rows(tx, table, "Marzipan"), table)
			require.Zero(t, rows(tx, table, "Nougat"), table)
			require.Equal(t, public[table], rows(tx, table, "Everybodys") > 0, table)
			require.Equal(t, rows(tx, table, ""), rows(tx, table, "Marzipan")+rows(tx, table, "Everybodys"), table)
		})
		for _, stranger := range []string{"", "carol", "%"} {
			as(stranger, func(tx pgx.Tx) {
				require.Equal(t, public[table], rows(tx, table, "") > 0, "%s as %q", table, stranger)
				require.Equal(t, rows(tx, table, ""), rows(tx, table, "Everybodys")*btoi(public[table]), "%s as %q", table, stranger)
			})
		}
		as("ann", func(tx pgx.Tx) {
			tag := must.Have(tx.Exec(t.Context(), "DELETE FROM "+table))(t)
			require.Zero(t, tag.RowsAffected(), table)
		})
	}
	as("ann", func(tx pgx.Tx) {
		_, err := tx.Exec(t.Context(), "INSERT INTO profiles VALUES ('ann2', '', '')")
		require.ErrorContains(t, err, "row-level security")
	})
	require.NoError(t, s.Ping(t.Context()))
	turn := must.Have(s.Turn(t.Context(), "bob", "Nougat"))(t)
	require.Equal(t, "Nougat", turn.Content.Message, "row-level security does not apply to the owner of the tables")
}

func TestRowSecurityShowsASpaceToItsMembersOnly(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	s, ctx := openStore(t, database), t.Context()
	d := chat.Document{ID: "d", Owner: chat.SpaceOwner("p"), Title: "Canary", AddedBy: "ann"}
	require.NoError(t, s.CreateSpace(ctx, "ann", chat.Space{ID: "p", Name: "Team"}))
	require.NoError(t, s.CreateDocument(ctx, d, []byte("canary")))
	require.NoError(t, s.StoreText(ctx, d.Owner, d.ID, "canary", []chat.Chunk{{Text: "canary", End: 6}}, [][]float32{{1}}))
	require.NoError(t, s.CreateSet(ctx, chat.DocumentSet{ID: "s", Owner: d.Owner, Name: "Canaries", DocIDs: []string{d.ID}}))
	require.NoError(t, s.CreateBoard(ctx, db.Board{ID: "b", Owner: d.Owner, Title: "Canaries", Content: []byte("{}")}))
	require.NoError(t, s.PutSpaceMember(ctx, "ann", "p", chat.SpaceMember{ID: "bob", Role: chat.Reader}))
	require.NoError(t, s.PutSpaceMember(ctx, "ann", "p", chat.SpaceMember{ID: "legal", Group: true, Role: chat.Reader}))
	require.NoError(t, s.PutGroups(ctx, "carol", []string{"legal"}, time.Now().Add(time.Hour)))
	require.NoError(t, s.PutGroups(ctx, "dave", []string{"legal"}, time.Now().Add(-time.Second)))
	conn, _ := reader(t, database)
	reads := func(claims string) bool {
		tx := must.Have(conn.Begin(ctx))(t)
		defer func() { require.NoError(t, tx.Rollback(ctx)) }()
		must.Have(tx.Exec(ctx, "SELECT set_config('request.jwt.claims', $1, true)", claims))(t)
		seen := 0
		for _, table := range []string{"documents", "document_texts", "chunks", "chunk_vectors", "spaces", "document_sets", "set_documents", "boards"} {
			var n int
			require.NoError(t, tx.QueryRow(ctx, "SELECT count(*) FROM "+table).Scan(&n))
			if n > 0 {
				seen++
			}
		}
		require.Contains(t, []int{0, 8}, seen, "all or nothing")
		var members int
		require.NoError(t, tx.QueryRow(ctx, "SELECT count(*) FROM space_members").Scan(&members))
		require.Zero(t, members, "only managers read them, and only through the API")
		return seen > 0
	}
	sub := func(id string) string { return `{"sub":"` + id + `"}` }
	for claims, want := range map[string]bool{sub("ann"): true, sub("bob"): true, sub("carol"): true, sub("dave"): false, sub("legal"): false, sub("eve"): false, "": false, `{"sub":"bob","is_anonymous":true}`: false} {
		require.Equal(t, want, reads(claims), claims)
	}
	require.NoError(t, s.RemoveSpaceMember(ctx, "ann", "p", false, "bob"))
	require.False(t, reads(sub("bob")))
	require.NoError(t, s.PutGroups(ctx, "carol", nil, time.Now()))
	require.False(t, reads(sub("carol")))
	require.NoError(t, s.DeleteInSpace(ctx, "ann", "p", "d", time.Now()))
	var n int
	tx := must.Have(conn.Begin(ctx))(t)
	must.Have(tx.Exec(ctx, "SELECT set_config('request.jwt.claims', $1, true)", sub("ann")))(t)
	require.NoError(t, tx.QueryRow(ctx, "SELECT count(*) FROM documents").Scan(&n))
	require.NoError(t, tx.Rollback(ctx))
	require.Zero(t, n, "a deleted document")
	require.NoError(t, s.RestoreInSpace(ctx, "ann", "p", "d"))
	require.NoError(t, s.DeleteSpace(ctx, "ann", "p", "Team", time.Now()))
	require.False(t, reads(sub("ann")), "a deleted space")
}

func TestRowSecurityShowsAConversationOfASpaceToItsReadersOnly(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	s, ctx := openStore(t, database), t.Context()
	require.NoError(t, s.CreateSpace(ctx, "ann", chat.Space{ID: "p", Name: "Team"}))
	for _, id := range []string{"bob", "carl"} {
		require.NoError(t, s.PutSpaceMember(ctx, "ann", "p", chat.SpaceMember{ID: id, Role: chat.Reader}))
	}
	_, _, _, err := s.InsertTurn(ctx, chat.Turn{ID: "t", ThreadID: "c", Owner: "bob", Space: "p", Content: chat.Content{Message: "canary"}})
	require.NoError(t, err)
	require.NoError(t, s.MarkTurn(ctx, "bob", "t", chat.TurnRunning, chat.RootCheckpoint))
	for owner, id := range map[string]string{"bob": "attached", "carl": "foreign"} { // the second is of somebody else's conversation
		require.NoError(t, s.CreateDocument(ctx, chat.Document{ID: id, Owner: owner, Title: "canary", ThreadID: "c"}, nil))
	}
	conn, _ := reader(t, database)
	sees := func(id string, tables ...string) bool {
		tx := must.Have(conn.Begin(ctx))(t)
		defer func() { require.NoError(t, tx.Rollback(ctx)) }()
		must.Have(tx.Exec(ctx, "SELECT set_config('request.jwt.claims', $1, true)", `{"sub":"`+id+`"}`))(t)
		seen := 0
		for _, table := range tables {
			var n int
			require.NoError(t, tx.QueryRow(ctx, "SELECT count(*) FROM "+table).Scan(&n))
			seen += n
		}
		require.Contains(t, []int{0, len(tables)}, seen, "all or nothing")
		return seen > 0
	}
	reads := func(id string) bool {
		t.Helper()
		yes := sees(id, "conversations", "turns", "messages")
		require.Equal(t, yes || id == "bob", sees(id, "(SELECT FROM documents WHERE id = 'attached') d"))
		require.Equal(t, id == "carl", sees(id, "(SELECT FROM documents WHERE id = 'foreign') d"))
		return yes
	}
	require.True(t, reads("bob"))
	require.False(t, reads("carl"), "it is not shared")
	shared := true
	must.Have(s.ChangeConversation(ctx, "bob", "c", db.ConversationChange{Shared: &shared}))(t)
	require.True(t, reads("carl"))
	require.False(t, reads("eve"))
	_, _, _, err = s.InsertTurn(ctx, chat.Turn{ID: "new", ThreadID: "c", Owner: "bob", Space: "p", Content: chat.Content{Message: "not sent"}})
	require.NoError(t, err)
	_, _, _, err = s.InsertTurn(ctx, chat.Turn{ID: "undone", ThreadID: "c", Owner: "bob", Space: "p", Content: chat.Content{Message: "rolled back"}})
	require.NoError(t, err)
	must.Have(s.Settle(ctx, db.Settlement{Owner: "bob", ThreadID: "c", TurnID: "undone", Parent: chat.RootCheckpoint, Status: chat.TurnCancelled, Hidden: true, Text: "rolled back", Terminal: chat.Event{N: 1}}))(t)
	for _, id := range []string{"new", "undone"} {
		for _, table := range []string{"(SELECT FROM turns WHERE id = '" + id + "') t", "(SELECT FROM messages WHERE turn_id = '" + id + "' AND n = 0) m"} {
			require.False(t, sees("carl", table), "no history shows it to others: %s", table)
			require.True(t, sees("bob", table))
		}
	}
	require.NoError(t, s.PutText(ctx, "bob", "t", "k", "text"))
	require.NoError(t, s.SaveDraft(ctx, "bob", db.Draft{TurnID: "t", Piece: 1, Text: "draft"}))
	require.NoError(t, s.PutSummary(ctx, "bob", db.Summary{TurnID: "t", Text: "summary", At: time.Now()}))
	require.False(t, sees("carl", "turn_texts", "drafts", "summaries"), "what only its author and models read")
	require.True(t, sees("bob", "turn_texts", "drafts", "summaries"))
	require.NoError(t, s.DropTurn(ctx, "bob", "new", time.Now().Add(time.Hour)))
	pgtest.Exec(t, database, "DELETE FROM turns WHERE id = 'undone'")
	for _, id := range []string{"bob", "carl"} {
		require.NoError(t, s.RemoveSpaceMember(ctx, "ann", "p", false, id))
		require.False(t, reads(id))
	}
	require.NoError(t, s.PutSpaceMember(ctx, "ann", "p", chat.SpaceMember{ID: "carl", Role: chat.Reader}))
	_, _, _, err = s.InsertTurn(ctx, chat.Turn{ID: "s", ThreadID: "private", Owner: "carl", Content: chat.Content{Message: "canary", Spaces: []string{"p"}}})
	require.NoError(t, err)
	must.Have(s.PutRepo(ctx, "carl", "private", []byte("canary"), "d", nil))(t)
	inScope := func(id string) bool { return sees(id, "repos", "(SELECT FROM turns WHERE id = 's') t") }
	require.Equal(t, []bool{true, false}, []bool{inScope("carl"), inScope("bob")})
	require.NoError(t, s.RemoveSpaceMember(ctx, "ann", "p", false, "carl"))
	require.False(t, inScope("carl"))
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestOpenRefusesARoleThatDoesNotOwnTheTables(t *testing.T) {
	database := pgtest.Database(t)
	openStore(t, database)
	_, address := reader(t, database)
	_, err := Open(t.Context(), address)
	require.ErrorContains(t, err, "must own Palaver's tables")
}

// Supabase grants its roles everything on new tables, and TRUNCATE is not subject to
// row-level security.
func TestSupabasesRolesMayOnlyRead(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	pgtest.Exec(t, database, "DO $$ BEGIN CREATE ROLE anon NOLOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$",
		"ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT ALL ON TABLES TO anon")
	openStore(t, database)
	conn := must.Have(pgx.Connect(t.Context(), database))(t)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	rows := must.Have(conn.Query(t.Context(), "SELECT DISTINCT privilege_type FROM information_schema.role_table_grants WHERE grantee = 'anon' AND table_schema = 'public'"))(t)
	require.Equal(t, []string{"SELECT"}, must.Have(pgx.CollectRows(rows, pgx.RowTo[string]))(t))
}
