package api

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api/limits"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/audit"
	"github.com/palaver-chat/palaver/testkit/must"
)

// spaces sends a valid request to every route about spaces.
func (c *client) spaces(b *bundle) {
	c.t.Helper()
	space, doc := c.withCanary(b, "Team", "canary")
	in := "/api/spaces/" + space
	for _, path := range []string{"/api/spaces", in, in + "/people", in + "/members", in + "/deleted"} {
		c.call(200, "GET", path, nil)
	}
	require.Equal(c.t, http.StatusOK, c.send("GET", in+"/export", nil).StatusCode)
	c.call(200, "PATCH", in, m{"name": "Team", "public_documents": true})
	c.call(204, "PUT", in+"/members", m{"kind": "group", "id": "/legal", "role": "reader"})
	c.call(204, "DELETE", in+"/members?kind=group&id=/legal", nil)
	c.call(204, "DELETE", "/api/documents/"+doc, nil, spaceHeader, space)
	c.call(204, "POST", in+"/deleted/"+doc+"/restore", nil)
	thread := c.call(201, "POST", "/api/conversations", m{"title": "Shared"}, spaceHeader, space)["id"].(string)
	c.call(200, "PATCH", "/api/conversations/"+thread, m{"shared": true}, spaceHeader, space)
	c.call(201, "POST", "/api/conversations/"+thread+"/branch", m{}, spaceHeader, space)
	c.call(204, "DELETE", in+"?name=Team", nil)
	c.call(200, "POST", in+"/restore", nil)
}

// withCanary makes a space of c with a document that has the word.
func (c *client) withCanary(b *bundle, name, word string) (space, doc string) {
	c.t.Helper()
	space = c.call(201, "POST", "/api/spaces", m{"name": name})["id"].(string)
	doc = c.call(202, "POST", "/api/documents", m{"title": word, "text": word}, spaceHeader, space)["id"].(string)
	b.ready(space, doc, word)
	return space, doc
}

func (b *bundle) ready(space, doc, text string) {
	b.t.Helper()
	require.NoError(b.t, b.store.StoreText(b.t.Context(), chat.SpaceOwner(space), doc, text, []chat.Chunk{{Text: text, End: len(text)}}, nil))
}

// spaceRoutes are the requests that read documents, with the words of every space in their query.
func spaceRoutes(doc, words string) []string {
	d, words := "/api/documents/"+doc, url.QueryEscape(words)
	return []string{"/api/documents", d, d + "/text", d + "/original", d + "/chunks/" + doc + ".0", "/api/search?q=" + words, "/api/search?q=" + words + "&doc_ids=" + doc}
}

func (c *client) body(path, space string) (int, string) {
	c.t.Helper()
	var headers []string
	if space != "" {
		headers = []string{spaceHeader, space}
	}
	res := c.send("GET", path, nil, headers...)
	return res.StatusCode, string(must.Have(io.ReadAll(res.Body))(c.t))
}

