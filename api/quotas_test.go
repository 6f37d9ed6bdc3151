package api

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api/limits"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/documents/retrieval"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/testkit/must"
)

// atOnce is how many requests an attack sends at the same time.
const atOnce = 30

// attack sends atOnce concurrent requests, each from the caller that who returns, and
// counts the responses by status and code.
func attack(b *bundle, who func(i int) *client, send func(c *client, i int) *http.Response) map[string]int {
	b.t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	answers := map[string]int{}
	start := make(chan struct{})
	for i := range atOnce {
		c := who(i)
		all.Go(func() {
			<-start
			res := send(c, i)
			body, _ := io.ReadAll(res.Body)
			answer := strconv.Itoa(res.StatusCode)
			for _, code := range []string{chat.CodeQuota, chat.CodeBudget, chat.CodeRateLimited} {
				if strings.Contains(string(body), `"`+code+`"`) {
					answer += " " + code
				}
			}
			mu.Lock()
			answers[answer]++
			mu.Unlock()
		})
	}
	close(start)
	all.Wait()
	return answers
}

// fresh returns a new caller without a cookie each time.
func fresh(b *bundle) func(int) *client { return func(int) *client { return b.client() } }

// one returns the same caller each time.
func one(b *bundle) func(int) *client {
	c := b.client()
	c.id()
	return func(int) *client { return c }
}

func signedIn(b *bundle, claims jwt.MapClaims) *client {
	b.t.Helper()
	c := b.client()
	c.h.Set("Authorization", "Bearer "+signed(b.t, "", jwt.SigningMethodHS256, []byte(jwtSecret), claims))
	return c
}

// doors are the requests that store something, by what they store.
var doors = map[string]func(c *client, i int) *http.Response{
	"documents": func(c *client, _ int) *http.Response {
		return c.send("POST", "/api/documents", map[string]any{"title": "x", "text": "apple"})
	},
	"sets": func(c *client, _ int) *http.Response {
		return c.send("POST", "/api/document-sets", map[string]any{"name": "x", "doc_ids": []string{}})
	},
	"conversations": func(c *client, _ int) *http.Response {
		return c.send("POST", "/api/conversations", map[string]any{})
	},
	"repos": func(c *client, i int) *http.Response {
		return c.send("PUT", fmt.Sprintf("/api/v1/threads/mine-%d/repo", i), map[string]any{"repo": map[string]any{}})
	},
	"turns": func(c *client, _ int) *http.Response { return c.send("POST", say, hello()) },
	"pictures": func(c *client, _ int) *http.Response {
		var form bytes.Buffer
		w := multipart.NewWriter(&form)
		part, _ := w.CreateFormFile("file", "x.png")
		_, _ = part.Write(tinyPNG)
		_ = w.Close()
		return c.send("POST", "/api/attachments", form.String(), "Content-Type", w.FormDataContentType())
	},
}

func quotaOf(n int64) db.Quota {
	return db.Quota{Threads: n, Sets: n, Documents: n, Pictures: n}
}

// storedOf returns how many requests were answered with 2xx. The rest must be 429.
func storedOf(t *testing.T, answers map[string]int) (n int) {
	t.Helper()
	for answer, times := range answers {
		switch {
		case strings.HasPrefix(answer, "2"):
			n += times
		default:
			require.Contains(t, []string{"429 " + chat.CodeQuota, "429 " + chat.CodeRateLimited}, answer)
		}
	}
	return n
}

// Rule S7.
func TestThirtyRequestsAtOnceStoreNoMoreThanTheCallersQuota(t *testing.T) {
	t.Parallel()
	for name, door := range doors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, limited(limits.Config{Owner: quotaOf(3)}))
			who := one(b)
			n := storedOf(t, attack(b, who, door))
			require.LessOrEqual(t, n, 3)
			for ; n < 3; n++ { // some uploads were refused because too many were concurrent
				require.Equal(t, 2, door(who(0), atOnce+n).StatusCode/100)
			}
			res := door(who(0), 2*atOnce)
			refused(t, res)
			body := must.Have(io.ReadAll(res.Body))(t)
			require.Contains(t, string(body), chat.CodeQuota)
		})
	}
}

