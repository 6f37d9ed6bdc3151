package activities

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
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

func (b *testBundle) resolve(ref TurnRef, action chat.Action) Docs {
	b.t.Helper()
	return must[Docs](b, b.ResolveDocs, DocsRequest{TurnRef: ref, Action: action})
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
	d1, d2 := b.doc("Circular 2024", "One."), b.doc("Leave Policy", "Two.")
	b.exchange("earlier", "answer", d2)
	for _, message := range []string{
		"Compare @Circular 2024 and @Leave Policy", "@Circular 2024 @Leave Policy",
		"Please compare @Circular 2024 with @Leave Policy", "could you audit @Circular 2024 against @Leave Policy?",
	} {
		got := b.resolve(b.begin(chat.Content{
			Message: message, TipTap: composed(mentionNode("document", d1, "Circular 2024"), mentionNode("document", d2, "Leave Policy")),
		}), "")
		require.Equal(t, []string{d1, d2}, got.IDs, message)
		require.Equal(t, chat.High, got.Confidence)
		require.Equal(t, "explicit", got.Source)
		require.False(t, got.Called || got.Unresolved || got.HasText)
	}
	require.Equal(t, []string{d1}, b.resolve(b.begin(chat.Content{Message: "Summarize this", TaggedDocs: []string{d1}}), "").IDs)
	require.Zero(t, b.model.calls())
}

func TestResolveByRulesLeavesTheRestToTheModel(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d := b.doc("Leave Policy", "One.")
	rules := func(c chat.Content) Resolved {
		t.Helper()
		return must[Resolved](b, b.ResolveByRules, b.begin(c))
	}
	both := rules(chat.Content{Message: "Summarize this", Action: chat.Summarize, TaggedDocs: []string{d}})
	require.Equal(t, &Intent{Action: chat.Summarize, Confidence: chat.High}, both.Intent)
	require.Equal(t, []string{d}, both.Docs.IDs)

	action := rules(chat.Content{Message: "Summarize the Leave Policy", Action: chat.Summarize, WebSearch: true})
	require.True(t, action.Intent.WebSearch)
	require.Nil(t, action.Docs, "the model resolves names")

	docs := rules(chat.Content{Message: "What is in it?", TaggedDocs: []string{d}})
	require.Nil(t, docs.Intent)
	require.Equal(t, []string{d}, docs.Docs.IDs)

	neither := rules(chat.Content{Message: "What does the Leave Policy say?"})
	require.Equal(t, Resolved{}, neither)
	require.Zero(t, b.model.calls())
}

func TestMentionsTagsAndSetsAreMergedAndSetsExpanded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d1, d2, d3 := b.doc("One", "1."), b.doc("Two", "2."), b.doc("Three", "3.")
	s1, s2 := b.set("Policies", d2, d1), b.set("Others", d3)
	got := b.resolve(b.begin(chat.Content{
		Message:    "Compare @One and @Policies",
		TipTap:     composed(mentionNode("document", d1, "One"), mentionNode("set", s1, "Policies")),
		TaggedDocs: []string{d1}, TaggedSets: []string{s1, s2},
	}), "")
	require.Equal(t, []string{d1, d2, d3}, got.IDs)
	require.Zero(t, b.model.calls())
}

func TestResolvedIDsExistAndAreVisibleToTheOwner(t *testing.T) {
	t.Parallel()
	b := setup(t)
	mine, theirs, public := b.doc("Mine", "1."), b.docOf("somebody-else", "Theirs", "2."), b.docOf(chat.PublicOwner, "Public", "3.")
	deleted := uuid.NewString()
	got := b.resolve(b.begin(chat.Content{Message: "Compare", TaggedDocs: []string{theirs, deleted, "no id", public, mine}}), "")
	require.Equal(t, []string{public, mine}, got.IDs)

	b.exchange("earlier", "answer", mine)
	b.model.answers = []any{resolved(chat.High, theirs, deleted, mine, "'; DROP TABLE documents")}
	got = b.resolve(b.say("What about that document?"), "")
	require.Equal(t, []string{mine}, got.IDs)

	b.model.answers = []any{resolved(chat.Medium, theirs, deleted, mine)}
	got = b.resolve(b.say("What about that document?"), "")
	require.Empty(t, got.Suggested, "a single candidate is not suggested")
	require.Equal(t, []string{mine}, got.IDs)
}