// Rules D17, D18.
//
// people × spaces × routes, with random changes of the members: whoever has no role in a space
// gets nothing of it.
func TestNoCanaryReachesAnybodyWithoutTheRight(t *testing.T) {
	t.Parallel()
	es := newSigner(t, "es", jwt.SigningMethodES256)
	p := newOIDC(t, es)
	b := setup(t, p.accepts)
	names := []string{"bob", "carol", "dave", "eve"}
	groups := map[string][]string{}
	as := func(name string) *client { // with a token that has the groups of now
		c := b.client()
		c.h.Set("Authorization", "Bearer "+es.sign(t, p.claims(jwt.MapClaims{"sub": name, "exp": time.Now().Add(time.Hour).Unix(), "realm": m{"roles": groups[name]}})))
		return c
	}
	ann := as("ann")
	ids := map[string]string{}
	for _, name := range names {
		ids[name] = as(name).id()
	}
	var spaces, docs, words []string
	for n := range 3 {
		word := fmt.Sprintf("canary%c", 'a'+n)
		space, doc := ann.withCanary(b, fmt.Sprint("Space ", n), word)
		spaces, docs, words = append(spaces, space), append(docs, doc), append(words, word)
		ann.call(204, "PUT", "/api/spaces/"+space+"/members", m{"kind": "group", "id": "/legal", "role": "reader"})
	}
	member := map[string]map[int]bool{} // by their own id
	for _, name := range names {
		member[name] = map[int]bool{}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 25 {
		name, n := names[random.IntN(len(names))], random.IntN(len(spaces))
		path := "/api/spaces/" + spaces[n] + "/members"
		switch {
		case random.IntN(3) == 0:
			if groups[name] = nil; random.IntN(2) == 0 {
				groups[name] = []string{"/sales", "/legal"}
			}
		case member[name][n]:
			ann.call(204, "DELETE", path+"?kind=person&id="+url.QueryEscape(ids[name]), nil)
		default:
			ann.call(204, "PUT", path, m{"kind": "person", "id": ids[name], "role": "contributor"})
		}
		member[name][n] = isMember(ann, path, ids[name])
		c := as(name)
		for at := range spaces {
			reads := member[name][at] || len(groups[name]) > 0
			for _, route := range spaceRoutes(docs[at], strings.Join(words, " ")) {
				status, body := c.body(route, spaces[at])
				require.Equal(t, reads, status == http.StatusOK && strings.Contains(body, words[at]), "%s reads %s of space %d", name, route, at)
				for other := range spaces {
					if other != at {
						require.NotContains(t, body, words[other], "of another space")
					}
				}
				if !reads {
					require.Equal(t, http.StatusNotFound, status)
				}
				status, body = c.body(route, "")
				require.NotContains(t, body, words[at], "%s without a space: %d", route, status)
			}
		}
	}
	stranger := b.client() // anonymous
	for _, route := range spaceRoutes(docs[0], words[0]) {
		status, body := stranger.body(route, spaces[0])
		require.Equal(t, http.StatusNotFound, status)
		require.NotContains(t, body, words[0])
	}
}

// Rule D16: the newest token counts, whichever process gets it.
func TestGroupThatAnotherProcessHasStoredEndsWithTheNextToken(t *testing.T) {
	t.Parallel()
	es := newSigner(t, "es", jwt.SigningMethodES256)
	p := newOIDC(t, es)
	first := setup(t, p.accepts)
	second := setup(t, p.accepts, func(d *Deps) { d.Store = first.store })
	as := func(b *bundle, name string, groups ...string) *client {
		c := b.client()
		c.h.Set("Authorization", "Bearer "+es.sign(t, p.claims(jwt.MapClaims{"sub": name, "exp": time.Now().Add(time.Hour).Unix(), "realm": m{"roles": groups}})))
		return c
	}
	ann := as(first, "ann")
	path := "/api/spaces/" + ann.call(201, "POST", "/api/spaces", m{"name": "Team"})["id"].(string)
	ann.call(204, "PUT", path+"/members", m{"kind": "group", "id": "/legal", "role": "reader"})
	as(first, "bob").call(404, "GET", path, nil)
	as(second, "bob", "/legal").call(200, "GET", path, nil)
	first.server.groups.mu.Lock()
	for id, known := range first.server.groups.stored {
		known.checked = known.checked.Add(-groupsChecked)
		first.server.groups.stored[id] = known
	}
	first.server.groups.mu.Unlock()
	require.Eventually(t, func() bool { return as(first, "bob").send("GET", path, nil).StatusCode == http.StatusNotFound }, 5*time.Second, time.Millisecond)
	second.client().call(404, "GET", path, nil)
}

func isMember(manager *client, path, id string) bool {
	manager.t.Helper()
	for _, v := range manager.call(200, "GET", path, nil)["items"].([]any) {
		if of := v.(m); of["kind"] == "person" && of["id"] == id {
			return true
		}
	}
	return false
}

// Rules D15, D16, D17, D20.
func TestRolesInASpace(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ann, bob, carol, eve := b.client().signedIn("ann"), b.client().signedIn("bob"), b.client().signedIn("carol"), b.client().signedIn("eve")
	space, doc := ann.withCanary(b, "Team", "canary")
	in, members := "/api/spaces/"+space, "/api/spaces/"+space+"/members"
	ann.call(204, "PUT", members, m{"kind": "person", "id": "bob", "role": "contributor"})
	ann.call(204, "PUT", members, m{"kind": "person", "id": "carol", "role": "reader"})
	text := m{"title": "Notes", "text": "Some text."}
	for _, r := range []struct {
		method, path string
		body         any
		inside       bool
		bob, carol   int
	}{
		{"GET", in, nil, false, 200, 200},
		{"PATCH", in, m{"name": "Taken"}, false, 403, 403},
		{"DELETE", in + "?name=Team", nil, false, 403, 403},
		{"POST", in + "/restore", nil, false, 403, 403},
		{"GET", in + "/people", nil, false, 200, 200},
		{"GET", in + "/export", nil, false, 403, 403},
		{"GET", members, nil, false, 403, 403},
		{"PUT", members, m{"kind": "person", "id": "eve", "role": "reader"}, false, 403, 403},
		{"DELETE", members + "?kind=person&id=ann", nil, false, 403, 403},
		{"GET", in + "/deleted", nil, false, 200, 403},
		{"POST", in + "/deleted/" + doc + "/restore", nil, false, 404, 403},
		{"POST", "/api/documents", text, true, 202, 403},
		{"PATCH", "/api/documents/" + doc, m{"title": "Canary"}, true, 200, 403},
		{"PATCH", "/api/documents/" + doc, m{"space_id": ""}, true, 403, 403},
		{"DELETE", "/api/documents/" + doc, nil, true, 204, 403},
	} {
		var headers []string
		if r.inside {
			headers = []string{spaceHeader, space}
		}
		what := r.method + " " + r.path
		eve.call(404, r.method, r.path, r.body, headers...)
		require.Equal(t, r.carol, carol.send(r.method, r.path, r.body, headers...).StatusCode, "a reader: "+what)
		require.Equal(t, r.bob, bob.send(r.method, r.path, r.body, headers...).StatusCode, "a contributor: "+what)
		require.Equal(t, http.StatusNotFound, b.client().send(r.method, r.path, r.body, headers...).StatusCode, "somebody without an account: "+what)
	}
	require.Equal(t, "bob", ann.call(200, "GET", "/api/documents", nil, spaceHeader, space)["items"].([]any)[0].(m)["added_by"])
	bob.call(204, "POST", in+"/deleted/"+doc+"/restore", nil)
	carol.call(200, "GET", "/api/documents/"+doc, nil, spaceHeader, space)

	// What works in no space is refused there, so that nothing is private by mistake.
	for _, route := range []string{"/api/imports", "/api/connections", "/api/me"} {
		ann.call(400, "GET", route, nil, spaceHeader, space)
	}
	bob.call(400, "POST", "/api/chat", m{"message": "x", "tagged_doc_ids": []string{doc}})

	ann.call(400, "DELETE", members+"?kind=person&id=ann", nil) // the last manager
	ann.call(400, "DELETE", in+"?name=team", nil)
	ann.call(204, "DELETE", in+"?name=Team", nil)
	carol.call(404, "GET", "/api/documents/"+doc, nil, spaceHeader, space)
	require.Empty(t, carol.call(200, "GET", "/api/spaces", nil)["items"])
	ann.call(200, "POST", in+"/restore", nil)
	carol.call(200, "GET", "/api/documents/"+doc, nil, spaceHeader, space)
	carol.call(204, "DELETE", members+"?kind=person&id=carol", nil) // leaves
	carol.call(404, "GET", "/api/documents/"+doc, nil, spaceHeader, space)
}

// Rule D19.
func TestMovingADocumentIntoASpaceAndBack(t *testing.T) {
	t.Parallel()
	var log *audit.Log
	b := setup(t, func(d *Deps) { log = audit.Open(d.Store, d.Log); d.Audit = log })
	ann, bob := b.client().signedIn("ann"), b.client().signedIn("bob")
	space := ann.call(201, "POST", "/api/spaces", m{"name": "Team"})["id"].(string)
	ann.call(204, "PUT", "/api/spaces/"+space+"/members", m{"kind": "person", "id": "bob", "role": "contributor"})
	doc := ann.call(202, "POST", "/api/documents", m{"title": "Notes", "text": "Some text."})["id"].(string)
	path := "/api/documents/" + doc
	ann.call(400, "PATCH", path, m{"space_id": space}) // while it is processed
	require.NoError(t, b.store.StoreText(t.Context(), "ann", doc, "Some text.", []chat.Chunk{{Text: "Some text.", End: 10}}, nil))
	bob.call(404, "PATCH", path, m{"space_id": space})
	moved := ann.call(200, "PATCH", path, m{"space_id": space})
	require.Equal(t, []any{space, "ann"}, []any{moved["space_id"], moved["added_by"]})
	ann.call(404, "GET", path, nil)
	bob.call(200, "GET", path, nil, spaceHeader, space)
	bob.call(403, "PATCH", path, m{"space_id": ""}, spaceHeader, space)
	ann.withKey(b, space).call(403, "PATCH", path, m{"space_id": ""}) // it works in the space only
	back := ann.call(200, "PATCH", path, m{"space_id": ""}, spaceHeader, space)
	require.Nil(t, back["space_id"])
	bob.call(404, "GET", path, nil, spaceHeader, space)
	b.client().signedIn("eve").call(404, "GET", path, nil, spaceHeader, space)

	log.Close()
	kinds := map[string]int{}
	for _, e := range must.Have(b.store.AuditEntries(t.Context(), db.AuditFilter{}, 0, 100))(t) {
		kinds[e.Kind] += e.Times
	}
	require.Equal(t, []int{2, 2, 4}, []int{kinds[audit.SpaceChanged], kinds[audit.DocumentMoved], kinds[audit.SpaceRefused]})
}

// settled stores a turn with an answer.
func (b *bundle) settled(owner, space, thread string, said chat.Response, scope ...string) {
	b.t.Helper()
	_, _, _, err := b.store.InsertTurn(b.t.Context(), chat.Turn{ID: "t", ThreadID: thread, Owner: owner, Space: space, ClientTurnID: "t", Content: chat.Content{Message: "canary", Agent: chat.AgentDocuments, Spaces: scope}})
	require.NoError(b.t, err)
	require.NoError(b.t, b.store.MarkTurn(b.t.Context(), owner, "t", chat.TurnRunning, chat.RootCheckpoint))
	metadata := map[string]any{"citations": said.Citations}
	require.NoError(b.t, must.ErrOf(b.store.Settle(b.t.Context(), db.Settlement{Owner: owner, ThreadID: thread, TurnID: "t", Parent: chat.RootCheckpoint, Status: chat.TurnCompleted, Text: said.Text, Metadata: metadata,
		Events:   []chat.Event{{Type: chat.EventText, N: 1, TurnID: "t", ThreadID: thread, Text: said.Text}},
		Terminal: chat.Event{Type: chat.EventResponse, N: 2, TurnID: "t", ThreadID: thread, Response: &said}})))
}

// quoting is an answer of which one paragraph quotes a document.
var quoting = chat.Response{Text: "In short: yes.\n\n“a linnet sings at dawn” [1]", Citations: []chat.Citation{{N: 1, Source: "document", Title: "Linnets", Quote: "a linnet sings at dawn"}}}

// Rule C17: what somebody wrote and got in a space stays theirs, without what documents said.
func TestAnswersOfASpaceStayTheirAuthorsWithoutQuotesOnceTheyLeave(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ann, bob := b.client().signedIn("ann"), b.client().signedIn("bob")
	space := ann.call(201, "POST", "/api/spaces", m{"name": "Team"})["id"].(string)
	ann.call(204, "PUT", "/api/spaces/"+space+"/members", m{"kind": "person", "id": "bob", "role": "reader"})
	thread := bob.call(201, "POST", "/api/conversations", m{"title": "Linnets"}, spaceHeader, space)["id"].(string)
	b.settled("bob", space, thread, quoting)
	snapshot := way{path: "/api/agui", body: `{"threadId":"` + thread + `","runId":"r","messages":[]}`}
	reads := map[string]func(space string) string{
		"native": func(space string) string { _, body := bob.body("/api/chat/history/"+thread, space); return body },
		"AI SDK": func(space string) string { _, body := bob.body("/api/ui/chat/"+thread, space); return body },
		"AG-UI": func(space string) string {
			_, body := bob.fetch("POST", snapshot, spaceHeader, space)
			return body
		},
		"export": func(string) string { _, all := unzip(t, bob.send("GET", "/api/me/export", nil)); return all },
	}
	for name, read := range reads {
		if name != "export" {
			require.Contains(t, read(space), "linnet sings", name)
		}
	}
	bob.call(204, "DELETE", "/api/spaces/"+space+"/members?kind=person&id=bob", nil)
	for name, read := range reads {
		body := read("")
		require.NotContains(t, strings.ToLower(body), "linnet", name)
		require.Contains(t, body, "In short: yes.", name)
		require.Contains(t, body, chat.Withheld, name)
		require.Contains(t, body, "canary", "%s: the person's own words", name)
	}
	listed := bob.call(200, "GET", "/api/conversations", nil)["items"].([]any)
	require.Len(t, listed, 1)
	require.Equal(t, []any{thread, space, ""}, []any{listed[0].(m)["id"], listed[0].(m)["space_id"], listed[0].(m)["title"]})
	require.Empty(t, bob.call(200, "GET", "/api/conversations?q=linnet", nil)["items"])
	bob.call(204, "DELETE", "/api/conversations/"+thread, nil)
}

// Rules C17, D15: managers permit public links in a space, and end those that exist.
func TestPublicLinksOfASpace(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ann, bob := b.client().signedIn("ann"), b.client().signedIn("bob")
	space := ann.call(201, "POST", "/api/spaces", m{"name": "Team"})["id"].(string)
	members := "/api/spaces/" + space + "/members"
	ann.call(204, "PUT", members, m{"kind": "person", "id": "bob", "role": "reader"})
	thread := bob.call(201, "POST", "/api/conversations", m{"title": "Linnets"}, spaceHeader, space)["id"].(string)
	b.settled("bob", space, thread, quoting)
	path := "/api/conversations/" + thread + "/shares"
	permit := func(links bool) {
		require.Equal(t, links, ann.call(200, "PATCH", "/api/spaces/"+space, m{"public_links": links})["public_links"])
	}
	bob.call(403, "POST", path, m{}, spaceHeader, space)
	permit(true)
	bob.call(403, "PATCH", "/api/spaces/"+space, m{"public_links": false})
	bob.call(403, "POST", path, m{}) // the space is not named
	ann.call(404, "POST", path, m{}, spaceHeader, space)
	token := strings.TrimPrefix(bob.call(201, "POST", path, m{}, spaceHeader, space)["path"].(string), "/s/")
	read := func(status int) string {
		res := b.client().send("GET", "/api/shared/"+token, nil)
		require.Equal(t, status, res.StatusCode)
		return string(must.Have(io.ReadAll(res.Body))(t))
	}
	require.Contains(t, read(200), "linnet sings")
	permit(false)
	require.NotContains(t, read(404), "linnet")
	require.Len(t, bob.call(200, "GET", path, nil, spaceHeader, space)["items"], 1, "it can be revoked")
	permit(true)
	read(200)
	ann.call(204, "DELETE", members+"?kind=person&id=bob", nil)
	require.NotContains(t, read(404), "linnet", "who left shows nothing of the space to others")
}

// Rule C20: also when the conversation has gone on without the space, and its owner reads it again.
func TestConversationThatHasReadASpaceGetsNoLink(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ann, bob := b.client().signedIn("ann"), b.client().signedIn("bob")
	space := ann.call(201, "POST", "/api/spaces", m{"name": "Team", "public_links": true})["id"].(string)
	members := "/api/spaces/" + space + "/members"
	join := func() { ann.call(204, "PUT", members, m{"kind": "person", "id": "bob", "role": "reader"}) }
	join()
	thread := uuid.NewString()
	b.settled("bob", "", thread, quoting, space)
	path := "/api/conversations/" + thread
	bob.call(403, "POST", path+"/shares", m{})
	ann.call(204, "DELETE", members+"?kind=person&id=bob", nil)
	_, _, _, err := b.store.InsertTurn(t.Context(), chat.Turn{ID: "u", ThreadID: thread, Owner: "bob", ClientTurnID: "u", Content: chat.Content{Message: "And now?", Agent: chat.AgentDocuments}})
	require.NoError(t, err)
	require.Nil(t, bob.call(200, "GET", path, nil)["space_ids"])
	join()
	_, history := bob.body("/api/chat/history/"+thread, "")
	require.Contains(t, history, "linnet sings")
	bob.call(403, "POST", path+"/shares", m{})
}

// Rules C14, C16 and C17.
func TestConversationOfASpaceIsReadByItsReadersOnly(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ann, bob, eve := b.client().signedIn("ann"), b.client().signedIn("bob"), b.client().signedIn("eve")
	space := ann.call(201, "POST", "/api/spaces", m{"name": "Team", "instructions": "Be brief.", "effort": "quick"})["id"].(string)
	member := "/api/spaces/" + space + "/members"
	ann.call(204, "PUT", member, m{"kind": "person", "id": "bob", "role": "reader"})
	thread := ann.call(201, "POST", "/api/conversations", m{"title": "Canary"}, spaceHeader, space)["id"].(string)
	path, history := "/api/conversations/"+thread, "/api/chat/history/"+thread
	b.settled("ann", space, thread, chat.Response{Text: "It sings."})

	require.Equal(t, space, ann.call(200, "GET", path, nil, spaceHeader, space)["space_id"])
	require.Empty(t, ann.call(200, "GET", "/api/conversations", nil)["items"])
	require.Equal(t, "", ann.call(200, "GET", path, nil)["title"], "it may name a document")
	ann.call(403, "POST", path+"/shares", m{})
	ann.call(400, "POST", "/api/chat", m{"message": "More?", "thread_id": thread})
	eve.call(404, "POST", "/api/chat", m{"message": "More?", "space_id": space})
	b.client().call(404, "POST", "/api/chat", m{"message": "More?"}, spaceHeader, space)

	bob.call(404, "GET", path, nil, spaceHeader, space)
	bob.call(404, "PATCH", path, m{"shared": true}, spaceHeader, space)
	ann.call(400, "PATCH", "/api/conversations/"+ann.call(201, "POST", "/api/conversations", m{})["id"].(string), m{"shared": true})
	ann.call(200, "PATCH", path, m{"shared": true}, spaceHeader, space)
	require.Equal(t, "ann", bob.call(200, "GET", path, nil, spaceHeader, space)["author"])
	read := func(c *client) string {
		_, body := c.body(history, space)
		return body
	}
	require.Contains(t, read(bob), "It sings.")
	require.Contains(t, read(bob), `"author":"ann"`)
	bob.call(404, "GET", path, nil)
	eve.call(404, "GET", path, nil, spaceHeader, space)
	copied := bob.call(201, "POST", path+"/branch", m{}, spaceHeader, space)["id"].(string)
	bob.call(404, "PATCH", path, m{"title": "Mine"}, spaceHeader, space)

	bob.call(200, "PATCH", "/api/conversations/"+copied, m{"shared": true}, spaceHeader, space)
	ann.call(204, "DELETE", member+"?kind=person&id=bob", nil)
	bob.call(400, "PATCH", "/api/conversations/"+copied, m{"title": "Spam"}) // its readers would read it
	bob.call(200, "PATCH", "/api/conversations/"+copied, m{"archived": true})
	bob.call(404, "GET", path, nil, spaceHeader, space)
	bob.call(404, "GET", history, nil, spaceHeader, space)
	bob.call(404, "POST", "/api/chat", m{"message": "More?", "thread_id": copied}, spaceHeader, space)
	_, own := bob.body("/api/chat/history/"+copied, "")
	require.NotContains(t, own, "It sings.")
	require.Contains(t, own, chat.Withheld)
}

// Rule D17: sets of a space are its own; contributors change them.
func TestSetsOfASpace(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ann, bob, carol, eve := b.client().signedIn("ann"), b.client().signedIn("bob"), b.client().signedIn("carol"), b.client().signedIn("eve")
	space, doc := ann.withCanary(b, "Team", "canary")
	members := "/api/spaces/" + space + "/members"
	ann.call(204, "PUT", members, m{"kind": "person", "id": "bob", "role": "contributor"})
	ann.call(204, "PUT", members, m{"kind": "person", "id": "carol", "role": "reader"})
	body := m{"name": "Canaries", "doc_ids": []string{doc}}
	set := bob.call(201, "POST", "/api/document-sets", body, spaceHeader, space)["id"].(string)
	path := "/api/document-sets/" + set
	read := func(c *client, space string) string {
		_, body := c.body("/api/document-sets", space)
		return body
	}
	require.Contains(t, read(carol, space), doc)
	for who, c := range map[string]*client{"a reader": carol, "a contributor": bob} {
		require.NotContains(t, read(c, ""), "Canaries", "%s elsewhere", who)
		c.call(404, "PUT", path, m{"name": "Mine"})
		c.call(404, "DELETE", path, nil)
		c.call(400, "POST", "/api/document-sets", body)
	}
	for _, r := range [][2]string{{"POST", "/api/document-sets"}, {"PUT", path}, {"DELETE", path}} {
		carol.call(403, r[0], r[1], body, spaceHeader, space)
		eve.call(404, r[0], r[1], body, spaceHeader, space)
	}
	require.NotContains(t, read(eve, space), "Canaries")
	own := carol.call(202, "POST", "/api/documents", m{"title": "Own", "text": "Own."})["id"]
	bob.call(400, "POST", "/api/document-sets", m{"name": "x", "doc_ids": []any{own}}, spaceHeader, space)
	ann.call(200, "PUT", path, m{"name": "Birds", "doc_ids": []string{doc}}, spaceHeader, space)
	carol.stream("POST", "/api/chat", m{"message": "What sings?", "space_id": space, "tagged_set_ids": []string{set}}).until("response")
	carol.call(400, "POST", "/api/chat", m{"message": "What sings?", "tagged_set_ids": []string{set}})
	ann.call(204, "DELETE", members+"?kind=person&id=bob", nil)
	bob.call(404, "PUT", path, body, spaceHeader, space)
	require.NotContains(t, read(bob, space), "Birds")
	ann.call(204, "DELETE", path, nil, spaceHeader, space)
	require.NotContains(t, read(carol, space), "Birds")
}

// Rule D17: boards of a space are read by its readers, and changed by contributors; the board says
// who has changed what.
func TestBoardsOfASpace(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ann, bob, eve := b.client().signedIn("ann"), b.client().signedIn("bob"), b.client().signedIn("eve")
	space, doc := ann.withCanary(b, "Team", "canary")
	member := "/api/spaces/" + space + "/members"
	ann.call(204, "PUT", member, m{"kind": "person", "id": "bob", "role": "contributor"})
	in := func(c *client, status int, method, path string, body any) map[string]any {
		t.Helper()
		return c.call(status, method, path, body, spaceHeader, space)
	}
	made := in(ann, 201, "POST", "/api/discoveries", m{"title": "Churn", "facts": []m{{"text": "Prices rose.", "changed_by_id": "eve"}}})
	board := "/api/discoveries/" + made["id"].(string)
	item := in(bob, 201, "POST", board+"/items", m{"entity_type": "fact", "text": "It sings.", "citation": m{"document_id": doc, "quote": "canary"}})["items"].([]any)[0].(m)
	in(ann, 200, "PATCH", board+"/items/"+item["fact_id"].(string), m{"text": "It sings at dawn."})
	got := in(bob, 200, "GET", board, nil)
	facts := got["facts"].([]any)
	require.Equal(t, []any{"ann", "ann", "bob"}, []any{facts[0].(m)["changed_by_id"], facts[1].(m)["changed_by_id"], facts[1].(m)["earlier_versions"].([]any)[0].(m)["by_id"]})
	require.Equal(t, "ann", got["changes"].([]any)[0].(m)["who"])
	require.Len(t, in(bob, 200, "GET", "/api/discoveries", nil)["items"], 1)
	for _, c := range []*client{ann, bob} {
		require.Empty(t, c.call(200, "GET", "/api/discoveries", nil)["items"])
		c.call(404, "GET", board, nil)
	}
	in(bob, 400, "POST", "/api/discoveries", m{"title": "x", "facts": 1})
	ann.call(204, "PUT", member, m{"kind": "person", "id": "bob", "role": "reader"})
	in(bob, 200, "GET", board, nil)
	for method, path := range map[string]string{"POST": board + "/items", "PUT": board, "PATCH": board, "DELETE": board} {
		in(bob, 403, method, path, m{})
		in(eve, 404, method, path, m{})
	}
	in(eve, 404, "GET", board, nil)
	names, all := unzip(t, ann.send("GET", "/api/spaces/"+space+"/export", nil))
	require.Contains(t, names, "discoveries/"+made["id"].(string)+".json")
	require.Contains(t, all, "It sings at dawn.")
	in(ann, 204, "DELETE", board, nil)
	in(ann, 404, "GET", board, nil)
	in(ann, 204, "POST", board+"/restore", nil)
	ann.call(204, "DELETE", member+"?kind=person&id=bob", nil)
	in(bob, 404, "GET", board, nil)
	ann.call(204, "DELETE", "/api/spaces/"+space+"?name=Team", nil)
	in(ann, 404, "GET", board, nil)
}

// A board keeps what it quotes, so its chat reads no space.
func TestChatOfABoardIsInNoSpace(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ann := b.client().signedIn("ann")
	space, _ := ann.withCanary(b, "Team", "canary")
	board := ann.call(201, "POST", "/api/discoveries", m{"title": "Churn"})["id"].(string)
	for _, body := range []m{{"message": "What sings?", "thread_id": board}, {"message": "What sings?", "thread_id": board, "agent": "documents"}} {
		body["space_id"] = space
		refused := ann.call(400, "POST", "/api/chat", body)["error"].(m)["details"].([]any)[0].(m)
		require.Equal(t, "is not used in the chat of a board", refused["problem"])
	}
	ann.stream("POST", "/api/chat", m{"message": "What sings?", "thread_id": board}).until("response")
}

// Rule C15.
func TestOpenStreamInASpaceEndsWhenItsReaderIsRemoved(t *testing.T) {
	t.Parallel()
	for name, follow := range map[string]func(*client, string) *events{
		"a message": func(c *client, space string) *events {
			return c.stream("POST", "/api/chat", m{"message": "What sings?", "thread_id": someThread, "space_id": space})
		},
		"attached": func(c *client, space string) *events {
			c.stream("POST", "/api/chat", m{"message": "What sings?", "thread_id": someThread, "space_id": space}).until("status")
			return c.stream("GET", "/api/chat/stream/"+someThread, nil, spaceHeader, space)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.server.ping = time.Millisecond
			b.engine.script = waiting
			ann, bob := b.client().signedIn("ann"), b.client().signedIn("bob")
			space := ann.call(201, "POST", "/api/spaces", m{"name": "Team"})["id"].(string)
			member := "/api/spaces/" + space + "/members"
			ann.call(204, "PUT", member, m{"kind": "person", "id": "bob", "role": "reader"})
			stream := follow(bob, space)
			stream.until("status")

			ann.call(204, "DELETE", member+"?kind=person&id=bob", nil)
			all := stream.rest()
			require.NotEmpty(t, all)
			require.Equal(t, chat.CodeForbidden, all[len(all)-1]["code"], "%v", all)
		})
	}
}

