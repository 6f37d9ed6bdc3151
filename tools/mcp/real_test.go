package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/tools"
)

// script returns the path of a real server's program.
func script(t *testing.T, server string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testservers/node_modules/@modelcontextprotocol", server, "dist/index.js"))
	require.NoError(t, err)
	require.FileExists(t, path, "the servers are not installed; make test does it, or make tools/mcp/testservers/node_modules/.installed")
	return path
}

// port returns a free port outside the system's ephemeral range, so that it stays free while its
// server is down.
func port(t *testing.T) int {
	t.Helper()
	for range 100 {
		n := 20000 + rand.IntN(10000)
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", n)); err == nil {
			require.NoError(t, l.Close())
			return n
		}
	}
	t.Fatal("no port is free")
	return 0
}

// everything runs server-everything over HTTP until stop is called.
func everything(t *testing.T, port int) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, "node", script(t, "server-everything"), "streamableHttp")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), fmt.Sprintf("PORT=%d", port)} // nothing else, because one of its tools shows its environment
	out, in, err := os.Pipe()
	require.NoError(t, err)
	cmd.Stdout, cmd.Stderr = in, in
	require.NoError(t, cmd.Start())
	require.NoError(t, in.Close())
	listens, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if strings.Contains(lines.Text(), "listening on port") {
				close(listens)
			}
		}
		_, _ = out.Close(), cmd.Wait()
	}()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	select {
	case <-listens:
	case <-done:
		t.Fatal("server-everything has ended")
	case <-time.After(testTimeout):
		t.Fatal("server-everything does not listen")
	}
	return stop
}

// again repeats a call to a server that was just stopped or started: the first requests may use a dead
// connection.
func (r *rig) again(name, arguments string) tools.Result {
	r.t.Helper()
	var last error
	for range 20 {
		result, err := r.tool(name).Run(r.t.Context(), call("somebody", arguments))
		if err == nil {
			return result
		}
		last = err
	}
	r.t.Fatal(last)
	return tools.Result{}
}

func keeping(o *Options) { o.Pictures = &gallery{} }

func checkEverything(r *rig) {
	t := r.t
	require.Contains(t, r.names(), "every__echo")
	require.Equal(t, tools.Result{Content: "Echo: hello"}, r.run("every__echo", `{"message":"hello"}`))
	require.Contains(t, r.run("every__get-sum", `{"a":2,"b":40}`).Content, "42")
	image := r.run("every__get-tiny-image", `{}`)
	require.Contains(t, image.Content, "[image, image/png, ")
	require.Len(t, image.Attachments, 1)
	require.Contains(t, image.Content, chat.AttachmentURL(image.Attachments[0]))
	require.NotContains(t, image.Content, "iVBOR")
	require.Contains(t, r.run("every__get-structured-content", `{"location":"New York"}`).Content, "temperature")
	require.Contains(t, r.run("every__get-resource-links", `{"count":2}`).Content, "[resource ")
	wrong := r.run("every__get-sum", `{"a":"two"}`)
	require.True(t, wrong.IsError)
	require.Contains(t, wrong.Content, "a")
	for _, tool := range r.Tools(t.Context(), "somebody") {
		require.NoError(t, tools.CheckSchema(tool.Schema), tool.Name)
		require.Regexp(t, `^every__[a-zA-Z0-9_-]+$`, tool.Name)
		require.NotEmpty(t, tool.Description)
		require.Equal(t, tools.Ask, tool.Approval, "what a server says of itself changes nothing")
	}
}

func TestRealServerOverHTTP(t *testing.T) {
	t.Parallel()
	n := port(t)
	everything(t, n)
	r := setup(t, keeping, Server{Name: "every", Transport: HTTP, URL: fmt.Sprintf("http://127.0.0.1:%d/mcp", n)})
	r.up("every")
	checkEverything(r)
}

func TestRealServerOverStdio(t *testing.T) {
	t.Parallel()
	r := setup(t, keeping, Server{Name: "every", Transport: Stdio, Command: []string{"node", script(t, "server-everything"), "stdio"}})
	r.up("every")
	checkEverything(r)
}

