package api

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/testkit/must"
)

// accountToken returns the token of a user with an account.
func accountToken(t testing.TB, user string) string {
	t.Helper()
	return token(t, jwt.SigningMethodHS256, []byte(jwtSecret), jwt.MapClaims{"sub": user, "exp": time.Now().Add(time.Hour).Unix()})
}

// signedIn returns the same browser; its page sends a token in addition to the cookie.
func (c *client) signedIn(user string) *client {
	other := *c
	other.h = http.Header{"Authorization": {"Bearer " + accountToken(c.t, user)}}
	return &other
}

func (c *client) titles() (all []string) {
	for _, v := range c.call(200, "GET", "/api/conversations", nil)["items"].([]any) {
		all = append(all, v.(map[string]any)["title"].(string))
	}
	return all
}

// Rule I14.
func TestClaimTakesTheConversationsOfThisBrowserToTheAccountOnce(t *testing.T) {
	t.Parallel()
	b, _, _ := withGoogle(t)
	c, stranger := b.client(), b.client()
	from := c.id()
	stranger.call(201, "POST", "/api/conversations", map[string]any{"title": "Of a stranger"})
	thread := c.call(201, "POST", "/api/conversations", map[string]any{"title": "Of this browser"})["id"].(string)
	doc := c.call(202, "POST", "/api/documents", map[string]any{"title": "Notes", "text": "Some text."})["id"].(string)
	key := c.call(201, "POST", "/api/me/keys", map[string]any{"name": "planted"})["key"].(string)
	ann := c.signedIn("ann")
	ann.call(201, "POST", "/api/conversations", map[string]any{"title": "Ann's own"})

	first := ann.call(200, "POST", "/api/me/claim", nil)
	require.Equal(t, map[string]any{"conversations": 0.0, "documents": 0.0, "left": 1.0}, first, "the document is still being processed")
	c.call(200, "GET", "/api/conversations/"+thread, nil)
	require.NoError(t, b.store.FailDocument(t.Context(), from, doc, "unreadable"))
	require.Equal(t, map[string]any{"conversations": 1.0, "documents": 1.0, "left": 0.0}, ann.call(200, "POST", "/api/me/claim", nil))
	require.ElementsMatch(t, []string{"Ann's own", "Of this browser"}, ann.titles())
	ann.call(200, "GET", "/api/documents/"+doc, nil)
	require.Equal(t, []string{"Of a stranger"}, stranger.titles())

	// From now on the cookie is refused, and the personal key gives no access to the account.
	require.NotEqual(t, from, c.id())
	copied := b.client().with(identity.CookieName, b.server.identity.CookieValue(from))
	require.NotEqual(t, from, copied.id())
	c.call(404, "GET", "/api/conversations/"+thread, nil)
	b.client().call(401, "GET", "/api/conversations", nil, "Authorization", "Bearer "+key)
	bob := c.signedIn("bob")
	require.Equal(t, map[string]any{"conversations": 0.0, "documents": 0.0, "left": 0.0}, bob.call(200, "POST", "/api/me/claim", nil))
	require.Empty(t, bob.titles())
}

// A conversation that has moved before its documents would be answered without them.
// Rule I14.
func TestClaimWaitsForARunningTurnAndTakesAnOpenQuestion(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.engine.script = scripted
	c := b.client()
	asked := c.stream("POST", "/api/chat", m{"message": "ask"})
	asked.until("interrupt")
	s := c.stream("POST", "/api/chat", m{"message": "wait"})
	s.until("status")
	ann := c.signedIn("ann")
	require.Equal(t, map[string]any{"conversations": 0.0, "documents": 0.0, "left": 2.0}, ann.call(200, "POST", "/api/me/claim", nil))
	c.call(202, "POST", "/api/chat/cancel", m{"turn_id": s.res.Header.Get("X-Turn-Id")})
	s.until("cancelled")
	require.Equal(t, map[string]any{"conversations": 2.0, "documents": 0.0, "left": 0.0}, ann.call(200, "POST", "/api/me/claim", nil))
	require.Len(t, ann.titles(), 2)
	thread := asked.res.Header.Get("X-Thread-Id")
	state := must.Have(b.engine.State(t.Context(), thread))(t)
	require.Equal(t, "ann", state.Owner)
}

