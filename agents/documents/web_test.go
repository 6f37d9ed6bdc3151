package documents

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/documents/retrieval"
	"github.com/palaver-chat/palaver/imports"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/testkit/activitytest"
	"github.com/palaver-chat/palaver/tools"
)

func TestWebQueryPromptHasDocumentsProfileAndDate(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.web.on = true
	d := b.Doc("Circular 2031", "Text.")
	require.NoError(t, b.Store.PutProfile(context.Background(), owner, chat.Profile{Industry: "banking", Location: "Malaysia"}))
	ref := b.Say("Is it still enforced?")
	b.Model.Answers = []any{llm.WebQuery{Query: " Circular 2031\n enforcement "}}
	require.Equal(t, activitytest.OneCall, must[WebQuery](b, b.WordWebQuery, ref, []string{d}).Usage)
	require.Equal(t, "Circular 2031 enforcement", b.Texts(ref)[chat.TextWebQuery])
	asked := b.Model.Last()
	require.Equal(t, llm.TaskWebQuery, asked.Task)
	require.Equal(t, "banking", asked.Facts.Industry)
	require.Equal(t, "Malaysia", asked.Facts.Location)
	for _, known := range []string{"Is it still enforced?", "Circular 2031", "banking", "Malaysia"} {
		require.Contains(t, asked.Messages[1].Text, known)
	}

	for _, answer := range []any{llm.ErrUnparseable, llm.WebQuery{}} {
		ref = b.Say("Is it still enforced?")
		b.Model.Answers = []any{answer}
		must[WebQuery](b, b.WordWebQuery, ref, nil)
		require.Equal(t, "Is it still enforced?", b.Texts(ref)[chat.TextWebQuery], "the person's own words")
	}
}

// Rule S14.
func TestWebSearchThatIsNotConfiguredCallsNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ref := b.Say("latest?")
	require.False(t, must[bool](b, b.WebConfigured, ref))
	require.Zero(t, must[WebQuery](b, b.WordWebQuery, ref, nil).Usage)
	require.Equal(t, WebResult{Off: true}, must[WebResult](b, b.SearchWeb, ref))
	require.Zero(t, b.Model.Calls())
	b.Activities.Web = nil
	require.False(t, must[bool](b, b.WebConfigured, ref))
}

func TestForbiddenWebSearchCallsNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.web.on = true
	ref := b.Begin(chat.Content{Message: "latest?", NoWebSearch: true})
	require.Zero(t, must[WebQuery](b, b.WordWebQuery, ref, nil).Usage)
	require.NoError(t, b.Store.PutText(context.Background(), owner, ref.TurnID, chat.TextWebQuery, "query"))
	require.Zero(t, must[WebResult](b, b.SearchWeb, ref))
	require.Zero(t, b.Model.Calls())
}

func TestFailedWebSearchIsAResult(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.web.on = true
	ref := b.Say("latest?")
	require.NoError(t, b.Store.PutText(context.Background(), owner, ref.TurnID, chat.TextWebQuery, "query"))
	b.web.err = errors.New("planted")
	require.Equal(t, WebResult{Failed: true}, must[WebResult](b, b.SearchWeb, ref))

	b.web.err, b.web.pages = nil, []tools.WebHit{{Title: "T", URL: "https://x.example", Text: "Text."}}
	require.Equal(t, WebResult{Results: 1, Usage: chat.Usage{Searches: 1, Unpriced: true}}, must[WebResult](b, b.SearchWeb, ref))
	require.Equal(t, "query", b.web.query)
	var kept []tools.WebHit
	require.NoError(t, json.Unmarshal([]byte(b.Texts(ref)[chat.TextWebResults]), &kept))
	require.Equal(t, b.web.pages, kept)
}

func TestRetrieveSearchesForTheMessageWithoutDocumentNames(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d := b.Doc("Circular", "Text.")
	b.search.selection = retrieval.Selection{
		Hits: []chat.Hit{{Chunk: chat.Chunk{ID: d + ".0"}}}, Confidence: chat.Medium, Score: 0.5, Processing: true, Unreadable: true,
	}
	b.web.on = true
	ref := b.Begin(chat.Content{Message: "What capital is required by @Circular?", TipTap: composed(mentionNode("document", d, "Circular"))})
	got := must[RetrieveResult](b, b.Retrieve, ref, RetrieveRequest{Action: chat.Inquire, DocIDs: []string{d}})
	require.Equal(t, RetrieveResult{ChunkIDs: []string{d + ".0"}, Confidence: chat.Medium, Score: 0.5, Processing: true, Unreadable: true}, got)
	require.NotContains(t, b.search.query, "Circular")
	require.Contains(t, b.search.query, "capital is required")
	require.Equal(t, []string{d}, b.search.docs)
}