func TestChildGetsACleanEnvironment(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-secret")
	r := setup(t, nil, Server{Name: "every", Transport: Stdio, Command: []string{"node", script(t, "server-everything"), "stdio"},
		Env: map[string]string{"GIVEN": "by the operator"}})
	r.up("every")
	var env map[string]string
	require.NoError(t, json.Unmarshal([]byte(r.run("every__get-env", `{}`).Content), &env))
	for name := range env {
		require.Contains(t, []string{"PATH", "HOME", "GIVEN"}, name)
	}
	require.Equal(t, "by the operator", env["GIVEN"])
	require.NotEmpty(t, env["PATH"])
}

func TestFilesOfARealServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "note.txt"), []byte("The answer is 42."), 0o600))
	r := setup(t, nil, Server{Name: "files", Transport: Stdio, Command: []string{"node", script(t, "server-filesystem"), dir},
		Allow: []string{"read_text_file", "write_file", "no_such_tool"}, Approve: tools.Edit})
	r.up("files")
	require.Equal(t, []string{"files__read_text_file", "files__write_file"}, r.names(), "only what is allowed")
	require.False(t, r.tool("files__read_text_file").SideEffects)
	require.True(t, r.tool("files__write_file").SideEffects)
	require.Equal(t, tools.Edit, r.tool("files__read_text_file").Approval)

	path, err := json.Marshal(filepath.Join(dir, "note.txt"))
	require.NoError(t, err)
	require.Equal(t, tools.Result{Content: "The answer is 42."}, r.run("files__read_text_file", `{"path":`+string(path)+`}`))
	require.False(t, r.run("files__write_file", `{"path":`+string(path)+`,"content":"new"}`).IsError)
	now, err := os.ReadFile(filepath.Join(dir, "note.txt"))
	require.NoError(t, err)
	require.Equal(t, "new", string(now))
	outside := r.run("files__read_text_file", `{"path":"/etc/hostname"}`)
	require.True(t, outside.IsError)
	require.Contains(t, outside.Content, "denied")
}

func TestLongCallOfARealServerTimesOut(t *testing.T) {
	t.Parallel()
	n := port(t)
	everything(t, n)
	r := setup(t, nil, Server{Name: "every", Transport: HTTP, URL: fmt.Sprintf("http://127.0.0.1:%d/mcp", n), Timeout: 300 * time.Millisecond})
	r.up("every")
	result := r.run("every__trigger-long-running-operation", `{"duration":3600,"steps":1}`)
	require.True(t, result.IsError)
	require.Equal(t, "The tool did not answer within 300ms and the call was cancelled.", result.Content)
}

func TestUnavailableServerDoesNotBlockAndIsUsedOnceItStarts(t *testing.T) {
	t.Parallel()
	n := port(t)
	r := setup(t, nil, Server{Name: "every", Transport: HTTP, URL: fmt.Sprintf("http://127.0.0.1:%d/mcp", n)})
	require.NotEqual(t, "ok", r.States()["mcp:every"])
	require.Empty(t, r.names())
	r.down("every")

	stop := everything(t, n)
	r.up("every")
	require.Equal(t, map[string]string{"mcp:every": "ok"}, r.States())
	require.False(t, r.run("every__echo", `{"message":"x"}`).IsError)

	stop()
	gone := r.again("every__echo", `{"message":"x"}`)
	require.Equal(t, tools.Result{Content: "The tool's server cannot be reached right now. Nothing was done.", IsError: true}, gone)
	r.down("every")
	require.Equal(t, "down", r.States()["mcp:every"])

	everything(t, n)
	r.up("every")
	require.Equal(t, "Echo: y", r.again("every__echo", `{"message":"y"}`).Content)
}

func TestRestartedServerGetsANewSession(t *testing.T) {
	t.Parallel()
	n := port(t)
	stop := everything(t, n)
	r := setup(t, nil, Server{Name: "every", Transport: HTTP, URL: fmt.Sprintf("http://127.0.0.1:%d/mcp", n)})
	r.up("every")
	stop()
	everything(t, n) // the new process does not know the session
	require.Equal(t, "Echo: again", r.again("every__echo", `{"message":"again"}`).Content)
}
