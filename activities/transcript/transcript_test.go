package transcript

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/testkit/must"
)

// names is a Store that counts its reads.
type names struct {
	texts  map[string]string
	titles map[string]string
	sets   map[string]string
	hits   []chat.Hit
	reads  []string
	err    error
}

func (n *names) Texts(context.Context, string, string) (map[string]string, error) {
	n.reads = append(n.reads, "texts")
	return n.texts, n.err
}

func (n *names) DocumentsByID(_ context.Context, _ string, ids []string) ([]chat.Document, error) {
	n.reads = append(n.reads, "documents")
	var out []chat.Document
	for _, id := range ids {
		if title, ok := n.titles[id]; ok {
			out = append(out, chat.Document{ID: id, Title: title})
		}
	}
	return out, n.err
}

func (n *names) SetsByID(_ context.Context, _ string, ids []string) ([]chat.DocumentSet, error) {
	n.reads = append(n.reads, "sets")
	var out []chat.DocumentSet
	for _, id := range ids {
		out = append(out, chat.DocumentSet{ID: id, Name: n.sets[id]})
	}
	return out, n.err
}

func (n *names) ChunksByID(_ context.Context, _ string, ids []string) ([]chat.Hit, error) {
	n.reads = append(n.reads, "chunks")
	var out []chat.Hit
	for _, h := range n.hits {
		if slices.Contains(ids, h.ID) {
			out = append(out, h)
		}
	}
	return out, n.err
}

var ref = Ref{Owner: "o", ThreadID: "th", TurnID: "tu"}

func ptr(s string) *string { return &s }

func TestRenderAddsTheTextsOfEveryEntry(t *testing.T) {
	store := &names{
		texts:  map[string]string{"piece:1": "The answer.", "web_query": "capital rules", "unresolved": `"XYZ"`},
		titles: map[string]string{"d1": "Circular"},
	}
	choice := chat.Question{ID: "tu.q1", Type: chat.DocChoice, Prompt: chat.PromptWhichDoc, Action: chat.Compare, OptionIDs: []string{"d1", "gone", chat.AllDocs}}
	unknown := chat.Question{ID: "tu.q2", Type: chat.TextInput, Prompt: chat.PromptUnknownDoc, Ref: "unresolved"}
	answer := chat.ResumeValue{Type: chat.DocChoice, Value: ptr("d1")}
	events, err := Render(context.Background(), store, ref, []chat.Entry{
		{N: 1, Type: chat.EventTurnStarted},
		{N: 2, Type: chat.EventStatus, Node: chat.NodeDocs},
		{N: 3, Type: chat.EventStatus, Node: chat.NodeDocs, DocIDs: []string{"d1"}},
		{N: 4, Type: chat.EventInterrupt, Question: &choice},
		{N: 5, Type: chat.EventResumed, Answers: choice.ID, Resume: &answer},
		{N: 6, Type: chat.EventInterrupt, Question: &unknown, Ref: unknown.Ref},
		{N: 7, Type: chat.EventStatus, Node: chat.NodeWebSearch, Ref: "web_query"},
		{N: 8, Type: chat.EventNotice, Code: chat.NoticeWebDropped},
		{N: 9, Type: chat.EventText, Piece: 1, Ref: "piece:1"},
		{N: 10, Type: chat.EventResponse},
	})
	require.NoError(t, err)
	of := func(e chat.Event) chat.Event { e.TurnID, e.ThreadID = "tu", "th"; return e }
	require.Equal(t, []chat.Event{
		of(chat.Event{N: 1, Type: chat.EventTurnStarted}),
		of(chat.Event{N: 2, Type: chat.EventStatus, Node: chat.NodeDocs, Message: "Finding documents...", Coded: messages.StatusDocuments.Coded}),
		of(chat.Event{N: 3, Type: chat.EventStatus, Node: chat.NodeDocs, Message: "Finding documents...", Coded: messages.StatusDocuments.Coded, DocsFound: []chat.DocRef{{ID: "d1", Title: "Circular"}}}),
		of(chat.Event{N: 4, Type: chat.EventInterrupt, Message: "Which document would you like to compare?", Coded: messages.AskCompare.Coded, Interrupt: &chat.Interrupt{
			ID: "tu.q1", Type: chat.DocChoice, Message: "Which document would you like to compare?", Coded: messages.AskCompare.Coded,
			Options: []chat.Option{{ID: "d1", Label: "Circular"}, {ID: "gone"}, {ID: "all", Label: "All of these", Code: "option.all"}},
		}}),
		of(chat.Event{N: 5, Type: chat.EventResumed, Interrupt: &chat.Interrupt{ID: "tu.q1"}, Resume: &answer}),
		of(chat.Event{N: 6, Type: chat.EventInterrupt, Message: unknown.Message(`"XYZ"`, "").Text, Coded: unknown.Message(`"XYZ"`, "").Coded, Interrupt: &chat.Interrupt{
			ID: "tu.q2", Type: chat.TextInput, Message: unknown.Message(`"XYZ"`, "").Text, Coded: unknown.Message(`"XYZ"`, "").Coded,
		}}),
		of(chat.Event{N: 7, Type: chat.EventStatus, Node: chat.NodeWebSearch, WebQuery: "capital rules", Message: `Searching online "capital rules"`, Coded: messages.Coded{Code: "status.web_search", Params: messages.Params{"query": "capital rules"}}}),
		of(chat.Event{N: 8, Type: chat.EventNotice, Code: chat.NoticeWebDropped, Message: messages.WebDropped.Text, Coded: messages.WebDropped.Coded}),
		of(chat.Event{N: 9, Type: chat.EventText, Piece: 1, Text: "The answer."}),
	}, events)
	slices.Sort(store.reads)
	require.Equal(t, []string{"documents", "texts"}, store.reads, "documents and texts are read once each")
}

