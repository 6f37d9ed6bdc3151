package api

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api/limits"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

// answered stores a conversation with one settled turn.
func (b *bundle) answered(owner string, end db.Settlement) (thread, turn string) {
	b.t.Helper()
	t := chat.Turn{ID: uuid.NewString(), ThreadID: uuid.NewString(), Owner: owner, ClientTurnID: uuid.NewString(), Content: chat.Content{Message: "How long is the notice?"}}
	_, _, _, err := b.store.InsertTurn(b.t.Context(), t)
	require.NoError(b.t, err)
	require.NoError(b.t, b.store.MarkTurn(b.t.Context(), owner, t.ID, chat.TurnRunning, chat.RootCheckpoint))
	end.Owner, end.ThreadID, end.TurnID, end.Parent, end.Status = owner, t.ThreadID, t.ID, chat.RootCheckpoint, chat.TurnCompleted
	end.Terminal, end.At = chat.Event{N: 1, Type: chat.EventResponse}, time.Now()
	_, err = b.store.Settle(b.t.Context(), end)
	require.NoError(b.t, err)
	return t.ThreadID, t.ID
}

// citing is an answer that cites a document and shows a picture, after questions.
var citing = db.Settlement{
	Text: "Thirty days [1]. ![Chart](/api/attachments/1234)",
	Metadata: map[string]any{"tokens_used": 7, "stream_run_id": "private-run", "unverified": []string{"Thirty days"}, "citations": []chat.Citation{
		{N: 1, Source: "document", DocID: "private-doc", ChunkID: "private-chunk", Title: "Leave Policy", Quote: "thirty days", Start: new(4), End: new(15)}}},
	Prompts: []db.Prompt{
		{ID: "n", Message: "A private notice.", Code: "x"},
		{ID: "q", Message: "Which document?", Answer: "Leave Policy", Type: chat.DocChoice, Outcome: chat.OutcomeAnswered},
		{ID: "a", Message: "May I run a private tool?", Type: chat.ToolApproval, Outcome: chat.OutcomeAnswered},
		{ID: "u", Message: "A private question?", Type: chat.TextInput, Outcome: chat.OutcomeUnanswered},
	},
}

func tokenOf(share map[string]any) string { return strings.TrimPrefix(share["path"].(string), "/s/") }

// Rules C8, C10.
func TestALinkShowsACopyOfTheConversation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ann := b.client()
	owner := ann.id()
	thread, turn := b.answered(owner, citing)
	path := "/api/conversations/" + thread
	share := ann.call(201, "POST", path+"/shares", m{})
	require.EqualValues(t, 4, share["messages"])
	require.GreaterOrEqual(t, len(tokenOf(share)), 52, "at least 256 bits")

	// What comes later is not shown.
	_, _, _, err := b.store.InsertTurn(t.Context(), chat.Turn{ID: uuid.NewString(), ThreadID: thread, Owner: owner, ClientTurnID: "later", Content: chat.Content{Message: "A private later message"}})
	require.NoError(t, err)

	stranger := &client{t: t, url: b.url, h: http.Header{}, Client: &http.Client{Transport: ann.Transport}} // without cookies
	for name, headers := range map[string][]string{"nobody": nil, "bad token": {"Authorization", "Bearer bad"}, "bad cookie": {"Cookie", "palaver=bad"}} {
		res := stranger.send("GET", "/api/shared/"+tokenOf(share), nil, headers...)
		raw := must.Have(io.ReadAll(res.Body))(t)
		require.Equal(t, http.StatusOK, res.StatusCode, name)
		require.Equal(t, "noindex, nofollow", res.Header.Get("X-Robots-Tag"))
		require.Equal(t, "no-store", res.Header.Get("Cache-Control"))
		require.Empty(t, res.Cookies(), name)
		for _, private := range []string{"private", owner, thread, turn, "1234", "tokens_used", "doc_id"} {
			require.NotContains(t, string(raw), private, name)
		}
		var read sharedJSON
		require.NoError(t, json.Unmarshal(raw, &read))
		var messages []sharedMessage
		require.NoError(t, json.Unmarshal(read.Messages, &messages))
		require.Equal(t, "How long is the notice?", read.Title)
		var said []string
		for _, m := range messages {
			said = append(said, m.Role+": "+m.Text)
		}
		require.Equal(t, []string{"user: How long is the notice?", "assistant: Which document?", "user: Leave Policy", "assistant: Thirty days [1]. Chart"}, said)
		require.Equal(t, []sharedCitation{{N: 1, Source: "document", Title: "Leave Policy", Quote: "thirty days"}}, messages[3].Citations)
		require.Equal(t, []string{"Thirty days"}, messages[3].Unverified)
	}

	require.Empty(t, stranger.send("GET", share["path"].(string), nil).Cookies(), "of the page")
	require.NotEmpty(t, stranger.send("GET", "/chat/x", nil).Cookies())

	listed := ann.call(200, "GET", path+"/shares", nil)["items"].([]any)
	require.Len(t, listed, 1)
	require.NotContains(t, listed[0], "path", "a link is shown only when it is made")
	ann.call(204, "DELETE", path+"/shares/"+share["id"].(string), nil)
	stranger.call(404, "GET", "/api/shared/"+tokenOf(share), nil)
	ann.call(404, "DELETE", path+"/shares/"+share["id"].(string), nil)
}

