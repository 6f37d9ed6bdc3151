package activities

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	documents "github.com/palaver-chat/palaver/agents/documents/offline"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/documents/retrieval"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/llm/offline"
)

func TestGreetingsNeedNoModel(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.doc("Leave Policy", "25 days.")
	got := must[Resolved](b, b.ResolveByRules, b.say("Hello, what can you do?"))
	require.Equal(t, chat.Talk, got.Intent.Action)
	require.NotNil(t, got.Docs)
	require.Zero(t, b.model.calls())
}

func TestGreetingWithDocumentsOrAWebSearchIsNotTalk(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d := b.doc("Leave Policy", "25 days.")
	for _, c := range []chat.Content{{Message: "hi", TaggedDocs: []string{d}}, {Message: "hi", WebSearch: true}, {Message: "hi", Action: chat.Summarize}} {
		got := must[Resolved](b, b.ResolveByRules, b.begin(c))
		require.False(t, got.Intent != nil && got.Intent.Action == chat.Talk, "%+v", c)
	}
}

func TestTalkFromTheModelResolvesNoDocuments(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d := b.doc("Leave Policy", "25 days.")
	b.exchange("Summarize Leave Policy", "It says 25 days.", d)
	ref := b.say("You were a real help with the Zebra Policy, my friend")
	b.Model = byTask{llm.TaskIntent: llm.Intent{Action: chat.Talk, Confidence: chat.High}, llm.TaskDocs: llm.DocResolution{UnresolvedNames: []string{"Zebra Policy"}, Confidence: chat.Low}}
	got := must[Resolved](b, b.Activities.Resolve, ResolveRequest{TurnRef: ref, Intent: true, Docs: true})
	require.Equal(t, chat.Talk, got.Intent.Action)
	require.False(t, got.Intent.WebSearch)
	require.Empty(t, got.Docs.IDs)
	require.False(t, got.Docs.Unresolved)
	require.Equal(t, oneCall.Calls, got.Docs.Usage.Calls, "what was asked is counted")
}

// byTask answers structured calls by their task.
type byTask map[llm.Task]any

func (m byTask) Structured(_ context.Context, r llm.Request, _ llm.Schema, out any) (chat.Usage, error) {
	switch v := m[r.Task].(type) {
	case llm.Intent:
		*out.(*llm.Intent) = v
	case llm.DocResolution:
		*out.(*llm.DocResolution) = v
	}
	return oneCall, nil
}

func (byTask) Stream(context.Context, llm.Request, func(string) error) (llm.Reply, error) {
	return llm.Reply{}, nil
}
func (byTask) Embed(context.Context, []string) ([][]float32, error) { return nil, llm.ErrNoEmbeddings }
func (byTask) Info() llm.Info                                       { return llm.Info{Provider: "scripted", Name: "scripted"} }

func TestTalkPromptHasTitlesButNoDocumentTexts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.doc("Leave Policy", "Everyone has 25 days.")
	b.model.stream = streamText("Hello!")
	must[Written](b, b.Write, WriteRequest{TurnRef: b.say("hi"), Action: chat.Talk})
	asked := b.model.last()
	require.Equal(t, llm.TaskTalk, asked.Task)
	require.Contains(t, asked.Messages[len(asked.Messages)-1].Text, "Leave Policy")
	require.NotContains(t, asked.Messages[len(asked.Messages)-1].Text, "25 days")
	require.Empty(t, asked.Tools)
}

func TestOfflineTalkOffersThreeQuestionsAboutTheDocuments(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.doc("Leave Policy 2030", "Everyone has 25 days.")
	b.doc("Leave Policy 2031", "Everyone has 26 days.")
	b.Model = offline.New(documents.Rules())
	ref := b.say("hi")
	must[Written](b, b.Write, WriteRequest{TurnRef: ref, Action: chat.Talk, Stage: Stage{Piece: 1}})
	said := b.texts(ref)[chat.PieceKey(1)]
	require.Contains(t, said, "Compare Leave Policy 2031 and Leave Policy 2030")
	require.Regexp(t, `(?s)\n- .*\n- .*\n- `, said)
	require.NotContains(t, said, "?\n\n_", "it asks nothing back")
}

// selections answers searches by their number of documents.
type selections struct {
	named, all retrieval.Selection
	queries    []string
}

func (*selections) Respell(_ context.Context, _, query string, _ []string) (string, error) {
	return query, nil
}

func (s *selections) Select(_ context.Context, _ string, _ chat.Action, query string, docs []string, _ ...chat.Document) (retrieval.Selection, error) {
	s.queries = append(s.queries, query)
	if len(docs) > 0 {
		return s.named, nil
	}
	return s.all, nil
}

