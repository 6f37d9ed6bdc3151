package mcp

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/tools"
)

// rpcServer answers tools/list with one tool. For tools/call it calls answer, which returns
// the result or error member of the response, or "" if it has written the whole response.
func rpcServer(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, arguments string) string) *httptest.Server {
	t.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Version string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
			Method  string          `json:"method"`
			Params  struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"params"`
		}
		raw, _ := io.ReadAll(r.Body)
		if json.Unmarshal(raw, &in) != nil || in.Version != "2.0" || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("sent %s", raw)
		}
		member := `"result":{"tools":[{"name":"work","description":"Works","inputSchema":{"type":"object"}}]}`
		if in.Method == "tools/call" {
			if in.Params.Name != "work" || string(in.ID) != `"call-1"` {
				t.Errorf("sent %s", raw)
			}
			if member = answer(w, r, string(in.Params.Arguments)); member == "" {
				return
			}
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(in.ID)+`,`+member+`}`)
	}))
	t.Cleanup(func() { web.CloseClientConnections(); web.Close() })
	return web
}

func (r *rig) rpc(url string) tools.Tool {
	r.t.Helper()
	r.up("r")
	return r.tool("r__work")
}

func TestJSONRPCRequestsCarryATokenOfTheirUser(t *testing.T) {
	t.Parallel()
	heard := make(chan string, 10)
	web := rpcServer(t, func(_ http.ResponseWriter, r *http.Request, arguments string) string {
		heard <- r.Header.Get("Authorization")
		return `"result":{"content":[{"type":"text","text":` + string(must(json.Marshal(arguments))) + `}]}`
	})
	r := setup(t, func(o *Options) { o.Secret = secret }, Server{Name: "r", Transport: RPC, URL: web.URL + "/mcp/rpc"})
	tool := r.rpc(web.URL)
	for _, owner := range []string{"ann", "bob"} {
		result, err := tool.Run(t.Context(), call(owner, `{"a":1}`))
		require.NoError(t, err)
		require.Equal(t, tools.Result{Content: `{"a":1}`}, result)
		checkClaims(t, claims(t, <-heard, "r"), owner, "r")
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func TestJSONRPCAnswersOfAnyShapeAreRead(t *testing.T) {
	t.Parallel()
	whole := func(status int, kind, body string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	for name, c := range map[string]struct {
		member string
		whole  func(http.ResponseWriter)
		want   tools.Result
		err    string
	}{
		"MCP's shape":     {member: `"result":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, want: tools.Result{Content: "a\nb"}},
		"structured only": {member: `"result":{"structuredContent":{"n":1}}`, want: tools.Result{Content: `{"n":1}`}},
		"a tool's error":  {member: `"result":{"content":[{"type":"text","text":"no"}],"isError":true}`, want: tools.Result{Content: "no", IsError: true}},
		"its own shape":   {member: `"result":{"rows":[1,2]}`, want: tools.Result{Content: `{"rows":[1,2]}`}},
		"a plain value":   {member: `"result":"yes"`, want: tools.Result{Content: "yes"}},
		"nothing":         {member: `"result":{"content":[]}`, want: tools.Result{Content: "(no content)"}},
		"an error": {member: `"error":{"code":-32000,"message":"the quota is used up"}`,
			want: failure("The tool's server answered with error -32000: the quota is used up")},
		"an error with its status": {whole: whole(500, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"broken"}}`),
			want: failure("The tool's server answered with error -32603: broken")},
		"no access":           {whole: whole(401, "text/plain", "no"), want: failure("The tool's server refused the call (status 401 Unauthorized). Nothing was done.")},
		"not found":           {whole: whole(404, "text/html", "no"), want: failure("The tool's server refused the call (status 404 Not Found). Nothing was done.")},
		"bad gateway":         {whole: whole(502, "text/html", "no"), err: "status 502"},
		"no JSON":             {whole: whole(200, "text/html", "<p>"), err: "not JSON-RPC"},
		"no result or error":  {whole: whole(200, "application/json", `{"jsonrpc":"2.0","id":"call-1"}`), err: "not JSON-RPC"},
		"for another request": {whole: whole(200, "application/json", `{"jsonrpc":"2.0","id":"call-2","result":{}}`), err: "another request"},
		"too long": {member: `"result":{"content":[{"type":"text","text":"` + strings.Repeat("ü", maxResult) + `"}]}`,
			want: tools.Result{Content: strings.Repeat("ü", maxResult/2) + cutNote}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			web := rpcServer(t, func(w http.ResponseWriter, _ *http.Request, _ string) string {
				if c.whole != nil {
					c.whole(w)
				}
				return c.member
			})
			r := setup(t, nil, Server{Name: "r", Transport: RPC, URL: web.URL})
			got, err := r.rpc(web.URL).Run(t.Context(), call("somebody", ""))
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func TestJSONRPCCallIsDisconnectedAfterItsTimeout(t *testing.T) {
	t.Parallel()
	called, gone := make(chan struct{}, 100), make(chan struct{}, 100)
	web := rpcServer(t, func(_ http.ResponseWriter, r *http.Request, _ string) string {
		called <- struct{}{}
		<-r.Context().Done()
		gone <- struct{}{}
		return `"result":{}`
	})
	r := setup(t, nil, Server{Name: "r", Transport: RPC, URL: web.URL, Timeout: 200 * time.Millisecond})
	r.up("r")
	result := r.inTime(called, "r__work")
	require.True(t, result.IsError)
	require.Contains(t, result.Content, "did not answer within 200ms")
	<-gone
}