// withKey returns a client that has only a personal key of c, bound to the space.
func (c *client) withKey(b *bundle, space string) *client {
	c.t.Helper()
	made := c.call(201, "POST", "/api/me/keys", m{"name": "bot", "space_id": space})
	require.Equal(c.t, space, made["space_id"])
	bot := b.client()
	bot.h.Set("Authorization", "Bearer "+made["key"].(string))
	return bot
}

// Rules I16, I29.
func TestKeyOfASpaceWorksInItUntilItsOwnerLeaves(t *testing.T) {
	t.Parallel()
	var log *audit.Log
	b := setup(t, func(d *Deps) { log = audit.Open(d.Store, d.Log); d.Audit = log })
	ann, bob, eve := b.client().signedIn("ann"), b.client().signedIn("bob"), b.client().signedIn("eve")
	space, doc := ann.withCanary(b, "Team", "canary")
	other, _ := ann.withCanary(b, "Other", "nougat")
	member := "/api/spaces/" + space + "/members"
	ann.call(204, "PUT", member, m{"kind": "person", "id": "bob", "role": "reader"})
	for _, id := range []string{space, "x"} {
		eve.call(404, "POST", "/api/me/keys", m{"name": "bot", "space_id": id})
	}
	b.client().call(404, "POST", "/api/me/keys", m{"name": "bot", "space_id": space})

	writes, reads := ann.withKey(b, space), bob.withKey(b, space)
	require.Equal(t, space, bob.call(200, "GET", "/api/me/keys", nil)["items"].([]any)[0].(m)["space_id"])
	for _, bot := range []*client{writes, reads} {
		for _, route := range spaceRoutes(doc, "canary") {
			_, body := bot.body(route, "")
			require.Contains(t, body, "canary", route)
			status, body := bot.body(route, other)
			require.Equal(t, http.StatusForbidden, status, body)
		}
		bot.call(200, "GET", "/v1/models", nil)
		bot.call(403, "POST", "/api/chat", m{"message": "x", "space_id": other})
		bot.call(403, "GET", "/api/me", nil)
		bot.call(403, "GET", "/api/spaces", nil)
		thread := bot.ask(m{"message": "What sings?"}).until("response")["thread_id"].(string)
		bot.call(200, "GET", "/api/conversations/"+thread, nil)
		require.Equal(t, space, bot.call(200, "GET", "/api/conversations", nil)["items"].([]any)[0].(m)["space_id"])
		for _, call := range []struct{ tool, arguments, has string }{
			{"list_documents", `{}`, "canary"},
			{"list_documents", `{"space_id":"` + other + `"}`, "one space only"},
			{"list_imports", `{}`, "is not used here"},
		} {
			_, body := bot.fetch("POST", way{path: "/mcp/rpc", body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + call.tool + `","arguments":` + call.arguments + `}}`})
			require.Contains(t, body, call.has)
		}
	}
	require.Empty(t, bob.call(200, "GET", "/api/conversations", nil)["items"], "what a bound key makes is in its space")
	text := m{"title": "Notes", "text": "Some text."}
	writes.call(202, "POST", "/api/documents", text)
	reads.call(403, "POST", "/api/documents", text)
	ann.call(204, "PUT", member, m{"kind": "person", "id": "bob", "role": "contributor"})
	reads.call(202, "POST", "/api/documents", text)

	ann.call(204, "DELETE", member+"?kind=person&id=bob", nil)
	reads.call(401, "GET", "/api/documents", nil)
	reads.call(401, "POST", "/api/chat", m{"message": "What sings?"})
	require.Empty(t, bob.call(200, "GET", "/api/me/keys", nil)["items"])
	ann.call(204, "DELETE", "/api/spaces/"+space+"?name=Team", nil)
	writes.call(404, "GET", "/api/documents", nil)
	ann.call(200, "POST", "/api/spaces/"+space+"/restore", nil)
	writes.call(200, "GET", "/api/documents", nil)

	log.Close()
	refused := 0
	for _, e := range must.Have(b.store.AuditEntries(t.Context(), db.AuditFilter{Kind: audit.SpaceRefused}, 0, 100))(t) {
		refused += e.Times
	}
	require.GreaterOrEqual(t, refused, 20)
}