func TestStatusOfACallHasItsIDAndTheWordsOfItsReport(t *testing.T) {
	call := chat.CallRef{ID: "c", Name: "draw"}
	key := chat.ProgressKey("c", 1)
	store := &names{texts: map[string]string{key: `{"of":"c","call":true,"n":1,"node":"tool","text":"Half done"}`}}
	events, err := Render(context.Background(), store, ref, []chat.Entry{
		{N: 1, Type: chat.EventStatus, Node: chat.NodeTool, Call: &call},
		{N: 2, Type: chat.EventStatus, Node: chat.NodeTool, Ref: key, Call: &call},
	})
	require.NoError(t, err)
	require.Equal(t, []chat.Event{
		{N: 1, Type: chat.EventStatus, TurnID: "tu", ThreadID: "th", Node: chat.NodeTool, Message: "Calling draw...",
			Coded: messages.Coded{Code: "status.tool", Params: messages.Params{"tool": "draw"}}, ToolCallID: "c"},
		{N: 2, Type: chat.EventStatus, TurnID: "tu", ThreadID: "th", Node: chat.NodeTool, Message: "Half done", ToolCallID: "c", Report: key},
	}, events)
}

func TestRenderReadsOnlyWhatEntriesNeed(t *testing.T) {
	store := &names{err: errors.New("unavailable")}
	events := must.Have(Render(context.Background(), store, ref, []chat.Entry{{N: 1, Type: chat.EventTurnStarted}, {N: 2, Type: chat.EventStatus, Node: chat.NodeIntent}}))(t)
	require.Len(t, events, 2)
	require.Empty(t, store.reads)
	require.ErrorIs(t, must.ErrOf(Render(context.Background(), store, ref, []chat.Entry{{N: 1, Type: chat.EventText, Ref: "piece:1"}})), store.err)
}

