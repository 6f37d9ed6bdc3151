package workflows_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	sdk "go.temporal.io/api/sdk/v1"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/agents/documents"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/testkit/must"
)

// runTurn runs one turn, answers its questions in order, and returns its ending.
func runTurn(t *testing.T, s *script, answers ...chat.ResumeValue) activities.Ending {
	t.Helper()
	p := newHarness(t, s)
	p.submitAt(0, "t1", chat.Supersede)
	for i, a := range answers {
		p.at(i+1, func() {
			r := p.resume(a)
			require.NoError(t, r.rejected)
		})
	}
	p.run()
	require.Len(t, p.endings, 1)
	return p.endings[0]
}

// Rule T8.
func TestPlainTurnRunsAllNodes(t *testing.T) {
	require.Equal(t, []string{
		"turn_started", "status intent_resolver", "status doc_resolver", "status doc_resolver docs",
		"status validate_inputs", "status inquire", "text piece:1", "status format_response",
	}, summary(runTurn(t, clearTurn()).Log))
}

// The current details of a thread in Temporal's Web UI.
func TestLabelOfATurnSaysWhatItDoes(t *testing.T) {
	s := clearTurn()
	s.intent.Action = chat.Summarize
	s.docs, s.answers = []documents.Docs{{Confidence: chat.High}}, []documents.ReadAnswerResult{{IDs: []string{"a"}}}
	p := newHarness(t, s)
	label := func() string {
		var m sdk.WorkflowMetadata
		require.NoError(t, must.Have(p.env.QueryWorkflow("__temporal_workflow_metadata"))(t).Get(&m))
		return m.CurrentDetails
	}
	p.submitAt(0, "t1", chat.Supersede)
	var waiting string
	p.at(1, func() {
		waiting = label()
		require.NoError(t, p.resume(answer(chat.TextInput, "the policy")).rejected)
	})
	p.run()
	require.Equal(t, "Waiting for a person: text_input (summarize_doc)", waiting)
	require.Equal(t, "Turn t1 has ended: completed", label())
}

// Rule T9.
func TestAnExplicitActionShowsNoIntentStatus(t *testing.T) {
	s := clearTurn()
	s.begin.Action = chat.Summarize
	s.intent.Action = chat.Summarize
	e := runTurn(t, s)
	require.Equal(t, []string{
		"turn_started", "status doc_resolver", "status doc_resolver docs",
		"status validate_inputs", "status summarize", "text piece:1", "status format_response",
	}, summary(e.Log))
	require.Equal(t, chat.Summarize, s.asked[0].Action)
}

func TestExplicitActionAndTaggedDocumentsNeedNoModelCall(t *testing.T) {
	s := clearTurn()
	s.begin.Action, s.intent.Action = chat.Summarize, chat.Summarize
	s.ruled = &documents.Docs{IDs: []string{"d1"}, Confidence: chat.High}
	e := runTurn(t, s)
	require.Equal(t, []string{
		"turn_started", "status doc_resolver", "status doc_resolver docs",
		"status validate_inputs", "status summarize", "text piece:1", "status format_response",
	}, summary(e.Log))
	require.Zero(t, s.calls["InferIntent"]+s.calls["InferDocs"])
	require.Equal(t, []string{"d1"}, e.DocIDs)
}

func TestModelIsAskedOnlyForWhatTheRulesLeaveOpen(t *testing.T) {
	ruled := &documents.Docs{IDs: []string{"d1"}, Confidence: chat.High}
	for name, c := range map[string]struct {
		action chat.Action
		ruled  *documents.Docs
		want   []int // calls of InferIntent and InferDocs
	}{
		"action and documents": {"", nil, []int{1, 1}},
		"the action":           {"", ruled, []int{1, 0}},
		"the documents":        {chat.Summarize, nil, []int{0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			s := clearTurn()
			s.begin.Action, s.ruled = c.action, c.ruled
			e := runTurn(t, s)
			require.Equal(t, chat.TurnCompleted, e.Status)
			require.Equal(t, []string{"d1"}, e.DocIDs)
			require.Equal(t, c.want, []int{s.calls["InferIntent"], s.calls["InferDocs"]})
			if c.want[1] > 0 {
				require.Equal(t, c.action, s.asked[0].Action)
			}
		})
	}
}

