//go:build long

package fullstack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/dbtest/pgtest"
	"github.com/palaver-chat/palaver/testkit/must"
	"github.com/palaver-chat/palaver/testkit/relay"
)

// shortTimeout replaces api.AnswerTimeout in this test. The requests come all at once, which a
// busy machine answers in some seconds.
const shortTimeout = 8 * time.Second

// routeAnswer is the response to a request; the body only if it is not a stream.
type routeAnswer struct {
	status int
	body   []byte
}

// make sends a request while the dependencies in lacks are unavailable. It does not wait for
// the end of a response that needs one of them.
func (p *fixtures) make(route string, r request, lacks need) (routeAnswer, error) {
	method, _, _ := strings.Cut(route, " ")
	in, kind := io.Reader(nil), "application/json"
	switch body := r.body.(type) {
	case nil:
	case upload:
		var form bytes.Buffer
		w := multipart.NewWriter(&form)
		part, err := w.CreateFormFile("file", body.name)
		if err == nil {
			_, err = part.Write(body.data)
		}
		if err := errors.Join(err, w.Close()); err != nil {
			return routeAnswer{}, err
		}
		in, kind = &form, w.FormDataContentType()
	default:
		raw, err := json.Marshal(body)
		if err != nil {
			return routeAnswer{}, err
		}
		in = bytes.NewReader(raw)
	}
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, p.url()+r.path, in)
	if err != nil {
		return routeAnswer{}, err
	}
	req.Header.Set("Content-Type", kind)
	by := p.talk
	if r.as != nil {
		by = r.as
	}
	resp, err := by.client.Do(req)
	if err != nil {
		return routeAnswer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	a := routeAnswer{status: resp.StatusCode}
	if r.ends&lacks != 0 {
		return a, nil
	}
	if r.inBand || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") { // an event stream may stay open
		a.body, err = io.ReadAll(resp.Body)
	}
	return a, err
}

// fits returns what is wrong with an answer while the dependencies in lacks are
// unavailable; "" when nothing is.
func (r request) fits(a routeAnswer, lacks need) string {
	if r.needs&lacks == 0 {
		if a.status != r.success {
			return fmt.Sprintf("status %d, want %d: %s", a.status, r.success, a.body)
		}
		return ""
	}
	reason := reasons[lacks]
	if r.inBand {
		if a.status != http.StatusOK || !strings.Contains(string(a.body), reason) {
			return fmt.Sprintf("status %d, want an error of its protocol: %s", a.status, a.body)
		}
		return ""
	}
	if r.plain {
		var said struct{ Error string }
		if err := json.Unmarshal(a.body, &said); err != nil || a.status != http.StatusServiceUnavailable || !strings.HasPrefix(said.Error, reason) {
			return fmt.Sprintf("status %d, want 503 and only %q: %s", a.status, reason, a.body)
		}
		return ""
	}
	var said struct {
		Error struct{ Code, Message, RequestID string }
	}
	if err := json.Unmarshal(a.body, &said); err != nil || a.status != http.StatusServiceUnavailable ||
		said.Error.Code == "" || !strings.HasPrefix(said.Error.Message, reason) {
		return fmt.Sprintf("status %d, want 503 and %q: %s", a.status, reason, a.body)
	}
	return ""
}

