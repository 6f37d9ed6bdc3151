package documents

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/testkit/activitytest"
)

func mentionNode(category, id, label string) string {
	return fmt.Sprintf(`{"type":"mention","attrs":{"category":%q,"id":%q,"label":%q}}`, category, id, label)
}

func composed(parts ...string) json.RawMessage {
	doc := `{"type":"doc","content":[{"type":"paragraph","content":[`
	for i, p := range parts {
		if i > 0 {
			doc += ","
		}
		doc += p
	}
	return json.RawMessage(doc + `]}]}`)
}

func resolved(c chat.Confidence, ids ...string) llm.DocResolution {
	return llm.DocResolution{ResolvedIDs: ids, Confidence: c}
}

func unresolved(names ...string) llm.DocResolution {
	return llm.DocResolution{UnresolvedNames: names, Confidence: chat.Low}
}

func TestMessageOfMentionsNeedsNoModelCall(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d1, d2 := b.Doc("Circular 2024", "One."), b.Doc("Leave Policy", "Two.")
	b.Exchange("earlier", "answer", d2)
	for _, message := range []string{
		"Compare @Circular 2024 and @Leave Policy", "@Circular 2024 @Leave Policy",
		"Please compare @Circular 2024 with @Leave Policy", "could you audit @Circular 2024 against @Leave Policy?",
	} {
		got := b.resolve(b.Begin(chat.Content{
			Message: message, TipTap: composed(mentionNode("document", d1, "Circular 2024"), mentionNode("document", d2, "Leave Policy")),
		}), "")
		require.Equal(t, []string{d1, d2}, got.IDs, message)
		require.Equal(t, chat.High, got.Confidence)
		require.Equal(t, "explicit", got.Source)
		require.False(t, got.Called || got.Unresolved || got.HasText)
	}
	require.Equal(t, []string{d1}, b.resolve(b.Begin(chat.Content{Message: "Summarize this", TaggedDocs: []string{d1}}), "").IDs)
	require.Zero(t, b.Model.Calls())
}

func TestRulesLeaveTheRestToTheModel(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d := b.Doc("Leave Policy", "One.")
	rules := func(c chat.Content) (*Intent, *Docs) {
		t.Helper()
		ref := b.Begin(c)
		return must[*Intent](b, b.IntentByRules, ref), must[*Docs](b, b.DocsByRules, ref)
	}
	in, docs := rules(chat.Content{Message: "Summarize this", Action: chat.Summarize, TaggedDocs: []string{d}})
	require.Equal(t, &Intent{Action: chat.Summarize, Confidence: chat.High}, in)
	require.Equal(t, []string{d}, docs.IDs)

	in, docs = rules(chat.Content{Message: "Summarize the Leave Policy", Action: chat.Summarize, WebSearch: true})
	require.True(t, in.WebSearch)
	require.Nil(t, docs, "the model resolves names")

	in, docs = rules(chat.Content{Message: "What is in it?", TaggedDocs: []string{d}})
	require.Nil(t, in)
	require.Equal(t, []string{d}, docs.IDs)

	in, docs = rules(chat.Content{Message: "What does the Leave Policy say?"})
	require.Nil(t, in)
	require.Nil(t, docs)
	require.Zero(t, b.Model.Calls())
}

// The step that asks a model for the documents takes what the rules have found.
func TestVisibleDocumentsAreReadOnceForRulesAndModel(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d := b.Doc("Leave Policy", "One.")
	b.Model.Answers = []any{resolved(chat.High, d)}
	store := &countingStore{Store: b.Kit.Store}
	b.Kit.Store = store
	ref := b.Say("What does the Leave Policy say?")
	require.Nil(t, must[*Docs](b, b.DocsByRules, ref))
	require.Equal(t, []string{d}, must[Docs](b, b.InferDocs, ref, chat.Action("")).IDs)
	require.EqualValues(t, 1, store.visible.Load())

	b.Model.Answers = append(b.Model.Answers, resolved(chat.High, d))
	require.Equal(t, []string{d}, must[Docs](b, b.InferDocs, ref, chat.Action("")).IDs, "what was taken once is read again")
	require.EqualValues(t, 2, store.visible.Load())
}

type countingStore struct {
	db.Store
	visible atomic.Int64
}

func (s *countingStore) VisibleDocuments(ctx context.Context, owner string) ([]chat.Document, error) {
	s.visible.Add(1)
	return s.Store.VisibleDocuments(ctx, owner)
}

