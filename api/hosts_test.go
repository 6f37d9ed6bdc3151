package api

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/guard"
	"github.com/palaver-chat/palaver/testkit/must"
)

// A page of evil.example whose DNS name was rebound to 127.0.0.1 sends evil.example as
// Host. Without the check it would be accepted as a new anonymous user.
// Rule S11.
func TestEveryRouteRefusesRequestsForAnotherHost(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *Deps) { d.Config.Hosts, _ = guard.NewHosts("127.0.0.1", "chat.example.com") })
	ask := func(method, path, host string) (int, string) {
		req := must.Have(http.NewRequestWithContext(t.Context(), method, b.url+path, strings.NewReader("{}")))(t)
		req.Host = host
		req.Header.Set("Content-Type", "application/json")
		res := must.Have(http.DefaultClient.Do(req))(t)
		defer res.Body.Close()
		if res.StatusCode != http.StatusMisdirectedRequest {
			return res.StatusCode, ""
		}
		require.Empty(t, res.Cookies(), path)
		body := decodeBody(t, res)
		if path == "/chat/message" { // its errors are only a sentence
			require.Equal(t, map[string]any{"error": problem.Host.Message.Text}, body)
			return res.StatusCode, chat.CodeHost
		}
		if strings.HasPrefix(path, "/v1/") {
			require.Equal(t, "invalid_request_error", body["error"].(map[string]any)["type"], path)
		}
		return res.StatusCode, errorCode(body)
	}
	routes := declaredRoutes(b)
	require.NotEmpty(t, routes)
	for _, r := range routes {
		status, code := ask(r.Method, pathParam.ReplaceAllString(r.Path, someThread), "evil.example:8080")
		require.Equal(t, http.StatusMisdirectedRequest, status, r.Path)
		require.Equal(t, chat.CodeHost, code, r.Path)
	}
	status, _ := ask("GET", "/", "evil.example")
	require.Equal(t, http.StatusMisdirectedRequest, status, "the page")
	for _, host := range []string{"localhost:8080", "127.0.0.1", "chat.example.com"} {
		status, _ := ask("GET", "/api/config", host)
		require.Equal(t, http.StatusOK, status, host)
	}
}