// The former owner's page can still be open. Viewers of the two owners must not share what
// only one of them can read.
func TestViewersOfAClaimedTurnSeeItsEndAndFormerOnesAreEnded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.engine.script = asking
	c := b.client()
	former := c.stream("POST", "/api/chat", m{"message": "ask"})
	asked := former.until("interrupt")
	thread := former.res.Header.Get("X-Thread-Id")
	watching := c.stream("GET", "/api/chat/stream/"+thread, nil)
	watching.until("interrupt")
	ann := c.signedIn("ann")
	require.Equal(t, 1.0, ann.call(200, "POST", "/api/me/claim", nil)["conversations"])
	ann.stream("POST", "/api/chat/resume", m{"thread_id": thread, "interrupt_id": asked["interrupt_id"],
		"resume_value": m{"type": "action_choice", "value": "audit"}}).until("response")
	require.Contains(t, types(watching.rest()), "error")
}

// Rule I14.
func TestClaimNeedsAnAccountAndTheBrowsersOwnCookie(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	from := c.id()
	c.call(201, "POST", "/api/conversations", map[string]any{"title": "Mine"})
	cookie := b.server.identity.CookieValue(from)
	none := map[string]any{"conversations": 0.0, "documents": 0.0, "left": 0.0}

	c.call(403, "POST", "/api/me/claim", nil)
	withoutAccount := token(t, jwt.SigningMethodHS256, []byte(jwtSecret), jwt.MapClaims{"sub": "visitor", "is_anonymous": true, "exp": time.Now().Add(time.Hour).Unix()})
	c.call(403, "POST", "/api/me/claim", nil, "Authorization", "Bearer "+withoutAccount)
	key := c.signedIn("ann").call(201, "POST", "/api/me/keys", map[string]any{"name": "a program"})["key"].(string)
	c.call(403, "POST", "/api/me/claim", nil, "Authorization", "Bearer "+key)
	for name, forged := range map[string]string{"another signature": cookie[:len(cookie)-2] + "xx", "no signature": from, "the name of a user": "bob"} {
		require.Equal(t, none, b.client().with(identity.CookieName, forged).signedInWithCookie("ann").call(200, "POST", "/api/me/claim", nil), name)
	}
	require.Equal(t, none, c.signedIn("ann").call(200, "POST", "/api/me/claim", nil, "Sec-Fetch-Site", "cross-site"))
	require.Equal(t, none, b.client().signedIn("ann").call(200, "POST", "/api/me/claim", nil), "a browser without the cookie")
	require.Equal(t, []string{"Mine"}, c.titles())
}

// signedInWithCookie is signedIn for a client that sends its own cookie header.
func (c *client) signedInWithCookie(user string) *client {
	other := *c
	other.h = c.h.Clone()
	other.h.Set("Authorization", "Bearer "+accountToken(c.t, user))
	return &other
}

func TestClaimThatFailsKeepsTheCookieAndGoesOnLater(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	from := c.id()
	c.call(201, "POST", "/api/conversations", map[string]any{"title": "Mine"})
	b.engine.mu.Lock()
	b.engine.unavailable = chat.ErrCannotReplay
	b.engine.mu.Unlock()
	ann := c.signedIn("ann")
	ann.call(503, "POST", "/api/me/claim", nil)
	require.Equal(t, from, c.id())
	b.engine.mu.Lock()
	b.engine.unavailable = nil
	b.engine.mu.Unlock()
	require.Equal(t, 1.0, ann.call(200, "POST", "/api/me/claim", nil)["conversations"])
}