func TestMessageWithTwoActionsAsksWhichComesFirst(t *testing.T) {
	s := clearTurn()
	s.intent = documents.Intent{Action: chat.Summarize, Confidence: chat.High, Multi: true, Likely: []chat.Action{chat.Summarize, chat.Audit, chat.Compare}}
	s.docs = []documents.Docs{{IDs: []string{"d1"}, HasText: true, Confidence: chat.High}}
	e := runTurn(t, s, answer(chat.ActionChoice, "audit"))
	require.Equal(t, []string{
		"turn_started", "status intent_resolver", "interrupt multi_action", "resumed",
		"status doc_resolver", "status doc_resolver docs", "status validate_inputs", "status audit",
		"text piece:1", "status format_response",
	}, summary(e.Log))
	require.Equal(t, []string{"summarize", "audit"}, e.Log[2].Question.OptionIDs, "one document cannot be compared")
	require.Equal(t, 1, s.calls["InferDocs"], "the answer repeats no step")
}

func TestLowConfidenceOffersTheTwoLikeliestActions(t *testing.T) {
	e := runTurn(t, ambiguousTurn(), answer(chat.ActionChoice, "summarize"))
	require.Equal(t, []string{"inquire", "summarize"}, e.Log[2].Question.OptionIDs)
}

func TestDocumentsAreResolvedAgainOnlyWhenTheyDoNotFitTheAction(t *testing.T) {
	for name, c := range map[string]struct {
		action chat.Action
		called bool
		calls  int
	}{
		"inquire needs none":            {chat.Inquire, true, 1},
		"compare needs another":         {chat.Compare, true, 2},
		"no model was asked: no second": {chat.Compare, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := clearTurn()
			s.intent.Action = c.action
			s.docs = []documents.Docs{
				{IDs: []string{"d1"}, Confidence: chat.High, Called: c.called},
				{IDs: []string{"d1", "d2"}, Confidence: chat.High, Called: true},
			}
			s.answers = []documents.ReadAnswerResult{{IDs: []string{"d2"}}}
			var answers []chat.ResumeValue
			if c.calls == 1 && c.action == chat.Compare {
				answers = append(answers, answer(chat.TextInput, "the other"))
			}
			e := runTurn(t, s, answers...)
			require.Equal(t, chat.TurnCompleted, e.Status)
			require.Equal(t, c.calls, s.calls["InferDocs"])
			if c.calls == 2 {
				require.Equal(t, chat.Compare, s.asked[1].Action)
			}
		})
	}
}

func TestMediumConfidenceAsksWhichDocument(t *testing.T) {
	for value, want := range map[string][]string{"d2": {"d2"}, chat.AllDocs: {"d1", "d2"}} {
		s := clearTurn()
		s.intent.Action = chat.Summarize // an inquiry is searched in both
		s.docs = []documents.Docs{{Confidence: chat.Medium, Suggested: []string{"d1", "d2"}, Called: true}}
		e := runTurn(t, s, answer(chat.DocChoice, value))
		require.Equal(t, []string{"d1", "d2", "all"}, e.Log[3].Question.OptionIDs)
		require.Equal(t, want, e.DocIDs)
		require.Equal(t, chat.High, e.Inference)
	}
}

func TestUnknownNameIsAskedAboutAndAnsweredByIDNameOrMention(t *testing.T) {
	s := clearTurn()
	s.intent.Action = chat.Summarize // an inquiry is searched, with a notice
	s.docs = []documents.Docs{{Confidence: chat.Low, Unresolved: true, Called: true}}
	s.answers = []documents.ReadAnswerResult{{}, {IDs: []string{"d3"}}}
	e := runTurn(t, s, answer(chat.TextInput, "no idea"), answer(chat.TextInput, "Circular 7"))
	require.Equal(t, []string{"d3"}, e.DocIDs)
	require.Equal(t, chat.TextUnresolved, e.Log[3].Question.Ref)
	require.Equal(t, 1, s.calls["InferDocs"])
}

