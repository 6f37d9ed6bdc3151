package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/testkit/stack"
)

const (
	nowhere    = -1 // no space, no person
	everywhere = -2 // in all spaces that the person reads, and in none
)

// beside stands for no space, with one in the scope of the conversation.
func beside(space int) int { return everywhere - 1 - space }

// Names of what is not a route.
const (
	thePrompt         = "a model's prompt"
	attachedElsewhere = "what is attached to the original of a copy"
)

type object = map[string]any

// world is who may read what.
type world struct {
	options
	url     string
	client  *http.Client
	routes  []route
	log     *logReader
	sent    atomic.Int64
	turns   atomic.Int64
	prompts atomic.Int64
	changes atomic.Int64

	traces   atomic.Int64
	deleting atomic.Int64 // people who were deleted

	issuer   *issuer
	ids      []string       // of people
	temporal int            // bytes that Temporal has stored
	changing sync.Mutex     // one change of members at a time
	rowsLock sync.Mutex     // of rows
	rows     *pgx.Conn      // nil: the store has no row-level security
	tokens   []sync.RWMutex // by person: a request with their token is running

	mu       sync.Mutex
	random   *rand.Rand
	canaries map[string]canary
	members  map[seat][]span
	group    []int             // by person: the space whose group they are in
	grouped  map[seat][]span   // members by a group
	deleted  map[int]time.Time // people whose account was deleted
	spaces   []space
	asked    map[string]turn // by its canary
	talks    []talk
	beside   []talk // in no space, with the space in their scope
	links    []link
	leaks    []string
	legal    int
	reached  map[string]int // canaries read with the right, by route
}

// canary is a word that stands for what it is in.
type canary struct {
	kind  string // document, private, space, conversation or attached
	space int
	owner int
	talk  string // the conversation that it is in, or attached to
	made  time.Time
}

// seat is a person in a space.
type seat struct{ person, space int }

// span is a time in which somebody is a member: from before the request that adds them to after
// the response that removes them. A zero end is open.
type span struct{ from, to time.Time }

type space struct {
	id, doc, board string
	manager        int
	key            string // of the manager, bound to the space
	picture        string // of the manager, in no space
}

// turn is a message, which has the canary of its conversation.
type turn struct {
	person, space int
	sent          time.Time
}

// talk is a conversation in a space.
type talk struct {
	id, turn string
	doc      string // that is attached to it; empty: none
	owner    int
	space    int
	shared   time.Time // zero: it is not
}

var word = regexp.MustCompile(`canary[0-9a-f]{12}`)

// open starts Palaver. stop may be called twice.
func open(ctx context.Context, o options, env []string) (*world, func(), error) {
	w := &world{options: o, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2 * o.workers}, Timeout: time.Minute}, tokens: make([]sync.RWMutex, o.people),
		random: rand.New(rand.NewPCG(o.seed, 1)), canaries: map[string]canary{}, members: map[seat][]span{}, grouped: map[seat][]span{}, deleted: map[int]time.Time{}, asked: map[string]turn{}, reached: map[string]int{}}
	for person := range o.people {
		w.ids, w.group = append(w.ids, fmt.Sprintf("person-%d", person)), append(w.group, nowhere)
	}
	w.log = &logReader{w: w}
	model, err := llmtest.Listen("127.0.0.1:0", llmtest.Pace{})
	if err != nil {
		return nil, nil, err
	}
	model.On(llmtest.Match{Func: func(r llmtest.Request) bool { w.prompt(string(r.Body)); return false }}, llmtest.Default())
	if w.issuer, err = newIssuer(); err != nil {
		return nil, nil, err
	}
	collector, desk := w.watchTraces(), startTools()
	s, err := stack.StartOn(ctx, o.server, model.URL, w.log, append(env, "OIDC_ISSUER="+w.issuer.URL, "OIDC_AUDIENCE="+audience, "OIDC_CLIENT_ID="+audience, "LOG_LEVEL=debug", "TITLES=on",
		"TRACE_CONTENT=off", "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL, "MCP_SERVERS="+serverSettings(desk.URL), "ALLOW_PRIVATE_ADDRESSES=127.0.0.0/8")...)
	stop := sync.OnceFunc(func() {
		if s != nil {
			s.Stop()
		}
		for _, server := range []interface{ Close() }{model, collector, desk, w.issuer} {
			server.Close()
		}
	})
	if err != nil {
		stop()
		return nil, nil, err
	}
	w.url = s.URL
	return w, stop, nil
}

func (w *world) rand(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.random.IntN(n)
}

// newCanary makes a word.
func (w *world) newCanary(c canary) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	name := fmt.Sprintf("canary%012x", w.random.Uint64()&0xffffffffffff)
	c.made = time.Now()
	w.canaries[name] = c
	return name
}

