package documents

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/testkit/activitytest"
)

func intentOf(action chat.Action, c chat.Confidence, actions ...chat.Action) llm.Intent {
	return llm.Intent{Action: action, Confidence: c, Actions: actions}
}

func TestExplicitActionNeedsNoModelCall(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, action := range chat.Actions {
		got := b.understand(b.Begin(chat.Content{Message: "Do it", Action: action}))
		require.Equal(t, Intent{Action: action, Confidence: chat.High}, got)
	}
	b.web.on = true
	got := b.understand(b.Begin(chat.Content{Message: "the latest rules", Action: chat.Audit}))
	require.True(t, got.WebSearch, "an explicit action does not skip the recency scan")
	require.Zero(t, b.Model.Calls())
}

func TestHighConfidenceNeedsNoSecondModelCall(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Exchange("earlier", "answer")
	b.Model.Answers = []any{intentOf(chat.Inquire, chat.High)}
	got := b.understand(b.Say("What are the capital requirements?"))
	require.Equal(t, Intent{Action: chat.Inquire, Confidence: chat.High, Usage: activitytest.OneCall}, got)
	require.Equal(t, 1, b.Model.Calls())
	require.Len(t, b.Model.Last().Messages, 2, "system and the one message")
}

func TestLowerConfidenceIsAskedAgainWithFiveEarlierMessages(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range 3 {
		b.Exchange("earlier", "answer")
	}
	b.Model.Answers = []any{intentOf(chat.Inquire, chat.Medium), intentOf(chat.Compare, chat.High)}
	got := b.understand(b.Say("Tell me about that document"))
	require.Equal(t, chat.Compare, got.Action)
	require.Equal(t, chat.High, got.Confidence)
	require.Equal(t, activitytest.OneCall.Add(activitytest.OneCall), got.Usage)
	require.Equal(t, 2, b.Model.Calls())
	require.Len(t, b.Model.Last().Messages, 1+5+1)
	require.Len(t, b.Model.Last().Facts.Recent, 5)
}

func TestNoSecondModelCallWithoutEarlierMessages(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Model.Answers = []any{intentOf(chat.Inquire, chat.Low, chat.Inquire, chat.Audit)}
	got := b.understand(b.Say("That one"))
	require.Equal(t, chat.Low, got.Confidence)
	require.Equal(t, []chat.Action{chat.Inquire, chat.Audit}, got.Likely)
	require.Equal(t, 1, b.Model.Calls())
}

func TestUnparseableIntentFallsBackToInquireWithLowConfidence(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Model.Answers = []any{llm.ErrUnparseable}
	got := b.understand(b.Say("Look there"))
	require.Equal(t, chat.Inquire, got.Action)
	require.Equal(t, chat.Low, got.Confidence)
	require.GreaterOrEqual(t, len(got.Likely), 2)
	require.Equal(t, chat.Inquire, got.Likely[0])
	require.Equal(t, activitytest.OneCall, got.Usage, "its usage counts")

	b = setup(t)
	b.Exchange("earlier", "answer")
	b.Model.Answers = []any{intentOf(chat.Audit, chat.Medium), llm.ErrUnparseable}
	got = b.understand(b.Say("Look at it"))
	require.Equal(t, chat.Audit, got.Action, "the first answer is kept")

	b = setup(t)
	b.Model.Answers = []any{llm.Intent{Action: "dance", Confidence: "sure"}}
	got = b.understand(b.Say("Look"))
	require.Equal(t, chat.Inquire, got.Action)
	require.Equal(t, chat.Low, got.Confidence)
}

func TestFirstMessageThatOnlyMentionsDocumentsAsksWhatToDo(t *testing.T) {
	for name, c := range map[string]struct {
		before, message string
		attached        []string
		want            chat.Confidence
	}{
		"a document alone":        {message: "@Lease", want: chat.Low},
		"a question with it":      {message: "@Lease what is the rent?", want: chat.High},
		"it goes on":              {before: "What is the rent?", message: "@Lease", want: chat.High},
		"a picture comes with it": {message: "@Lease", attached: []string{"p"}, want: chat.High},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			d := b.Doc("Lease", "The rent is 900 euros.")
			if c.before != "" {
				b.Exchange(c.before, "900 euros.")
			}
			b.Model.Answers = []any{intentOf(chat.Inquire, chat.High)}
			got := b.understand(b.Begin(chat.Content{Message: c.message, TaggedDocs: []string{d}, Attachments: c.attached, TipTap: composed(mentionNode("document", d, "Lease"))}))
			require.Equal(t, c.want, got.Confidence)
		})
	}
}

func TestMultiActionOffersTheActionsNamed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	answer := intentOf(chat.Summarize, chat.High, chat.Summarize, chat.Audit)
	answer.MultiAction = true
	b.Model.Answers = []any{answer}
	got := b.understand(b.Say("Summarize and audit this"))
	require.True(t, got.Multi)
	require.Equal(t, []chat.Action{chat.Summarize, chat.Audit}, got.Likely)

	answer.Actions = nil // so that the message's words decide
	b.Model.Answers = []any{answer}
	got = b.understand(b.Say("Summarize and audit this"))
	require.Equal(t, []chat.Action{chat.Summarize, chat.Audit}, got.Likely)
}

