package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
)

// target is the attacked server.
type target struct {
	url, ui string
	pid     int
}

// person is a client with its own cookie.
type person struct {
	*http.Client
	t *target
}

func (t *target) person() (*person, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	p := &person{&http.Client{Jar: jar, Timeout: 30 * time.Second}, t}
	status, _, err := p.send(context.Background(), "GET", "/api/me", "", nil)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("GET /api/me: status %d", status)
	}
	return p, err
}

// send sends a request and returns the response's status and at most 1 MB of its body.
func (p *person) send(ctx context.Context, method, path, body string, headers map[string]string) (int, string, error) {
	req, err := http.NewRequestWithContext(ctx, method, p.t.url+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	res, err := p.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	return res.StatusCode, string(raw), err
}

// verbs are the HTTP methods. A path in the OpenAPI document also has keys that are not
// methods.
var verbs = []string{"GET", "POST", "PUT", "PATCH", "DELETE"}

// route is a route of the API as its OpenAPI document has it; the path has {parameters}.
type route struct{ method, path string }

// routes returns the routes for which wanted is true, and a new person to send requests
// to them.
func (t *target) routes(ctx context.Context, wanted func(route) bool) ([]route, *person, error) {
	p, err := t.person()
	if err != nil {
		return nil, nil, err
	}
	_, raw, err := p.send(ctx, "GET", "/openapi.json", "", nil)
	if err != nil {
		return nil, nil, err
	}
	var described struct {
		Paths map[string]map[string]any
	}
	if err := json.Unmarshal([]byte(raw), &described); err != nil {
		return nil, nil, err
	}
	var routes []route
	for path, methods := range described.Paths {
		for method := range methods {
			if r := (route{strings.ToUpper(method), path}); slices.Contains(verbs, r.method) && wanted(r) {
				routes = append(routes, r)
			}
		}
	}
	return routes, p, nil
}

func (t *target) otherHosts(ctx context.Context) (tries, got int, _ error) {
	for _, host := range []string{"evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8080", "169.254.169.254", "[2606:4700::1111]"} {
		for _, url := range []string{t.url + "/", t.url + "/api/me", t.url + "/api/config", t.url + "/metrics", t.url + "/mcp", t.ui + "/", t.ui + "/api/v1/namespaces"} {
			req, err := http.NewRequestWithContext(ctx, "GET", url, nil)
			if err != nil {
				return tries, got, err
			}
			req.Host = host
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				return tries, got, err
			}
			_ = res.Body.Close()
			tries++
			if res.StatusCode != http.StatusMisdirectedRequest && res.StatusCode != http.StatusBadRequest {
				got++
			}
		}
	}
	return tries, got, nil
}

func (t *target) otherSites(ctx context.Context) (tries, got int, _ error) {
	routes, p, err := t.routes(ctx, func(r route) bool { return r.method != "GET" })
	if err != nil {
		return 0, 0, err
	}
	for _, r := range routes {
		for _, headers := range []map[string]string{{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "https://evil.example"}, {"Origin": "null"}} {
			status, _, err := p.send(ctx, r.method, filled(r.path, uuid.NewString()), "{}", headers)
			if err != nil {
				return tries, got, err
			}
			tries++
			if status != http.StatusForbidden {
				got++
			}
		}
	}
	return tries, got, nil
}

// filled returns the path with id in place of each parameter.
func filled(path, id string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, "{") {
			parts[i] = id
		}
	}
	return strings.Join(parts, "/")
}

