package api

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/testkit/must"
)

func repoPath(thread string) string { return "/api/v1/threads/" + thread + "/repo" }

// Rule G8.
func TestRepoIsReturnedAsStoredWithTheNextVersion(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	for _, thread := range []string{someThread, "my-thread"} {
		none := c.send("GET", repoPath(thread), nil)
		raw, _ := io.ReadAll(none.Body)
		if got, want := string(raw), `{"thread_id":"`+thread+`","repo":null}`; got != want || none.Header.Get("ETag") != `"0"` {
			t.Fatalf("%s %s", got, none.Header.Get("ETag"))
		}
		for version, repo := range []string{`{"headId":null,"messages":[]}`, `{"messages":[{"message":{"content":"\u00e9 é <b> 1e400"},"parentId":null}], "n":12345678901234567890}`} {
			put := c.call(200, "PUT", repoPath(thread), `{"repo":`+repo+`}`)
			assert.True(t, put["thread_id"] == thread && put["repo_version"] == float64(version+1) && put["updated_at"].(float64) >= 1e9 && len(put) == 3, "%v", put)
			res := c.send("GET", repoPath(thread), nil)
			var got struct {
				ThreadID string          `json:"thread_id"`
				Repo     json.RawMessage `json:"repo"`
			}
			raw, err := io.ReadAll(res.Body)
			if err == nil {
				err = json.Unmarshal(raw, &got)
			}
			assert.True(t, err == nil && got.ThreadID == thread && res.Header.Get("ETag") == etag(version+1) && sameJSON(t, string(got.Repo), repo), "%s %v, ETag %s", raw, err, res.Header.Get("ETag"))
		}
	}
	assert.EqualValues(t, nil, b.client().call(200, "GET", repoPath("my-thread"), nil)["repo"], "somebody else's thread of that name")
}

// sameJSON compares without white space, numbers to the digit.
func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	norm := func(s string) string {
		var v any
		d := json.NewDecoder(strings.NewReader(s))
		d.UseNumber()
		require.NoError(t, d.Decode(&v))
		out := must.Have(json.Marshal(v))(t)
		return string(out)
	}
	return norm(a) == norm(b)
}

// Rule G9.
func TestConcurrentRepoUpdateIsA412(t *testing.T) {
	t.Parallel()
	c := setup(t).client()
	put := func(status int, match string) map[string]any {
		return c.call(status, "PUT", repoPath("t"), `{"repo":{"by":"`+strings.ReplaceAll(match, `"`, "")+`"}}`, "If-Match", match)
	}
	assert.EqualValues(t, chat.CodeVersionConflict, errorCode(put(412, `"1"`)))
	assert.EqualValues(t, 1.0, put(200, `"0"`)["repo_version"], "version")
	put(412, `"0"`)
	assert.EqualValues(t, 2.0, put(200, `1`)["repo_version"], "version")
	put(412, `"1"`)
	put(412, `W/"1"`)
	assert.EqualValues(t, 3.0, put(200, `W/"2"`)["repo_version"], "version")
	assert.EqualValues(t, 4.0, put(200, `*`)["repo_version"], "version")
	c.call(412, "PUT", repoPath("none"), `{"repo":{}}`, "If-Match", "*")
	assert.EqualValues(t, 1.0, c.call(200, "PUT", repoPath("none"), `{"repo":{}}`, "If-Match", `W/"0"`)["repo_version"], "version")
	put(400, `W/1x`)
	put(400, `"-1"`)
	assert.EqualValues(t, "If-Match", field(put(400, `one`)))
	assert.EqualValues(t, "*", c.call(200, "GET", repoPath("t"), nil)["repo"].(map[string]any)["by"], "kept")
}

// Rule G8.
func TestRepoMustBeAnObjectOfAtMost8MB(t *testing.T) {
	t.Parallel()
	c := setup(t).client()
	for body, name := range map[string]string{
		`{}`: "repo", `{"repo":null}`: "repo", `{"repo":[]}`: "repo", `{"repo":"x"}`: "repo", `{"repo":{"a":"` + "\xff" + `"}}`: "repo",
		`{"repo":{}`: "body", `[]`: "body",
	} {
		assert.EqualValues(t, name, field(c.call(400, "PUT", repoPath("t"), body)), body)
	}
	most := `{"repo":{"a":"` + strings.Repeat("x", maxRepo-len(`{"a":""}`)) + `"}}`
	c.call(200, "PUT", repoPath("t"), most)
	for _, more := range []string{strings.Replace(most, "xx", "xxx", 1), `{"repo":{"a":"` + strings.Repeat("x", maxRepo+repoOverhead) + `"}}`} {
		assert.EqualValues(t, chat.CodeTooLarge, errorCode(c.call(413, "PUT", repoPath("t"), more)))
	}
	assert.EqualValues(t, maxRepo-8, len(c.call(200, "GET", repoPath("t"), nil)["repo"].(map[string]any)["a"].(string)))
	for _, bad := range []string{"a%20b", "%C3%A4", strings.Repeat("x", 129)} {
		assert.EqualValues(t, "thread_id", field(c.call(400, "GET", repoPath(bad), nil)), bad)
		c.call(400, "PUT", repoPath(bad), `{"repo":{}}`)
	}
}

func TestRepoIsDeletedWithItsConversation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	thread := uuid.NewString()
	c.call(200, "PUT", repoPath(thread), `{"repo":{}}`)
	assert.EqualValues(t, chat.CodeNotFound, errorCode(b.client().call(404, "PUT", repoPath(thread), `{"repo":{}}`)), "somebody else's")
	c.call(204, "DELETE", "/api/conversations/"+thread, nil)
	assert.EqualValues(t, nil, c.call(200, "GET", repoPath(thread), nil)["repo"])
}

func TestCorruptRepoIsNotServed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	gzipped, _, err := packRepo([]byte(`{"a":1}`))
	require.NoError(t, err)
	if _, err := b.store.PutRepo(t.Context(), c.id(), someThread, gzipped, sumOf([]byte(`{"a":2}`)), nil); err != nil {
		t.Fatal(err)
	}
	c.call(500, "GET", repoPath(someThread), nil)
}

// LangGraph front ends name their user in a header, which must be the caller.
func TestRepoRoutesAcceptOnlyTheCallersUserid(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *Deps) { d.Config.Identity.ProxySecret = proxySecret })
	c := b.client()
	me := c.id()
	for userid, want := range map[string]int{"": 200, me: 200, "somebody": http.StatusForbidden} {
		c.call(want, "GET", repoPath("t"), nil, "userid", userid)
		c.call(want, "PUT", repoPath("t"), `{"repo":{}}`, "userid", userid)
	}
	proxied := b.client()
	proxied.call(200, "PUT", repoPath("t"), `{"repo":{"a":1}}`, "userid", "user-1", identity.ProxySecretHeader, proxySecret)
	if got := b.client().call(200, "GET", repoPath("t"), nil, "userid", "user-1", identity.ProxySecretHeader, proxySecret); got["repo"] == nil {
		t.Errorf("%v", got)
	}
}
