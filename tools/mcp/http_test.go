package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/guard"
	"github.com/palaver-chat/palaver/testkit/testlog"
	"github.com/palaver-chat/palaver/tools"
)

const secret = "a secret that is only used in tests"

// claims returns a token's claims if the server's own key signed it.
func claims(t *testing.T, authorization, server string) jwt.RegisteredClaims {
	t.Helper()
	token, bearer := strings.CutPrefix(authorization, "Bearer ")
	require.True(t, bearer)
	var c jwt.RegisteredClaims
	_, err := jwt.ParseWithClaims(token, &c, func(*jwt.Token) (any, error) { return []byte(must(Key(secret, server))), nil },
		jwt.WithValidMethods([]string{"HS256"}), jwt.WithExpirationRequired(), jwt.WithIssuedAt())
	require.NoError(t, err)
	return c
}

// checkClaims checks a token's claims for one owner and server.
func checkClaims(t *testing.T, c jwt.RegisteredClaims, owner, server string) {
	t.Helper()
	require.Equal(t, "palaver", c.Issuer)
	require.Equal(t, owner, c.Subject)
	require.Equal(t, jwt.ClaimStrings{server}, c.Audience)
	require.Equal(t, 5*time.Minute, c.ExpiresAt.Sub(c.IssuedAt.Time))
	require.NotEmpty(t, c.ID)
}

func TestToolThatDeclaresAnOpenWorldReachesTheWeb(t *testing.T) {
	t.Parallel()
	s, yes, no := newServer(), true, false
	for name, hint := range map[string]*bool{"search": &yes, "local": &no, "silent": nil} {
		tool := object(name)
		tool.Annotations = &sdk.ToolAnnotations{OpenWorldHint: hint}
		s.AddTool(tool, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{}, nil
		})
	}
	web := serve(t, s, nil, nil)
	r := setup(t, nil, Server{Name: "w", Transport: HTTP, URL: web.URL})
	r.up("w")
	for name, want := range map[string]bool{"search": true, "local": false, "silent": false} {
		require.Equal(t, want, r.tool("w__"+name).Web, name)
	}
}

func TestEffectOfAToolIsWhatItsServerDeclares(t *testing.T) {
	t.Parallel()
	s, yes, no := newServer(), true, false
	for name, a := range map[string]*sdk.ToolAnnotations{
		"silent": nil, "reads": {ReadOnlyHint: true, DestructiveHint: &yes}, "changes": {DestructiveHint: &no}, "deletes": {DestructiveHint: &yes},
	} {
		tool := object(name)
		tool.Annotations = a
		s.AddTool(tool, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{}, nil
		})
	}
	web := serve(t, s, nil, nil)
	r := setup(t, nil, Server{Name: "w", Transport: HTTP, URL: web.URL})
	r.up("w")
	for name, want := range map[string]chat.ToolEffect{
		"silent": chat.EffectChanges, "reads": chat.EffectReads, "changes": chat.EffectChanges, "deletes": chat.EffectDestroys,
	} {
		info := r.tool("w__" + name).Info()
		require.Equal(t, want, info.Effect, name)
		require.Equal(t, "w", info.Server)
	}
}

func TestTimeoutCancelsTheCallAndIsReportedToTheModel(t *testing.T) {
	t.Parallel()
	for name, readOnly := range map[string]bool{"reads": true, "writes": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			called, cancelled := make(chan struct{}, 100), make(chan struct{}, 100)
			s := newServer()
			tool := object("slow")
			tool.Annotations = &sdk.ToolAnnotations{ReadOnlyHint: readOnly}
			s.AddTool(tool, func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				called <- struct{}{}
				<-ctx.Done()
				cancelled <- struct{}{}
				return nil, ctx.Err()
			})
			web := serve(t, s, nil, nil)
			r := setup(t, nil, Server{Name: "slow", Transport: HTTP, URL: web.URL, Timeout: 200 * time.Millisecond})
			r.up("slow")
			result := r.inTime(called, "slow__slow")
			require.True(t, result.IsError)
			require.Contains(t, result.Content, "did not answer within 200ms and the call was cancelled")
			require.Equal(t, !readOnly, strings.Contains(result.Content, "not known"))
			select {
			case <-cancelled:
			case <-time.After(testTimeout):
				t.Fatal("the server got no cancellation")
			}
		})
	}
}

