package postgres

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/testkit/dbtest/pgtest"
	"github.com/palaver-chat/palaver/testkit/must"
)

// traces lists the tables with a row that contains the word, in any case.
func traces(t *testing.T, s *Store, word string) []string {
	t.Helper()
	found := []string{}
	for _, table := range tables() {
		cells := "x::text"
		if table == "raw_documents" {
			cells = "x::text || convert_from(x.raw, 'UTF8')"
		}
		var n int
		require.NoError(t, s.pool.QueryRow(t.Context(), "SELECT count(*) FROM "+table+" x WHERE strpos(lower("+cells+"), lower($1)) > 0", word).Scan(&n))
		if n > 0 {
			found = append(found, table)
		}
	}
	return found
}

func TestDeletedThreadAndUserLeaveNoRows(t *testing.T) {
	t.Parallel()
	s, ctx := openStore(t, pgtest.Database(t)), t.Context()
	fillTables(t, s, "ann", "Marzipan")
	fillTables(t, s, "bob", "Nougat")
	others := traces(t, s, "Nougat")
	require.Equal(t, others, traces(t, s, "Marzipan"))
	require.Len(t, others, len(tables())-5, "all but chunk_vectors, deleted_turns, anonymous_owners, spending and model_usage, which hold no text")

	require.NoError(t, s.DeleteConversation(ctx, "ann", "c-Marzipan"))
	for _, table := range []string{"conversations", "turns", "messages", "turn_events", "turn_texts", "drafts", "stream_runs", "cancels"} {
		require.NotContains(t, traces(t, s, "Marzipan"), table)
	}
	must.Have(s.DeleteUser(ctx, "ann"))(t)
	require.Equal(t, []string{"deleted_conversations"}, traces(t, s, "Marzipan"), "only ids, so that nothing is written under them again")
	require.Empty(t, traces(t, s, "ann"))
	var vectors int
	require.NoError(t, s.pool.QueryRow(ctx, "SELECT count(*) FROM chunk_vectors").Scan(&vectors))
	require.Equal(t, 1, vectors, "the other user's")
	require.Equal(t, others, traces(t, s, "Nougat"))
}