func TestAnswerIsRenderedWithLabelsAndTitles(t *testing.T) {
	store := &names{titles: map[string]string{"d1": "Circular", "d2": "Policy"}, sets: map[string]string{"s1": "Rules"}}
	actions := chat.Question{ID: "q", Type: chat.ActionChoice, OptionIDs: []string{"compare", "audit"}}
	docs := chat.Question{ID: "q", Type: chat.DocChoice, OptionIDs: []string{"d1", "d2", chat.AllDocs}}
	text := chat.Question{ID: "q", Type: chat.TextInput}
	low := chat.Question{ID: "q", Type: chat.RetrievalLow, OptionIDs: []string{chat.OptionTagDocs, chat.OptionContinue}}
	for name, tc := range map[string]struct {
		q    chat.Question
		v    chat.ResumeValue
		want string
	}{
		"action":          {actions, chat.ResumeValue{Value: ptr("audit")}, "Audit"},
		"document":        {docs, chat.ResumeValue{Value: ptr("d2")}, "Policy"},
		"all":             {docs, chat.ResumeValue{Value: ptr("all")}, "All of these"},
		"text":            {text, chat.ResumeValue{Value: ptr("the old one")}, "the old one"},
		"id as text":      {text, chat.ResumeValue{Value: ptr("d1")}, "Circular"},
		"tags":            {text, chat.ResumeValue{TaggedDocs: []string{"d1", "d2"}, TaggedSets: []string{"s1"}}, "Circular, Policy, Rules"},
		"tags and text":   {text, chat.ResumeValue{Value: ptr("these"), TaggedDocs: []string{"d1"}}, "these: Circular"},
		"tag in the text": {text, chat.ResumeValue{Value: ptr("@Circular"), TaggedDocs: []string{"d1"}}, "@Circular"},
		"tagged option":   {low, chat.ResumeValue{Value: ptr(chat.OptionTagDocs), TaggedDocs: []string{"d1"}}, "Tag specific documents: Circular"},
		"mention": {text, chat.ResumeValue{TipTap: json.RawMessage(
			`{"type":"mention","attrs":{"category":"document","id":"d2","label":"Policy"}}`)}, "Policy"},
	} {
		t.Run(name, func(t *testing.T) {
			_, prompts, err := End(context.Background(), store, ref, []chat.Entry{
				{Type: chat.EventInterrupt, Question: &tc.q}, {Type: chat.EventResumed, Answers: "q", Resume: &tc.v},
			}, nil)
			require.NoError(t, err)
			require.Len(t, prompts, 1)
			require.Equal(t, tc.want, prompts[0].Answer)
		})
	}
}

func TestToolCallsAreRenderedWithTheirCurrentArguments(t *testing.T) {
	store := &names{texts: map[string]string{
		chat.CallKey("c1"): `{"prompt":"a cat"}`, chat.EditedKey("c1"): `{"prompt":"two cats"}`, chat.ResultKey("c1"): "drawn",
		chat.CallKey("c2"): `{broken`,
	}}
	draw, look := chat.CallRef{ID: "c1", Name: "draw", Editable: true}, chat.CallRef{ID: "c2", Name: "look"}
	again := draw
	again.Editable = false
	events, err := Render(context.Background(), store, ref, []chat.Entry{
		{N: 1, Type: chat.EventToolCall, Call: &draw}, {N: 2, Type: chat.EventToolCall, Call: &look},
		{N: 3, Type: chat.EventInterrupt, Question: &chat.Question{ID: "tu.q1", Type: chat.ToolApproval, Prompt: chat.PromptApproveTools, Calls: []chat.CallRef{draw, look}}},
		{N: 4, Type: chat.EventStatus, Node: chat.NodeTool, Call: &draw},
		{N: 5, Type: chat.EventInterrupt, Question: &chat.Question{ID: "tu.q2", Type: chat.ToolApproval, Prompt: chat.PromptUnknownOutcome, Calls: []chat.CallRef{again}}},
		{N: 6, Type: chat.EventToolResult, Call: &draw, IsError: true},
	})
	require.NoError(t, err)
	require.Equal(t, []string{`{"prompt":"a cat"}`, "{}"}, []string{events[0].Arguments, events[1].Arguments})
	require.Equal(t, []chat.ToolCall{
		{ID: "c1", Name: "draw", Arguments: json.RawMessage(`{"prompt":"a cat"}`), Editable: true}, {ID: "c2", Name: "look", Arguments: json.RawMessage("{}")},
	}, events[2].Interrupt.Calls)
	require.Equal(t, "Calling draw...", events[3].Message)
	require.Equal(t, []chat.ToolCall{{ID: "c1", Name: "draw", Arguments: json.RawMessage(`{"prompt":"two cats"}`)}}, events[4].Interrupt.Calls,
		"what ran is what would run again")
	require.Equal(t, "drawn", events[5].Text)
	require.True(t, events[5].IsError)
}