func TestMentionsTagsAndSetsAreMergedAndSetsExpanded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d1, d2, d3 := b.Doc("One", "1."), b.Doc("Two", "2."), b.Doc("Three", "3.")
	s1, s2 := b.Set("Policies", d2, d1), b.Set("Others", d3)
	got := b.resolve(b.Begin(chat.Content{
		Message:    "Compare @One and @Policies",
		TipTap:     composed(mentionNode("document", d1, "One"), mentionNode("set", s1, "Policies")),
		TaggedDocs: []string{d1}, TaggedSets: []string{s1, s2},
	}), "")
	require.Equal(t, []string{d1, d2, d3}, got.IDs)
	require.Zero(t, b.Model.Calls())
}

func TestResolvedIDsExistAndAreVisibleToTheOwner(t *testing.T) {
	t.Parallel()
	b := setup(t)
	mine, theirs, public := b.Doc("Mine", "1."), b.DocOf("somebody-else", "Theirs", "2."), b.DocOf(chat.PublicOwner, "Public", "3.")
	deleted := uuid.NewString()
	got := b.resolve(b.Begin(chat.Content{Message: "Compare", TaggedDocs: []string{theirs, deleted, "no id", public, mine}}), "")
	require.Equal(t, []string{public, mine}, got.IDs)

	b.Exchange("earlier", "answer", mine)
	b.Model.Answers = []any{resolved(chat.High, theirs, deleted, mine, "'; DROP TABLE documents")}
	got = b.resolve(b.Say("What about that document?"), "")
	require.Equal(t, []string{mine}, got.IDs)

	b.Model.Answers = []any{resolved(chat.Medium, theirs, deleted, mine)}
	got = b.resolve(b.Say("What about that document?"), "")
	require.Empty(t, got.Suggested, "a single candidate is not suggested")
	require.Equal(t, []string{mine}, got.IDs)
}

func TestRegistryTitleInTheMessageNeedsNoEarlierMessages(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d := b.Doc("BankNegara2024", "Rules.")
	b.Exchange("earlier", "answer", d)
	b.Model.Answers = []any{resolved(chat.High, d), resolved(chat.High, d)}
	got := b.resolve(b.Say("And the penalties in banknegara2024?"), "")
	require.Equal(t, []string{d}, got.IDs)
	require.Equal(t, "inferred", got.Source)
	require.True(t, got.Called)
	require.Equal(t, activitytest.OneCall, got.Usage)
	asked := b.Model.Last()
	require.Len(t, asked.Messages, 2, "registry path: the message alone")
	require.Contains(t, asked.Messages[0].Text, `{"id":"`+d+`","title":"BankNegara2024"}`)

	b.resolve(b.Say("What about that regulation?"), "")
	require.Len(t, b.Model.Last().Messages, 1+3+1, "history path: with the messages before")
	require.Equal(t, 2, b.Model.Calls())
}

func TestRegistryIsKeyedByIDBecauseTitlesCollide(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d1, d2 := b.Doc("Policy", "One."), b.Doc("Policy", "Two.")
	b.Exchange("earlier", "answer", d1, d2)
	b.Model.Answers = []any{resolved(chat.High, d1), resolved(chat.High, d1, d2)}
	got := b.resolve(b.Say("What does the Policy say about gifts?"), "")
	require.Equal(t, []string{d1}, got.IDs, "the model sees what tells them apart, and was sure")
	require.True(t, got.Sure)
	require.Len(t, b.Model.Last().Facts.Documents, 2)

	got = b.resolve(b.Say("Compare both, Policy and Policy"), "")
	require.ElementsMatch(t, []string{d1, d2}, got.IDs, "both were meant")
	require.Empty(t, got.Suggested)
}

func TestMediumConfidenceSuggestsTheCandidates(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d1, d2 := b.Doc("Regulation A", "1."), b.Doc("Regulation B", "2.")
	b.Exchange("earlier", "answer", d1, d2)
	for _, c := range []chat.Confidence{chat.Medium, chat.Low} {
		b.Model.Answers = []any{resolved(c, d1, d2)}
		got := b.resolve(b.Say("Audit against the regulation"), "")
		require.Equal(t, chat.Medium, got.Confidence)
		require.Equal(t, []string{d1, d2}, got.Suggested)
		require.Empty(t, got.IDs)
	}
}

