package documents

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/documents/chunk"
)

// Without a model, a question about rows is answered from all of their table, also from passages that
// the search has not found; each row that is shown is cited.
func TestTableIsOpenedWithoutAModel(t *testing.T) {
	b, _ := withSamples(t)
	text := "Part | Warehouse | Stock\n"
	for i := range 300 {
		text += fmt.Sprintf("part %03d | W%d | %d\n", i, i%4, i)
	}
	d := b.Doc("Spare parts", text)
	ask := func(message string) (string, []chat.Citation) {
		ref := b.Say(message)
		found := must[RetrieveResult](b, b.Retrieve, ref, RetrieveRequest{Action: chat.Inquire})
		must[activities.ModelResult](b, b.Write, ref, activities.Stage{Piece: 1}, WriteRequest{Action: chat.Inquire, ChunkIDs: found.ChunkIDs})
		var citations []chat.Citation
		require.NoError(t, json.Unmarshal([]byte(b.Texts(ref)[chat.TextCitations]), &citations))
		return b.Texts(ref)[chat.PieceKey(1)], citations
	}
	answer, citations := ask("How many parts are in warehouse W3?")
	require.Contains(t, answer, "75 of 300 rows")
	require.Contains(t, answer, "**11,325**")
	require.Equal(t, d, citations[0].DocID)
	require.Equal(t, "part 003 | W3 | 3", citations[0].Quote)
	require.Equal(t, citations[0].Quote, text[*citations[0].Start:*citations[0].End])

	answer, citations = ask("What is the highest stock? And what is the minimum total capital ratio?")
	require.Contains(t, answer, "**299**")
	require.Equal(t, "part 299 | W3 | 299", citations[0].Quote)
	require.Contains(t, answer, "8 per cent", "each part is searched by itself")
}

// A name of the document is the word that tells its sheets apart.
func TestSheetIsFoundByANameOfItsDocument(t *testing.T) {
	b, _ := withSamples(t)
	text := "## Headcount\n\nTeam | 2025 | 2026\nEngineering | 34 | 41\nSales | 12 | 15\n\n## Budget\n\nTeam | 2025 | 2026\nEngineering | 3900000 | 4700000\nSales | 1100000 | 1300000"
	d := b.Upload("Budget 2026", "xlsx", []byte("x"))
	require.NoError(t, b.Store.StoreVersion(t.Context(), owner, d, "", db.OwnNames{Others: []string{"Headcount", "Budget"}}, text, chunk.ForDocument(d, text), "", nil))
	ref := b.Say("What is the engineering budget for 2026?")
	found := must[RetrieveResult](b, b.Retrieve, ref, RetrieveRequest{Action: chat.Inquire, DocIDs: []string{d}})
	must[activities.ModelResult](b, b.Write, ref, activities.Stage{Piece: 1}, WriteRequest{Action: chat.Inquire, DocIDs: []string{d}, ChunkIDs: found.ChunkIDs})
	require.Contains(t, b.Texts(ref)[chat.PieceKey(1)], "**4,700,000**")
}
