package mcp

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/tools"
)

// Rule S12.
func TestParseReadsServers(t *testing.T) {
	servers, err := Parse(`[
		{"name":"files","transport":"stdio","command":"npx -y server /data","approve":"never","allow":["read"]},
		{"name":"local","transport":"stdio","command":["node","a b.js"],"args":["--x"],"env":{"A":"1"}},
		{"name":"search","transport":"http","url":"https://mcp.example/mcp","headers":{"Authorization":"Bearer x"},"approve":"edit","timeout":"1m30s"},
		{"name":"own","transport":"rpc","url":"http://10.0.0.1/mcp/rpc"}]`)
	require.NoError(t, err)
	require.Equal(t, []Server{
		{Name: "files", Transport: Stdio, Command: []string{"npx", "-y", "server", "/data"}, Approve: tools.Never, Allow: []string{"read"}, Timeout: 10 * time.Second},
		{Name: "local", Transport: Stdio, Command: []string{"node", "a b.js", "--x"}, Env: map[string]string{"A": "1"}, Approve: tools.Ask, Timeout: 10 * time.Second},
		{Name: "search", Transport: HTTP, URL: "https://mcp.example/mcp", Headers: map[string]string{"Authorization": "Bearer x"}, Approve: tools.Edit, Timeout: 90 * time.Second},
		{Name: "own", Transport: RPC, URL: "http://10.0.0.1/mcp/rpc", Approve: tools.Ask, Timeout: 10 * time.Second},
	}, servers)
	for _, none := range []string{"", " ", "[]"} {
		servers, err := Parse(none)
		require.NoError(t, err)
		require.Empty(t, servers)
	}
}

func TestInvalidServerIsNamedWithoutItsSecrets(t *testing.T) {
	for entry, want := range map[string]string{
		`{"transport":"http","url":"https://x"}`:                                           "server 1: name",
		`{"name":"a__b","transport":"http","url":"https://x"}`:                             "server 1: name",
		`{"name":"` + strings.Repeat("a", 25) + `"}`:                                       "server 1: name",
		`{"name":"a","transport":"sse","url":"https://x"}`:                                 "server 1 (a): transport must be http, stdio or rpc",
		`{"name":"a","url":"https://x"}`:                                                   "transport",
		`{"name":"a","transport":"http"}`:                                                  "url",
		`{"name":"a","transport":"http","url":"ftp://x"}`:                                  "url",
		`{"name":"a","transport":"rpc","url":"https://user:s3cret@x"}`:                     "url",
		`{"name":"a","transport":"http","url":"https://x","command":"s3cret"}`:             "command",
		`{"name":"a","transport":"http","url":"https://x","headers":{"A":"s3cret\nB: c"}}`: "headers",
		`{"name":"a","transport":"http","url":"https://x","headers":{"A b":"s3cret"}}`:     "headers",
		`{"name":"a","transport":"http","url":"https://x","approve":"always"}`:             "approve must be never, ask or edit",
		`{"name":"a","transport":"http","url":"https://x","timeout":"10"}`:                 "timeout",
		`{"name":"a","transport":"http","url":"https://x","timeout":"1h"}`:                 "timeout",
		`{"name":"a","transport":"http","url":"https://x","timeout":"-1s"}`:                "timeout",
		`{"name":"a","transport":"http","url":"https://x","allow":[]}`:                     "allow",
		`{"name":"a","transport":"http","url":"https://x","alow":["s3cret"]}`:              `unknown field "alow"`,
		`{"name":"a","transport":"http","url":"https://x","headers":"s3cret"}`:             "headers must not be a string",
		`{"name":"a","transport":"stdio"}`:                                                 "command",
		`{"name":"a","transport":"stdio","command":{"s3cret":1}}`:                          "command must be",
		`{"name":"a","transport":"stdio","command":"sh -c 's3cret'"}`:                      "list",
		`{"name":"a","transport":"stdio","command":["x"],"url":"https://x"}`:               "url",
		`{"name":"a","transport":"stdio","command":["x"],"env":{"A=B":"s3cret"}}`:          "env",
		`7`: "must be an object",
		`{"name":"a","transport":"rpc","url":"https://x"},{"name":"A","transport":"rpc","url":"https://y"}`: "server 2 (A): the name is used twice",
	} {
		_, err := Parse("[" + entry + "]")
		require.ErrorContains(t, err, want, entry)
		require.NotContains(t, err.Error(), "s3cret")
	}
	for _, bad := range []string{`{"name":"a"}`, `[`, `[] []`, `s3cret`} {
		_, err := Parse(bad)
		require.ErrorContains(t, err, "not a JSON list", bad)
		require.NotContains(t, err.Error(), "s3cret")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`[{"name":"a","transport":"http","url":"https://x","headers":{"A":"b"}}]`)
	f.Add(`[{"name":"a","transport":"stdio","command":"x y","args":["z"],"env":{"A":"b"},"timeout":"1s"}]`)
	f.Fuzz(func(t *testing.T, raw string) {
		servers, err := Parse(raw)
		if err != nil {
			return
		}
		for _, s := range servers {
			require.Regexp(t, `^[a-zA-Z0-9_-]{1,64}$`, toolName(s.Name, "tool"))
			require.Positive(t, s.Timeout)
			require.NotEqual(t, s.Transport == Stdio, s.URL != "")
			require.Equal(t, s.Transport == Stdio, len(s.Command) > 0)
		}
	})
}

func TestToolNamesAreValidForModelsAndUnique(t *testing.T) {
	require.Equal(t, "files__read_file", toolName("files", "read_file"))
	long := strings.Repeat("x", 100)
	seen := map[string]string{}
	for _, tool := range []string{"a.b", "a/b", "a_b", "a b", "ä", "", long, long + "y", long[:57], long[:58]} {
		name := toolName("files", tool)
		require.Regexp(t, `^files__[a-zA-Z0-9_-]*$`, name)
		require.LessOrEqual(t, len(name), 64)
		require.Empty(t, seen[name], tool)
		seen[name] = "x" + tool
	}
}

func FuzzToolName(f *testing.F) {
	f.Add("server", "tool")
	f.Fuzz(func(t *testing.T, server, tool string) {
		if len(server) > maxServerName || !serverName.MatchString(server) {
			return
		}
		require.Regexp(t, `^[a-zA-Z0-9_-]{1,64}$`, toolName(server, tool))
	})
}
