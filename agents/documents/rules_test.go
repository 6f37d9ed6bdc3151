package documents

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
)

func TestComparisonOfSubjectsIsAnInquiryUnlessItMeansDocuments(t *testing.T) {
	compares := Intent{Action: chat.Compare, Confidence: chat.High, ComparesSubjects: true}
	for name, c := range map[string]struct {
		in   Intent
		docs Docs
		want chat.Action
	}{
		"no document is meant":              {compares, Docs{Confidence: chat.High}, chat.Inquire},
		"documents are meant":               {compares, Docs{IDs: []string{"a", "b"}, Confidence: chat.High}, chat.Compare},
		"subjects of one document":          {compares, Docs{IDs: []string{"a"}, Confidence: chat.High}, chat.Inquire},
		"documents may be meant":            {compares, Docs{Suggested: []string{"a", "b"}, Confidence: chat.Medium}, chat.Compare},
		"a name matches no document":        {compares, Docs{Unresolved: true, Confidence: chat.Low}, chat.Inquire},
		"it does not compare two subjects":  {Intent{Action: chat.Compare, Confidence: chat.High}, Docs{Confidence: chat.High}, chat.Compare},
		"it is a summary without documents": {Intent{Action: chat.Summarize, Confidence: chat.High}, Docs{Confidence: chat.High}, chat.Summarize},
	} {
		t.Run(name, func(t *testing.T) {
			in, docs := together(c.in, c.docs)
			require.Equal(t, c.want, in.Action)
			require.Equal(t, c.docs, docs)
		})
	}
}

func TestMessageThatComparesTwoSubjectsIsRecognized(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for message, want := range map[string]bool{
		"What is the difference between annual leave and sick leave?": true,
		"Compare the two policies":                                    false,
	} {
		explicit := must[*Intent](b, b.IntentByRules, b.Begin(chat.Content{Message: message, Action: chat.Compare}))
		require.False(t, explicit.ComparesSubjects, "the person has chosen the action")
		b.Model.Answers = []any{intentOf(chat.Compare, chat.High)}
		require.Equal(t, want, must[Intent](b, b.InferIntent, b.Say(message)).ComparesSubjects, message)
	}
}

func TestAnActionNeedsItsDocuments(t *testing.T) {
	one, two := Docs{IDs: []string{"a"}}, Docs{IDs: []string{"a", "b"}}
	for _, c := range []struct {
		action chat.Action
		docs   Docs
		want   chat.PromptCode
	}{
		{chat.Inquire, Docs{}, ""},
		{chat.Summarize, Docs{}, chat.PromptSummarizeDoc},
		{chat.Summarize, one, ""},
		{chat.Compare, Docs{}, chat.PromptCompareNone},
		{chat.Compare, one, chat.PromptCompareTwo},
		{chat.Compare, two, ""},
		{chat.Audit, Docs{HasText: true}, chat.PromptAuditTarget},
		{chat.Audit, one, chat.PromptAuditText},
		{chat.Audit, Docs{IDs: one.IDs, HasText: true}, ""},
		{chat.Audit, two, ""},
	} {
		require.Equal(t, c.want, missing(c.action, c.docs), "%s of %+v", c.action, c.docs)
	}
}

func TestCompareIsNotOfferedForOneDocument(t *testing.T) {
	for _, c := range []struct {
		likely []chat.Action
		docs   Docs
		want   []chat.Action
	}{
		{[]chat.Action{chat.Compare, chat.Summarize}, Docs{IDs: []string{"a"}}, []chat.Action{chat.Summarize, chat.Inquire}},
		{[]chat.Action{chat.Compare, chat.Inquire}, Docs{IDs: []string{"a"}}, []chat.Action{chat.Inquire, chat.Summarize}},
		{[]chat.Action{chat.Summarize, chat.Audit, chat.Compare}, Docs{IDs: []string{"a"}}, []chat.Action{chat.Summarize, chat.Audit}},
		{[]chat.Action{chat.Compare, chat.Summarize}, Docs{IDs: []string{"a", "b"}}, []chat.Action{chat.Compare, chat.Summarize}},
		{[]chat.Action{chat.Compare, chat.Summarize}, Docs{IDs: []string{"a"}, Unresolved: true}, []chat.Action{chat.Compare, chat.Summarize}},
		{[]chat.Action{chat.Compare, chat.Summarize}, Docs{}, []chat.Action{chat.Compare, chat.Summarize}},
	} {
		require.Equal(t, c.want, offered(c.likely, c.docs), "%v of %+v", c.likely, c.docs)
	}
}