func TestWebSearchIsWantedWhenOneOfItsThreeSourcesAsks(t *testing.T) {
	for name, tc := range map[string]struct {
		asked   bool
		message string
		model   bool
		want    bool
	}{
		"none":   {false, "What are the capital requirements?", false, false},
		"person": {true, "What are the capital requirements?", false, true},
		"scan":   {false, "What are the latest capital requirements?", false, true},
		"model":  {false, "Is it still enforced?", true, true},
		"all":    {true, "Is it enforced today?", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			b.web.on = true
			answer := intentOf(chat.Inquire, chat.High)
			answer.WebSearch = tc.model
			b.Model.Answers = []any{answer}
			got := b.understand(b.Begin(chat.Content{Message: tc.message, WebSearch: tc.asked}))
			require.Equal(t, tc.want, got.WebSearch)
		})
	}
}

func TestForbiddenWebSearchIsNotInferred(t *testing.T) {
	for _, action := range []chat.Action{"", chat.Inquire} {
		b := setup(t)
		answer := intentOf(chat.Inquire, chat.High)
		answer.WebSearch = true
		b.Model.Answers = []any{answer}
		got := b.understand(b.Begin(chat.Content{Message: "What are the latest rules today?", Action: action, NoWebSearch: true}))
		require.False(t, got.WebSearch, "action %q", action)
	}
}

func TestTermsInDocumentNamesAndYearsDoNotAskForWebSearch(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.web.on = true
	b.Doc("Latest Travel Policy", "Text.")
	for message, want := range map[string]bool{
		"What does Latest Travel Policy allow?":         false,
		"What does Latest Travel Policy allow in 2032?": false,
		"What does Latest Travel Policy allow today?":   true,
	} {
		b.Model.Answers = []any{intentOf(chat.Inquire, chat.High)}
		require.Equal(t, want, b.understand(b.Say(message)).WebSearch, message)
	}
}

func TestATextToAuditDoesNotAskForWebSearch(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.web.on = true
	d := b.Doc("Gift Policy", "Gifts above EUR 50 are forbidden.")
	for message, want := range map[string]bool{
		"Audit this against Gift Policy: I now send you the current list of gifts, all of them from today and below EUR 40.":           false,
		"Audit this against the latest Gift Policy rules: I send you the list of our gifts, all of them from Monday and below EUR 40.": true,
	} {
		for _, action := range []chat.Action{"", chat.Audit} {
			b.Model.Answers = []any{intentOf(chat.Audit, chat.High)}
			got := b.understand(b.Begin(chat.Content{Message: message, Action: action, TaggedDocs: []string{d}}))
			require.Equal(t, want, got.WebSearch, message)
		}
	}
}

func TestAMessageAsksForNoWebSearchWhereTheWebCannotBeSearched(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Model.Answers = []any{intentOf(chat.Inquire, chat.High)}
	require.False(t, b.understand(b.Say("What are the latest rules?")).WebSearch)
	wishes := intentOf(chat.Inquire, chat.High)
	wishes.WebSearch = true
	b.Model.Answers = []any{wishes}
	require.False(t, b.understand(b.Say("Is it still enforced?")).WebSearch, "a model's request does not count either")
	require.True(t, b.understand(b.Begin(chat.Content{Message: "What are the rules?", Action: chat.Inquire, WebSearch: true})).WebSearch, "the person asked for it and is told")
}

func TestSummarizeXAboutYIsAnInquiry(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Doc("BankNegara2024", "Text.")
	b.Model.Answers = []any{intentOf(chat.Summarize, chat.High), intentOf(chat.Summarize, chat.High)}
	require.Equal(t, chat.Inquire, b.understand(b.Say("Summarize the capital requirements in BankNegara2024")).Action)
	require.Equal(t, chat.Summarize, b.understand(b.Say("Summarize BankNegara2024")).Action)
}

func TestStopEndsTheResolvers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ref := b.Say("What about the Leave Policy?")
	b.Doc("Leave Policy", leave)
	b.Kit.Model = blockingModel{b.Model, func() { b.Bus.Stops <- struct{}{} }}
	_, err := run[Intent](b, b.InferIntent, ref)
	require.Equal(t, activities.ErrTypeStopped, activitytest.AppError(t, err).Type())
	require.True(t, activities.IsFinal(err))
	_, err = run[Docs](b, b.InferDocs, ref, chat.Inquire)
	require.Equal(t, activities.ErrTypeStopped, activitytest.AppError(t, err).Type())
	require.True(t, activities.IsFinal(err))
}

// blockingModel blocks until its context ends.
type blockingModel struct {
	llm.Model
	started func()
}

func (m blockingModel) Structured(ctx context.Context, _ llm.Request, _ llm.Schema, _ any) (chat.Usage, error) {
	m.started()
	<-ctx.Done()
	return chat.Usage{}, &llm.Error{Code: chat.CodeModelUnavailable, Retryable: true, Err: ctx.Err()}
}
