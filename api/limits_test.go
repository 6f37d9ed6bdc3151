package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/ulule/limiter/v3"

	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/limits"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

func limited(l limits.Config) func(*Deps) { return func(d *Deps) { d.Config.Limits = l } }

func perHour(n int64) limiter.Rate { return limiter.Rate{Limit: n, Period: time.Hour} }

// behindProxy trusts the test's own client as a proxy.
func behindProxy(mode string) func(*Deps) {
	return func(d *Deps) {
		d.Config.Identity.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		d.Config.Identity.ForwardedFor = mode
	}
}

const say = "/api/chat"

func hello() map[string]any { return map[string]any{"message": "hello"} }

// refused checks that a response is a 429 with Retry-After.
func refused(t *testing.T, res *http.Response) {
	t.Helper()
	require.EqualValues(t, http.StatusTooManyRequests, res.StatusCode, "status %d, want 429", res.StatusCode)
	if n, err := strconv.Atoi(res.Header.Get("Retry-After")); err != nil || n < 1 {
		t.Errorf("Retry-After %q", res.Header.Get("Retry-After"))
	}
}

func TestDroppingTheCookieDoesNotBypassTheRateLimit(t *testing.T) {
	t.Parallel()
	b := setup(t, limited(limits.Config{Turns: perHour(2)}))
	for left := range 2 {
		s := b.client().ask(hello()) // a new cookie each time
		s.rest()
		assert.EqualValues(t, strconv.Itoa(1-left), s.res.Header.Get("RateLimit-Remaining"), "RateLimit-Remaining")
	}
	res := b.client().send("POST", say, hello())
	refused(t, res)
	for name, want := range map[string]string{"RateLimit-Limit": "2", "RateLimit-Remaining": "0"} {
		assert.EqualValues(t, want, res.Header.Get(name), name)
	}
	if n, err := strconv.Atoi(res.Header.Get("RateLimit-Reset")); err != nil || n < 1 || n > 3600 {
		t.Errorf("RateLimit-Reset %q", res.Header.Get("RateLimit-Reset"))
	}
	assert.EqualValues(t, "rate_limited", errorCode(b.client().call(429, "POST", say, hello())), "code")
}

func TestLimitsHoldInEveryDialect(t *testing.T) {
	t.Parallel()
	for kind, limit := range map[string]limits.Config{
		chat.CodeRateLimited: {Turns: perHour(1)},
		chat.CodeBudget:      {Daily: db.Spending{Tokens: 1}},
		chat.CodeQuota:       {Owner: db.Quota{Threads: 1}},
	} {
		for name, d := range sendInDialects {
			t.Run(kind+" "+name, func(t *testing.T) {
				t.Parallel()
				b := setup(t, limited(limit))
				c := b.client()
				send := func(thread, id string) *http.Response {
					var headers []string
					if d.headers != nil {
						headers = d.headers(thread, id)
					}
					return c.send("POST", d.path, d.body(thread, id, "x"), headers...)
				}
				res := send(d.thread, "c1")
				raw, err := io.ReadAll(res.Body)
				require.True(t, err == nil && res.StatusCode == 200, "%d %s, %v", res.StatusCode, raw, err)
				res = send("11111111-2222-4333-8444-555555555555", "c2")
				refused(t, res)
				raw, err = io.ReadAll(res.Body)
				assert.True(t, err == nil && strings.Contains(string(raw), `"code":"`+kind+`"`), "%s, %v", raw, err)
				assert.False(t, name == "OpenAI" && !strings.Contains(string(raw), `"type":"rate_limit_error"`), "not OpenAI's shape: %s", raw)
				assert.EqualValues(t, 1, testutil.ToFloat64(b.server.metrics.refusals.WithLabelValues(d.path, kind)))
				repeated := send(d.thread, "c1") // is no new message
				assert.EqualValues(t, 200, repeated.StatusCode, "a retry: %d", repeated.StatusCode)
			})
		}
	}
}