// Rule I29: a walk over all routes with what the owner of a bound key has elsewhere.
func TestKeyOfASpaceReachesNothingElsewhere(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ann := b.client().signedIn("ann")
	mine := own(b, ann, secretWord)
	space, _ := ann.withCanary(b, "Team", "canary")
	bot := ann.withKey(b, space)
	before, submits := picture(ann, mine), b.engine.submitCount()
	works := map[string]chat.Role{}
	for _, o := range b.server.operations() {
		works[o.Route] = o.InSpace
	}
	for name, r := range walked(t, b) {
		if r.open {
			continue
		}
		for _, w := range r.ways(mine, mine) {
			status, body := bot.fetch(method(name), w)
			require.NotEqual(t, http.StatusTooManyRequests, status)
			require.NotContains(t, body, secretWord, "%s %s %s: %d", name, w.path, w.body, status)
			if works[name] == chat.NoMember {
				require.Equal(t, http.StatusForbidden, status, name)
			}
		}
	}
	_, was, _ := strings.Cut(before, "\n") // the first line has the limits, which are the owner's
	_, is, _ := strings.Cut(picture(ann, mine), "\n")
	require.Equal(t, was, is)
	b.engine.mu.Lock()
	defer b.engine.mu.Unlock()
	for _, s := range b.engine.submits[submits:] {
		require.NotEqual(t, mine.thread, s.ThreadID)
	}
	require.Empty(t, b.engine.deleted)
	require.Empty(t, b.engine.cancels)
}

