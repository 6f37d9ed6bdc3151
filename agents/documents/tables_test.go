package documents

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
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
		found := must[Retrieved](b, b.Retrieve, ref, RetrieveRequest{Action: chat.Inquire})
		must[activities.Written](b, b.Write, ref, activities.Stage{Piece: 1}, WriteRequest{Action: chat.Inquire, ChunkIDs: found.ChunkIDs})
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