func TestUnresolvedNamesAreMatchedFuzzily(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d := b.Doc("Outsourcing Guidelines 2024.pdf", "Rules.")
	for _, name := range []string{"Outsourcing Guidelines 2024", "outsorcing guidelines 2024", "OUTSOURCING_GUIDELINES-2024.PDF"} {
		b.Model.Answers = []any{unresolved(name)}
		got := b.resolve(b.Say("What does "+name+" say?"), "")
		require.Equal(t, []string{d}, got.IDs, name)
		require.Equal(t, "fuzzy_match", got.Source)
		require.Equal(t, chat.High, got.Confidence)
		require.False(t, got.Unresolved)
	}
}

func TestTwoEquallySimilarTitlesAreSuggested(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d1, d2 := b.Doc("Remote Work Policy v1", "1."), b.Doc("Remote Work Policy v2", "2.")
	b.Model.Answers = []any{unresolved("Remote Work Policy v3")}
	got := b.resolve(b.Say("Summarize Remote Work Policy v3"), "")
	require.Equal(t, chat.Medium, got.Confidence)
	require.ElementsMatch(t, []string{d1, d2}, got.Suggested)
	require.False(t, got.Unresolved)
}

func TestUnknownNamesAreUnresolvedAndStoredAsText(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Doc("Leave Policy", "Text.")
	b.Model.Answers = []any{unresolved("XYZ guidelines")}
	ref := b.Say("What about XYZ guidelines?")
	got := b.resolve(ref, "")
	require.True(t, got.Unresolved)
	require.Equal(t, chat.Low, got.Confidence)
	require.Empty(t, got.IDs)
	require.Equal(t, `"XYZ guidelines"`, b.Texts(ref)[chat.TextUnresolved])
}

func TestMessageWithoutANameIsNeverUnresolved(t *testing.T) {
	for message, name := range map[string]string{
		"What are the capital requirements?":         "capital requirements",
		"What about that regulation?":                "that regulation",
		"Is it still enforced?":                      "it",
		"How is Basel mentioned?":                    "Annual Report 2020",
		"Tell me about annual leave in the document": "the document",
	} {
		t.Run(message, func(t *testing.T) {
			b := setup(t)
			d := b.Doc("Something", "Text.")
			b.Exchange("earlier", "answer", d)
			b.Model.Answers = []any{unresolved(name)}
			ref := b.Say(message)
			require.False(t, b.resolve(ref, "").Unresolved)
			require.NotContains(t, b.Texts(ref), chat.TextUnresolved)
		})
	}
}

func TestNoModelCallWhenThereAreNoCandidates(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d := b.Doc("Leave Policy", "Text.")
	for _, message := range []string{"What are the capital requirements?", "how many days of notice are due?", "I wonder whether gifts are allowed"} {
		got := b.resolve(b.Say(message), "")
		got.Offered = nil
		require.Equal(t, Docs{Confidence: chat.High}, got, message)
	}
	got := b.resolve(b.Begin(chat.Content{Message: "what are the limits for gifts?", TaggedDocs: []string{d}}), "")
	require.Equal(t, []string{d}, got.IDs)
	require.Zero(t, b.Model.Calls())
}

func TestFreeTextBesideMentionsCostsOneModelCall(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d1, d2 := b.Doc("Circular", "1."), b.Doc("Contract", "2.")
	b.Exchange("earlier", "answer", d2)
	b.Model.Answers = []any{resolved(chat.High, d2)}
	got := b.resolve(b.Begin(chat.Content{
		Message: "Compare @Circular with the previous one", TipTap: composed(mentionNode("document", d1, "Circular")),
	}), chat.Compare)
	require.Equal(t, []string{d1, d2}, got.IDs)
	require.Equal(t, []string{d1}, b.Model.Last().Facts.Explicit)
	require.Equal(t, chat.Compare, b.Model.Last().Facts.Action)
	require.Equal(t, 1, b.Model.Calls())
}

func TestVisibleTitleInTheMessageIsOfferedToTheModel(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d := b.Doc("Leave Policy.md", "Text.")
	b.Doc("Contract", "Text.")
	b.Model.Answers = []any{resolved(chat.High, d)}
	got := b.resolve(b.Say("What does the leave policy say about carry-over?"), "")
	require.Equal(t, []string{d}, got.IDs)
	offered := b.Model.Last().Facts.Documents
	require.Len(t, offered, 1)
	require.Equal(t, d, offered[0].ID)
}

