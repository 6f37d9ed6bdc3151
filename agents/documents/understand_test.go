package documents

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/activities"
	rules "github.com/palaver-chat/palaver/agents/documents/offline"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/documents/retrieval"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/llm/offline"
	"github.com/palaver-chat/palaver/testkit/activitytest"
)

func TestGreetingsNeedNoModel(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Doc("Leave Policy", "25 days.")
	require.Equal(t, &Intent{Action: chat.Talk, Confidence: chat.High}, must[*Intent](b, b.IntentByRules, b.Say("Hello, what can you do?")))
	require.Zero(t, b.Model.Calls())
}

func TestGreetingWithDocumentsOrAWebSearchIsNotTalk(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d := b.Doc("Leave Policy", "25 days.")
	for _, c := range []chat.Content{{Message: "hi", TaggedDocs: []string{d}}, {Message: "hi", WebSearch: true}, {Message: "hi", Action: chat.Summarize}} {
		got := must[*Intent](b, b.IntentByRules, b.Begin(c))
		require.False(t, got != nil && got.Action == chat.Talk, "%+v", c)
	}
}

func TestTalkFromTheModelResolvesNoDocuments(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d := b.Doc("Leave Policy", "25 days.")
	b.Exchange("Summarize Leave Policy", "It says 25 days.", d)
	ref := b.Say("You were a real help with the Zebra Policy, my friend")
	b.Kit.Model = byTask{llm.TaskIntent: llm.Intent{Action: chat.Talk, Confidence: chat.High}, llm.TaskDocs: llm.DocResolution{UnresolvedNames: []string{"Zebra Policy"}, Confidence: chat.Low}}
	in, docs := together(b.understand(ref), b.resolve(ref, ""))
	require.Equal(t, chat.Talk, in.Action)
	require.False(t, in.WebSearch)
	require.Equal(t, Docs{Confidence: chat.High, Called: true}, docs)
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
	return activitytest.OneCall, nil
}

func (byTask) Stream(context.Context, llm.Request, func(string) error) (llm.Reply, error) {
	return llm.Reply{}, nil
}

func (byTask) Embed(context.Context, []string) ([][]float32, error) { return nil, llm.ErrNoEmbeddings }

func (byTask) Info() llm.Info { return llm.Info{Provider: "scripted", Name: "scripted"} }

func TestTalkPromptHasTitlesButNoDocumentTexts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Doc("Leave Policy", "Everyone has 25 days.")
	b.Model.OnStream = activitytest.StreamText("Hello!")
	b.write(b.Say("hi"), WriteRequest{Action: chat.Talk})
	asked := b.Model.Last()
	require.Equal(t, llm.TaskTalk, asked.Task)
	require.Contains(t, asked.Messages[len(asked.Messages)-1].Text, "Leave Policy")
	require.NotContains(t, asked.Messages[len(asked.Messages)-1].Text, "25 days")
	require.Empty(t, asked.Tools)
}

func TestOfflineTalkOffersThreeQuestionsAboutTheDocuments(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Doc("Leave Policy 2030", "Everyone has 25 days.")
	b.Doc("Leave Policy 2031", "Everyone has 26 days.")
	b.Kit.Model = offline.New(rules.Rules())
	ref := b.Say("hi")
	b.write(ref, WriteRequest{Action: chat.Talk})
	said := b.Texts(ref)[chat.PieceKey(1)]
	require.Contains(t, said, "Compare Leave Policy 2031 and Leave Policy 2030")
	require.Regexp(t, `(?s)\n- .*\n- .*\n- `, said)
	require.NotContains(t, said, "?\n\n_", "it asks nothing back")
}

// selections answers searches by their number of documents.
type selections struct {
	named, all retrieval.Selection

	mu      sync.Mutex
	queries []string
}

func (*selections) Respell(_ context.Context, _, query string, _ []string) (string, error) {
	return query, nil
}