func (t *target) forgedTokens(ctx context.Context) (tries, got int, _ error) {
	tokens, err := forged()
	if err != nil {
		return 0, 0, err
	}
	p := &person{&http.Client{Timeout: 30 * time.Second}, t}
	keys, err := t.forgedKeys(ctx)
	if err != nil {
		return 0, 0, err
	}
	for _, token := range append(tokens, keys...) {
		for _, r := range []route{{"GET", "/api/me"}, {"GET", "/api/conversations"}, {"GET", "/api/documents"}, {"GET", "/api/me/export"}, {"GET", "/api/me/keys"},
			{"GET", "/v1/models"}, {"POST", "/v1/chat/completions"}, {"POST", "/api/agui"}, {"POST", "/chat/message"}, {"POST", "/api/imports"}, {"POST", "/mcp/rpc"}} {
			status, _, err := p.send(ctx, r.method, r.path, bodyOf(r.method), map[string]string{"Authorization": "Bearer " + token})
			if err != nil {
				return tries, got, err
			}
			tries++
			if status != http.StatusUnauthorized {
				got++
			}
		}
	}
	return tries, got, nil
}

// forgedKeys returns personal keys that the server must reject: guessed, changed and
// revoked ones.
func (t *target) forgedKeys(ctx context.Context) ([]string, error) {
	owner, err := t.person()
	if err != nil {
		return nil, err
	}
	_, raw, err := owner.send(ctx, "POST", "/api/me/keys", `{"name":"mine"}`, nil)
	if err != nil {
		return nil, err
	}
	var made struct{ ID, Key string }
	if err := json.Unmarshal([]byte(raw), &made); err != nil || made.Key == "" {
		return nil, errors.Join(fmt.Errorf("no key was made: %s", raw), err)
	}
	keys := []string{"plv_", "plv_" + strings.Repeat("A", len(made.Key)-4), made.Key[:len(made.Key)-1], made.Key + "A", strings.ToLower(made.Key), "plv_" + made.ID, "plv_%", "plv_' OR 1=1 --"}
	if status, _, err := owner.send(ctx, "DELETE", "/api/me/keys/"+made.ID, "", nil); err != nil || status != http.StatusNoContent {
		return nil, errors.Join(fmt.Errorf("revoke the key: status %d", status), err)
	}
	return append(keys, made.Key), nil
}

// forged returns tokens that the server must reject.
func forged() ([]string, error) {
	now := time.Now()
	good := func() jwt.MapClaims {
		return jwt.MapClaims{"sub": "victim", "aud": "authenticated", "exp": now.Add(time.Hour).Unix(), "iat": now.Unix()}
	}
	with := func(name string, value any) jwt.MapClaims {
		c := good()
		if c[name] = value; value == nil {
			delete(c, name)
		}
		return c
	}
	tokens := []string{"", "x", "a.b.c", "null", strings.Repeat("A", 4000)}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	for _, f := range []struct {
		method jwt.SigningMethod
		claims jwt.MapClaims
		key    any
	}{
		{jwt.SigningMethodNone, good(), jwt.UnsafeAllowNoneSignatureType},
		{jwt.SigningMethodHS256, good(), []byte("another secret")},
		{jwt.SigningMethodHS256, good(), []byte("")},
		{jwt.SigningMethodHS384, good(), []byte(jwtSecret)},
		{jwt.SigningMethodHS512, good(), []byte(jwtSecret)},
		{jwt.SigningMethodRS256, good(), key},
		{jwt.SigningMethodHS256, with("exp", now.Add(-time.Hour).Unix()), []byte(jwtSecret)},
		{jwt.SigningMethodHS256, with("exp", nil), []byte(jwtSecret)},
		{jwt.SigningMethodHS256, with("exp", "never"), []byte(jwtSecret)},
		{jwt.SigningMethodHS256, with("sub", nil), []byte(jwtSecret)},
		{jwt.SigningMethodHS256, with("sub", ""), []byte(jwtSecret)},
		{jwt.SigningMethodHS256, with("sub", "*"), []byte(jwtSecret)},
		{jwt.SigningMethodHS256, with("sub", strings.Repeat("x", 129)), []byte(jwtSecret)},
		{jwt.SigningMethodHS256, with("aud", "another"), []byte(jwtSecret)},
		{jwt.SigningMethodHS256, with("nbf", now.Add(time.Hour).Unix()), []byte(jwtSecret)},
	} {
		token, err := jwt.NewWithClaims(f.method, f.claims).SignedString(f.key)
		if err != nil {
			return nil, err
		}
		tokens = append(tokens, token)
		if f.method == jwt.SigningMethodNone {
			tokens = append(tokens, token+"AAAA")
		}
	}
	return tokens, nil
}