// Every refused access is in the audit log, with who, which space and why, and without a text.
func TestRefusedAccessToASpaceIsInTheAuditLog(t *testing.T) {
	t.Parallel()
	var log *audit.Log
	b := setup(t, func(d *Deps) { log = audit.Open(d.Store, d.Log); d.Audit = log })
	ann, bob, eve := b.client().signedIn("ann"), b.client().signedIn("bob"), b.client().signedIn("eve")
	space, doc := ann.withCanary(b, "Team", "canary")
	other, _ := ann.withCanary(b, "Other", "nougat")
	members := "/api/spaces/" + space + "/members"
	ann.call(204, "PUT", members, m{"kind": "person", "id": "bob", "role": "reader"})
	thread := bob.call(201, "POST", "/api/conversations", m{"title": "Own"}, spaceHeader, space)["id"].(string)
	bot := bob.withKey(b, space)

	bob.call(403, "GET", members, nil)                                                                 // a member who is not allowed
	bob.call(403, "POST", "/api/documents", m{"title": "secret", "text": "words"}, spaceHeader, space) // a reader who writes
	bob.call(403, "POST", "/api/conversations/"+thread+"/shares", m{}, spaceHeader, space)
	bot.call(403, "GET", "/api/search?q=secret", nil, spaceHeader, other)
	for _, id := range []string{space, other} { // an outsider
		eve.call(404, "GET", "/api/spaces/"+id, nil)
		eve.call(404, "GET", "/api/documents/"+doc, nil, spaceHeader, id)
		eve.call(404, "POST", "/api/chat", m{"message": "secret words", "space_id": id})
	}
	for range 3 {
		b.client().call(404, "GET", "/api/documents", nil, spaceHeader, space)
	}
	b.client().call(200, "POST", "/mcp/rpc", m{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": m{"name": "list_documents", "arguments": m{"space_id": space}}})
	log.Close()
	refused := map[string]int{}
	for _, e := range must.Have(b.store.AuditEntries(t.Context(), db.AuditFilter{Kind: audit.SpaceRefused}, 0, 100))(t) {
		who := e.Owner
		if !slices.Contains([]string{"ann", "bob", "eve"}, who) {
			who = "anonymous"
		}
		refused[fmt.Sprint(who, " ", e.Detail["why"], " ", map[any]string{space: "Team", other: "Other"}[e.Detail["space"]])] += e.Times
		text := fmt.Sprint(e.Detail)
		require.NotContains(t, text, "secret")
		require.NotContains(t, text, "words")
	}
	require.Equal(t, map[string]int{"bob role Team": 2, "bob link Team": 1, "bob key Other": 1, "eve no_member Team": 3, "eve no_member Other": 3, "anonymous no_member Team": 4}, refused)
}

// Rule D15: a manager exports a space before it is deleted.
func TestExportOfASpaceHoldsWhatItsReadersShare(t *testing.T) {
	t.Parallel()
	var log *audit.Log
	b := setup(t, func(d *Deps) { log = audit.Open(d.Store, d.Log); d.Audit = log })
	ann, bob := b.client().signedIn("ann"), b.client().signedIn("bob")
	space, doc := ann.withCanary(b, "Team", "canary")
	ann.call(202, "POST", "/api/documents", m{"title": "Private", "text": "nougat"})
	ann.call(201, "POST", "/api/document-sets", m{"name": "Birds", "doc_ids": []string{doc}}, spaceHeader, space)
	ann.call(204, "PUT", "/api/spaces/"+space+"/members", m{"kind": "person", "id": "bob", "role": "reader"})
	thread := bob.call(201, "POST", "/api/conversations", m{"title": "Linnets"}, spaceHeader, space)["id"].(string)
	b.settled("bob", space, thread, quoting)
	export := func() ([]string, string) {
		res := ann.send("GET", "/api/spaces/"+space+"/export", nil)
		require.Equal(t, http.StatusOK, res.StatusCode)
		return unzip(t, res)
	}
	_, all := export()
	require.NotContains(t, all, "linnet", "a private conversation")
	require.NoError(t, b.store.PutFeedback(t.Context(), db.Feedback{Owner: "bob", ThreadID: thread, TurnID: "t", Reason: "marzipan"}))
	bob.call(200, "PATCH", "/api/conversations/"+thread, m{"shared": true}, spaceHeader, space)
	_, _, _, err := b.store.InsertTurn(t.Context(), chat.Turn{ID: "undone", ThreadID: thread, Owner: "bob", Space: space, Content: chat.Content{Message: "nougat"}})
	require.NoError(t, err)
	must.Have(b.store.Settle(t.Context(), db.Settlement{Owner: "bob", ThreadID: thread, TurnID: "undone", Parent: chat.RootCheckpoint, Status: chat.TurnCancelled, Hidden: true, Text: "nougat", Terminal: chat.Event{N: 1}}))(t)
	copied := ann.call(201, "POST", "/api/conversations/"+thread+"/branch", m{}, spaceHeader, space)["id"].(string)
	ann.call(200, "PATCH", "/api/conversations/"+copied, m{"shared": true}, spaceHeader, space)
	names, all := export()
	ann.call(204, "DELETE", "/api/conversations/"+copied, nil, spaceHeader, space)
	require.Contains(t, all, `"author":"bob","parent"`, "a copied message names its author")
	names = slices.DeleteFunc(names, func(name string) bool { return strings.Contains(name, copied) })
	require.ElementsMatch(t, []string{"space.json", "documents/" + doc + ".json", "documents/" + doc + ".txt", "documents/" + doc + ".original.txt", "document-sets.json", "conversations/" + thread + ".json", "manifest.json"}, names)
	for _, part := range []string{"canary", "Birds", "linnet sings", `"author":"bob"`, `"id": "bob"`} {
		require.Contains(t, all, part)
	}
	require.NotContains(t, all, "nougat", "a private document, and a message that was rolled back")
	require.NotContains(t, all, "marzipan", "what somebody thinks of answers")
	log.Close()
	found := must.Have(b.store.AuditEntries(t.Context(), db.AuditFilter{Kind: audit.Exported}, 0, 10))(t)
	require.Len(t, found, 2)
	require.Equal(t, space, found[0].Detail["space"])
}

// Rule D17: what is attached to a conversation in a space is seen by who reads the conversation,
// until a contributor puts it into the space.
func TestWhatIsAttachedInASpaceBelongsToItsConversation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ann, bob, eve := b.client().signedIn("ann"), b.client().signedIn("bob"), b.client().signedIn("eve")
	space := ann.call(201, "POST", "/api/spaces", m{"name": "Team"})["id"].(string)
	member := "/api/spaces/" + space + "/members"
	ann.call(204, "PUT", member, m{"kind": "person", "id": "bob", "role": "reader"})
	ann.call(204, "PUT", member, m{"kind": "person", "id": "eve", "role": "reader"})
	in := func(c *client, status int, method, path string, body any) map[string]any {
		t.Helper()
		return c.call(status, method, path, body, spaceHeader, space)
	}
	thread := in(bob, 201, "POST", "/api/conversations", m{})["id"].(string)
	body := m{"title": "Okapi", "text": "An okapi.", "conversation_id": thread}
	made := in(bob, 202, "POST", "/api/documents", body)
	require.Equal(t, []any{thread, nil, "bob"}, []any{made["conversation_id"], made["space_id"], made["added_by"]})
	in(bob, 403, "POST", "/api/documents", m{"title": "Okapi", "text": "An okapi."})
	private := bob.call(201, "POST", "/api/conversations", m{})["id"].(string)
	in(bob, 400, "POST", "/api/documents", m{"title": "Okapi", "text": "An okapi.", "conversation_id": private})
	id := made["id"].(string)
	doc := "/api/documents/" + id
	require.NoError(t, b.store.StoreText(t.Context(), "bob", id, "An okapi.", []chat.Chunk{{Text: "An okapi.", End: 9}}, nil))
	listed := func(c *client, query string) int {
		t.Helper()
		return len(in(c, 200, "GET", "/api/documents"+query, nil)["items"].([]any))
	}
	sees := func(c *client, yes bool) {
		t.Helper()
		status, n := 404, 0
		if yes {
			status, n = 200, 1
		}
		for _, part := range []string{"", "/text", "/original", "/chunks/" + id + ".0"} {
			require.Equal(t, status, c.send("GET", doc+part, nil, spaceHeader, space).StatusCode, part)
		}
		require.Equal(t, []int{n, 0}, []int{listed(c, "?conversation_id="+thread), listed(c, "")})
	}
	sees(bob, true)
	sees(ann, false)
	require.Len(t, in(bob, 200, "GET", "/api/search?q=okapi&conversation_id="+thread, nil)["hits"], 1)
	require.Empty(t, in(bob, 200, "GET", "/api/search?q=okapi", nil)["hits"])
	require.Empty(t, in(ann, 200, "GET", "/api/search?q=okapi&conversation_id="+thread, nil)["hits"])
	in(eve, 400, "POST", "/api/chat", m{"message": "What?", "tagged_doc_ids": []string{id}, "space_id": space})

	in(bob, 200, "PATCH", "/api/conversations/"+thread, m{"shared": true})
	sees(ann, true)
	sees(eve, true)
	for _, change := range []func(c *client, status int){
		func(c *client, status int) { in(c, status, "PATCH", doc, m{"title": "Mine"}) },
		func(c *client, status int) { in(c, status, "PATCH", doc, m{"conversation_id": ""}) },
		func(c *client, status int) { in(c, status, "DELETE", doc, nil) },
	} {
		change(ann, 404)
		change(eve, 404)
	}
	require.Equal(t, "Zoo", in(bob, 200, "PATCH", doc, m{"title": "Zoo"})["title"])
	in(bob, 403, "PATCH", doc, m{"conversation_id": ""})
	in(bob, 400, "PATCH", doc, m{"conversation_id": private})
	ann.call(204, "PUT", member, m{"kind": "person", "id": "bob", "role": "contributor"})
	put := in(bob, 200, "PATCH", doc, m{"conversation_id": ""})
	require.Equal(t, []any{nil, space, "bob"}, []any{put["conversation_id"], put["space_id"], put["added_by"]})
	require.Equal(t, 1, listed(ann, ""))

	other := in(bob, 202, "POST", "/api/documents", body)["id"].(string)
	in(bob, 204, "DELETE", "/api/documents/"+other, nil)
	bob.call(404, "GET", "/api/documents/"+other, nil)
	require.Empty(t, ann.call(200, "GET", "/api/spaces/"+space+"/deleted", nil)["items"])
}

// Rule C12: readers of a shared conversation see its pictures, as long as they read it.
func TestPicturesOfASharedConversation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ann, bob, eve := b.client().signedIn("ann"), b.client().signedIn("bob"), b.client().signedIn("eve")
	space := ann.call(201, "POST", "/api/spaces", m{"name": "Team"})["id"].(string)
	other := eve.call(201, "POST", "/api/spaces", m{"name": "Other"})["id"].(string)
	member := "/api/spaces/" + space + "/members"
	ann.call(204, "PUT", member, m{"kind": "person", "id": "bob", "role": "reader"})
	picture, unused := ann.upload(201, "file", "x.png", tinyPNG)["id"].(string), ann.upload(201, "file", "x.png", tinyPNG)["id"].(string)
	thread := ann.call(201, "POST", "/api/conversations", m{}, spaceHeader, space)["id"].(string)
	require.NoError(t, b.store.UseAttachments(t.Context(), "ann", thread, []string{picture}))
	get := func(c *client, id, space string) *http.Response {
		var headers []string
		if space != "" {
			headers = []string{spaceHeader, space}
		}
		return c.send("GET", "/api/attachments/"+id, nil, headers...)
	}
	require.Equal(t, 404, get(bob, picture, space).StatusCode)
	ann.call(200, "PATCH", "/api/conversations/"+thread, m{"shared": true}, spaceHeader, space)
	shown := get(bob, picture, space)
	require.Equal(t, []any{200, "no-store"}, []any{shown.StatusCode, shown.Header.Get("Cache-Control")})
	require.Equal(t, tinyPNG, must.Have(io.ReadAll(shown.Body))(t))
	require.Equal(t, 200, get(ann, picture, space).StatusCode)
	require.Equal(t, 200, get(ann, picture, "").StatusCode)
	for what, status := range map[string]int{
		"elsewhere": get(bob, picture, "").StatusCode, "of no message": get(bob, unused, space).StatusCode, "a stranger": get(eve, picture, space).StatusCode, "in another space": get(eve, picture, other).StatusCode,
	} {
		require.Equal(t, 404, status, what)
	}
	private := ann.call(201, "POST", "/api/conversations", m{})["id"].(string)
	require.NoError(t, b.store.UseAttachments(t.Context(), "ann", private, []string{unused}))
	bot := ann.withKey(b, space)
	require.Equal(t, []int{200, 404}, []int{get(bot, picture, "").StatusCode, get(bot, unused, "").StatusCode}, "a key of the space")
	ann.call(204, "DELETE", member+"?kind=person&id=bob", nil)
	require.Equal(t, 404, get(bob, picture, space).StatusCode)
}

