package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db/sqlite"
	"github.com/palaver-chat/palaver/imports/connections"
	"github.com/palaver-chat/palaver/internal/guard"
	"github.com/palaver-chat/palaver/tools"
)

// conformance are the scenarios of MCP's conformance suite that a client of tools can pass, without
// asking the person's questions of servers.
var conformance = []string{
	"initialize", "tools_call", "sse-retry",
	"auth/metadata-default", "auth/metadata-var1", "auth/metadata-var2", "auth/metadata-var3",
	"auth/2025-03-26-oauth-metadata-backcompat", "auth/2025-03-26-oauth-endpoint-fallback",
	"auth/scope-from-www-authenticate", "auth/scope-from-scopes-supported", "auth/scope-omitted-when-undefined",
	"auth/scope-step-up", "auth/scope-retry-limit",
	"auth/token-endpoint-auth-basic", "auth/token-endpoint-auth-post", "auth/token-endpoint-auth-none",
	"auth/pre-registration",
}

// TestConformanceOfTheClient runs the suite that MCP's authors publish, with the Node that it needs.
func TestConformanceOfTheClient(t *testing.T) {
	t.Parallel()
	modules, err := filepath.Abs("testservers/node_modules")
	require.NoError(t, err)
	require.DirExists(t, modules, "not installed; make test does it, or make tools/mcp/testservers/node_modules/.installed")
	for _, scenario := range conformance {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), filepath.Join(modules, ".bin/node"), filepath.Join(modules, "@modelcontextprotocol/conformance/dist/index.js"),
				"client", "--command", os.Args[0], "--scenario", scenario, "--timeout", fmt.Sprint(testTimeout.Milliseconds()))
			cmd.Dir = t.TempDir() // for its results
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), childVariable + "=conformance"}
			said, err := cmd.CombinedOutput()
			require.NoError(t, err, string(said))
		})
	}
}

// conformanceClient connects to the server of a scenario, as a worker does, and calls its tools. It
// connects an account when a call needs one.
func conformanceClient(address string) error {
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	dir, err := os.MkdirTemp("", "conformance")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	store, err := sqlite.Open(ctx, filepath.Join(dir, "palaver.db"))
	if err != nil {
		return err
	}
	defer store.Close()
	var given struct {
		ClientID     string `json:"client_id"`
		ClientSecret string `json:"client_secret"`
	}
	if raw := os.Getenv("MCP_CONFORMANCE_CONTEXT"); raw != "" {
		if err := json.Unmarshal([]byte(raw), &given); err != nil {
			return err
		}
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	server := Server{Name: "s", Transport: HTTP, URL: address, Approve: tools.Never, Timeout: testTimeout,
		OAuth: OAuthSettings{Wanted: given.ClientID != "", ClientID: given.ClientID, ClientSecret: given.ClientSecret}}
	allowed, err := guard.ParsePrefixes("127.0.0.0/8,::1/128")
	if err != nil {
		return err
	}
	keys, err := connections.NewKeys([]byte("a secret of tests"))
	if err != nil {
		return err
	}
	accounts, err := connections.New(connections.Options{Store: store, Keys: keys, Providers: OAuthProviders([]Server{server}, guard.New(allowed)), Log: log})
	if err != nil {
		return err
	}
	states := make(chan state, 100)
	servers := open(Options{pace: testPace, Servers: []Server{server}, Guard: guard.New(allowed), Tokens: accounts, Version: "test", Log: log},
		func(server string, err error) { states <- state{server, err} })
	defer servers.Close()
	select {
	case <-states:
	case <-ctx.Done():
		return ctx.Err()
	}
	for range 10 { // connecting, the tries for a wider scope, and what comes after them
		again := false
		for _, tool := range servers.Tools(ctx, "ann") {
			result, err := tool.Run(ctx, tools.Call{Owner: "ann", ID: "call-1", Arguments: json.RawMessage(`{"a":5,"b":3}`)})
			if err != nil {
				return err
			}
			if code := result.Coded.Code; code == messages.ToolConnect.Code || code == messages.ToolScope.Code {
				if err := consent(ctx, accounts); err != nil {
					return err
				}
				again = true
				break
			}
		}
		if !again {
			return nil
		}
	}
	return nil
}

// consent connects ann's account: the server of a scenario sends the browser back at once.
func consent(ctx context.Context, accounts *connections.Accounts) error {
	page, cookie, err := accounts.Begin(ctx, connections.Flow{Provider: provider, Owner: "ann", Redirect: "http://localhost:3000/callback"})
	if err != nil {
		return err
	}
	flow, err := accounts.Open(cookie)
	if err != nil {
		return err
	}
	browser := http.Client{Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := browser.Get(page)
	if err != nil {
		return err
	}
	_ = res.Body.Close()
	back, err := url.Parse(res.Header.Get("Location"))
	if err != nil {
		return err
	}
	return accounts.Finish(ctx, flow, provider, "", back.Query())
}

// runConformanceClient is the child process of TestConformanceOfTheClient.
func runConformanceClient() {
	address := os.Args[len(os.Args)-1]
	if err := conformanceClient(address); err != nil {
		fmt.Fprintln(os.Stderr, strings.TrimSpace(err.Error()))
		os.Exit(1)
	}
}