func TestSearchWidensWhenTheMentionedDocumentHasNoAnswer(t *testing.T) {
	low, high := retrieval.Selection{Confidence: chat.Low}, retrieval.Selection{Confidence: chat.High, Hits: []chat.Hit{{Chunk: chat.Chunk{ID: "minutes.0"}}}}
	for name, c := range map[string]struct {
		tagged     bool
		named, all retrieval.Selection
		want       chat.Confidence
		widened    bool
	}{
		"answered elsewhere": {false, low, high, chat.High, true},
		"answered nowhere":   {false, low, low, chat.Low, false},
		"answered there":     {false, high, high, chat.High, false},
		"tagged":             {true, low, high, chat.Low, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			d := b.doc("Northwind Contract", "Fees.")
			b.Search = &selections{named: c.named, all: c.all}
			content := chat.Content{Message: "Who signed off the extension of the Northwind Contract?"}
			if c.tagged {
				content.TaggedDocs = []string{d}
			}
			got := must[Retrieved](b, b.Retrieve, RetrieveRequest{TurnRef: b.begin(content), Action: chat.Inquire, DocIDs: []string{d}})
			require.Equal(t, c.want, got.Confidence)
			require.Equal(t, c.widened, got.Widened)
		})
	}
}

func TestRequestedWebSearchIsMadeEvenIfDocumentsSuffice(t *testing.T) {
	for name, c := range map[string]struct {
		action chat.Action
		asked  bool // by the person
		want   chat.Confidence
	}{
		"a question about what is current": {chat.Inquire, false, chat.High},
		"asked for":                        {chat.Inquire, true, chat.Medium},
		"a summary":                        {chat.Summarize, false, chat.Medium},
		"an audit":                         {chat.Audit, false, chat.Medium},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			b.web.on = true
			b.search.selection = retrieval.Selection{Confidence: chat.High}
			ref := b.begin(chat.Content{Message: "the latest rules on gifts and hospitality", WebSearch: c.asked})
			got := must[Retrieved](b, b.Retrieve, RetrieveRequest{TurnRef: ref, Action: c.action, Web: true})
			require.Equal(t, c.want, got.Confidence)
		})
	}
}

func TestVagueFollowUpSearchesForThePersonsWordsNotForAButton(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.say("What does the travel policy say about hotels?")
	require.NoError(t, b.store.PutText(context.Background(), owner, first.TurnID, chat.PieceKey(1), "160."))
	q := chat.Question{ID: chat.InterruptID(first.TurnID, 1), Type: chat.ActionChoice, OptionIDs: []string{"inquire", "summarize"}}
	chosen := "inquire"
	must[Settled](b, b.Settle, Ending{TurnRef: first, Status: chat.TurnCompleted, Log: []chat.Entry{
		{N: 1, Type: chat.EventTurnStarted}, {N: 2, Type: chat.EventInterrupt, Question: &q},
		{N: 3, Type: chat.EventResumed, Answers: q.ID, Resume: &chat.ResumeValue{Type: chat.ActionChoice, Value: &chosen}},
		{N: 4, Type: chat.EventText, Piece: 1, Ref: chat.PieceKey(1)},
	}})
	must[Retrieved](b, b.Retrieve, RetrieveRequest{TurnRef: b.say("and why?"), Action: chat.Inquire})
	require.Contains(t, b.search.query, "hotels")
	require.NotContains(t, b.search.query, "Inquire")
}

func TestVagueFollowUpsOnAFollowUpKeepTheTopic(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exchange("What does the leave policy say about sickness?", "A note.")
	b.exchange("and on weekends?", "Also.")
	b.exchange("what about last year's version", "The same.")
	must[Retrieved](b, b.Retrieve, RetrieveRequest{TurnRef: b.say("now the other one"), Action: chat.Inquire})
	require.Contains(t, b.search.query, "sickness")
	require.Contains(t, b.search.query, "weekends")
}

func TestVagueFollowUpIsNotSearchedWithTheLinkOfAnImport(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exchange("What does the leave policy say about sickness?", "A note.")
	b.exchange("Please import https://drive.google.com/file/d/1AbCdEfGhIjKlMnOp/view", "It is being imported.")
	must[Retrieved](b, b.Retrieve, RetrieveRequest{TurnRef: b.say("and on weekends?"), Action: chat.Inquire})
	require.Contains(t, b.search.query, "sickness")
	require.NotContains(t, b.search.query, "google")
}

func TestAnswersMayNameDocumentsByCodeOrAbbreviation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	cr := b.doc("CR-7 Change Request: Checkout", "Text.")
	dpa := b.doc("Data Processing Agreement Contoso", "Text.")
	for text, want := range map[string][]string{"cr7": {cr}, "the DPA": {dpa}, "cr 7 and the dpa": {cr, dpa}} {
		ref := b.say("Summarize")
		got := must[Answered](b, b.ReadAnswer, AnswerRequest{TurnRef: ref, Value: chat.ResumeValue{Type: chat.TextInput, Value: &text}})
		require.ElementsMatch(t, want, got.IDs, text)
	}
}