func TestClaimMovesTheConnectedAccountUnlessTheOwnerHasOne(t *testing.T) {
	t.Parallel()
	b, _, accounts := withGoogle(t)
	connect := func(c *client) {
		follow := c.CheckRedirect
		c.stepwise()
		c.comeBack(consent(t, c.begin("/")))
		c.CheckRedirect = follow
	}
	c := b.client()
	connect(c)
	from := c.id()
	require.Equal(t, 0.0, c.signedIn("ann").call(200, "POST", "/api/me/claim", nil)["left"])
	_, ok, err := accounts.Token(t.Context(), "ann")
	require.NoError(t, err)
	require.True(t, ok)
	_, ok, err = accounts.Token(t.Context(), from)
	require.NoError(t, err)
	require.False(t, ok)

	second := b.client()
	connect(second)
	before, _, err := accounts.Token(t.Context(), "ann")
	require.NoError(t, err)
	second.signedIn("ann").call(200, "POST", "/api/me/claim", nil)
	after, ok, err := accounts.Token(t.Context(), "ann")
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, before, after)
}

// Rule I11.
func TestDeleteMeDeletesAllOfTheCallerAndNothingOfOthers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	ann, bob := c.signedIn("ann"), c.signedIn("bob")
	ann.call(201, "POST", "/api/conversations", map[string]any{"title": "Ann's"})
	bob.call(201, "POST", "/api/conversations", map[string]any{"title": "Bob's"})
	c.call(201, "POST", "/api/conversations", map[string]any{"title": "Without an account"})
	for _, confirm := range []string{"", "bob", "Ann"} {
		ann.call(400, "DELETE", "/api/me?confirm="+confirm, nil)
	}
	key := ann.call(201, "POST", "/api/me/keys", map[string]any{"name": "a program"})["key"].(string)
	c.call(403, "DELETE", "/api/me?confirm=ann", nil, "Authorization", "Bearer "+key)
	ann.call(204, "DELETE", "/api/me?confirm=ann", nil)
	require.Empty(t, ann.titles())
	require.Equal(t, []string{"Bob's"}, bob.titles())
	require.Equal(t, []string{"Without an account"}, c.titles())
	from := c.id()
	c.call(204, "DELETE", "/api/me?confirm="+from, nil)
	require.NotEqual(t, from, c.id(), "the cookie is deleted")
}

func TestPolicyAllowsTheSupabaseProjectAndNothingElse(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"":                             "connect-src 'self';",
		"https://project.supabase.co":  "connect-src 'self' https://project.supabase.co;",
		"https://example.com/supabase": "connect-src 'self' https://example.com;",
		"http://127.0.0.1:9999":        "connect-src 'self' http://127.0.0.1:9999;",
	} {
		b := setup(t, func(d *Deps) { d.Config.SignIn = SignIn{URL: address, Key: "public", Methods: []string{"link"}} })
		policy := b.client().send("GET", "/", nil).Header.Get("Content-Security-Policy")
		require.Contains(t, policy, want)
		require.Equal(t, contentSecurityPolicy, policyWith(""))
		auth := b.client().call(200, "GET", "/api/config", nil)["auth"].(map[string]any)
		if address == "" {
			require.NotContains(t, auth, "sign_in")
			continue
		}
		require.Equal(t, map[string]any{"url": address, "key": "public", "methods": []any{"link"}, "providers": []any{}}, auth["sign_in"])
	}
}

// Another tab sends a message while this one signs in: its row is stored, and its thread does
// not have it yet.
func TestClaimLeavesAThreadWhoseMessageIsBeingSent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	thread := c.call(201, "POST", "/api/conversations", map[string]any{"title": "Of this browser"})["id"].(string)
	ann := c.signedIn("ann")
	var once sync.Once
	var during map[string]any
	b.engine.set(func() {
		b.engine.sending = func() {
			once.Do(func() { during = ann.call(200, "POST", "/api/me/claim", nil) })
		}
	})
	c.stream("POST", "/api/chat", m{"message": "hello", "thread_id": thread}).until("response")
	require.Equal(t, map[string]any{"conversations": 0.0, "documents": 0.0, "left": 1.0}, during)
	require.Equal(t, 1.0, ann.call(200, "POST", "/api/me/claim", nil)["conversations"])
	require.Len(t, ann.call(200, "GET", "/api/chat/history/"+thread, nil)["messages"], 2)
}