// inTime repeats a call until it has reached the server before its timeout, and returns its result.
func (r *rig) inTime(called <-chan struct{}, name string) tools.Result {
	r.t.Helper()
	for range 50 {
		result := r.run(name, `{}`)
		select {
		case <-called:
			return result
		default:
		}
	}
	r.t.Fatal("no call arrived before its timeout")
	return tools.Result{}
}

func TestStoppedTurnCancelsItsCall(t *testing.T) {
	t.Parallel()
	called, cancelled := make(chan struct{}), make(chan struct{})
	s := newServer()
	s.AddTool(object("slow"), func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		close(called)
		<-ctx.Done()
		close(cancelled)
		return nil, ctx.Err()
	})
	r := setup(t, nil, Server{Name: "slow", Transport: HTTP, URL: serve(t, s, nil, nil).URL})
	r.up("slow")
	ctx, stop := context.WithCancel(t.Context())
	go func() { <-called; stop() }()
	_, err := r.tool("slow__slow").Run(ctx, call("somebody", `{}`))
	require.ErrorIs(t, err, context.Canceled)
	<-cancelled
}

func TestServerErrorsAreReportedToTheModel(t *testing.T) {
	t.Parallel()
	s := newServer()
	s.AddTool(object("protocol"), func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return nil, fmt.Errorf("no such row\x00")
	})
	s.AddTool(object("own"), func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		out := says("the row is locked")
		out.IsError = true
		return out, nil
	})
	r := setup(t, nil, Server{Name: "s", Transport: HTTP, URL: serve(t, s, nil, nil).URL})
	r.up("s")
	result := r.run("s__protocol", `{}`)
	require.True(t, result.IsError)
	require.Contains(t, result.Content, "answered with error")
	require.Contains(t, result.Content, "no such row")
	require.NotContains(t, result.Content, "\x00")
	require.Equal(t, tools.Result{Content: "the row is locked", IsError: true}, r.run("s__own", `{}`))
}

func TestChangedToolListIsReadAgain(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]*sdk.StreamableHTTPOptions{"with sessions": nil, "without sessions": {Stateless: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer()
			s.AddTool(object("first"), nothing)
			r := setup(t, nil, Server{Name: "s", Transport: HTTP, URL: serve(t, s, options, nil).URL})
			r.up("s")
			require.Equal(t, []string{"s__first"}, r.names())
			s.AddTool(object("second"), nothing)
			r.until("the second tool", func(state) bool { return len(r.names()) == 2 })
			s.RemoveTools("first")
			r.until("one tool", func(state) bool { return len(r.names()) == 1 })
			require.Equal(t, []string{"s__second"}, r.names())
		})
	}
}

func nothing(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	return says("done"), nil
}

func TestToolListIsReadWithAllPages(t *testing.T) {
	t.Parallel()
	s := sdk.NewServer(&sdk.Implementation{Name: "test"}, &sdk.ServerOptions{PageSize: 2})
	for i := range 7 {
		s.AddTool(object(fmt.Sprint("tool", i)), nothing)
	}
	r := setup(t, nil, Server{Name: "s", Transport: HTTP, URL: serve(t, s, nil, nil).URL})
	r.up("s")
	require.Len(t, r.names(), 7)
}

func TestDescriptionOfAToolIsLimited(t *testing.T) {
	t.Parallel()
	s := newServer()
	s.AddTool(&sdk.Tool{Name: "wordy", Description: strings.Repeat("ü", maxDescription), InputSchema: json.RawMessage(`{"type":"object"}`)}, nothing)
	r := setup(t, nil, Server{Name: "s", Transport: HTTP, URL: serve(t, s, nil, nil).URL})
	r.up("s")
	require.LessOrEqual(t, len(r.tool("s__wordy").Description), maxDescription+len(cutNote))
}

