package activities

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCodeInATextNamesItsDocument(t *testing.T) {
	b := setup(t)
	b.doc("Annual Leave Policy", "# Annual Leave Policy\n\nDocument number HR-POL-11. Every employee has 25 days.")
	b.doc("Fire Instructions", "Reference: FS/9. Lifts must not be used.")
	b.doc("Handbook", "Leave is described in HR-POL-11, and the alarm in FS/9. See also QA-3.")
	b.doc("First Form", "Document number DUP-1.")
	b.doc("Second Form", "Document number DUP-1.")
	visible, err := b.store.VisibleDocuments(context.Background(), owner)
	require.NoError(t, err)
	for in, want := range map[string]string{
		"summarize HR-POL-11":                   "summarize Annual Leave Policy",
		"what does hr pol 11 say about illness": "what does Annual Leave Policy say about illness",
		"summarize hrpol11":                     "summarize Annual Leave Policy",
		"compare HR-POL-011 and fs9":            "compare Annual Leave Policy and Fire Instructions",
		"summarize HR-POL-12":                   "summarize HR-POL-12",
		"summarize QA-3":                        "summarize QA-3",  // only mentioned
		"summarize DUP-1":                       "summarize DUP-1", // of two
		"may I take 11 days in May?":            "may I take 11 days in May?",
	} {
		got, err := b.withCodedTitles(context.Background(), owner, in, visible)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	got, err := b.withCodedTitles(context.Background(), "somebody else", "summarize HR-POL-11", nil)
	require.NoError(t, err)
	require.Equal(t, "summarize HR-POL-11", got, "another's document")
}