func TestRegistryTitleInTheMessageNeedsNoEarlierMessages(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d := b.doc("BankNegara2024", "Rules.")
	b.exchange("earlier", "answer", d)
	b.model.answers = []any{resolved(chat.High, d), resolved(chat.High, d)}
	got := b.resolve(b.say("And the penalties in banknegara2024?"), "")
	require.Equal(t, []string{d}, got.IDs)
	require.Equal(t, "inferred", got.Source)
	require.True(t, got.Called)
	require.Equal(t, oneCall, got.Usage)
	asked := b.model.last()
	require.Len(t, asked.Messages, 2, "registry path: the message alone")
	require.Contains(t, asked.Messages[0].Text, `{"id":"`+d+`","title":"BankNegara2024"}`)

	b.resolve(b.say("What about that regulation?"), "")
	require.Len(t, b.model.last().Messages, 1+3+1, "history path: with the messages before")
	require.Equal(t, 2, b.model.calls())
}

func TestRegistryIsKeyedByIDBecauseTitlesCollide(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d1, d2 := b.doc("Policy", "One."), b.doc("Policy", "Two.")
	b.exchange("earlier", "answer", d1, d2)
	b.model.answers = []any{resolved(chat.High, d1), resolved(chat.High, d1, d2)}
	got := b.resolve(b.say("What does the Policy say about gifts?"), "")
	require.Equal(t, chat.Medium, got.Confidence, "the model cannot know which")
	require.ElementsMatch(t, []string{d1, d2}, got.Suggested)
	require.Empty(t, got.IDs)
	require.Len(t, b.model.last().Facts.Documents, 2)

	got = b.resolve(b.say("Compare both, Policy and Policy"), "")
	require.ElementsMatch(t, []string{d1, d2}, got.IDs, "both were meant")
	require.Empty(t, got.Suggested)
}

func TestMediumConfidenceSuggestsTheCandidates(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d1, d2 := b.doc("Regulation A", "1."), b.doc("Regulation B", "2.")
	b.exchange("earlier", "answer", d1, d2)
	for _, c := range []chat.Confidence{chat.Medium, chat.Low} {
		b.model.answers = []any{resolved(c, d1, d2)}
		got := b.resolve(b.say("Audit against the regulation"), "")
		require.Equal(t, chat.Medium, got.Confidence)
		require.Equal(t, []string{d1, d2}, got.Suggested)
		require.Empty(t, got.IDs)
	}
}

func TestUnresolvedNamesAreMatchedFuzzily(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d := b.doc("Outsourcing Guidelines 2024.pdf", "Rules.")
	for _, name := range []string{"Outsourcing Guidelines 2024", "outsorcing guidelines 2024", "OUTSOURCING_GUIDELINES-2024.PDF"} {
		b.model.answers = []any{unresolved(name)}
		got := b.resolve(b.say("What does "+name+" say?"), "")
		require.Equal(t, []string{d}, got.IDs, name)
		require.Equal(t, "fuzzy_match", got.Source)
		require.Equal(t, chat.High, got.Confidence)
		require.False(t, got.Unresolved)
	}
}

func TestTwoEquallySimilarTitlesAreSuggested(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d1, d2 := b.doc("Remote Work Policy v1", "1."), b.doc("Remote Work Policy v2", "2.")
	b.model.answers = []any{unresolved("Remote Work Policy v3")}
	got := b.resolve(b.say("Summarize Remote Work Policy v3"), "")
	require.Equal(t, chat.Medium, got.Confidence)
	require.ElementsMatch(t, []string{d1, d2}, got.Suggested)
	require.False(t, got.Unresolved)
}

func TestUnknownNamesAreUnresolvedAndStoredAsText(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.doc("Leave Policy", "Text.")
	b.model.answers = []any{unresolved("XYZ guidelines")}
	ref := b.say("What about XYZ guidelines?")
	got := b.resolve(ref, "")
	require.True(t, got.Unresolved)
	require.Equal(t, chat.Low, got.Confidence)
	require.Empty(t, got.IDs)
	require.Equal(t, `"XYZ guidelines"`, b.texts(ref)[chat.TextUnresolved])
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
			d := b.doc("Something", "Text.")
			b.exchange("earlier", "answer", d)
			b.model.answers = []any{unresolved(name)}
			ref := b.say(message)
			require.False(t, b.resolve(ref, "").Unresolved)
			require.NotContains(t, b.texts(ref), chat.TextUnresolved)
		})
	}
}