func TestRetrieveNamesTheClosestPassagesWhenLittleIsFound(t *testing.T) {
	t.Parallel()
	b := setup(t)
	hits := func(ids ...string) (all []chat.Hit) {
		for _, id := range ids {
			all = append(all, chat.Hit{Chunk: chat.Chunk{ID: id}})
		}
		return all
	}
	for name, c := range map[string]struct {
		found retrieval.Selection
		want  []string
	}{
		"enough":       {retrieval.Selection{Confidence: chat.Medium, Hits: hits("a")}, nil},
		"little":       {retrieval.Selection{Confidence: chat.Low, Hits: hits("a", "b", "c", "d")}, []string{"a", "b", "c"}},
		"only weak":    {retrieval.Selection{Confidence: chat.Low, Weak: hits("w")}, []string{"w"}},
		"nothing":      {retrieval.Selection{Confidence: chat.Low}, nil},
		"weak besides": {retrieval.Selection{Confidence: chat.Low, Hits: hits("a"), Weak: hits("w")}, []string{"a"}},
	} {
		b.search.selection = c.found
		got := must[RetrieveResult](b, b.Retrieve, b.Say("What is the capital of "+name+"?"), RetrieveRequest{Action: chat.Inquire})
		require.Equal(t, c.want, got.Closest, name)
	}
}

func TestVagueFollowUpIsSearchedWithTheQuestionBeforeIt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Exchange("What are the penalties for late reporting?", "Fines.")
	must[RetrieveResult](b, b.Retrieve, b.Say("And what about it?"), RetrieveRequest{Action: chat.Inquire})
	require.Contains(t, b.search.query, "penalties for late reporting")
	must[RetrieveResult](b, b.Retrieve, b.Say("How long is maternity leave?"), RetrieveRequest{Action: chat.Inquire})
	require.NotContains(t, b.search.query, "penalties")
}

// A text that Retrieve stored would be taken for the answer of an earlier attempt.
func TestAnswerIsWrittenWhileAnImportIsOpen(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.search.selection = retrieval.Selection{Confidence: chat.Low}
	ref := b.Say("What are the latest rules on gifts?")
	_, err := b.Store.CreateImport(t.Context(), chat.Import{ID: uuid.NewString(), Owner: owner, ThreadID: b.Thread, Key: "key",
		Source: chat.SourceDrive, ExternalID: "a", URL: "https://drive.example/a", State: chat.ImportDownloading})
	require.NoError(t, err)
	found := must[RetrieveResult](b, b.Retrieve, ref, RetrieveRequest{Action: chat.Inquire, Web: true, Imports: true})
	require.True(t, found.Importing)
	require.NotContains(t, b.Texts(ref), chat.PieceKey(1))

	b.Model.OnStream = activitytest.StreamText("From the web.")
	b.write(ref, WriteRequest{Action: chat.Inquire, Web: true})
	require.Equal(t, "From the web.", b.Texts(ref)[chat.PieceKey(1)])

	ref = b.Say("And for suppliers?")
	must[any](b, b.SayImporting, ref)
	require.Equal(t, imports.StillProcessing, b.Texts(ref)[chat.PieceKey(1)])
}

func TestAuditSearchesForTheTextToAudit(t *testing.T) {
	t.Parallel()
	const email = "Customer data may be shared freely with all our partners abroad."
	b := setup(t)
	subject := b.Doc("Email", email)
	given := b.Say("Audit")
	require.NoError(t, b.Store.PutText(context.Background(), owner, given.TurnID, chat.TextSource, email))
	for name, c := range map[string]struct {
		ref     activities.TurnRef
		subject string
	}{
		"in the message": {ref: b.Say("Audit this: " + email)},
		"as an answer":   {ref: given},
		"a document":     {ref: b.Say("Audit the email"), subject: subject},
	} {
		must[RetrieveResult](b, b.Retrieve, c.ref, RetrieveRequest{Action: chat.Audit, Subject: c.subject})
		require.Equal(t, email, b.search.query, name)
	}
}