// token is a person's of now. Two of a person differ by their groups.
func (w *world) token(person int) string {
	w.mu.Lock()
	groups := []string{}
	if in := w.group[person]; in != nowhere {
		groups = append(groups, groupOf(in))
	}
	w.mu.Unlock()
	return w.issuer.token(fmt.Sprintf("person-%d", person), groups)
}

func groupOf(space int) string { return fmt.Sprintf("group-%d", space) }

// request is one call.
type request struct {
	as     int // nowhere: nobody
	in     int // the space of the header; nowhere: none
	method string
	path   string
	name   string // of the route
	body   any
	where  int    // the space that header or body names
	link   *talk  // what is read by a public link, which shows what its owner may read; nil: no link
	bound  bool   // token is a key that is bound to the space where
	token  string // of a caller who waits for no change of groups; empty: that of the person
}

// send calls a route and judges what comes back.
func (w *world) send(ctx context.Context, r request) (status int, header http.Header, body string, err error) {
	var in io.Reader
	if r.body != nil {
		b, err := json.Marshal(r.body)
		if err != nil {
			return 0, nil, "", err
		}
		in = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, w.url+r.path, in)
	if err != nil {
		return 0, nil, "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream, */*")
	if r.as != nowhere {
		if r.token == "" {
			w.tokens[r.as].RLock()
			defer w.tokens[r.as].RUnlock()
			r.token = w.token(r.as)
		}
		req.Header.Set("Authorization", "Bearer "+r.token)
	}
	readAs := r.as
	if r.link != nil {
		readAs = r.link.owner
	}
	if r.in != nowhere {
		req.Header.Set("X-Space-Id", w.spaces[r.in].id)
	}
	w.sent.Add(1)
	began := time.Now()
	res, err := w.client.Do(req)
	if err != nil {
		return 0, nil, "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if r.bound {
		w.judgeBound(r, string(b))
	}
	w.judge(r.name, fmt.Sprintf("%s, %s, status %d", r.method+" "+r.path, describe(r), res.StatusCode), readAs, r.where, string(b), began, time.Now())
	return res.StatusCode, res.Header, string(b), err
}

// judgeBound records canaries that a bound key gets from outside of its space, also its owner's.
func (w *world) judgeBound(r request, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, found := range word.FindAllString(text, -1) {
		if c := w.canaries[found]; c.space != r.where {
			w.leaks = append(w.leaks, fmt.Sprintf("%s %s with a key of space %d: a canary of %+v", r.method, r.path, r.where, c))
			continue
		}
		w.reached["with a bound key"]++
	}
}

func describe(r request) string {
	return fmt.Sprintf("person %d in space %d", r.as, r.where)
}

// judge records the canaries of a text that a person gets in a space.
func (w *world) judge(name, what string, person, where int, text string, from, to time.Time) {
	found := map[string]bool{}
	for _, c := range word.FindAllString(text, -1) {
		found[c] = true
	}
	if len(found) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range found {
		if w.mayRead(person, where, w.canaries[c], from, to) {
			w.legal++
			w.reached[name]++
			if at := w.canaries[c]; name == thePrompt && at.kind == "attached" && at.owner != person {
				w.reached[attachedElsewhere]++
			}
			continue
		}
		w.leaks = append(w.leaks, fmt.Sprintf("%s: a canary of %+v", what, w.canaries[c]))
	}
}

