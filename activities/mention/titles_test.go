package mention

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
)

func TestNamesMatchFromEightyFivePercentSimilarity(t *testing.T) {
	docs := []chat.Document{{ID: "d", Title: "abcdefghijklmnopqrst"}} // 20 characters
	require.Len(t, Closest("abcdefghijklmnopq###", docs), 1, "17 of 20")
	require.Empty(t, Closest("abcdefghijklmnop####", docs), "16 of 20")
	require.Empty(t, Closest("", docs))
	require.Empty(t, Closest("x", nil))
}

func FuzzMessagesAndTitles(f *testing.F) {
	f.Add("What does the Leave Policy say?", "Leave Policy")
	f.Add("Ünïcode ﬁle.PDF \"x\"", "ﬁle.pdf")
	f.Add("İstanbul K", "i̇stanbul k")
	f.Fuzz(func(t *testing.T, message, title string) {
		docs := []chat.Document{{ID: "d", Title: title}}
		Occurring(message, docs)
		AsTitled(message, docs, docs, time.Now())
		Closest(message, docs)
		sharingWords(message, docs, 1, true)
		mayName(message)
		isPlausibleName(title, message)
		require.Less(t, Index(message, docs[0], docs), max(1, len(message)))
	})
}

func TestATitleThatOccursTwiceIsOneDocument(t *testing.T) {
	docs := []chat.Document{{ID: "d", Title: "Policy"}}
	require.Len(t, Occurring("The Policy and policy again", docs), 1)
}

func TestTitleInsideALongerTitleDoesNotCount(t *testing.T) {
	docs := []chat.Document{{ID: "short", Title: "Leave Policy"}, {ID: "long", Title: "Leave Policy 2024.pdf"}}
	require.Equal(t, []string{"long"}, IDs(Occurring("Summarize leave policy 2024", docs)))
	require.Equal(t, []string{"short"}, IDs(Occurring("Summarize the leave policy", docs)))
}

func TestSortByPlace(t *testing.T) {
	docs := []chat.Document{{ID: "a", Title: "Leave Policy"}, {ID: "b", Title: "Travel Policy"}}
	require.True(t, SortByPlace("Audit the travel rules against Leave Policy", docs))
	require.Equal(t, []string{"b", "a"}, IDs(docs))
	require.False(t, SortByPlace("Audit the leave policy", docs), "one is not mentioned")
}