// seen collects the requests to a server.
type seen struct {
	sync.Mutex
	requests []*http.Request
}

func (s *seen) see(_ http.ResponseWriter, r *http.Request) bool {
	s.Lock()
	defer s.Unlock()
	s.requests = append(s.requests, r.Clone(context.Background()))
	return false
}

func TestRequestsCarryATokenOfTheirOwner(t *testing.T) {
	t.Parallel()
	var (
		all seen
		mu  sync.Mutex
		ids = map[string]string{} // session → subject: servers bind the two
	)
	s := newServer()
	s.AddTool(object("whoami"), func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		c := claims(t, req.Extra.Header.Get("Authorization"), "s")
		require.Equal(t, "call-1", req.Params.Meta[callKey])
		return says(c.Subject), nil
	})
	web := serve(t, s, nil, func(w http.ResponseWriter, r *http.Request) bool {
		c := claims(t, r.Header.Get("Authorization"), "s")
		if id := r.Header.Get(sessionID); id != "" {
			mu.Lock()
			if ids[id] == "" {
				ids[id] = c.Subject
			}
			same := ids[id] == c.Subject
			mu.Unlock()
			if !same {
				w.WriteHeader(http.StatusForbidden)
				return true
			}
		}
		return all.see(w, r)
	})
	r := setup(t, func(o *Options) { o.Secret = secret }, Server{Name: "s", Transport: HTTP, URL: web.URL})
	r.up("s")
	tool := r.tool("s__whoami")
	for _, owner := range []string{"ann", "bob", "ann"} {
		result, err := tool.Run(t.Context(), call(owner, `{}`))
		require.NoError(t, err)
		require.Equal(t, owner, result.Content)
	}
	all.Lock()
	defer all.Unlock()
	tokens := map[string]bool{}
	subjects := map[string]int{}
	for _, r := range all.requests {
		c := claims(t, r.Header.Get("Authorization"), "s")
		checkClaims(t, c, c.Subject, "s")
		subjects[c.Subject]++
		tokens[c.ID] = true
	}
	require.Len(t, tokens, len(all.requests), "each request has its own token")
	require.Len(t, subjects, 3)
	require.NotZero(t, subjects[serviceSubject])
}

func TestConfiguredHeadersAreSentAndTakePrecedence(t *testing.T) {
	t.Parallel()
	var all seen
	s := newServer()
	s.AddTool(object("work"), nothing)
	web := serve(t, s, nil, all.see)
	r := setup(t, func(o *Options) { o.Secret = secret }, Server{Name: "s", Transport: HTTP, URL: web.URL,
		Headers: map[string]string{"authorization": "Bearer of the operator", "X-Tenant": "7"}})
	r.up("s")
	r.run("s__work", `{}`)
	all.Lock()
	defer all.Unlock()
	for _, r := range all.requests {
		require.Equal(t, "Bearer of the operator", r.Header.Get("Authorization"))
		require.Equal(t, "7", r.Header.Get("X-Tenant"))
	}
}

func TestCredentialsAreNotSentToRedirectsToOtherHosts(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the redirect's target got a request with %v", r.Header)
	}))
	t.Cleanup(other.Close)
	web := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	t.Cleanup(web.Close)
	r := setup(t, func(o *Options) { o.Secret = secret },
		Server{Name: "h", Transport: HTTP, URL: web.URL}, Server{Name: "r", Transport: RPC, URL: web.URL})
	r.down("h")
	r.down("r")
	require.Equal(t, map[string]string{"mcp:h": "down", "mcp:r": "down"}, r.States())
}