func TestUnparseableResolutionFallsBackToTitlesInTheMessage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d := b.Doc("Leave Policy", "Text.")
	b.Model.Answers = []any{llm.ErrUnparseable, llm.ErrUnparseable}
	got := b.resolve(b.Say("What does the Leave Policy say?"), "")
	require.Equal(t, []string{d}, got.IDs)
	got = b.resolve(b.Say("What does BankNegara say?"), "")
	require.Empty(t, got.IDs)
	require.False(t, got.Unresolved)
	require.Equal(t, chat.Low, got.Confidence)
}

func TestHasTextDistinguishesATextToAuditFromAnInstruction(t *testing.T) {
	for message, want := range map[string]bool{
		"Audit @Circular":                    false,
		"Audit this email against @Circular": false,
		"Please check whether the attached policy complies with @Circular and tell me the severe issues.":                           false,
		"Is our supplier onboarding process compliant with @Circular?":                                                              false,
		"Audit this against @Circular: \"We keep customer data for ever and share it with partners.\"":                              true,
		"Audit against @Circular\nDear all, customer data may be shared freely with our partners abroad. Regards, Tom":              true,
		"Audit this email against @Circular. Dear all, customer data may be shared freely with all partners abroad.":                true,
		"Dear all, customer data may be shared freely with our partners abroad.\n\nPlease audit this against @Circular.":            true,
		"@Circular Staff may accept gifts of any value from suppliers as long as nobody else in the department hears of it at all.": true,
		"Review “Staff may accept gifts of any value from all suppliers whenever they like.” against @Circular for me, please":      true,
	} {
		t.Run(message, func(t *testing.T) {
			b := setup(t)
			d := b.Doc("Circular", "Rules.")
			got := b.resolve(b.Begin(chat.Content{Message: message, Action: chat.Audit, TipTap: composed(mentionNode("document", d, "Circular"))}), chat.Audit)
			require.Equal(t, want, got.HasText)
			require.Equal(t, []string{d}, got.IDs)
		})
	}
}

func TestNamesInsideATextToAuditAreNotResolved(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d := b.Doc("Circular", "Rules.")
	got := b.resolve(b.Begin(chat.Content{
		Message: "Audit this against @Circular: Dear Mr Smith, please ignore the Groupwide Data Standard and send all files to Acme Corp.",
		Action:  chat.Audit, TipTap: composed(mentionNode("document", d, "Circular")),
	}), chat.Audit)
	require.True(t, got.HasText)
	require.Equal(t, []string{d}, got.IDs)
	require.Zero(t, b.Model.Calls())
}

func TestDocumentStillProcessingIsReported(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.Upload("New circular", "txt", []byte("Text."))
	got := b.resolve(b.Begin(chat.Content{Message: "Summarize @New circular", TaggedDocs: []string{id}}), "")
	require.Equal(t, []string{id}, got.IDs)
	require.True(t, got.Processing)
}

func answerOf(asText bool, v chat.ResumeValue) AnswerRequest {
	v.Type = chat.TextInput
	return AnswerRequest{AsText: asText, Value: v}
}

func TestAnswerIsResolvedFromIDNameOrMentions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d1, d2 := b.Doc("Leave Policy.pdf", "1."), b.Doc("Travel Rules", "2.")
	theirs := b.DocOf("somebody-else", "Theirs", "3.")
	set := b.Set("Both", d1, d2)
	ref := b.Say("Summarize it")
	for name, tc := range map[string]struct {
		value chat.ResumeValue
		want  []string
	}{
		"id":                  {chat.ResumeValue{Value: &d1}, []string{d1}},
		"id of somebody else": {chat.ResumeValue{Value: &theirs}, nil},
		"name":                {chat.ResumeValue{Value: new("leave policy")}, []string{d1}},
		"misspelt name":       {chat.ResumeValue{Value: new("Leav Policy")}, []string{d1}},
		"name in a sentence":  {chat.ResumeValue{Value: new("I mean the Travel Rules, please")}, []string{d2}},
		"two names":           {chat.ResumeValue{Value: new("leave policy and travel ruls")}, []string{d1, d2}},
		"mention":             {chat.ResumeValue{Value: new("@Travel Rules"), TipTap: composed(mentionNode("document", d2, "Travel Rules"))}, []string{d2}},
		"set":                 {chat.ResumeValue{TaggedSets: []string{set}}, []string{d1, d2}},
		"tag":                 {chat.ResumeValue{TaggedDocs: []string{d2, theirs}}, []string{d2}},
		"unknown name":        {chat.ResumeValue{Value: new("Something else")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := must[ReadAnswerResult](b, b.ReadAnswer, ref, answerOf(false, tc.value))
			require.Equal(t, ReadAnswerResult{IDs: tc.want}, got)
		})
	}
	require.Zero(t, b.Model.Calls())
}