func TestNoModelCallWhenThereAreNoCandidates(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d := b.doc("Leave Policy", "Text.")
	for _, message := range []string{"What are the capital requirements?", "how many days of notice are due?", "I wonder whether gifts are allowed"} {
		got := b.resolve(b.say(message), "")
		require.Equal(t, Docs{Confidence: chat.High}, got, message)
	}
	got := b.resolve(b.begin(chat.Content{Message: "what are the limits for gifts?", TaggedDocs: []string{d}}), "")
	require.Equal(t, []string{d}, got.IDs)
	require.Zero(t, b.model.calls())
}

func TestFreeTextBesideMentionsCostsOneModelCall(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d1, d2 := b.doc("Circular", "1."), b.doc("Contract", "2.")
	b.exchange("earlier", "answer", d2)
	b.model.answers = []any{resolved(chat.High, d2)}
	got := b.resolve(b.begin(chat.Content{
		Message: "Compare @Circular with the previous one", TipTap: composed(mentionNode("document", d1, "Circular")),
	}), chat.Compare)
	require.Equal(t, []string{d1, d2}, got.IDs)
	require.Equal(t, []string{d1}, b.model.last().Facts.Explicit)
	require.Equal(t, chat.Compare, b.model.last().Facts.Action)
	require.Equal(t, 1, b.model.calls())
}

func TestVisibleTitleInTheMessageIsOfferedToTheModel(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d := b.doc("Leave Policy.md", "Text.")
	b.doc("Contract", "Text.")
	b.model.answers = []any{resolved(chat.High, d)}
	got := b.resolve(b.say("What does the leave policy say about carry-over?"), "")
	require.Equal(t, []string{d}, got.IDs)
	require.Equal(t, []llm.Document{{ID: d, Title: "Leave Policy.md"}}, b.model.last().Facts.Documents)
}

func TestUnparseableResolutionFallsBackToTitlesInTheMessage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d := b.doc("Leave Policy", "Text.")
	b.model.answers = []any{llm.ErrUnparseable, llm.ErrUnparseable}
	got := b.resolve(b.say("What does the Leave Policy say?"), "")
	require.Equal(t, []string{d}, got.IDs)
	got = b.resolve(b.say("What does BankNegara say?"), "")
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
			d := b.doc("Circular", "Rules.")
			got := b.resolve(b.begin(chat.Content{Message: message, Action: chat.Audit, TipTap: composed(mentionNode("document", d, "Circular"))}), chat.Audit)
			require.Equal(t, want, got.HasText)
			require.Equal(t, []string{d}, got.IDs)
		})
	}
}

func TestNamesInsideATextToAuditAreNotResolved(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d := b.doc("Circular", "Rules.")
	got := b.resolve(b.begin(chat.Content{
		Message: "Audit this against @Circular: Dear Mr Smith, please ignore the Groupwide Data Standard and send all files to Acme Corp.",
		Action:  chat.Audit, TipTap: composed(mentionNode("document", d, "Circular")),
	}), chat.Audit)
	require.True(t, got.HasText)
	require.Equal(t, []string{d}, got.IDs)
	require.Zero(t, b.model.calls())
}

func TestDocumentStillProcessingIsReported(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.upload("New circular", "txt", []byte("Text."))
	got := b.resolve(b.begin(chat.Content{Message: "Summarize @New circular", TaggedDocs: []string{id}}), "")
	require.Equal(t, []string{id}, got.IDs)
	require.True(t, got.Processing)
}

func answerOf(ref TurnRef, asText bool, v chat.ResumeValue) AnswerRequest {
	v.Type = chat.TextInput
	return AnswerRequest{TurnRef: ref, AsText: asText, Value: v}
}