// Rule S6.
func TestRetriesAnswersAndStopsDoNotCount(t *testing.T) {
	t.Parallel()
	b := setup(t, limited(limits.Config{Turns: perHour(1)}))
	b.engine.script = asking
	c := b.client()
	sent := map[string]any{"message": "hello", "thread_id": someThread, "client_turn_id": "c1"}
	c.ask(sent).until("interrupt")
	c.ask(sent).until("interrupt") // the same message again
	c.call(202, "POST", "/api/chat/cancel", map[string]any{"stream_run_id": "none"})
	c.stream("POST", "/api/chat/resume", map[string]any{"thread_id": someThread,
		"resume_value": map[string]any{"type": "cancel", "value": nil}}).rest()
	c.call(400, "POST", say, map[string]any{"message": ""})
	refused(t, c.send("POST", say, map[string]any{"message": "another", "thread_id": someThread}))
}

func TestTokensAreNotLimitedByAddress(t *testing.T) {
	t.Parallel()
	b := setup(t, limited(limits.Config{Turns: perHour(1), NewThreads: perHour(1)}))
	c := b.client()
	c.h.Set("Authorization", "Bearer "+token(t, jwt.SigningMethodHS256, []byte(jwtSecret), jwt.MapClaims{"sub": "ann", "exp": time.Now().Add(time.Hour).Unix()}))
	for range 3 {
		c.ask(hello()).rest()
	}
}

func TestForwardedForOfAnUntrustedPeerIsIgnored(t *testing.T) {
	t.Parallel()
	b := setup(t, limited(limits.Config{Turns: perHour(1)}))
	b.client().ask(hello()).rest()
	for _, forged := range []string{"203.0.113.7", "203.0.113.8, 10.0.0.1", "::1"} {
		refused(t, b.client().send("POST", say, hello(), "X-Forwarded-For", forged))
	}
}

func TestClientsBehindAProxyAreLimitedSeparately(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{identity.Leftmost, identity.RightmostUntrusted} {
		b := setup(t, limited(limits.Config{Turns: perHour(1)}), behindProxy(mode))
		for _, client := range []string{"203.0.113.7", "203.0.113.8", "2001:db8:1:1::1", "2001:db8:1:2::1"} {
			b.client().stream("POST", say, hello(), "X-Forwarded-For", client).rest()
			refused(t, b.client().send("POST", say, hello(), "X-Forwarded-For", client))
		}
		// A whole /64 of IPv6 addresses counts as one client.
		refused(t, b.client().send("POST", say, hello(), "X-Forwarded-For", "2001:db8:1:1:ffff::9"))
	}
}

func TestTwoProcessesShareTheRateLimit(t *testing.T) {
	t.Parallel()
	one := setup(t, limited(limits.Config{Turns: perHour(1)}))
	two := setup(t, limited(limits.Config{Turns: perHour(1)}), func(d *Deps) { d.Store = one.store })
	one.client().ask(hello()).rest()
	refused(t, two.client().send("POST", say, hello()))
}

func TestNewConversationsAreLimitedPerAddress(t *testing.T) {
	t.Parallel()
	b := setup(t, limited(limits.Config{Turns: perHour(100), NewThreads: perHour(2)}))
	c := b.client()
	s := c.ask(hello())
	s.rest()
	thread := s.res.Header.Get("X-Thread-Id")
	c.call(201, "POST", "/api/conversations", map[string]any{})
	refused(t, c.send("POST", say, hello()))
	refused(t, b.client().send("POST", "/api/conversations", map[string]any{}))
	c.ask(map[string]any{"message": "go on", "thread_id": thread}).rest()
	// Refused messages were not counted as turns.
	assert.EqualValues(t, "0", b.client().send("POST", say, map[string]any{"message": "x"}).Header.Get("RateLimit-Remaining"), "RateLimit-Remaining")
}

