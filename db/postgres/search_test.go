package postgres

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/testkit/dbtest/pgtest"
	"github.com/palaver-chat/palaver/testkit/must"
)

// fill stores documents of three passages for an owner.
func fill(t *testing.T, s *Store, owner string, from, to int) {
	t.Helper()
	for n := from; n < to; n++ {
		id := fmt.Sprintf("%s-%03d", owner, n)
		require.NoError(t, s.CreateDocument(t.Context(), chat.Document{ID: id, Owner: owner, Title: id}, nil))
		require.NoError(t, s.StoreText(t.Context(), owner, id, "", []chat.Chunk{
			{Text: strings.Repeat("apple ", n%5) + "pear"}, {Text: "plum", Heading: "Apples"}, {Text: fmt.Sprintf("apple pie %d for state of the art bakers", n)},
		}, nil))
	}
}

func TestSmallAndLargeSearchFindTheSame(t *testing.T) {
	t.Parallel()
	s := openStore(t, pgtest.Database(t))
	fill(t, s, "ann", 0, 20)
	fill(t, s, "bob", 0, 20)
	fill(t, s, chat.PublicOwner, 0, 3)
	for _, docs := range [][]string{nil, {}, {"ann-003", "bob-004", "*-001", "none"}} {
		for _, words := range []string{"", "apple", "pear", "apple pear 7 art", "absent"} {
			flat := record.Alike(db.Words(strings.Fields(words)...))
			for i := range flat.Word {
				flat.Word[i]++
			}
			small := must.Have(s.rank(t.Context(), rankSmall, "ann", docs, flat.Texts, 30, flat.Word, flat.Weights, record.NameWeight, record.OtherNameShare))(t)
			large := must.Have(s.rank(t.Context(), rankLarge, "ann", docs, flat.Texts, 30, flat.Word, flat.Weights, record.NameWeight, record.OtherNameShare))(t)
			require.Equal(t, small, large)
			if docs == nil && words == "apple pear 7 art" {
				require.Len(t, small, 1+30)
				require.Equal(t, 69.0, small[0].Score, "chunks")
				require.Equal(t, "ann-007", small[1].DocID)
			}
		}
	}
	words := []string{"apple", "plum", "", "absent", "state of the art", "art state", "7"}
	small := must.Have(s.count(t.Context(), countSmall, "ann", []string(nil), words))(t)
	large := must.Have(s.count(t.Context(), countLarge, "ann", []string(nil), words))(t)
	require.Equal(t, small, large)
	require.Equal(t, []int{69, 64, 23, 0, 0, 23, 0, 1}, small)
}

// The statistics are older than most of the documents.
func TestSearchScansTheIndexOncePerWord(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := openStore(t, url)
	fill(t, s, "ann", 0, 1)
	var long []chat.Chunk
	for n := range 300 {
		long = append(long, chat.Chunk{Text: fmt.Sprintf("%d apple", n)})
	}
	require.NoError(t, s.StoreText(t.Context(), "ann", "ann-000", "", long, nil))
	pgtest.Exec(t, url, "ALTER TABLE documents SET (autovacuum_enabled = off)", "ALTER TABLE chunks SET (autovacuum_enabled = off)", "ANALYZE")
	fill(t, s, "ann", 1, 30)
	conn := must.Have(pgx.Connect(t.Context(), url))(t)
	defer func() { _ = conn.Close(t.Context()) }()
	script(t, conn, "SET enable_seqscan = off")
	for statement, arguments := range map[string]string{rankLarge: `('ann', NULL, '{apple,pear}', 10, '{1,2}', '{1,1}', 1, 1)`, countLarge: `('ann', NULL, '{apple,pear}')`} {
		script(t, conn, "PREPARE search AS "+statement)
		var plan string
		require.NoError(t, conn.QueryRow(t.Context(), "EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE search"+arguments, pgx.QueryExecModeSimpleProtocol).Scan(&plan))
		script(t, conn, "DEALLOCATE search")
		var tree any
		require.NoError(t, json.Unmarshal([]byte(plan), &tree))
		require.Equal(t, []float64{2}, loops(tree, "chunks_search"), plan)
	}
}

// loops returns how often each scan of an index ran.
func loops(tree any, index string) (n []float64) {
	switch node := tree.(type) {
	case []any:
		for _, child := range node {
			n = append(n, loops(child, index)...)
		}
	case map[string]any:
		if node["Index Name"] == index {
			n = append(n, node["Actual Loops"].(float64))
		}
		for _, child := range node {
			n = append(n, loops(child, index)...)
		}
	}
	return n
}