// property has the ids of what the victim owns.
type property struct{ thread, document, set, board, imported, key string }

func (o property) ids() []string {
	return []string{o.thread, o.document, o.set, o.board, o.imported, o.key}
}

// made sends a POST that creates something and returns the new id.
func (p *person) made(ctx context.Context, path, body string) (id string, err error) {
	status, raw, err := p.send(ctx, "POST", path, body, nil)
	var out struct{ ID string }
	if err == nil {
		err = json.Unmarshal([]byte(raw), &out)
	}
	if err == nil && out.ID == "" {
		err = fmt.Errorf("POST %s: status %d: %s", path, status, raw)
	}
	return out.ID, err
}

// own creates a conversation, a document and a set.
func (p *person) own(ctx context.Context) (o property, err error) {
	if o.thread, err = p.made(ctx, "/api/conversations", `{"title":"Marzipan"}`); err != nil {
		return o, err
	}
	if o.document, err = p.made(ctx, "/api/documents", `{"title":"Marzipan","text":"The marzipan is private."}`); err != nil {
		return o, err
	}
	o.set, err = p.made(ctx, "/api/document-sets", `{"name":"Marzipan","doc_ids":["`+o.document+`"]}`)
	return o, err
}

// ownAll also creates a board, an import and a personal key.
func (p *person) ownAll(ctx context.Context) (o property, err error) {
	if o, err = p.own(ctx); err != nil {
		return o, err
	}
	if o.board, err = p.made(ctx, "/api/discoveries", `{"title":"Marzipan","goal":"Marzipan","inputs":[{"text":"The marzipan is private."}]}`); err != nil {
		return o, err
	}
	if o.imported, err = p.made(ctx, "/api/imports", `{"url":"https://127.0.0.1:1/marzipan"}`); err != nil {
		return o, err
	}
	o.key, err = p.made(ctx, "/api/me/keys", `{"name":"Marzipan"}`)
	return o, err
}

// all returns the responses that the victim gets for their property.
func (p *person) all(ctx context.Context, o property) (string, error) {
	var seen strings.Builder
	for _, path := range []string{"/api/conversations/" + o.thread, "/api/documents/" + o.document + "/text", "/api/document-sets", "/api/discoveries/" + o.board, "/api/me/keys"} {
		status, said, err := p.send(ctx, "GET", path, "", nil)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&seen, "%s: %d %s\n", path, status, said)
	}
	return seen.String(), nil
}

// inBodies are requests that refer to an id in the body, here %. None creates something
// with that id.
var inBodies = []struct{ path, body string }{
	{"/api/chat", `{"message":"marzipan","tagged_doc_ids":["%"]}`},
	{"/api/chat", `{"message":"marzipan","tagged_set_ids":["%"]}`},
	{"/api/chat/resume", `{"thread_id":"%","resume_value":{"type":"cancel"}}`},
	{"/api/agui/stop", `{"threadId":"%"}`},
	{"/api/agui", `{"threadId":"t","runId":"r","messages":[{"id":"m","role":"user","content":"marzipan"}],"forwardedProps":{"palaver":{"tagged_doc_ids":["%"]}}}`},
	{"/chat/message", `{"message":"marzipan","discovery_id":"%"}`},
	{"/api/imports", `{"url":"https://example.com/x","conversation_id":"%"}`},
	{"/api/document-sets", `{"name":"x","doc_ids":["%"]}`},
}