// Rule C9.
func TestLinksAreTheirOwnersToRevoke(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ann, bob := b.client(), b.client()
	thread, _ := b.answered(ann.id(), citing)
	theirs, _ := b.answered(bob.id(), citing)
	share := ann.call(201, "POST", "/api/conversations/"+thread+"/shares", m{})
	id := share["id"].(string)
	bob.call(404, "DELETE", "/api/conversations/"+thread+"/shares/"+id, nil)
	bob.call(404, "DELETE", "/api/conversations/"+theirs+"/shares/"+id, nil)
	bob.call(404, "GET", "/api/conversations/"+thread+"/shares", nil)
	bob.call(200, "GET", "/api/shared/"+tokenOf(share), nil)
	ann.call(204, "DELETE", "/api/conversations/"+thread, nil)
	bob.call(404, "GET", "/api/shared/"+tokenOf(share), nil)
}

// Rule S9.
func TestLinksCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ann := b.client()
	thread, _ := b.answered(ann.id(), citing)
	share := ann.call(201, "POST", "/api/conversations/"+thread+"/shares", m{})
	b.server.Config.Features[FeatureSharedLinks] = false
	ann.call(404, "POST", "/api/conversations/"+thread+"/shares", m{})
	ann.call(404, "GET", "/api/shared/"+tokenOf(share), nil)
	ann.call(204, "DELETE", "/api/conversations/"+thread+"/shares/"+share["id"].(string), nil)
}

// Rule C8.
func TestConversationsThatCannotBeSharedAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ann := b.client()
	empty := ann.call(201, "POST", "/api/conversations", m{"title": "Empty"})["id"].(string)
	require.Equal(t, "id", field(ann.call(400, "POST", "/api/conversations/"+empty+"/shares", m{})))
	long, _ := b.answered(ann.id(), db.Settlement{Text: strings.Repeat("x", maxSharedBytes)})
	require.Equal(t, chat.CodeTooLarge, errorCode(ann.call(413, "POST", "/api/conversations/"+long+"/shares", m{})))
	require.Equal(t, "head", field(ann.call(400, "POST", "/api/conversations/"+long+"/shares", m{"head": "a\x00b"})))
	ann.call(404, "POST", "/api/conversations/"+long+"/shares", m{"head": uuid.NewString()})
}

// Rule C10.
func TestOpeningLinksIsLimitedByAddress(t *testing.T) {
	t.Parallel()
	b := setup(t)
	refused := 0
	for range 2*limits.VisitsPerMinute + 1 { // a minute may end meanwhile
		if res := b.client().send("GET", "/api/shared/unknown", nil); res.StatusCode == http.StatusTooManyRequests {
			refused++
		}
	}
	require.NotZero(t, refused)
}