// mayRead reports whether a person could read a canary at some time between from and to, by a
// call in a space.
func (w *world) mayRead(person, where int, c canary, from, to time.Time) bool {
	deleted, is := w.deleted[person]
	mine, all := person == c.owner && (!is || from.Before(deleted) || c.made.After(deleted)), where == everywhere
	outside := where == nowhere || where < everywhere
	switch {
	case c.kind == "private":
		return mine && (outside || all)
	case c.kind == "space":
		return w.member(person, c.space, from, to)
	case c.kind == "document":
		return (where == c.space || where == beside(c.space) || all) && w.member(person, c.space, from, to)
	case c.talk != "" && mine:
		return true // their own words
	case c.talk != "":
		for _, t := range w.talks {
			if t.id == c.talk {
				return (where == c.space || all) && !t.shared.IsZero() && !t.shared.After(to) && w.member(person, c.space, from, to)
			}
		}
	}
	return false
}

func (w *world) member(person, in int, from, to time.Time) bool {
	for _, spans := range [][]span{w.members[seat{person, in}], w.grouped[seat{person, in}]} {
		for _, s := range spans {
			if !s.from.After(to) && (s.to.IsZero() || !s.to.Before(from)) {
				return true
			}
		}
	}
	return false
}

// prompt judges what a model is told, for the person and the space of the message.
func (w *world) prompt(text string) {
	w.prompts.Add(1)
	t := turn{person: nowhere, space: nowhere}
	w.mu.Lock()
	for _, c := range word.FindAllString(text, -1) {
		if asked, is := w.asked[c]; is {
			t = asked // the last one is that of the message
		}
	}
	w.mu.Unlock()
	w.offered(text, t)
	w.judge(thePrompt, fmt.Sprintf("a prompt for person %d in space %d", t.person, t.space), t.person, t.space, text, t.sent, time.Now())
}

// logReader judges the server's log, which may have no canary at all.
type logReader struct {
	w    *world
	rest []byte
}

func (l *logReader) Write(b []byte) (int, error) {
	l.rest = append(l.rest, b...)
	for {
		at := bytes.IndexByte(l.rest, '\n')
		if at < 0 {
			return len(b), nil
		}
		line := string(l.rest[:at])
		l.rest = l.rest[at+1:]
		l.w.none("the log", line)
	}
}

// must calls a route that has to succeed, and decodes the response.
func (w *world) must(ctx context.Context, as, in int, method, path string, body, out any) error {
	return w.succeed(ctx, request{as: as, in: in, where: in, method: method, path: path, body: body}, out)
}

// mustAs is must with a token, in no space, while the person sends no other request.
func (w *world) mustAs(ctx context.Context, as int, token, method, path string, body, out any) error {
	return w.succeed(ctx, request{as: as, in: nowhere, where: nowhere, method: method, path: path, body: body, token: token}, out)
}