// wrongOwners compares the responses that a stranger gets for the victim's ids with those
// for ids that do not exist.
func (t *target) wrongOwners(ctx context.Context) (tries, got int, _ error) {
	victim, err := t.person()
	if err != nil {
		return 0, 0, err
	}
	o, err := victim.ownAll(ctx)
	if err != nil {
		return 0, 0, err
	}
	before, err := victim.all(ctx, o)
	if err != nil {
		return 0, 0, err
	}
	routes, stranger, err := t.routes(ctx, func(r route) bool {
		return strings.Contains(r.path, "{") && r.method != "PUT" // a PUT creates what does not exist
	})
	if err != nil {
		return 0, 0, err
	}
	for _, r := range routes {
		for _, id := range o.ids() {
			theirs, said, err := stranger.send(ctx, r.method, filled(r.path, id), bodyOf(r.method), nil)
			if err != nil {
				return tries, got, err
			}
			nobodys, _, err := stranger.send(ctx, r.method, filled(r.path, uuid.NewString()), bodyOf(r.method), nil)
			if err != nil {
				return tries, got, err
			}
			tries++
			if theirs != nobodys || strings.Contains(strings.ToLower(said), "marzipan") {
				got++
			}
		}
	}
	for _, r := range inBodies {
		for _, id := range o.ids() {
			theirs, _, err := stranger.send(ctx, "POST", r.path, strings.Replace(r.body, "%", id, 1), nil)
			if err != nil {
				return tries, got, err
			}
			nobodys, _, err := stranger.send(ctx, "POST", r.path, strings.Replace(r.body, "%", uuid.NewString(), 1), nil)
			if err != nil {
				return tries, got, err
			}
			tries++
			if theirs != nobodys && theirs != http.StatusTooManyRequests && nobodys != http.StatusTooManyRequests {
				got++
			}
		}
	}
	_, found, err := stranger.send(ctx, "GET", "/api/search?q=marzipan", "", nil)
	if err != nil {
		return tries, got, err
	}
	after, err := victim.all(ctx, o)
	tries += 2
	if strings.Contains(strings.ToLower(found), "marzipan") {
		got++
	}
	if after != before {
		got++
	}
	return tries, got, err
}

func bodyOf(method string) string {
	if method == "GET" || method == "DELETE" {
		return ""
	}
	return `{"title":"x"}`
}

// hostile are bodies for which no handler may return a 5xx status.
var hostile = []string{
	"", "{", "}", "[]", "null", "true", "7", `"text"`, "{}", `{"message":null}`, `{"message":7}`, `{"message":[]}`, `{"message":{}}`,
	`{"message":"\u0000"}`, "{\"message\":\"\xff\xfe\"}", `{"message":"\ud800"}`, `{"thread_id":"../../etc/passwd"}`, `{"thread_id":"' OR 1=1 --"}`,
	`{"message":"x","tagged_doc_ids":"all"}`, `{"message":"x","tagged_doc_ids":[null]}`, `{"message":"x","tiptap_json":[]}`,
	`{"message":"x","attachments":{"a":1}}`, `{"limit":1e999}`, `{"limit":-9223372036854775809}`,
	strings.Repeat("[", 20_000), strings.Repeat(`{"a":`, 5_000), `{"message":"` + strings.Repeat("x", 100_000) + `"}`,
	`{"messages":null}`, `{"messages":[null]}`, `{"messages":[{"role":"user","content":null}]}`, `{"messages":[{"role":"user","content":[{"type":"text"}]}]}`,
	`{"model":7,"messages":{},"stream":"yes"}`, `{"model":"palaver-documents","messages":[{"role":"tool","content":{}}],"tools":[{}],"metadata":[]}`,
	`{"model":"palaver-documents","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"http://169.254.169.254/"}}]}]}`,
	`{"threadId":"x","runId":"\u0000","messages":[{"id":7,"role":[],"content":"x"}],"state":[],"tools":{},"resume":[{}]}`,
	`{"discovery_context":{"inputs":[{"text":7}]},"message":"x","chat_history":{}}`, `{"discovery_id":"x","message":"x","referenced_items":[null]}`,
	`{"tool":"add_item","params":[],"id":null}`, `{"entity_type":"fact","text":"x","related_ids":{"a":1},"overwrite":"yes"}`, `{"name":"x","days":1e300}`,
	`{"url":"https://\u0000/","conversation_id":[]}`,
	`{"a":1,"a":2,"message":"x","message":["y"]}`, "\x1f\x8b\x08\x00broken", `{"jsonrpc":"2.0","id":{},"method":7}`,
}