func TestThirtyFreshCallersAtOneAddressStoreNoMoreThanItsQuota(t *testing.T) {
	t.Parallel()
	for name, door := range doors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, limited(limits.Config{Owner: quotaOf(100), PerAddress: quotaOf(3)}))
			n := storedOf(t, attack(b, fresh(b), door))
			require.LessOrEqual(t, n, 3)
			for ; n < 3; n++ {
				require.Equal(t, 2, door(b.client(), atOnce+n).StatusCode/100)
			}
			refused(t, door(b.client(), 2*atOnce))
			require.Equal(t, 2, door(signedIn(b, nil), 2*atOnce).StatusCode/100, "signed-in callers do not count by address")
			anonymous := signedIn(b, jwt.MapClaims{"sub": "user-2", "is_anonymous": true})
			require.Equal(t, true, anonymous.call(200, "GET", "/api/me", nil)["anonymous"])
			refused(t, door(anonymous, 3*atOnce))
		})
	}
}

func TestPuttingReposCountsAsStartingConversations(t *testing.T) {
	t.Parallel()
	b := setup(t, limited(limits.Config{NewThreads: perHour(4)}))
	answers := attack(b, fresh(b), doors["repos"])
	require.LessOrEqual(t, answers["200"], 4)
	require.Equal(t, atOnce, answers["200"]+answers["429 "+chat.CodeRateLimited])
}

func TestThirtyTurnsAtOnceRunNoMoreThanTheCallerMay(t *testing.T) {
	t.Parallel()
	b := setup(t, limited(limits.Config{BusyTurns: 4}))
	b.engine.script = waiting
	c := one(b)(0)
	var mu sync.Mutex
	var all sync.WaitGroup
	taken, refusals := 0, 0
	for range atOnce {
		all.Go(func() {
			res := c.send("POST", say, hello())
			mu.Lock()
			defer mu.Unlock()
			switch res.StatusCode {
			case 200:
				taken++
			case 429:
				refusals++
			}
		})
	}
	all.Wait()
	require.Equal(t, [2]int{4, atOnce - 4}, [2]int{taken, refusals})
}

func TestThirtyTurnsAtOnceStartNoMoreThanTheirAddressMay(t *testing.T) {
	t.Parallel()
	b := setup(t, limited(limits.Config{Turns: perHour(5)}))
	require.Equal(t, map[string]int{"200": 5, "429 " + chat.CodeRateLimited: atOnce - 5}, attack(b, fresh(b), doors["turns"]))
}

func TestOpenStreamsOfFreshCallersAreLimitedPerAddress(t *testing.T) {
	t.Parallel()
	b := setup(t, limited(limits.Config{Streams: 20, AddressStreams: 3}))
	b.engine.script = waiting
	for range 3 {
		b.client().ask(hello()).until("status")
	}
	refused(t, b.client().send("POST", say, hello()))
	signedIn(b, nil).ask(hello()).until("status")
}

func TestSignedInCallersHaveARateOfTheirOwn(t *testing.T) {
	t.Parallel()
	b := setup(t, limited(limits.Config{Turns: perHour(100), UserTurns: perHour(2)}))
	ann, bob := signedIn(b, jwt.MapClaims{"sub": "ann"}), signedIn(b, jwt.MapClaims{"sub": "bob"})
	sent := map[string]any{"message": "hello", "client_turn_id": "again"}
	for range 3 { // a repeated message does not count
		ann.ask(sent).rest()
	}
	ann.ask(hello()).rest()
	refused(t, ann.send("POST", say, hello()))
	bob.ask(hello()).rest()
	b.client().ask(hello()).rest()
}

