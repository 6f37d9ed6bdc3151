package intent

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
)

func TestLowConfidenceAlwaysOffersTwo(t *testing.T) {
	for _, action := range chat.Actions {
		got := Likely(llm.Intent{Action: action, Confidence: chat.Low}, "hm")
		require.GreaterOrEqual(t, len(got), 2)
		require.Equal(t, action, got[0])
		require.NotEqual(t, got[0], got[1])
	}
}

func TestRecencyMatchesWholeWordsAndNoYears(t *testing.T) {
	for text, want := range map[string]bool{
		"the latest rules":        true,
		"LATEST!":                 true,
		"recent changes":          true,
		"recently changed":        true,
		"current rate":            true,
		"currently in force":      true,
		"what now?":               true,
		"as of today":             true,
		"in 2030":                 false,
		"in 2031":                 false,
		"the latest of 2032":      true,
		"in 2029":                 false,
		"in 2033":                 false,
		"in 2025":                 false,
		"nowhere to be known":     false,
		"recentre the concurrent": false,
		"knowledge of currents":   false,
		"20311":                   false,
		"":                        false,
	} {
		require.Equal(t, want, AsksForNews(text), text)
	}
}

func TestSummarizeXAboutYIsAnInquiry(t *testing.T) {
	names := []string{"BankNegara2024", "Leave Policy"}
	for message, want := range map[string]bool{
		"Summarize the capital requirements in BankNegara2024":      true,
		"Summarize what BankNegara2024 says about outsourcing":      true,
		"summarise the Leave Policy regarding carry-over":           true,
		"Give me a summary of the notice periods in the contract":   true,
		"Summarize BankNegara2024 on liquidity":                     true,
		"Summarize the document about remote work":                  true,
		"Summarize the notice rules in the Leave Policy":            true,
		"Summarize the Leave Policy with respect to fees":           true,
		"Summarize BankNegara2024":                                  false,
		"Summarize the main points of BankNegara2024":               false,
		"Summarize the key findings in the report":                  false,
		"Please summarize the Leave Policy in three bullet points":  false,
		"Summarize what the document is about":                      false,
		"Give me an overview of the contents of the contract":       false,
		"Summarize the Leave Policy in plain English for the board": false,
		"Summarize the policy on one page":                          false,
		"What is BankNegara2024 about?":                             false,
		"What are the capital requirements in BankNegara2024?":      false,
		"Summarize":                false,
		"Summarize both documents": false,
		"Summarize the Leave Policy and BankNegara2024 in two paragraphs": false,
	} {
		require.Equal(t, want, AsksOfTopic(message, names), message)
	}
}

func TestMessageThatOnlyStressesGoesOn(t *testing.T) {
	for message, want := range map[string]bool{
		"and the other one?":                  true,
		"seriously? also on Sundays?":         true,
		"even then?":                          true,
		"what about last year's version?":     true,
		"is smoking allowed on the platform?": false,
		"even dogs with a muzzle?":            false,
	} {
		require.Equal(t, want, GoesOn(message), message)
	}
}

func FuzzMessages(f *testing.F) {
	f.Add("What does the Leave Policy say?", "Leave Policy")
	f.Add("Ünïcode ﬁle.PDF \"x\"", "ﬁle.pdf")
	f.Add("İstanbul K", "i̇stanbul k")
	f.Fuzz(func(t *testing.T, message, title string) {
		AsksOfTopic(message, []string{title})
		IsTalk(message)
		require.LessOrEqual(t, len(WithoutTalk(message)), len(message))
		_, text := SplitAudit(message)
		require.LessOrEqual(t, len(text), len(message))
	})
}
