package api

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/chat"
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
			if put["thread_id"] != thread || put["repo_version"] != float64(version+1) || put["updated_at"].(float64) < 1e9 || len(put) != 3 {
				t.Errorf("%v", put)
			}
			res := c.send("GET", repoPath(thread), nil)
			var got struct {
				ThreadID string          `json:"thread_id"`
				Repo     json.RawMessage `json:"repo"`
			}
			raw, err := io.ReadAll(res.Body)
			if err == nil {
				err = json.Unmarshal(raw, &got)
			}
			if err != nil || got.ThreadID != thread || res.Header.Get("ETag") != etag(version+1) || !sameJSON(t, string(got.Repo), repo) {
				t.Errorf("%s %v, ETag %s", raw, err, res.Header.Get("ETag"))
			}
		}
	}
	if got := b.client().call(200, "GET", repoPath("my-thread"), nil); got["repo"] != nil {
		t.Errorf("somebody else's thread of that name: %v", got)
	}
}

// sameJSON compares without white space, numbers to the digit.
func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	norm := func(s string) string {
		var v any
		d := json.NewDecoder(strings.NewReader(s))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		out, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
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
	if body := put(412, `"1"`); errorCode(body) != chat.CodeVersionConflict {
		t.Errorf("%v", body)
	}
	if got := put(200, `"0"`)["repo_version"]; got != 1.0 {
		t.Errorf("version %v", got)
	}
	put(412, `"0"`)
	if got := put(200, `1`)["repo_version"]; got != 2.0 {
		t.Errorf("version %v", got)
	}
	put(412, `"1"`)
	put(412, `W/"1"`)
	if got := put(200, `W/"2"`)["repo_version"]; got != 3.0 {
		t.Errorf("version %v", got)
	}
	if got := put(200, `*`)["repo_version"]; got != 4.0 {
		t.Errorf("version %v", got)
	}
	c.call(412, "PUT", repoPath("none"), `{"repo":{}}`, "If-Match", "*")
	if got := c.call(200, "PUT", repoPath("none"), `{"repo":{}}`, "If-Match", `W/"0"`)["repo_version"]; got != 1.0 {
		t.Errorf("version %v", got)
	}
	put(400, `W/1x`)
	put(400, `"-1"`)
	if body := put(400, `one`); field(body) != "If-Match" {
		t.Errorf("%v", body)
	}
	if got := c.call(200, "GET", repoPath("t"), nil)["repo"].(map[string]any)["by"]; got != "*" {
		t.Errorf("kept: %v", got)
	}
}

// Rule G8.
func TestRepoMustBeAnObjectOfAtMost8MB(t *testing.T) {
	t.Parallel()
	c := setup(t).client()
	for body, name := range map[string]string{
		`{}`: "repo", `{"repo":null}`: "repo", `{"repo":[]}`: "repo", `{"repo":"x"}`: "repo", `{"repo":{"a":"` + "\xff" + `"}}`: "repo",
		`{"repo":{}`: "body", `[]`: "body",
	} {
		if got := c.call(400, "PUT", repoPath("t"), body); field(got) != name {
			t.Errorf("%s: %v", body, got)
		}
	}
	most := `{"repo":{"a":"` + strings.Repeat("x", maxRepo-len(`{"a":""}`)) + `"}}`
	c.call(200, "PUT", repoPath("t"), most)
	for _, more := range []string{strings.Replace(most, "xx", "xxx", 1), `{"repo":{"a":"` + strings.Repeat("x", maxRepo+repoOverhead) + `"}}`} {
		if got := c.call(413, "PUT", repoPath("t"), more); errorCode(got) != chat.CodeTooLarge {
			t.Errorf("%v", got)
		}
	}
	if got := c.call(200, "GET", repoPath("t"), nil)["repo"].(map[string]any)["a"].(string); len(got) != maxRepo-8 {
		t.Errorf("%d bytes came back", len(got))
	}
	for _, bad := range []string{"a%20b", "%C3%A4", strings.Repeat("x", 129)} {
		if got := c.call(400, "GET", repoPath(bad), nil); field(got) != "thread_id" {
			t.Errorf("%s: %v", bad, got)
		}
		c.call(400, "PUT", repoPath(bad), `{"repo":{}}`)
	}
}

func TestRepoIsDeletedWithItsConversation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	thread := uuid.NewString()
	c.call(200, "PUT", repoPath(thread), `{"repo":{}}`)
	if body := b.client().call(404, "PUT", repoPath(thread), `{"repo":{}}`); errorCode(body) != chat.CodeNotFound {
		t.Errorf("somebody else's: %v", body)
	}
	c.call(204, "DELETE", "/api/conversations/"+thread, nil)
	if got := c.call(200, "GET", repoPath(thread), nil); got["repo"] != nil {
		t.Errorf("%v", got)
	}
}

func TestCorruptRepoIsNotServed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	gzipped, _, err := packRepo([]byte(`{"a":1}`))
	if err != nil {
		t.Fatal(err)
	}
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
