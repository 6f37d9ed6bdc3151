package documents

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

func TestCodeInATextNamesItsDocument(t *testing.T) {
	b := setup(t)
	b.Doc("Annual Leave Policy", "# Annual Leave Policy\n\nDocument number HR-POL-11. Every employee has 25 days.")
	b.Doc("Fire Instructions", "Reference: FS/9. Lifts must not be used.")
	b.Doc("Handbook", "Leave is described in HR-POL-11, and the alarm in FS/9. See also QA-3.")
	b.Doc("First Form", "Document number DUP-1.")
	b.Doc("Second Form", "Document number DUP-1.")
	visible, err := b.Store.VisibleDocuments(context.Background(), owner)
	require.NoError(t, err)
	for in, want := range map[string]string{
		"summarize HR-POL-11":                   "summarize Annual Leave Policy",
		"what does hr pol 11 say about illness": "what does Annual Leave Policy say about illness",
		"summarize hrpol11":                     "summarize Annual Leave Policy",
		"compare HR-POL-011 and fs9":            "compare Annual Leave Policy and Fire Instructions",
		"summarize HR-POL-12":                   "summarize HR-POL-12",
		"summarize QA-3":                        "summarize QA-3",  // a document only mentions it
		"summarize DUP-1":                       "summarize DUP-1", // two documents have it
		"may I take 11 days in May?":            "may I take 11 days in May?",
	} {
		got, err := b.withCodedTitles(context.Background(), owner, "", in, visible)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	got, err := b.withCodedTitles(context.Background(), "somebody else", "", "summarize HR-POL-11", nil)
	require.NoError(t, err)
	require.Equal(t, "summarize HR-POL-11", got, "the document of another owner")
}

// searchCounter counts the searches for text.
type searchCounter struct {
	db.Store
	searches int
}

func (s *searchCounter) SearchText(ctx context.Context, owner string, words []db.Word, docIDs []string, k int) ([]chat.Hit, error) {
	s.searches++
	return s.Store.SearchText(ctx, owner, words, docIDs, k)
}

// The rules, the resolver and the retrieval look for the codes of a message one after
// another.
func TestCodesOfATurnAreSearchedOnce(t *testing.T) {
	b := setup(t)
	b.Doc("Annual Leave Policy", "Document number HR-POL-11. Every employee has 25 days.")
	store, now := &searchCounter{Store: b.Store}, time.Now()
	b.Kit.Store, b.Now = store, func() time.Time { return now }
	for _, c := range []struct {
		why, owner, turn string
		later            time.Duration
		searches         int
	}{
		{"the rules", owner, "one", 0, 1},
		{"the retrieval", owner, "one", codeLifetime - 1, 0},
		{"another turn", owner, "two", 0, 1},
		{"another owner", "somebody else", "one", 0, 1},
		{"a text that is no turn's message", owner, "", 0, 1},
		{"the same", owner, "", 0, 1},
		{"a document may have come since", owner, "one", 1, 1},
	} {
		store.searches, now = 0, now.Add(c.later)
		got, err := b.withCodedTitles(context.Background(), c.owner, c.turn, "summarize HR-POL-11", nil)
		require.NoError(t, err)
		require.Equal(t, c.owner == owner, got == "summarize Annual Leave Policy", c.why)
		require.Equal(t, c.searches, store.searches, c.why)
	}
}