func (w *world) succeed(ctx context.Context, r request, out any) error {
	r.name = "what makes spaces and members"
	status, _, got, err := w.send(ctx, r)
	if err != nil || status >= 300 {
		return fmt.Errorf("%s %s by person %d: %d %s %w", r.method, r.path, r.as, status, got, err)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal([]byte(got), out)
}

// fill makes the spaces, their members and the documents.
func (w *world) fill(ctx context.Context) error {
	if err := w.findRoutes(ctx); err != nil {
		return err
	}
	for person := range w.people {
		var me struct{ ID string }
		if err := w.must(ctx, person, nowhere, "GET", "/api/me", nil, &me); err != nil {
			return err
		}
		w.ids[person] = me.ID
	}
	for n := range w.options.spaces {
		var made struct{ ID string }
		manager := n % w.people
		w.mu.Lock()
		w.members[seat{manager, n}] = []span{{from: time.Now()}}
		w.mu.Unlock()
		name := w.newCanary(canary{kind: "space", space: n})
		if err := w.must(ctx, manager, nowhere, "POST", "/api/spaces", object{"name": "Team " + name, "instructions": "Answer for " + name + ".", "public_links": n%2 == 0, "tool_servers": []string{serverOf(n)}}, &made); err != nil {
			return err
		}
		w.spaces = append(w.spaces, space{id: made.ID, manager: manager})
		doc, err := w.upload(ctx, manager, n, w.newCanary(canary{kind: "document", space: n}))
		if err != nil {
			return err
		}
		w.spaces[n].doc = doc
		var board struct{ ID string }
		if err := w.must(ctx, manager, n, "POST", "/api/discoveries", object{"title": "Board " + w.newCanary(canary{kind: "document", space: n})}, &board); err != nil {
			return err
		}
		w.spaces[n].board = board.ID
		if err := w.bind(ctx, n); err != nil {
			return err
		}
		if err := w.must(ctx, manager, nowhere, "PUT", "/api/spaces/"+made.ID+"/members", object{"kind": "group", "id": groupOf(n), "role": "reader"}, nil); err != nil {
			return err
		}
		for range 5 {
			if err := w.changeMember(ctx, n, w.rand(w.people)); err != nil {
				return err
			}
		}
	}
	for person := range w.people {
		if _, err := w.upload(ctx, person, nowhere, w.newCanary(canary{kind: "private", space: nowhere, owner: person})); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) upload(ctx context.Context, as, in int, name string) (id string, err error) {
	var doc struct{ ID, Status string }
	text := "# Circular " + name + "\n\nThe liquidity ratio of the bank " + name + " must be at least 100 %. It is reported to the board every month."
	if err := w.must(ctx, as, in, "POST", "/api/documents", object{"title": "Circular " + name, "text": text}, &doc); err != nil {
		return "", err
	}
	for doc.Status != "ready" {
		if err := w.must(ctx, as, in, "GET", "/api/documents/"+doc.ID, nil, &doc); err != nil {
			return "", err
		}
		if doc.Status == "failed" {
			return "", fmt.Errorf("document %s failed", doc.ID)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return doc.ID, nil
}

// changeMember adds a person to a space, or removes them and reads the space as them at once.
func (w *world) changeMember(ctx context.Context, in, person int) error {
	if person == w.spaces[in].manager {
		return nil
	}
	if w.rand(3) == 0 {
		return w.changeGroups(ctx, person)
	}
	w.changing.Lock()
	defer w.changing.Unlock()
	w.changes.Add(1)
	path, key := "/api/spaces/"+w.spaces[in].id+"/members", seat{person, in}
	w.mu.Lock()
	all := w.members[key]
	is := len(all) > 0 && all[len(all)-1].to.IsZero()
	if !is {
		w.members[key] = append(all, span{from: time.Now()})
	}
	w.mu.Unlock()
	if !is {
		return w.must(ctx, w.spaces[in].manager, nowhere, "PUT", path, object{"kind": "person", "id": w.ids[person], "role": "reader"}, nil)
	}
	if err := w.must(ctx, w.spaces[in].manager, nowhere, "DELETE", path+"?kind=person&id="+url.QueryEscape(w.ids[person]), nil, nil); err != nil {
		return err
	}
	w.mu.Lock()
	all[len(all)-1].to = time.Now()
	w.mu.Unlock()
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() { w.readAll(ctx, person, in, 3) })
	}
	wait.Wait()
	return nil
}

// question is a message in a conversation, with a canary.
func (w *world) question(person, in int, talk string) string {
	own := w.newCanary(canary{kind: "conversation", space: in, owner: person, talk: talk})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked[own] = turn{person, in, time.Now()}
	return "What must the liquidity ratio of the bank be at least, and who reports it to the board every month? " + own
}