// Each write of a board stores up to 4 MB, and each import makes requests to others.
func TestChangesOfBoardsAndImportsAreLimited(t *testing.T) {
	t.Parallel()
	b := setup(t, limited(limits.Config{Changes: perHour(3)}))
	ann, bob := signedIn(b, jwt.MapClaims{"sub": "ann"}), signedIn(b, jwt.MapClaims{"sub": "bob"})
	path := "/api/discoveries/" + ann.call(201, "POST", "/api/discoveries", map[string]any{"title": "Churn"})["id"].(string)
	for range 2 {
		ann.call(200, "PATCH", path, map[string]any{"title": "Churn again"})
	}
	for method, at := range map[string]string{"POST": "/api/discoveries", "PUT": path, "PATCH": path, "DELETE": path} {
		refused(t, ann.send(method, at, map[string]any{"title": "Once more"}))
	}
	refused(t, ann.send("POST", path+"/items", map[string]any{"entity_type": "input", "text": "Ten calls."}))
	refused(t, ann.send("POST", path+"/restore", nil))
	ann.call(200, "GET", path, nil)
	bob.call(201, "POST", "/api/discoveries", map[string]any{"title": "Churn"})

	for range 3 { // each is another anonymous caller at the same address
		b.client().call(201, "POST", "/api/discoveries", map[string]any{"title": "Churn"})
		b.client().call(202, "POST", "/api/imports", map[string]any{"url": "https://example.com/a"})
	}
	refused(t, b.client().send("POST", "/api/discoveries", map[string]any{"title": "Churn"}))
	refused(t, b.client().send("POST", "/api/imports", map[string]any{"url": "https://example.com/a"}))
}

func withEmbeddings(d *Deps) { d.Model.Embedding = "text-embedding-3-small" }

func TestSearchesAndUploadsThatAskAModelAreLimitedLikeTurns(t *testing.T) {
	t.Parallel()
	b := setup(t, limited(limits.Config{Turns: perHour(2), UserTurns: perHour(2)}), withEmbeddings)
	paid := map[string]func(c *client) *http.Response{
		"search": func(c *client) *http.Response { return c.send("GET", "/api/search?q=apple", nil) },
		"upload": func(c *client) *http.Response { return doors["documents"](c, 0) },
	}
	for name, send := range paid {
		for range 2 {
			require.Equal(t, 2, send(b.client()).StatusCode/100, name)
			require.Equal(t, 2, send(signedIn(b, nil)).StatusCode/100, name)
		}
		refused(t, send(b.client()))
		refused(t, send(signedIn(b, nil)))
	}
	const search = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_documents","arguments":{"query":"apple"}}}`
	res := b.client().send("POST", "/mcp/rpc", search)
	body := must.Have(io.ReadAll(res.Body))(t)
	require.Contains(t, string(body), chat.CodeRateLimited, "the limit holds for MCP, too")
	require.InDelta(t, 1, testutil.ToFloat64(b.server.metrics.refusals.WithLabelValues("mcp", chat.CodeRateLimited)), 0)

	free := setup(t, limited(limits.Config{Turns: perHour(1)}))
	for range 3 {
		for name, send := range paid {
			require.Equal(t, 2, send(free.client()).StatusCode/100, "%s costs nothing", name)
		}
	}
}

// Rule S8.
func TestDailyBudgetRefusesNewTurnsUntilTheDayIsOver(t *testing.T) {
	t.Parallel()
	// Each turn of the engine uses 15 tokens for 0.001 dollars.
	for name, budget := range map[string]db.Spending{"daily_tokens": {Tokens: 20}, "daily_cost_usd": {CostUSD: 0.001 * 4 / 3}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, limited(limits.Config{Daily: budget}), withEmbeddings)
			c := b.client()
			sent := map[string]any{"message": "hello", "thread_id": someThread, "client_turn_id": "c1"}
			c.ask(sent).rest()
			used := c.call(200, "GET", "/api/me", nil)["limits"].([]any)[0].(map[string]any)
			require.Equal(t, name, used["name"])
			require.InDelta(t, 0.75, used["used"].(float64)/used["limit"].(float64), 1e-9)
			c.ask(hello()).rest() // the last turn may exceed the budget

			refusedFor := func(res *http.Response) {
				t.Helper()
				refused(t, res)
				raw := must.Have(io.ReadAll(res.Body))(t)
				require.Contains(t, string(raw), chat.CodeBudget)
				over := nextMidnight(time.Now()).Format("2006-01-02T15:04:05")
				require.Contains(t, string(raw), over, "retry_at says when the day is over")
				wait := must.Have(strconv.Atoi(res.Header.Get("Retry-After")))(t)
				require.LessOrEqual(t, wait, 24*3600)
			}
			refusedFor(c.send("POST", say, hello()))
			refusedFor(c.send("GET", "/api/search?q=apple", nil))
			refusedFor(doors["documents"](c, 0))
			refusedFor(b.client().send("POST", say, hello()))
			require.Equal(t, map[string]int{"429 " + chat.CodeBudget: atOnce}, attack(b, fresh(b), doors["turns"]), "a new caller shares the budget of their address")
			c.ask(sent).rest() // a repeated message
			signedIn(b, nil).ask(hello()).rest()
			anonymous := signedIn(b, jwt.MapClaims{"sub": "user-3", "is_anonymous": true})
			refusedFor(anonymous.send("POST", say, hello()))
		})
	}
}