func TestAnswerIsResolvedFromIDNameOrMentions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d1, d2 := b.doc("Leave Policy.pdf", "1."), b.doc("Travel Rules", "2.")
	theirs := b.docOf("somebody-else", "Theirs", "3.")
	set := b.set("Both", d1, d2)
	ref := b.say("Summarize it")
	for name, tc := range map[string]struct {
		value chat.ResumeValue
		want  []string
	}{
		"id":                  {chat.ResumeValue{Value: &d1}, []string{d1}},
		"id of somebody else": {chat.ResumeValue{Value: &theirs}, nil},
		"name":                {chat.ResumeValue{Value: ptr("leave policy")}, []string{d1}},
		"misspelt name":       {chat.ResumeValue{Value: ptr("Leav Policy")}, []string{d1}},
		"name in a sentence":  {chat.ResumeValue{Value: ptr("I mean the Travel Rules, please")}, []string{d2}},
		"two names":           {chat.ResumeValue{Value: ptr("leave policy and travel ruls")}, []string{d1, d2}},
		"mention":             {chat.ResumeValue{Value: ptr("@Travel Rules"), TipTap: composed(mentionNode("document", d2, "Travel Rules"))}, []string{d2}},
		"set":                 {chat.ResumeValue{TaggedSets: []string{set}}, []string{d1, d2}},
		"tag":                 {chat.ResumeValue{TaggedDocs: []string{d2, theirs}}, []string{d2}},
		"unknown name":        {chat.ResumeValue{Value: ptr("Something else")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := must[Answered](b, b.ReadAnswer, answerOf(ref, false, tc.value))
			require.Equal(t, Answered{IDs: tc.want}, got)
		})
	}
	require.Zero(t, b.model.calls())
}

func TestTextToAuditIsStoredAndTitlesInItAreNotResolved(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d := b.doc("Leave Policy", "1.")
	email := "Dear all, forget the Leave Policy: nobody gets days off."
	ref := b.say("Audit")
	require.Equal(t, Answered{Text: true}, must[Answered](b, b.ReadAnswer, answerOf(ref, true, chat.ResumeValue{Value: &email})))
	require.Equal(t, email, b.texts(ref)[chat.TextSource])

	ref = b.say("Audit")
	require.Equal(t, Answered{IDs: []string{d}}, must[Answered](b, b.ReadAnswer, answerOf(ref, true, chat.ResumeValue{Value: ptr("leave policy")})))
	require.Equal(t, Answered{IDs: []string{d}}, must[Answered](b, b.ReadAnswer, answerOf(ref, true, chat.ResumeValue{Value: ptr("Audit @Leave Policy"), TaggedDocs: []string{d}})))
	require.NotContains(t, b.texts(ref), chat.TextSource)
}

func TestOptionIsNotResolvedAsAName(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d := b.doc("tag_docs", "1.")
	other := b.doc("Other", "2.")
	got := must[Answered](b, b.ReadAnswer, AnswerRequest{TurnRef: b.say("hi"), Value: chat.ResumeValue{
		Type: chat.RetrievalLow, Value: ptr(chat.OptionTagDocs), TaggedDocs: []string{other},
	}})
	require.Equal(t, []string{other}, got.IDs)
	require.NotContains(t, got.IDs, d)
}

// Rule D10.
func TestQuestionAboutAProcessingDocumentWaitsForIt(t *testing.T) {
	t.Parallel()
	for name, say := range map[string]func(id string) chat.Content{
		"tagged": func(id string) chat.Content { return chat.Content{Message: "What is in it?", TaggedDocs: []string{id}} },
		"named":  func(string) chat.Content { return chat.Content{Message: "What does the Leave Policy say?"} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id := b.upload("Leave Policy", "md", []byte("# Leave\n\n"+leave))
			ref := b.begin(say(id))
			_, err := run[Resolved](b, b.ResolveByRules, ref)
			waiting := appError(t, err)
			require.Equal(t, ErrTypeWaiting, waiting.Type())
			require.False(t, waiting.NonRetryable())
			require.Equal(t, documentPoll, waiting.NextRetryDelay())
			b.ingested(id)
			must[Resolved](b, b.ResolveByRules, ref)
		})
	}
}

// Rule D10.
func TestQuestionStopsWaitingForAProcessingDocument(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.upload("Leave Policy", "md", []byte("# Leave\n\n"+leave))
	ref := b.begin(chat.Content{Message: "What is in it?", TaggedDocs: []string{id}})
	b.info.attempt = 3
	b.env.SetHeartbeatDetails(handover{Since: time.Now().Add(-documentWait), Tries: 2, Attempt: 2})
	got := must[Resolved](b, b.ResolveByRules, ref)
	require.True(t, got.Docs.Processing)
	require.Equal(t, []string{id}, got.Docs.IDs)
}

func TestQuestionDoesNotWaitForDocumentsThatItDoesNotName(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.upload("Travel Rules", "md", []byte("# Travel\n\nBy train."))
	must[Resolved](b, b.ResolveByRules, b.begin(chat.Content{Message: "What does the Leave Policy say?"}))
}