func TestRedirectWithinTheServerIsFollowed(t *testing.T) {
	t.Parallel()
	s := newServer()
	s.AddTool(object("work"), nothing)
	web := serve(t, s, nil, func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/mcp" {
			http.Redirect(w, r, "/mcp/", http.StatusTemporaryRedirect)
			return true
		}
		return false
	})
	r := setup(t, nil, Server{Name: "s", Transport: HTTP, URL: web.URL + "/mcp"})
	r.up("s")
	require.Equal(t, "done", r.run("s__work", `{}`).Content)
}

func TestServersAtPrivateAddressesAreRefused(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a refused server got a request") }))
	t.Cleanup(web.Close)
	r := setup(t, func(o *Options) { o.Guard = guard.New(nil) },
		Server{Name: "h", Transport: HTTP, URL: web.URL}, Server{Name: "r", Transport: RPC, URL: web.URL})
	seen := map[string]bool{}
	r.until("both refused", func(s state) bool {
		require.ErrorContains(t, s.err, "ALLOW_PRIVATE_ADDRESSES")
		seen[s.server] = true
		return len(seen) == 2
	})
	require.Empty(t, r.names())
}

func TestServerThatRefusesOurCredentialsIsNamed(t *testing.T) {
	t.Parallel()
	var locked sync.Map
	s := newServer()
	s.AddTool(object("work"), nothing)
	web := serve(t, s, nil, func(w http.ResponseWriter, r *http.Request) bool {
		if _, is := locked.Load("now"); is && r.Method == http.MethodPost {
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}
		return false
	})
	r := setup(t, nil, Server{Name: "s", Transport: HTTP, URL: web.URL})
	r.up("s")
	locked.Store("now", true)
	require.Equal(t, failure("The tool's server refused the call (status 401 Unauthorized). Nothing was done."), r.run("s__work", `{}`))

	stranger := setup(t, nil, Server{Name: "s", Transport: HTTP, URL: web.URL})
	require.ErrorContains(t, stranger.down("s"), "401")
}

func TestEndlessAnswerIsCutOff(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for line := []byte(strings.Repeat(" ", 1<<16)); r.Context().Err() == nil; {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
	}))
	t.Cleanup(web.Close)
	r := setup(t, nil, Server{Name: "h", Transport: HTTP, URL: web.URL}, Server{Name: "r", Transport: RPC, URL: web.URL})
	r.down("h")
	require.ErrorIs(t, r.down("r"), errTooLarge)
}

func TestLostConnectionIsAnErrorNotAResult(t *testing.T) {
	t.Parallel()
	s := newServer()
	var web *httptest.Server
	s.AddTool(object("work"), func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		web.CloseClientConnections()
		return says("done"), nil
	})
	web = serve(t, s, nil, nil)
	r := setup(t, nil, Server{Name: "s", Transport: HTTP, URL: web.URL})
	r.up("s")
	_, err := r.tool("s__work").Run(t.Context(), call("somebody", `{}`))
	require.ErrorContains(t, err, "mcp server s: tool work")
}

func TestKeyInAURLIsNotLogged(t *testing.T) {
	t.Parallel()
	var log testlog.Buffer
	r := setup(t, func(o *Options) {
		o.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	},
		Server{Name: "h", Transport: HTTP, URL: "http://127.0.0.1:1/mcp?key=s3cret%20x"}, Server{Name: "r", Transport: RPC, URL: "http://127.0.0.1:1/?key=s3cret"})
	r.down("h")
	r.down("r")
	r.Close()
	require.Contains(t, log.String(), "connection refused")
	require.NotContains(t, log.String(), "s3cret")
}

func TestServerThatHasNotAnsweredYetIsStarting(t *testing.T) {
	t.Parallel()
	s := newServer()
	s.AddTool(object("work"), nothing)
	goOn := make(chan struct{})
	web := serve(t, s, nil, func(http.ResponseWriter, *http.Request) bool {
		<-goOn
		return false
	})
	r := setup(t, nil, Server{Name: "s", Transport: HTTP, URL: web.URL})
	require.Equal(t, map[string]string{"mcp:s": "starting"}, r.States())
	close(goOn)
	r.up("s")
	require.Equal(t, map[string]string{"mcp:s": "ok"}, r.States())
}