func (t *target) hostileBodies(ctx context.Context) (tries, got int, _ error) {
	routes, p, err := t.routes(ctx, func(r route) bool { return r.method != "GET" && r.method != "DELETE" })
	if err != nil {
		return 0, 0, err
	}
	for _, r := range routes {
		token, err := signedIn(r.method + r.path) // a new caller for each route; otherwise rate limits would reject the requests
		if err != nil {
			return tries, got, err
		}
		for _, body := range hostile {
			status, _, err := p.send(ctx, r.method, filled(r.path, uuid.NewString()), body, map[string]string{"Authorization": "Bearer " + token})
			if err != nil {
				return tries, got, err
			}
			tries++
			if status >= http.StatusInternalServerError {
				got++
			}
		}
	}
	return tries, got, nil
}

// signedIn returns a valid token of an account; the name determines the account.
func signedIn(name string) (string, error) {
	claims := jwt.MapClaims{"sub": uuid.NewSHA1(uuid.Nil, []byte(name)).String(), "aud": "authenticated", "exp": time.Now().Add(time.Hour).Unix()}
	return jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte(jwtSecret))
}

// flood sends 40 messages from one address, each as a new person.
func (t *target) flood(ctx context.Context) (tries, got int, _ error) {
	taken := 0
	for range 40 {
		p := &person{&http.Client{Timeout: 30 * time.Second}, t}
		status, _, err := p.send(ctx, "POST", "/api/chat", `{"message":"Hello"}`, nil)
		if err != nil {
			return tries, got, err
		}
		tries++
		if status == http.StatusOK {
			taken++
		}
	}
	return tries, max(0, taken-10), nil // CHAT_RATE_LIMIT's default
}

// slowBodies sends the headers of requests whose bodies never arrive.
func (t *target) slowBodies(ctx context.Context) (tries, got int, err error) {
	return silent(ctx, t.url, "POST /api/chat HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{")
}

// slowHeaders sends requests whose headers never end, to the API and to the Web UI.
func (t *target) slowHeaders(ctx context.Context) (tries, got int, err error) {
	for _, url := range []string{t.url, t.ui} {
		some, through, err := silent(ctx, url, "GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
		tries, got = tries+some, got+through
		if err != nil {
			return tries, got, err
		}
	}
	return tries, got, nil
}

// silent opens connections and sends only the beginning of a request on each. got counts
// those that the server did not close before the timeout slowest.
func silent(ctx context.Context, url, beginning string) (tries, got int, err error) {
	const connections = 65
	closed := make(chan bool, connections)
	for range connections {
		c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			return tries, got, err
		}
		defer c.Close()
		if _, err := io.WriteString(c, beginning); err != nil {
			return tries, got, err
		}
		tries++
		go func() {
			_ = c.SetReadDeadline(time.Now().Add(slowest))
			_, err := io.Copy(io.Discard, c)
			closed <- err == nil || errors.Is(err, syscall.ECONNRESET) // the server has closed it
		}()
	}
	for range tries {
		select {
		case ok := <-closed:
			if !ok {
				got++
			}
		case <-ctx.Done():
			return tries, got, ctx.Err()
		}
	}
	return tries, got, nil
}

// slowest is the longest time that a connection with an incomplete request may stay open.
const slowest = 60 * time.Second