// Rule S10.
func TestBusyConversationsAreLimitedPerCaller(t *testing.T) {
	t.Parallel()
	b := setup(t, limited(limits.Config{BusyTurns: 1}))
	b.engine.script = waiting
	c := b.client()
	c.id()
	s := c.ask(map[string]any{"thread_id": someThread})
	s.until("status")
	refused(t, c.send("POST", say, hello()))
	// More messages in a busy conversation are allowed, and other callers' turns do not count.
	b.engine.set(func() { b.engine.script = answer })
	b.client().ask(hello()).rest()
	c.call(202, "POST", "/api/chat/cancel", map[string]any{"thread_id": someThread})
	s.until("cancelled")
	c.ask(hello()).rest()
}

func TestMessagesThatNoThreadAcceptedAreNotCountedAsBusy(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]error{
		"refused": &chat.RefusedError{Code: chat.CodeTurnRunning}, "without an answer": errors.New("connection refused"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, limited(limits.Config{BusyTurns: 1}))
			c := b.client()
			b.engine.set(func() { b.engine.refuse = refuse })
			for range 3 {
				if res := c.send("POST", say, hello()); res.StatusCode == http.StatusTooManyRequests || res.StatusCode == http.StatusOK {
					t.Fatalf("status %d", res.StatusCode)
				}
			}
			b.engine.set(func() { b.engine.refuse = nil })
			c.ask(hello()).rest()
		})
	}
}

func TestOpenStreamsAreLimitedPerCaller(t *testing.T) {
	t.Parallel()
	b := setup(t, limited(limits.Config{Streams: 1}))
	b.engine.script = waiting
	c := b.client()
	c.id()
	s := c.ask(map[string]any{"thread_id": someThread})
	s.until("status")
	refused(t, c.send("GET", "/api/chat/stream/"+someThread, nil))
	c.call(202, "POST", "/api/chat/cancel", map[string]any{"thread_id": someThread})
	s.rest()
	b.engine.set(func() { b.engine.script = answer })
	deadline := time.Now().Add(10 * time.Second)
	for { // the handler ends a moment after its client has read everything
		res := c.send("POST", say, hello())
		if res.StatusCode == http.StatusOK {
			return
		}
		require.False(t, time.Now().After(deadline), "a stream that ended still counts")
	}
}

func TestMCPClientGetsRetryAfter(t *testing.T) {
	t.Parallel()
	const ask = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{"message":"hello"}}}`
	for way, told := range map[string]func(answer string) any{
		"/mcp/rpc": func(answer string) any {
			var out struct{ Error struct{ Data map[string]any } }
			require.NoError(t, json.Unmarshal([]byte(answer), &out), answer)
			require.Equal(t, chat.CodeRateLimited, out.Error.Data["code"])
			return out.Error.Data["retry_after"]
		},
		"/mcp": func(answer string) any {
			result := dataOf(t, answer)[0]["result"].(map[string]any)
			require.Equal(t, true, result["isError"])
			told := result["structuredContent"].(map[string]any)
			require.Equal(t, chat.CodeRateLimited, told["error"])
			return told["retry_after"]
		},
	} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			b := setup(t, limited(limits.Config{Turns: perHour(1)}))
			b.client().ask(hello()).rest()
			res := b.client().send("POST", way, ask)
			require.Equal(t, 200, res.StatusCode)
			answer := must.Have(io.ReadAll(res.Body))(t)
			wait := told(string(answer))
			require.GreaterOrEqual(t, wait, any(1.0))
			require.Equal(t, fmt.Sprint(wait), res.Header.Get("Retry-After"))

			busy := setup(t, limited(limits.Config{Streams: 1}))
			busy.engine.script = waiting
			c := busy.client()
			c.id()
			c.ask(hello()).until("status")
			refused(t, c.send("POST", way, ask))
		})
	}
}