// Rule N18.
func TestOpenQuestionHasTheToolsOfItsCallsOnce(t *testing.T) {
	schema := func(n int) string { return `{"type":"object","title":"` + strings.Repeat("x", n) + `"}` }
	store := &names{texts: map[string]string{
		chat.ToolKey("draw"): `{"name":"draw","description":"Draws.","effect":"changes"}`, chat.SchemaKey("draw"): schema(3),
		chat.ToolKey("large"): `{"name":"large","server":"office","description":"","effect":"destroys"}`, chat.SchemaKey("large"): schema(chat.MaxToolSchemas),
	}}
	q := chat.Question{ID: "tu.q1", Type: chat.ToolApproval, Prompt: chat.PromptApproveTools,
		Calls: []chat.CallRef{{ID: "c1", Name: "draw"}, {ID: "c2", Name: "draw"}, {ID: "c3", Name: "large"}, {ID: "c4", Name: "unknown"}}}
	entries := []chat.Entry{{N: 1, Type: chat.EventInterrupt, Question: &q}}
	events := must.Have(Render(context.Background(), store, ref, entries))(t)
	require.Equal(t, []chat.ToolInfo{
		{Name: "draw", Description: "Draws.", Effect: chat.EffectChanges, Schema: json.RawMessage(schema(3))},
		{Name: "large", Server: "office", Effect: chat.EffectDestroys},
	}, events[0].Interrupt.Tools)

	events, _, err := End(context.Background(), store, ref, entries, store.texts)
	require.NoError(t, err)
	require.Empty(t, events[0].Interrupt.Tools, "the question is over")
}

// Rule N19.
func TestQuestionAfterLittleWasFoundCitesTheClosestPassages(t *testing.T) {
	long := strings.Repeat("wörter ", 100)
	store := &names{hits: []chat.Hit{
		{Chunk: chat.Chunk{ID: "c2", DocID: "d", Text: "Short.", Start: 7, Pages: []chat.PageStart{{Page: 3, Start: 0}}}, Title: "Notes"},
		{Chunk: chat.Chunk{ID: "c1", DocID: "d", Text: long, Start: 100}, Title: "Notes"},
	}}
	entries := []chat.Entry{{N: 1, Type: chat.EventInterrupt, Question: &chat.Question{ID: "tu.q1", Type: chat.RetrievalLow, Prompt: chat.PromptRetrievalLow, ChunkIDs: []string{"c1", "deleted", "c2"}}}}
	events := must.Have(Render(context.Background(), store, ref, entries))(t)
	closest := events[0].Interrupt.Closest
	require.Len(t, closest, 2, "in the order of the question, without deleted ones")
	require.Equal(t, []int{1, 2}, []int{closest[0].N, closest[1].N})
	require.Equal(t, []string{"c1", "c2"}, []string{closest[0].ChunkID, closest[1].ChunkID})
	require.True(t, strings.HasPrefix(long, closest[0].Quote) && strings.HasSuffix(closest[0].Quote, "wörter"), "whole words, verbatim")
	require.Equal(t, utf8.RuneCountInString(closest[0].Quote), *closest[0].End-*closest[0].Start)
	require.Equal(t, 7, *closest[1].Start)
	require.Equal(t, 3, closest[1].Page)
}

func TestAnAgentsOwnWordsAreRenderedAsTheyAre(t *testing.T) {
	q := chat.Question{ID: "tu.q1", Type: chat.Choice, Prompt: chat.PromptOwn, Text: "How fast?", OptionIDs: []string{"now", "later"}, Labels: []string{"Now", "Some day"}}
	entries := []chat.Entry{
		{N: 1, Type: chat.EventStatus, Node: chat.NodeAgent, Text: "Looking..."},
		{N: 2, Type: chat.EventInterrupt, Question: &q},
		{N: 3, Type: chat.EventResumed, Answers: q.ID, Resume: &chat.ResumeValue{Type: chat.Choice, Value: ptr("later")}},
		{N: 4, Type: chat.EventNotice, Code: chat.NoticeAgent, Text: "It will come."},
	}
	store := &names{}
	events := must.Have(Render(context.Background(), store, ref, entries))(t)
	require.Equal(t, "Looking...", events[0].Message)
	require.Equal(t, "How fast?", events[1].Message)
	require.Equal(t, []chat.Option{{ID: "now", Label: "Now"}, {ID: "later", Label: "Some day"}}, events[1].Interrupt.Options)
	require.Equal(t, "It will come.", events[3].Message)

	_, prompts, err := End(context.Background(), store, ref, entries, nil)
	require.NoError(t, err)
	require.Len(t, prompts, 2)
	require.Equal(t, []string{"How fast?", "Some day"}, []string{prompts[0].Message, prompts[0].Answer})
	require.Equal(t, "It will come.", prompts[1].Message)
}