// Rule E7.
func TestLongEveryRouteAnswersDuringAnOutage(t *testing.T) {
	direct := pgtest.Database(t)
	linkedDatabase, databaseOfAPI := linked(t, direct)
	s, model := apart(t, []stacktest.Option{stacktest.Flag("database-url", direct)})
	temporalOfAPI, temporalOfWorker := newLink(t, s.Servers.Temporal), newLink(t, s.Servers.Temporal)
	natsOfAPI := newLink(t, strings.TrimPrefix(s.Servers.NATS, "nats://"))
	s.Worker(stacktest.Flag("temporal-address", temporalOfWorker.Address()))
	signed := stacktest.Flag("supabase-jwt-secret", supabaseSecret)
	role := s.API(signed, stacktest.Flag("answer-timeout", shortTimeout.String()), linkedDatabase,
		stacktest.Flag("temporal-address", temporalOfAPI.Address()), stacktest.Flag("nats-url", "nats://"+natsOfAPI.Address()))

	// own creates a new user with all fixtures.
	own := func(t *testing.T) *fixtures {
		p := &fixtures{talk: newTalk(t, func() string { return role.URL }, s.NewUser())}
		p.me()
		p.doc = p.upload("Liquidity circular", circular)
		var hits struct {
			Hits []struct {
				ChunkID string `json:"chunk_id"`
			}
		}
		p.do(http.StatusOK, http.MethodGet, "/api/search?q=liquidity", nil, &hits)
		p.chunk = hits.Hits[0].ChunkID
		var made struct{ ID string }
		p.do(http.StatusCreated, http.MethodPost, "/api/document-sets", object{"name": "One", "doc_ids": []string{p.doc}}, &made)
		p.set = made.ID
		p.do(http.StatusCreated, http.MethodPost, "/api/discoveries", object{"inputs": []object{{"text": "Ten calls."}}}, &made)
		p.board = "/api/discoveries/" + made.ID
		p.do(http.StatusCreated, http.MethodPost, "/api/conversations", object{"title": "Empty"}, &made)
		p.empty = made.ID
		stored := must.Have(p.make("POST /api/attachments", request{path: "/api/attachments", body: dot()}, 0))(t)
		require.NoError(t, json.Unmarshal(stored.body, &made), "%s", stored.body)
		p.picture = made.ID
		p.ann = p.signedIn("ann")
		p.ann.do(http.StatusCreated, http.MethodPost, "/api/spaces", object{"name": "Team"}, &made)
		p.space = "/api/spaces/" + made.ID
		p.idle = p.thread
		require.Equal(t, "response", last(p.ask("Hello", assistant)).Type)
		waiting := make([]string, 10)
		for i := range waiting {
			model.On(intentCall, unsure)
			p.thread = uuid.NewString()
			waiting[i] = p.thread
			require.Equal(t, "interrupt", last(p.ask("The circular", object{"tagged_doc_ids": []string{p.doc}, "stream_run_id": p.thread})).Type)
		}
		p.asked, p.cancelled, p.agent, p.ui, p.told = waiting[:6], waiting[6], waiting[7], waiting[8], waiting[9]
		return p
	}
	ready := func(t *testing.T) {
		require.Eventually(t, func() bool {
			resp, err := http.Get(role.URL + "/readyz")
			if err != nil {
				return false
			}
			_ = resp.Body.Close()
			return resp.StatusCode == http.StatusOK
		}, waitTimeout, 50*time.Millisecond)
	}

	for _, lack := range []struct {
		name  string
		link  *relay.Link
		needs need
		part  string // name in /readyz
	}{
		{"NATS", natsOfAPI, 0, "stream"},
		{"database", databaseOfAPI, theDatabase, "database"},
		{"Temporal", temporalOfAPI, theTemporal, "temporal"},
		{"workers", temporalOfWorker, theWorkers, ""},
	} {
		for way, outage := range map[string]func(*relay.Link){"unavailable": (*relay.Link).Cut, "silent": (*relay.Link).Silence} {
			t.Run(lack.name+" "+way, func(t *testing.T) {
				p := own(t)
				requests := p.requests()
				outage(lack.link)
				t.Cleanup(lack.link.Restore)
				var wg sync.WaitGroup
				for name, r := range requests {
					wg.Go(func() {
						a, err := p.make(name, r, lack.needs)
						if assert.NoError(t, err, name) {
							assert.Empty(t, r.fits(a, lack.needs), name)
						}
					})
				}
				wg.Wait()
				checkReady(t, role.URL, lack.part, way)
				lack.link.Restore()
				ready(t)
				require.Eventually(t, func() bool { // workers must recover too
					a, err := p.make("POST /api/chat", request{path: "/api/chat", body: object{"message": "Hello"}}, 0)
					return err == nil && a.status == http.StatusOK
				}, waitTimeout, 50*time.Millisecond)
			})
		}
	}
}

// checkReady checks /readyz while a part is unavailable. part is "" for a dependency that
// /readyz does not show. A silent NATS server appears there a little later.
func checkReady(t *testing.T, url, part, way string) {
	t.Helper()
	require.Eventually(t, func() bool {
		resp := must.Have(http.Get(url + "/readyz"))(t)
		defer func() { _ = resp.Body.Close() }()
		var said struct{ Down []string }
		require.NoError(t, json.NewDecoder(resp.Body).Decode(&said))
		if part == "" {
			return resp.StatusCode == http.StatusOK && len(said.Down) == 0
		}
		status := http.StatusServiceUnavailable
		if part == "stream" { // answers still arrive, in larger steps
			status = http.StatusOK
		}
		return resp.StatusCode == status && slices.Equal([]string{part}, said.Down)
	}, waitTimeout, 100*time.Millisecond, "%s %s", part, way)
}

func newLink(t *testing.T, target string) *relay.Link {
	t.Helper()
	l := must.Have(relay.New(target))(t)
	t.Cleanup(l.Close)
	return l
}
