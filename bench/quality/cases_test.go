package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestEveryTableCanBeRead(t *testing.T) {
	now := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, set := range []string{"tuned", "heldout", "fresh", "second", "railway", "clinic", "museum", "sailing"} {
		library, err := readLibrary(set, now)
		require.NoError(t, err)
		known := map[string]bool{}
		for _, d := range library {
			require.NotEmpty(t, d.title)
			require.NotContains(t, d.text, "{")
			known[d.key] = true
		}
		for key := range sampleTitles {
			known[key] = true
		}
		cases, err := readCases(set, now)
		require.NoError(t, err)
		require.Greater(t, len(cases), 30)
		for _, c := range cases {
			require.NotEmpty(t, c.message)
			require.Contains(t, []string{"talk", "*", "summarize", "inquire", "compare", "audit"}, c.action, c.message)
			for _, key := range c.docs {
				require.True(t, known[key], key)
			}
		}
	}
	_, err := readCases("nothing", now)
	require.Error(t, err)
	_, err = readCase("x", "two | columns")
	require.Error(t, err)
}

func TestConversationsAndDocumentsOfACase(t *testing.T) {
	c, err := readCase("followups", `inquire | a b | - | [a] What is it? >> and\nthen?`)
	require.NoError(t, err)
	require.Equal(t, testCase{category: "followups", action: "inquire", docs: []string{"a", "b"}, message: "and\nthen?",
		earlier: []earlierMessage{{docs: []string{"a"}, text: "What is it?"}}}, c)
}

func TestFiguresCountWhatHappened(t *testing.T) {
	for name, c := range map[string]struct {
		want testCase
		got  outcome
		docs []string
		sum  score
	}{
		"right":                {testCase{action: "inquire"}, outcome{action: "inquire", docs: []string{"b", "a"}}, []string{"a", "b"}, score{intent: ratio{1, 1}, docs: ratio{1, 1}}},
		"asked needlessly":     {testCase{action: "inquire", anyDocs: true}, outcome{question: "action_choice"}, nil, score{intent: ratio{0, 1}, precision: ratio{0, 1}}},
		"asked as expected":    {testCase{action: "*", anyDocs: true, question: "doc_choice"}, outcome{question: "doc_choice"}, nil, score{precision: ratio{1, 1}, recall: ratio{1, 1}}},
		"asked something else": {testCase{action: "*", anyDocs: true, question: "doc_choice"}, outcome{question: "text_input"}, nil, score{precision: ratio{0, 1}, recall: ratio{0, 1}}},
		"did not ask":          {testCase{action: "*", anyDocs: true, question: "doc_choice"}, outcome{}, nil, score{recall: ratio{0, 1}}},
		"honest":               {testCase{category: "notfound", action: "*", anyDocs: true, question: "*"}, outcome{text: "I found nothing in it."}, nil, score{honest: ratio{1, 1}}},
	} {
		got, _ := judge(c.want, c.got, c.docs)
		require.Equal(t, c.sum, got, name)
	}
}