// Rule C11.
func TestFeedbackIsStoredChangedAndTakenBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ann, bob := b.client(), b.client()
	thread, turn := b.answered(ann.id(), citing)
	path := "/api/conversations/" + thread + "/feedback"
	require.Empty(t, ann.call(200, "GET", path, nil)["items"])
	ann.call(200, "PUT", path+"/"+turn, m{"rating": "up"})
	changed := ann.call(200, "PUT", path+"/"+turn, m{"rating": "down", "reason": "  Too long\nand wrong "})
	require.Equal(t, "Too long\nand wrong", changed["reason"])
	require.Equal(t, []any{changed}, ann.call(200, "GET", path, nil)["items"])

	require.Equal(t, "reason", field(ann.call(400, "PUT", path+"/"+turn, m{"rating": "up", "reason": strings.Repeat("ä", maxReason+1)})))
	for _, rating := range []any{"", "sideways", nil} {
		require.Equal(t, "rating", field(ann.call(400, "PUT", path+"/"+turn, m{"rating": rating})), rating)
	}
	ann.call(404, "PUT", path+"/"+uuid.NewString(), m{"rating": "up"})
	bob.call(404, "PUT", path+"/"+turn, m{"rating": "up"})
	bob.call(404, "GET", path, nil)
	bob.call(404, "DELETE", path+"/"+turn, nil)

	ann.call(204, "DELETE", path+"/"+turn, nil)
	require.Empty(t, ann.call(200, "GET", path, nil)["items"])
}

// Rule C6.
func TestSeveralConversationsAreArchivedAndDeletedAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ann, bob := b.client(), b.client()
	made := func(c *client) string {
		return c.call(201, "POST", "/api/conversations", m{"title": "x"})["id"].(string)
	}
	listed := func(query string) (ids []string) {
		for _, item := range ann.call(200, "GET", "/api/conversations"+query, nil)["items"].([]any) {
			ids = append(ids, item.(m)["id"].(string))
		}
		return ids
	}
	one, two, three, theirs := made(ann), made(ann), made(ann), made(bob)
	batch := func(action string, ids ...string) m {
		return ann.call(200, "POST", "/api/batch/conversations", m{"action": action, "ids": ids})
	}
	got := batch("archive", one, two, theirs)
	require.Equal(t, []any{one, two}, got["done"])
	require.Equal(t, theirs, got["failed"].([]any)[0].(m)["id"])
	require.Equal(t, chat.CodeNotFound, got["failed"].([]any)[0].(m)["code"])
	require.Equal(t, []string{three}, listed(""))
	require.ElementsMatch(t, []string{one, two}, listed("?archived=true"))
	require.ElementsMatch(t, []string{one, two, three}, listed("?q=x"))
	batch("unarchive", two)
	require.ElementsMatch(t, []string{two, three}, listed(""))
	require.Equal(t, []any{one, two, theirs}, batch("delete", one, two, theirs)["done"], "a conversation that does not exist counts as deleted")
	require.Equal(t, []string{three}, listed("?q=x"))
	bob.call(200, "GET", "/api/conversations/"+theirs, nil)

	many := make([]string, maxBatch+1)
	for i := range many {
		many[i] = uuid.NewString()
	}
	for wrong, body := range map[string]m{"action": {"action": "rename", "ids": []string{one}}, "ids": {"action": "delete", "ids": many}} {
		require.Equal(t, wrong, field(ann.call(400, "POST", "/api/batch/conversations", body)))
	}
	require.Equal(t, "ids", field(ann.call(400, "POST", "/api/batch/conversations", m{"action": "delete", "ids": []string{}})))
	require.Equal(t, "archived", field(ann.call(400, "GET", "/api/conversations?archived=true&q=x", nil)))
}

// Rule C4.
func TestPinningAndArchivingExcludeEachOther(t *testing.T) {
	t.Parallel()
	ann := setup(t).client()
	path := "/api/conversations/" + ann.call(201, "POST", "/api/conversations", m{"title": "x"})["id"].(string)
	require.Equal(t, true, ann.call(200, "PATCH", path, m{"pinned": true, "title": "y"})["pinned"])
	archived := ann.call(200, "PATCH", path, m{"archived": true})
	require.Equal(t, []any{"y", nil, true}, []any{archived["title"], archived["pinned"], archived["archived"]})
	require.Equal(t, "archived", field(ann.call(400, "PATCH", path, m{"pinned": true, "archived": true})))
	require.Equal(t, "title", field(ann.call(400, "PATCH", path, m{})))
	require.Equal(t, "title", field(ann.call(400, "PATCH", path, m{"title": " "})))
}