func TestMissingInputsAreAskedForUntilTheyAreGiven(t *testing.T) {
	for name, c := range map[string]struct {
		action  chat.Action
		docs    documents.Docs
		answers []documents.ReadAnswerResult
		prompts []string
	}{
		"compare with none":  {chat.Compare, documents.Docs{}, []documents.ReadAnswerResult{{IDs: []string{"a"}}, {IDs: []string{"b"}}}, []string{"compare_none", "compare_two"}},
		"compare with one":   {chat.Compare, documents.Docs{IDs: []string{"a"}}, []documents.ReadAnswerResult{{}, {IDs: []string{"b"}}}, []string{"compare_two", "compare_two"}},
		"summarize nothing":  {chat.Summarize, documents.Docs{}, []documents.ReadAnswerResult{{IDs: []string{"a"}}}, []string{"summarize_doc"}},
		"audit nothing":      {chat.Audit, documents.Docs{}, []documents.ReadAnswerResult{{IDs: []string{"a"}}, {Text: true}}, []string{"audit_target", "audit_text"}},
		"audit without text": {chat.Audit, documents.Docs{IDs: []string{"a"}}, []documents.ReadAnswerResult{{Text: true}}, []string{"audit_text"}},
		"audit complete":     {chat.Audit, documents.Docs{IDs: []string{"a"}, HasText: true}, nil, nil},
		"audit a document":   {chat.Audit, documents.Docs{IDs: []string{"mail", "rules"}}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := clearTurn()
			s.intent.Action = c.action
			c.docs.Confidence = chat.High
			s.docs, s.answers = []documents.Docs{c.docs}, c.answers
			var answers []chat.ResumeValue
			for range c.answers {
				answers = append(answers, answer(chat.TextInput, "some words"))
			}
			e := runTurn(t, s, answers...)
			require.Equal(t, chat.TurnCompleted, e.Status)
			var prompts []string
			var shown []string // by the last list of documents
			for _, entry := range e.Log {
				if entry.Question != nil {
					prompts = append(prompts, string(entry.Question.Prompt))
				}
				if len(entry.DocIDs) > 0 {
					shown = entry.DocIDs
				}
			}
			require.Equal(t, c.prompts, prompts)
			want := slices.Clone(c.docs.IDs)
			for _, a := range c.answers {
				want = append(want, a.IDs...)
			}
			require.Equal(t, want, shown, "documents that an answer adds are shown, too")
			if name == "audit a document" {
				require.Equal(t, "mail", s.writes[0].Subject)
				require.Equal(t, []string{"rules"}, s.writes[0].DocIDs)
			}
		})
	}
}

func TestCompareDropsWebSearchWithANotice(t *testing.T) {
	s := clearTurn()
	s.intent.Action, s.intent.WebSearch = chat.Compare, true
	s.docs = []documents.Docs{{IDs: []string{"a", "b"}, Confidence: chat.High}}
	s.found[0].Confidence = chat.Medium
	e := runTurn(t, s)
	require.Contains(t, summary(e.Log), "notice "+chat.NoticeWebDropped)
	require.Zero(t, s.calls["SearchWeb"])
}

func TestWebIsSearchedWhenWantedUnlessTheDocumentsSuffice(t *testing.T) {
	for name, c := range map[string]struct {
		confidence chat.Confidence
		off        bool
		result     documents.WebResult
		want       string
		searched   int
		web        bool
	}{
		"documents suffice": {chat.High, false, documents.WebResult{}, "notice " + chat.NoticeWebSkipped, 0, false},
		"searched":          {chat.Medium, false, documents.WebResult{Results: 3}, "status web_search web_query", 1, true},
		"nothing found":     {chat.Medium, false, documents.WebResult{Empty: true}, "notice " + chat.NoticeWebEmpty, 1, false},
		"recorded before":   {chat.Medium, false, documents.WebResult{}, "status web_search web_query", 1, false},
		"failed":            {chat.Medium, false, documents.WebResult{Failed: true}, "notice " + chat.NoticeWebFailed, 1, false},
		"not configured":    {chat.Medium, true, documents.WebResult{}, "notice " + chat.NoticeWebNotConfigured, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := clearTurn()
			s.intent.WebSearch, s.webOff, s.web = true, c.off, c.result
			s.found[0].Confidence = c.confidence
			e := runTurn(t, s)
			require.Contains(t, summary(e.Log), c.want)
			require.Equal(t, c.searched, s.calls["SearchWeb"])
			require.Equal(t, c.searched, s.calls["WordWebQuery"])
			require.Equal(t, c.web, s.writes[0].Web)
		})
	}
}

