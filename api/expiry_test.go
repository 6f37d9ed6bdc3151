package api

import (
	"io"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/testkit/must"
)

// expiry is the token of one stream. Close end to let it expire.
type expiry struct {
	identity.Caller
	end chan time.Time
}

// expiries replaces the timers of tokens; the channel has one entry for each stream.
func (b *bundle) expiries() <-chan expiry {
	streams := make(chan expiry, 16)
	b.server.expiry = func(who identity.Caller) (<-chan time.Time, func()) {
		e := expiry{who, make(chan time.Time)}
		streams <- e
		return e.end, func() {}
	}
	return streams
}

// Rule I6.
func TestFollowedStreamEndsWithItsToken(t *testing.T) {
	t.Parallel()
	said := []map[string]any{said("u1", "What is the answer?")}
	last := map[string]func(*testing.T, *events){
		"native": func(t *testing.T, s *events) {
			all := s.rest()
			end := all[len(all)-1]
			require.Equal(t, "error", end["type"])
			require.Equal(t, chat.CodeUnauthenticated, end["code"])
			require.Equal(t, true, end["retryable"])
			require.NotContains(t, end, "event_id", "the error is no event of the turn")
		},
		"AI SDK": func(t *testing.T, s *events) {
			all := s.chunks()
			require.Equal(t, "error", all[len(all)-2]["type"])
			require.Contains(t, all[len(all)-2]["errorText"], "sign-in has expired")
			require.Equal(t, map[string]any{"type": "finish", "finishReason": "error"}, all[len(all)-1])
		},
		"LangGraph": func(t *testing.T, s *events) {
			all := s.lines()
			require.Contains(t, all[len(all)-2], `{"type":"error","error":"Your sign-in has expired`)
			require.Equal(t, "[DONE]", all[len(all)-1])
		},
		"OpenAI": func(t *testing.T, s *events) {
			all := s.lines()
			require.Contains(t, all[len(all)-1], `"type":"authentication_error"`, "no [DONE] follows")
			require.Contains(t, all[len(all)-1], `"code":"unauthenticated"`)
		},
		"AG-UI": func(t *testing.T, s *events) {
			all := s.lines()
			require.Contains(t, all[len(all)-1], `"type":"RUN_ERROR"`)
			require.Contains(t, all[len(all)-1], `"code":"unauthenticated"`)
		},
		"agent v2": func(t *testing.T, s *events) {
			all := s.rest()
			end := all[len(all)-1]
			require.Equal(t, "done", end["type"])
			require.Equal(t, "error", end["finished_reason"])
			require.Equal(t, chat.CodeUnauthenticated, end["error"].(map[string]any)["code"])
		},
	}
	for name, c := range map[string]struct {
		dialect, method, path string
		body                  any
		idle                  bool // nothing runs
	}{
		"native":                         {"native", "POST", "/api/chat", map[string]any{"message": "x", "thread_id": someThread}, false},
		"native, a thread":               {"native", "GET", wholeThread, nil, false},
		"native, a thread that rests":    {"native", "GET", wholeThread, nil, true},
		"AI SDK":                         {"AI SDK", "POST", "/api/ui/chat", map[string]any{"id": someThread, "messages": said}, false},
		"AI SDK, the running turn again": {"AI SDK", "GET", "/api/ui/chat/" + someThread + "/stream", nil, false},
		"OpenAI":                         {"OpenAI", "POST", "/v1/chat/completions", completion("x"), false},
		"AG-UI":                          {"AG-UI", "POST", "/api/agui", aguiRun(someThread, "m", "x"), false},
		"LangGraph":                      {"LangGraph", "POST", "/api/v1/chat/stream", human(someThread, nil, "x"), false},
		"agent v2":                       {"agent v2", "POST", "/api/agent/v2/stream", map[string]any{"message": "x", "session_id": someThread, "client_turn_id": "c", "stream_run_id": "r"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.engine.script = waiting
			streams := b.expiries()
			end := time.Now().Add(time.Hour).Truncate(time.Second)
			ann := b.client()
			ann.h.Set("Authorization", "Bearer "+token(t, jwt.SigningMethodHS256, []byte(jwtSecret), jwt.MapClaims{"sub": "ann", "exp": end.Unix()}))
			switch {
			case c.idle:
				ann.call(201, "POST", "/api/conversations", map[string]any{"id": someThread})
			case c.method == "GET":
				ann.ask(map[string]any{"thread_id": someThread}).until("status")
				<-streams
			}
			s := ann.stream(c.method, c.path, c.body)
			who := <-streams
			require.Equal(t, "ann", who.ID)
			require.Equal(t, end.Add(30*time.Second), who.Expires, "tokens are accepted for this long after their end, because clocks differ")
			if !c.idle && c.dialect == "native" {
				s.until("status")
			}
			close(who.end)
			last[c.dialect](t, s)
			if !c.idle {
				b.engine.set(func() { require.Empty(t, b.engine.cancels, "the turn goes on") })
			}
		})
	}
}

// Rule I6.
func TestAnswerThatIsNotStreamedEndsWithItsToken(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.engine.script = waiting
	streams := b.expiries()
	go func() { close((<-streams).end) }()
	res := b.client().send("POST", "/v1/chat/completions", m{"model": "palaver-documents", "messages": []m{{"role": "user", "content": "x"}}}, "Authorization", bearerOf(t, "ann"))
	require.Equal(t, 401, res.StatusCode)
	require.Equal(t, "false", res.Header.Get("X-Should-Retry"), "a retry would send the message again")
	raw := must.Have(io.ReadAll(res.Body))(t)
	require.Contains(t, string(raw), `"type":"authentication_error"`)
}

func TestCookieCallersHaveNoExpiry(t *testing.T) {
	t.Parallel()
	b := setup(t)
	streams := b.expiries()
	b.client().ask(map[string]any{}).rest()
	require.Zero(t, (<-streams).Expires)
}

func TestMCPCallEndsWithItsToken(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.engine.script = waiting
	streams := b.expiries()
	go func() { close((<-streams).end) }()
	failed := b.rpcCall("ann", "tools/call", map[string]any{"name": "ask", "arguments": map[string]any{"message": "x"}})["error"].(map[string]any)
	require.Equal(t, chat.CodeUnauthenticated, failed["data"].(map[string]any)["code"])
}

func TestExpiryFiresAtTheTokensEnd(t *testing.T) {
	t.Parallel()
	expired, stop := identity.Caller{Expires: time.Now().Add(-time.Second)}.Expiry()
	defer stop()
	<-expired
	none, stop := identity.Caller{}.Expiry()
	defer stop()
	require.Nil(t, none)
}