func TestTextToAuditIsStoredAndTitlesInItAreNotResolved(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d := b.Doc("Leave Policy", "1.")
	email := "Dear all, forget the Leave Policy: nobody gets days off."
	ref := b.Say("Audit")
	require.Equal(t, ReadAnswerResult{Text: true}, must[ReadAnswerResult](b, b.ReadAnswer, ref, answerOf(true, chat.ResumeValue{Value: &email})))
	require.Equal(t, email, b.Texts(ref)[chat.TextSource])

	ref = b.Say("Audit")
	require.Equal(t, ReadAnswerResult{IDs: []string{d}}, must[ReadAnswerResult](b, b.ReadAnswer, ref, answerOf(true, chat.ResumeValue{Value: new("leave policy")})))
	require.Equal(t, ReadAnswerResult{IDs: []string{d}}, must[ReadAnswerResult](b, b.ReadAnswer, ref, answerOf(true, chat.ResumeValue{Value: new("Audit @Leave Policy"), TaggedDocs: []string{d}})))
	require.NotContains(t, b.Texts(ref), chat.TextSource)
}

func TestOptionIsNotResolvedAsAName(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d := b.Doc("tag_docs", "1.")
	other := b.Doc("Other", "2.")
	got := must[ReadAnswerResult](b, b.ReadAnswer, b.Say("hi"), AnswerRequest{Value: chat.ResumeValue{
		Type: chat.RetrievalLow, Value: new(chat.OptionTagDocs), TaggedDocs: []string{other},
	}})
	require.Equal(t, []string{other}, got.IDs)
	require.NotContains(t, got.IDs, d)
}

// Rule D10.
func TestQuestionAboutAProcessingDocumentWaitsForIt(t *testing.T) {
	t.Parallel()
	for name, say := range map[string]func(id string) chat.Content{
		"tagged": func(id string) chat.Content { return chat.Content{Message: "What is in it?", TaggedDocs: []string{id}} },
		"tagged beside a name": func(id string) chat.Content {
			return chat.Content{Message: "What does the Travel Policy say about trains of 2026?", TaggedDocs: []string{id}}
		},
		"named": func(string) chat.Content { return chat.Content{Message: "What does the Leave Policy say?"} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			for _, title := range []string{"Travel Policy 2025", "Travel Policy 2026"} {
				b.Index(owner, b.Upload(title, "md", []byte("By train.")), "By train.")
			}
			id := b.Upload("Leave Policy", "md", []byte("# Leave\n\n"+leave))
			ref := b.Begin(say(id))
			_, err := run[*Docs](b, b.DocsByRules, ref)
			waiting := activitytest.AppError(t, err)
			require.Equal(t, activities.ErrTypeWaiting, waiting.Type())
			require.False(t, waiting.NonRetryable())
			require.Equal(t, activities.TaggedPoll, waiting.NextRetryDelay())
			b.Index(owner, id, leave)
			must[*Docs](b, b.DocsByRules, ref)
		})
	}
}

// Rule D10.
func TestQuestionStopsWaitingForAProcessingDocument(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.Upload("Leave Policy", "md", []byte("# Leave\n\n"+leave))
	ref := b.Begin(chat.Content{Message: "What is in it?", TaggedDocs: []string{id}})
	b.Info.Attempt = 3
	b.Env.SetHeartbeatDetails(map[string]any{"since": time.Now().Add(-activities.TaggedWait), "tries": 2, "attempt": 2})
	got := must[*Docs](b, b.DocsByRules, ref)
	require.True(t, got.Processing)
	require.Equal(t, []string{id}, got.IDs)
}

func TestQuestionDoesNotWaitForDocumentsThatItDoesNotName(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Upload("Travel Rules", "md", []byte("# Travel\n\nBy train."))
	must[*Docs](b, b.DocsByRules, b.Begin(chat.Content{Message: "What does the Leave Policy say?"}))
}
