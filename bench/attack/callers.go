package main

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// victim returns a new person, their id and their cookie.
func (t *target) victim(ctx context.Context) (p *person, id string, cookie *http.Cookie, err error) {
	if p, err = t.person(); err != nil {
		return nil, "", nil, err
	}
	if id, err = p.id(ctx); err != nil {
		return nil, "", nil, err
	}
	at, err := url.Parse(t.url)
	if err != nil {
		return nil, "", nil, err
	}
	cookies := p.Jar.Cookies(at)
	if len(cookies) != 1 {
		return nil, "", nil, fmt.Errorf("%d cookies, want 1", len(cookies))
	}
	return p, id, cookies[0], nil
}

// id returns the id that the server has for a person.
func (p *person) id(ctx context.Context) (string, error) {
	_, raw, err := p.send(ctx, "GET", "/api/me", "", nil)
	_, rest, _ := strings.Cut(raw, `"id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	return id, err
}

// forgedCookies sends changed copies of a victim's cookie, and the cookie itself after
// the victim has signed out.
func (t *target) forgedCookies(ctx context.Context) (tries, got int, _ error) {
	victim, id, real, err := t.victim(ctx)
	if err != nil {
		return 0, 0, err
	}
	v := real.Value
	forged := []string{id, id + ".", id + "." + strings.Repeat("A", 43), v[:len(v)-1], v + "A", strings.ToUpper(v), v + "." + v, "." + v, url.QueryEscape(v + "\x00")}
	for i := 0; i < len(v); i += max(1, len(v)/20) {
		flipped := []byte(v)
		flipped[i] ^= 1
		forged = append(forged, string(flipped))
	}
	asVictim := func(cookie string) error {
		for _, name := range []string{real.Name, "__Host-palaver_user", "palaver_user"} {
			p := &person{&http.Client{Timeout: 30 * time.Second}, t}
			_, raw, err := p.send(ctx, "GET", "/api/me", "", map[string]string{"Cookie": name + "=" + cookie})
			if err != nil {
				return err
			}
			tries++
			if strings.Contains(raw, `"`+id+`"`) {
				got++
			}
		}
		return nil
	}
	for _, cookie := range forged {
		if err := asVictim(cookie); err != nil {
			return tries, got, err
		}
	}
	if status, _, err := victim.send(ctx, "DELETE", "/api/me/sessions?which=all", "", nil); err != nil || status != http.StatusNoContent {
		return tries, got, errors.Join(fmt.Errorf("sign out: status %d", status), err)
	}
	return tries, got, asVictim(v)
}

// pretended returns headers that only a trusted proxy may set: n determines the claimed
// address, id is the claimed user.
func pretended(id string, n int) []map[string]string {
	address := fmt.Sprintf("203.0.113.%d", n%250+1)
	return []map[string]string{
		{"X-Forwarded-For": address}, {"X-Real-Ip": address}, {"Forwarded": "for=" + address}, {"True-Client-Ip": address},
		{"Userid": id}, {"Userid": id, "X-Proxy-Secret": ""}, {"Userid": id, "X-Proxy-Secret": "guess"}, {"X-Forwarded-User": id},
	}
}

// forgedHeaders claims another address, or to be the victim, with headers that the server
// accepts from a trusted proxy only.
func (t *target) forgedHeaders(ctx context.Context) (tries, got int, _ error) {
	_, id, _, err := t.victim(ctx)
	if err != nil {
		return 0, 0, err
	}
	taken := 0
	for n := range 10 {
		for _, headers := range pretended(id, n) {
			p := &person{&http.Client{Timeout: 30 * time.Second}, t}
			_, me, err := p.send(ctx, "GET", "/api/me?user_id="+id, "", headers)
			if err != nil {
				return tries, got, err
			}
			status, _, err := p.send(ctx, "POST", "/api/chat", `{"message":"Hello","user_id":"`+id+`"}`, headers)
			if err != nil {
				return tries, got, err
			}
			tries += 2
			if strings.Contains(me, `"`+id+`"`) {
				got++
			}
			if status == http.StatusOK {
				taken++
			}
		}
	}
	return tries, got + max(0, taken-10), nil // all requests come from one address: CHAT_RATE_LIMIT's default
}

// foreignExports requests the export of another person.
func (t *target) foreignExports(ctx context.Context) (tries, got int, _ error) {
	victim, id, _, err := t.victim(ctx)
	if err != nil {
		return 0, 0, err
	}
	if _, err := victim.own(ctx); err != nil {
		return 0, 0, err
	}
	stranger, err := t.person()
	if err != nil {
		return 0, 0, err
	}
	for _, path := range []string{"/api/me/export", "/api/me/export?user_id=" + id, "/api/me/export?owner=" + id, "/api/me/export?id=" + id, "/api/me/export/" + id} {
		tries++
		leaked, err := stranger.exports(ctx, path)
		if err != nil {
			return tries, got, err
		}
		if leaked {
			got++
		}
	}
	return tries, got, nil
}

// exports reports whether the archive at path contains a word of the victim.
func (p *person) exports(ctx context.Context, path string) (bool, error) {
	req, err := http.NewRequestWithContext(ctx, "GET", p.t.url+path, nil)
	if err != nil {
		return false, err
	}
	res, err := p.Do(req)
	if err != nil {
		return false, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, 16<<20))
	if err != nil || res.StatusCode != http.StatusOK {
		return false, err
	}
	archive, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return false, err
	}
	for _, f := range archive.File {
		r, err := f.Open()
		if err != nil {
			return false, err
		}
		content, err := io.ReadAll(r)
		_ = r.Close()
		if err != nil || strings.Contains(strings.ToLower(string(content)), "marzipan") {
			return true, err
		}
	}
	return false, nil
}

// ids are invalid ids, encoded for paths and queries.
var ids = []string{
	"%00", "a%00b", "%ff%fe", "%F0%9F%92%A9", "..%2f..%2fetc%2fpasswd", "%2e%2e", "%27%20OR%201%3D1%20--", "%0d%0aSet-Cookie:%20evil=1",
	strings.Repeat("a", 5000), "-1", "9223372036854775808", "null", "*", "%25", "%e2%80%ae",
}

// hostileIDs sends each of ids in the path and the query of every GET and DELETE route.
func (t *target) hostileIDs(ctx context.Context) (tries, got int, _ error) {
	routes, p, err := t.routes(ctx, func(r route) bool { return r.method == "GET" || r.method == "DELETE" })
	if err != nil {
		return 0, 0, err
	}
	for _, r := range routes {
		if strings.HasSuffix(r.path, "/export") || strings.HasSuffix(r.path, "/sessions") {
			continue // exports have a low rate limit, and a DELETE of the sessions would sign p out
		}
		for _, id := range ids {
			status, said, err := p.send(ctx, r.method, filled(r.path, id)+"?q="+id+"&thread_id="+id+"&cursor="+id+"&doc_ids="+id+"&k="+id+"&head="+id+"&before="+id+"&follow="+id+"&turn_id="+id, "", nil)
			if err != nil {
				return tries, got, fmt.Errorf("%s %s with %.20q: %w", r.method, r.path, id, err)
			}
			tries++
			if status >= 500 && r.path != "/readyz" || strings.Contains(said, "root:") {
				got++
			}
		}
	}
	return tries, got, nil
}