func (s *selections) Select(_ context.Context, _ string, _ chat.Action, query string, docs []string, _ ...chat.Document) (retrieval.Selection, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
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
			d := b.Doc("Northwind Contract", "Fees.")
			b.Search = &selections{named: c.named, all: c.all}
			content := chat.Content{Message: "Who signed off the extension of the Northwind Contract?"}
			if c.tagged {
				content.TaggedDocs = []string{d}
			}
			got := must[RetrieveResult](b, b.Retrieve, b.Begin(content), RetrieveRequest{Action: chat.Inquire, DocIDs: []string{d}, Hint: true})
			require.Equal(t, c.want, got.Confidence)
			require.Equal(t, []bool{c.widened, c.widened}, []bool{got.Widened, got.Elsewhere})
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
			ref := b.Begin(chat.Content{Message: "the latest rules on gifts and hospitality", WebSearch: c.asked})
			got := must[RetrieveResult](b, b.Retrieve, ref, RetrieveRequest{Action: c.action, Web: true})
			require.Equal(t, c.want, got.Confidence)
		})
	}
}

func TestVagueFollowUpSearchesForThePersonsWordsNotForAButton(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.Say("What does the travel policy say about hotels?")
	require.NoError(t, b.Store.PutText(context.Background(), owner, first.TurnID, chat.PieceKey(1), "160."))
	q := chat.Question{ID: chat.InterruptID(first.TurnID, 1), Type: chat.ActionChoice, OptionIDs: []string{"inquire", "summarize"}}
	chosen := "inquire"
	b.End(activities.Ending{TurnRef: first, Status: chat.TurnCompleted, Log: []chat.Entry{
		{N: 1, Type: chat.EventTurnStarted}, {N: 2, Type: chat.EventInterrupt, Question: &q},
		{N: 3, Type: chat.EventResumed, Answers: q.ID, Resume: &chat.ResumeValue{Type: chat.ActionChoice, Value: &chosen}},
		{N: 4, Type: chat.EventText, Piece: 1, Ref: chat.PieceKey(1)},
	}})
	must[RetrieveResult](b, b.Retrieve, b.Say("and why?"), RetrieveRequest{Action: chat.Inquire})
	require.Contains(t, b.search.query, "hotels")
	require.NotContains(t, b.search.query, "Inquire")
}

func TestVagueFollowUpsOnAFollowUpKeepTheTopic(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Exchange("What does the leave policy say about sickness?", "A note.")
	b.Exchange("and on weekends?", "Also.")
	b.Exchange("what about last year's version", "The same.")
	must[RetrieveResult](b, b.Retrieve, b.Say("now the other one"), RetrieveRequest{Action: chat.Inquire})
	require.Contains(t, b.search.query, "sickness")
	require.Contains(t, b.search.query, "weekends")
}

func TestVagueFollowUpIsNotSearchedWithTheLinkOfAnImport(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Exchange("What does the leave policy say about sickness?", "A note.")
	b.Exchange("Please import https://drive.google.com/file/d/1AbCdEfGhIjKlMnOp/view", "It is being imported.")
	must[RetrieveResult](b, b.Retrieve, b.Say("and on weekends?"), RetrieveRequest{Action: chat.Inquire})
	require.Contains(t, b.search.query, "sickness")
	require.NotContains(t, b.search.query, "google")
}

func TestAnswersMayNameDocumentsByCodeOrAbbreviation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	cr := b.Doc("CR-7 Change Request: Checkout", "Text.")
	dpa := b.Doc("Data Processing Agreement Contoso", "Text.")
	for text, want := range map[string][]string{"cr7": {cr}, "the DPA": {dpa}, "cr 7 and the dpa": {cr, dpa}} {
		ref := b.Say("Summarize")
		got := must[ReadAnswerResult](b, b.ReadAnswer, ref, AnswerRequest{Value: chat.ResumeValue{Type: chat.TextInput, Value: &text}})
		require.ElementsMatch(t, want, got.IDs, text)
	}
}

func TestChosenModelUnderstandsTheMessage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Exchange("earlier", "answer")
	b.Model.Answers = []any{intentOf(chat.Inquire, chat.Medium), intentOf(chat.Compare, chat.High)}
	b.understand(b.Begin(chat.Content{Message: "Tell me about that document", Model: "other"}))
	for _, r := range b.Model.Asked() {
		require.Equal(t, "other", r.Model, r.Task)
	}
	require.Equal(t, 2, b.Model.Calls())
}
