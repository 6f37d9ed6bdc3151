package postgres

import (
	"encoding/json"
	"fmt"
	"slices"
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
			own, alike, weights := pairs(record.Groups(db.Words(strings.Fields(words)...), []string{""}))
			small, inSmall, err := s.rank(t.Context(), rankSmall, []string{"ann", chat.PublicOwner}, docs, []string{""}, []string{""}, own, 30, alike, weights, record.NameWeight, record.OtherNameShare)
			require.NoError(t, err)
			large, inLarge, err := s.rank(t.Context(), rankLarge, []string{"ann", chat.PublicOwner}, docs, []string{""}, []string{""}, own, 30, alike, weights, record.NameWeight, record.OtherNameShare)
			require.NoError(t, err)
			require.Equal(t, small, large)
			require.Equal(t, inSmall, inLarge)
			if docs == nil && words == "apple pear 7 art" {
				require.Len(t, small, 30)
				require.Equal(t, "ann-007", small[0].DocID)
			}
		}
	}
	words := []string{"apple", "plum", "", "absent", "state of the art", "art plum", "7"}
	for i, w := range words {
		words[i] = record.Match(w, []string{""}, " & ", " | ", quote)
	}
	small, is, err := s.count(t.Context(), countSmall, []string{"ann", chat.PublicOwner}, []string(nil), []string{""}, []string{""}, words)
	require.NoError(t, err)
	require.Equal(t, corpus{69, []string{""}}, is)
	large, _, err := s.count(t.Context(), countLarge, []string{"ann", chat.PublicOwner}, []string(nil), []string{""}, []string{""}, words)
	require.NoError(t, err)
	require.Equal(t, small, large)
	require.Equal(t, []int{64, 23, 0, 0, 23, 0, 1}, small)
}

// A search assumes that the documents are still those of the last one, and finds what came since.
func TestSearchFindsDocumentsOfANewLanguage(t *testing.T) {
	t.Parallel()
	s := openStore(t, pgtest.Database(t))
	add := func(id, text string) {
		require.NoError(t, s.CreateDocument(t.Context(), chat.Document{ID: id, Owner: "ann", Title: id}, nil))
		require.NoError(t, s.StoreText(t.Context(), "ann", id, text, []chat.Chunk{{Text: text}}, nil))
	}
	found := func(word string) (ids []string) {
		for _, h := range must.Have(s.SearchText(t.Context(), "ann", db.Words(word), nil, 10))(t) {
			ids = append(ids, h.DocID)
		}
		counts, total, err := s.WordCounts(t.Context(), "ann", []string{word})
		require.NoError(t, err)
		require.Equal(t, len(ids), counts[word], word)
		require.GreaterOrEqual(t, total, len(ids))
		return ids
	}
	require.Empty(t, found("Kündigungen"))
	add("english", "The notice period for all of the tenants is three months, and the rent is due on the first day of each month.")
	require.Equal(t, []string{"english"}, found("periods"))
	add("german", "Die Kündigung der Wohnung ist nur schriftlich und mit einer Frist von drei Monaten zum Ende des Jahres möglich.")
	require.Equal(t, []string{"german"}, found("Kündigungen"))
	require.Equal(t, []string{"english"}, found("periods"))
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
	for statement, arguments := range map[string]string{rankLarge: `('{ann,*}', NULL, '{""}', '{""}', '{apple,pear}', 10, '{apple,pear}', '{1,1}', 1, 1)`, countLarge: `('{ann,*}', NULL, '{""}', '{""}', '{apple,pear}')`} {
		script(t, conn, "PREPARE search AS "+statement)
		var plan string
		require.NoError(t, conn.QueryRow(t.Context(), "EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE search"+arguments, pgx.QueryExecModeSimpleProtocol).Scan(&plan))
		script(t, conn, "DEALLOCATE search")
		var tree any
		require.NoError(t, json.Unmarshal([]byte(plan), &tree))
		require.Equal(t, []float64{2}, loops(tree, "Index Name", "chunks_search"), plan)
		require.LessOrEqual(t, slices.Max(loops(tree, "Relation Name", "documents")), 10., "documents are read per hit, not per chunk that has a word: %s", plan)
	}
}

// loops returns how often each scan ran of which a key of the plan has a value.
func loops(tree any, key, value string) (n []float64) {
	switch node := tree.(type) {
	case []any:
		for _, child := range node {
			n = append(n, loops(child, key, value)...)
		}
	case map[string]any:
		if node[key] == value {
			n = append(n, node["Actual Loops"].(float64))
		}
		for _, child := range node {
			n = append(n, loops(child, key, value)...)
		}
	}
	return n
}

// A document that other rules have indexed is found again by the rules of this release.
func TestDocumentsOfAnEarlierReleaseAreIndexedAgain(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := openStore(t, url)
	var chunks []chat.Chunk
	text := ""
	for i := range storeBatch + 1 {
		c := fmt.Sprintf("Die Kündigungsfristen für Wohnung %d sind in Straße %d. ", i, i)
		chunks, text = append(chunks, chat.Chunk{Ordinal: i, Text: c}), text+c
	}
	require.NoError(t, s.CreateDocument(t.Context(), chat.Document{ID: "d", Owner: "o", Title: "Mietverträge"}, nil))
	require.NoError(t, s.StoreText(t.Context(), "o", "d", text, chunks, nil))
	search := func(word string) []chat.Hit {
		return must.Have(s.SearchText(t.Context(), "o", db.Words(word), nil, 500))(t)
	}
	want, named := search("Kuendigungsfrist"), search("Mietvertrag")
	require.Len(t, want, len(chunks))
	require.NotEmpty(t, named)
	pgtest.Exec(t, url, "UPDATE documents SET terms_version = 0, language = '', words = 1, title_words = 'old', other_words = ''",
		`UPDATE chunks SET words = 1, search = 'old', frequencies = '{"old": 1}'`)
	require.Empty(t, search("Kuendigungsfrist"))
	outdated := must.Have(s.DocumentsToIndex(t.Context(), "", 9))(t)
	require.Equal(t, []chat.Document{{ID: "d", Owner: "o"}}, outdated)

	require.NoError(t, s.IndexDocument(t.Context(), "o", "d"))
	require.Equal(t, want, search("Kuendigungsfrist"))
	require.Equal(t, named, search("Mietvertrag"))
	require.Empty(t, search("old"))
	done, total, err := s.IndexProgress(t.Context())
	require.NoError(t, err)
	require.Equal(t, []int{1, 1}, []int{done, total})
	require.ErrorIs(t, s.IndexDocument(t.Context(), "o", "none"), db.ErrNotFound)
	require.ErrorIs(t, s.IndexDocument(t.Context(), "stranger", "d"), db.ErrNotFound)
}