// Rule I29: a message of a bound key takes pictures that were uploaded in its space, or are in
// conversations there, and no other ones of its owner.
func TestKeyOfASpaceTakesNoPictureOfElsewhere(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ann := b.client().signedIn("ann")
	space, _ := ann.withCanary(b, "Team", "canary")
	other, _ := ann.withCanary(b, "Other", "nougat")
	bot := ann.withKey(b, space)
	unused, used := ann.upload(201, "file", "x", tinyPNG)["id"].(string), ann.upload(201, "file", "x", tinyPNG)["id"].(string)
	ann.ask(m{"attachments": []string{used}}).until("response")
	here, there := uploadIn(ann, tinyPNG, space), uploadIn(ann, tinyPNG, other)
	for name, id := range map[string]string{"one that no message uses": unused, "one of a conversation": used, "one of another space": there} {
		before := b.engine.submitCount()
		for path, body := range map[string]m{
			"/api/chat":            {"message": "What is this?", "attachments": []string{id}},
			"/api/v1/chat/stream":  {"thread_id": uuid.NewString(), "message": m{"role": "human", "content": []m{{"type": "text", "text": "What is this?"}, {"type": "image", "image": "chatbot://" + id}}}},
			"/api/ui/chat":         {"id": uuid.NewString(), "messages": []m{{"id": "m", "role": "user", "parts": []m{{"type": "text", "text": "What is this?"}, {"type": "file", "mediaType": "image/png", "url": "/api/attachments/" + id}}}}},
			"/v1/chat/completions": {"model": "palaver-documents", "messages": []m{{"role": "user", "content": []m{{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": m{"url": "/api/attachments/" + id}}}}}},
		} {
			bot.call(400, "POST", path, body)
		}
		require.Equal(t, before, b.engine.submitCount(), name)
		bot.call(404, "GET", "/api/attachments/"+id, nil)
		require.Equal(t, http.StatusOK, ann.send("GET", "/api/attachments/"+id, nil).StatusCode, "%s is the owner's", name)
	}
	bot.ask(m{"attachments": []string{here}}).until("response")
	bot.ask(m{"attachments": []string{here}}).until("response") // of a conversation there
	require.Equal(t, http.StatusOK, bot.send("GET", "/api/attachments/"+here, nil).StatusCode)
}

func uploadIn(c *client, data []byte, space string) string {
	c.t.Helper()
	in := *c
	in.h = c.h.Clone()
	in.h.Set(spaceHeader, space)
	return in.upload(201, "file", "x", data)["id"].(string)
}

// Rule C18: in every dialect a space's agent and effort count where a message, and the turn that
// it follows, have none.
func TestAgentAndEffortOfASpaceCountInEveryDialect(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ann := b.client().signedIn("ann")
	space := ann.call(201, "POST", "/api/spaces", m{"name": "Team", "effort": "thorough"})["id"].(string)
	user := []m{{"role": "user", "content": "Hello", "id": "m", "parts": []m{{"type": "text", "text": "Hello"}}}}
	for _, agent := range []chat.Agent{chat.AgentAssistant, chat.AgentDocuments} {
		ann.call(200, "PATCH", "/api/spaces/"+space, m{"agent": agent})
		for name, say := range map[string]func(thread string, own bool) (path string, body m){
			"native": func(thread string, own bool) (string, m) {
				return "/api/chat", named(m{"message": "Hello", "thread_id": thread}, own)
			},
			"agent v2": func(thread string, own bool) (string, m) {
				return "/api/agent/v2/stream", named(m{"session_id": thread, "client_turn_id": uuid.NewString(), "stream_run_id": uuid.NewString(), "message": "Hello"}, own)
			},
			"AI SDK": func(thread string, own bool) (string, m) {
				return "/api/ui/chat", named(m{"id": thread, "messages": user}, own)
			},
			"LangGraph": func(thread string, own bool) (string, m) {
				return "/api/v1/chat/stream", named(m{"thread_id": thread, "message": m{"role": "human", "content": "Hello"}}, own)
			},
			"AG-UI": func(thread string, own bool) (string, m) {
				return "/api/agui", m{"threadId": thread, "runId": uuid.NewString(), "messages": user, "tools": []any{}, "context": []any{}, "forwardedProps": m{"palaver": named(m{}, own)}}
			},
		} {
			for _, own := range []bool{false, true} {
				thread := uuid.NewString()
				path, body := say(thread, own)
				require.Equal(t, http.StatusOK, ann.send("POST", path, body, spaceHeader, space).StatusCode, name)
				content := b.lastContent("ann", thread)
				if own {
					require.Equal(t, chat.Quick, content.Effort, "%s: that of the message", name)
					require.Equal(t, chat.AgentDocuments, content.Agent, "%s: that of the message", name)
					continue
				}
				require.Equal(t, agent, content.Agent, name)
				require.Equal(t, chat.Thorough, content.Effort, name)
			}
		}
		thread := uuid.NewString()
		require.Equal(t, http.StatusOK, ann.send("POST", "/v1/chat/completions", m{"model": "palaver-documents", "messages": user, "metadata": m{"thread_id": thread}}, spaceHeader, space).StatusCode)
		content := b.lastContent("ann", thread)
		require.Equal(t, chat.AgentDocuments, content.Agent, "an OpenAI request names its agent")
		require.Equal(t, chat.Thorough, content.Effort, "OpenAI")
	}
}

// named adds an agent and an effort of the message's own.
func named(body m, own bool) m {
	if own {
		body["agent"], body["effort"] = "documents", "quick"
	}
	return body
}

// lastContent returns what was said last in a thread.
func (b *bundle) lastContent(owner, thread string) chat.Content {
	b.t.Helper()
	b.engine.mu.Lock()
	defer b.engine.mu.Unlock()
	for _, s := range slices.Backward(b.engine.submits) {
		if s.ThreadID == threadNamed(owner, thread) {
			return must.Have(b.store.Turn(b.t.Context(), owner, s.TurnID))(b.t).Content
		}
	}
	b.t.Fatal("nothing was said in ", thread)
	return chat.Content{}
}

// Rule C19: managers say whose tools a space allows.
func TestToolServersOfASpace(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ann, bob := b.client().signedIn("ann"), b.client().signedIn("bob")
	made := ann.call(201, "POST", "/api/spaces", m{"name": "Team"})
	require.Equal(t, []any{chat.EveryServer}, made["tool_servers"])
	path := "/api/spaces/" + made["id"].(string)
	ann.call(204, "PUT", path+"/members", m{"kind": "person", "id": "bob", "role": "contributor"})
	require.Equal(t, []any{"files", "search-2"}, ann.call(200, "PATCH", path, m{"tool_servers": []string{"files", "search-2", "files"}})["tool_servers"])
	require.Equal(t, []any{"files", "search-2"}, bob.call(200, "GET", path, nil)["tool_servers"])
	bob.call(403, "PATCH", path, m{"tool_servers": []string{chat.EveryServer}})
	for _, wrong := range []string{"", "a b", "a__b", "../x", strings.Repeat("x", 100)} {
		ann.call(400, "PATCH", path, m{"tool_servers": []string{wrong}})
	}
	ann.call(400, "PATCH", path, m{"tool_servers": slices.Repeat([]string{"files"}, 101)})
	require.Equal(t, []any{}, ann.call(200, "PATCH", path, m{"tool_servers": []string{}})["tool_servers"])
}

// Rule D21: what comes into a space counts for its quota, and what comes out for the person's,
// also by a move or a restore; the refusal says whose.
func TestQuotaOfASpaceCountsMovesAndRestores(t *testing.T) {
	t.Parallel()
	b := setup(t, limited(limits.Config{Owner: db.Quota{Documents: 2}}))
	ann := b.client().signedIn("ann")
	space, first := ann.withCanary(b, "Team", "first")
	upload := func(status int, space string) string {
		id, _ := ann.call(status, "POST", "/api/documents", m{"title": "more", "text": "more"}, spaceHeader, space)["id"].(string)
		if id != "" {
			owner := "ann"
			if space != "" {
				owner = chat.SpaceOwner(space)
			}
			require.NoError(t, b.store.StoreText(t.Context(), owner, id, "more", []chat.Chunk{{Text: "more", End: 4}}, nil))
		}
		return id
	}
	upload(202, space)
	one := upload(202, "")
	upload(202, "")
	full := func(code, method, path string, body any, headers ...string) {
		t.Helper()
		got := ann.call(429, method, path, body, headers...)
		require.Equal(t, chat.CodeQuota, errorCode(got))
		require.Equal(t, code, got["error"].(map[string]any)["message_code"])
	}
	full("quota.space", "POST", "/api/documents", m{"title": "third", "text": "third"}, spaceHeader, space)
	full("quota.space", "PATCH", "/api/documents/"+one, m{"space_id": space})
	full("quota.owner", "PATCH", "/api/documents/"+first, m{"space_id": ""}, spaceHeader, space)
	ann.call(204, "DELETE", "/api/documents/"+first, nil, spaceHeader, space)
	ann.call(200, "PATCH", "/api/documents/"+one, m{"space_id": space})
	full("quota.space", "POST", "/api/spaces/"+space+"/deleted/"+first+"/restore", nil)
	ann.call(200, "PATCH", "/api/documents/"+one, m{"space_id": ""}, spaceHeader, space)
	ann.call(204, "POST", "/api/spaces/"+space+"/deleted/"+first+"/restore", nil)
}