func TestLowRetrievalAsksAndEachOptionGoesOn(t *testing.T) {
	low := documents.RetrieveResult{Confidence: chat.Low}
	good := documents.RetrieveResult{ChunkIDs: []string{"d9.0"}, Confidence: chat.High}
	tags := answer(chat.RetrievalLow, chat.OptionTagDocs)
	tags.TaggedDocs = []string{"d9"}
	for name, c := range map[string]struct {
		answer chat.ResumeValue
		found  []documents.RetrieveResult
		web    bool
		chunks []string
	}{
		"tag documents":  {tags, []documents.RetrieveResult{low, good}, false, []string{"d9.0"}},
		"search the web": {answer(chat.RetrievalLow, chat.OptionWebSearch), []documents.RetrieveResult{low}, true, nil},
		"continue":       {answer(chat.RetrievalLow, chat.OptionContinue), []documents.RetrieveResult{low}, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := clearTurn()
			s.docs = []documents.Docs{{Confidence: chat.High}}
			s.found, s.web = c.found, documents.WebResult{Results: 2}
			s.answers = []documents.ReadAnswerResult{{IDs: []string{"d9"}}}
			e := runTurn(t, s, c.answer)
			require.Equal(t, chat.TurnCompleted, e.Status)
			require.Contains(t, summary(e.Log), "interrupt retrieval_low")
			require.Equal(t, c.web, s.writes[0].Web)
			require.Equal(t, c.chunks, s.writes[0].ChunkIDs)
		})
	}
}

func TestQuestionAfterLittleWasFoundNamesTheBestPassages(t *testing.T) {
	s := clearTurn()
	s.docs = []documents.Docs{{Confidence: chat.High}}
	s.found = []documents.RetrieveResult{{Confidence: chat.Low, Closest: []string{"d1.0", "d1.3"}}}
	e := runTurn(t, s, answer(chat.RetrievalLow, chat.OptionContinue))
	i := slices.IndexFunc(e.Log, func(e chat.Entry) bool { return e.Type == chat.EventInterrupt })
	require.Equal(t, []string{"d1.0", "d1.3"}, e.Log[i].Question.ChunkIDs)
}

func TestForbiddenWebSearchIsNoOption(t *testing.T) {
	s := clearTurn()
	s.begin.NoWebSearch = true
	s.docs = []documents.Docs{{Confidence: chat.High}}
	s.found = []documents.RetrieveResult{{Confidence: chat.Low}}
	e := runTurn(t, s, answer(chat.RetrievalLow, chat.OptionContinue))
	require.Equal(t, chat.TurnCompleted, e.Status)
	i := slices.IndexFunc(e.Log, func(e chat.Entry) bool { return e.Question != nil })
	require.Equal(t, []string{chat.OptionTagDocs, chat.OptionContinue}, e.Log[i].Question.OptionIDs)
	require.Zero(t, s.calls["SearchWeb"])
}

// Rule D10.
func TestAnswerFromTheWebIsNotReplacedWhileAnImportIsOpen(t *testing.T) {
	importing := documents.RetrieveResult{Confidence: chat.Low, Importing: true}
	for name, c := range map[string]struct {
		wanted bool
		result documents.WebResult
		says   bool
	}{
		"the web has results":   {true, documents.WebResult{Results: 3}, false},
		"the web has none":      {true, documents.WebResult{Empty: true}, true},
		"the web is not wanted": {false, documents.WebResult{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := clearTurn()
			s.intent.WebSearch, s.web, s.found = c.wanted, c.result, []documents.RetrieveResult{importing}
			e := runTurn(t, s)
			require.Equal(t, chat.TurnCompleted, e.Status)
			require.Contains(t, summary(e.Log), "text piece:1")
			if c.says {
				require.Equal(t, 1, s.calls["SayImporting"])
				require.Zero(t, s.calls["Write"])
				return
			}
			require.Zero(t, s.calls["SayImporting"])
			require.Len(t, s.writes, 1)
			require.True(t, s.writes[0].Web)
		})
	}
}

