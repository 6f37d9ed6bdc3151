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

func TestAFileNameFindsItsDocument(t *testing.T) {
	docs := []chat.Document{
		{ID: "scan", Title: "Annual leave of all employees", Name: "leave"},
		{ID: "named", Title: "Parental rules", Name: "leave policy 2024"},
		{ID: "titled", Title: "Leave Policy"},
	}
	for message, want := range map[string][]string{
		"Summarize leave policy 2024.pdf":                {"named"},
		"Summarize the leave policy":                     {"titled"},
		"Summarize leave.pdf":                            {"scan"},
		"Summarize Parental rules":                       {"named"},
		"Compare leave policy 2024 and the Leave Policy": {"named", "titled"},
		"Summarize Annual leave of all employees":        {"scan"},
		"Compare Parental rules with leave policy 2024":  {"named"},
		"What is said about sabbaticals?":                nil,
	} {
		var got []string
		for _, d := range Occurring(message, docs) {
			got = append(got, d.ID)
		}
		require.Equal(t, want, got, message)
	}
	require.Equal(t, []string{"named"}, IDs(Closest("leave_policy_2024.pdf", docs)))
	require.Equal(t, []string{"named"}, IDs(Closest("Parental rule", docs)))
	require.Equal(t, 8, Index("Read in leave policy 2024", docs[1], docs))
	require.Contains(t, Titles(docs), "leave policy 2024")
}

func TestFileNamesBecomeTitles(t *testing.T) {
	docs := []chat.Document{
		{ID: "a", Title: "Annual leave", Name: "notes"},
		{ID: "b", Title: "Parental rules", Name: "leave policy 2024"},
		{ID: "c", Title: "Leave Policy"},
		{ID: "d", Title: "Same", Name: "Same"},
	}
	for message, want := range map[string]string{
		"Summarize leave policy 2024.pdf.":       "Summarize Parental rules.",
		"Summarize leave policy 2024, please":    "Summarize Parental rules, please",
		"Summarize the Leave Policy":             "Summarize the Leave Policy",
		"Write notes about Annual leave":         "Write notes about Annual leave",
		"Summarize Notes.md":                     "Summarize Annual leave",
		`Summarize "notes"`:                      `Summarize "Annual leave"`,
		"Compare notes.md and leave policy 2024": "Compare Annual leave and Parental rules",
		"Is Same the same?":                      "Is Same the same?",
		"":                                       "",
	} {
		require.Equal(t, want, withTitles(message, docs), message)
	}
}

func TestSortByPlace(t *testing.T) {
	docs := []chat.Document{{ID: "a", Title: "Leave Policy"}, {ID: "b", Title: "Travel Policy"}}
	require.True(t, SortByPlace("Audit the travel rules against Leave Policy", docs))
	require.Equal(t, []string{"b", "a"}, IDs(docs))
	require.False(t, SortByPlace("Audit the leave policy", docs), "one is not mentioned")
}