// embedding is a model that embeds all texts alike.
type embedding struct{}

func (embedding) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	for _, text := range texts {
		llm.Meter(ctx, chat.Usage{TokensIn: llm.EstimateTokens(text)})
	}
	return slices.Repeat([][]float32{{1, 0}}, len(texts)), nil
}

func TestSearchesCountAgainstTheDailyBudget(t *testing.T) {
	t.Parallel()
	doors := map[string]func(c *client) int{
		"API": func(c *client) int { return c.send("GET", "/api/search?q=four+words+of+text", nil).StatusCode },
		"MCP": func(c *client) int {
			const search = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_documents","arguments":{"query":"four words of text"}}}`
			body := must.Have(io.ReadAll(c.send("POST", "/mcp/rpc", search).Body))(t)
			if strings.Contains(string(body), chat.CodeBudget) {
				return 429
			}
			return 200
		},
	}
	for name, search := range doors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, limited(limits.Config{Daily: db.Spending{Tokens: 6}}), withEmbeddings, func(d *Deps) { d.Search = retrieval.New(d.Store, embedding{}) })
			c := b.client()
			require.Equal(t, 200, search(c))
			require.Equal(t, 200, search(c), "5 of 6 tokens are used")
			require.Equal(t, 429, search(c))
			require.Equal(t, 429, search(b.client()), "a new caller shares the budget of their address")
			require.Equal(t, 429, c.send("POST", say, hello()).StatusCode, "turns and searches share the budget")
			require.Equal(t, 200, search(signedIn(b, nil)))
		})
	}
}

func nextMidnight(now time.Time) time.Time {
	return now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
}

func TestUploadsWaitForMemoryAndNoneIsLost(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *Deps) { d.Config.UploadMemory = 1 << 20; d.Config.TempDir = t.TempDir() })
	text := strings.Repeat("apple pie ", 60_000)
	var all sync.WaitGroup
	for range 12 {
		c := signedIn(b, jwt.MapClaims{"sub": uuid.NewString()})
		all.Go(func() {
			res := c.send("POST", "/api/documents", map[string]any{"title": "x", "text": text})
			assert.EqualValues(t, http.StatusAccepted, res.StatusCode, "status %d", res.StatusCode)
		})
	}
	all.Wait()
}

func TestAnonymousUserIsUnusedUntilTheNextRequest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	c.call(201, "POST", "/api/conversations", map[string]any{})
	visitor := c.id()
	b.client().id() // a caller who stores nothing is not recorded
	signedIn(b, nil).call(201, "POST", "/api/conversations", map[string]any{})
	unused := func() []string {
		owners := must.Have(b.store.UnusedOwners(t.Context(), time.Now().Add(time.Hour), "", 10))(t)
		return owners
	}
	require.Equal(t, []string{visitor}, unused())
	require.NoError(t, b.store.Seen(t.Context(), visitor, false, time.Now().Add(-40*24*time.Hour)))

	// The anonymous user signs up and keeps the id, as in Supabase.
	anonymous := jwt.MapClaims{"sub": "ann", "is_anonymous": true}
	signedIn(b, anonymous).call(201, "POST", "/api/conversations", map[string]any{})
	require.ElementsMatch(t, []string{visitor, "ann"}, unused())
	ann := signedIn(b, jwt.MapClaims{"sub": "ann"})
	require.Eventually(t, func() bool {
		ann.id()
		return len(unused()) == 1
	}, time.Minute, 10*time.Millisecond)
}