// An import may open while the question is open. The person has decided how to go on.
func TestAnswerAfterTheQuestionIsNotReplacedWhenAnImportOpenedMeanwhile(t *testing.T) {
	tags := answer(chat.RetrievalLow, chat.OptionTagDocs)
	tags.TaggedDocs = []string{"d9"}
	for name, a := range map[string]chat.ResumeValue{"tag documents": tags, "search the web": answer(chat.RetrievalLow, chat.OptionWebSearch)} {
		t.Run(name, func(t *testing.T) {
			s := clearTurn()
			s.found = []documents.RetrieveResult{{Confidence: chat.Low}, {Confidence: chat.Low, ChunkIDs: []string{"d9.0"}, Importing: true}}
			s.web, s.answers = documents.WebResult{Results: 2}, []documents.ReadAnswerResult{{IDs: []string{"d9"}}}
			e := runTurn(t, s, a)
			require.Equal(t, chat.TurnCompleted, e.Status)
			require.Zero(t, s.calls["SayImporting"])
			require.Len(t, s.writes, 1)
			require.Equal(t, name == "search the web", s.writes[0].Web)
		})
	}
}

func TestDocumentsStillProcessingGiveANotice(t *testing.T) {
	s := clearTurn()
	s.found[0].Processing = true
	require.Contains(t, summary(runTurn(t, s).Log), "notice "+chat.NoticeDocsProcessing)
}

// Rule T9.
func TestSmallTalkIsAnsweredWithoutQuestionsOrAnAction(t *testing.T) {
	s := clearTurn()
	s.intent = documents.Intent{Action: chat.Talk, Confidence: chat.High}
	s.docs = []documents.Docs{{Confidence: chat.High, Called: true}}
	s.found = []documents.RetrieveResult{{Confidence: chat.High}}
	s.write = func(context.Context, int) (activities.ModelResult, error) {
		return activities.ModelResult{Chars: 10}, nil
	}
	e := runTurn(t, s)
	require.Equal(t, []string{
		"turn_started", "status intent_resolver", "status doc_resolver", "status validate_inputs", "status model", "text piece:1", "status format_response",
	}, summary(e.Log))
	require.Equal(t, chat.Talk, s.writes[0].Action)
	require.Empty(t, e.Action)
	require.Empty(t, e.Retrieval)
	require.Zero(t, s.calls["DocsByRules"]+s.calls["InferDocs"], "small talk needs no documents")
}

// Rule N19.
func TestWebSearchIsOfferedOnlyWhereItCanHelp(t *testing.T) {
	for name, c := range map[string]struct {
		found  documents.RetrieveResult
		wanted bool
		web    documents.WebResult
		want   []string
	}{
		"it can":         {documents.RetrieveResult{Confidence: chat.Low}, false, documents.WebResult{}, []string{"tag_docs", "web_search", "continue"}},
		"not configured": {documents.RetrieveResult{Confidence: chat.Low, NoWeb: true}, false, documents.WebResult{}, []string{"tag_docs", "continue"}},
		"found nothing":  {documents.RetrieveResult{Confidence: chat.Low}, true, documents.WebResult{Empty: true}, []string{"tag_docs", "continue"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := clearTurn()
			s.found, s.web, s.intent.WebSearch = []documents.RetrieveResult{c.found}, c.web, c.wanted
			e := runTurn(t, s, answer(chat.RetrievalLow, chat.OptionContinue))
			var options []string
			for _, entry := range e.Log {
				if entry.Question != nil {
					options = entry.Question.OptionIDs
				}
			}
			require.Equal(t, c.want, options)
		})
	}
}
