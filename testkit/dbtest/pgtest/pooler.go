package pgtest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/palaver-chat/palaver/testkit/freeport"
)

// serverConnections are shared by all clients of a Pooler: so few that a client's next
// transaction runs on another connection.
const serverConnections = 4

const poolerSettings = `[databases]
* = host=%s port=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = trust
auth_file = %s
pool_mode = transaction
default_pool_size = %d
max_client_conn = 500
`

// Pooler starts Debian's pgbouncer in transaction mode in front of the server of a
// database's URL and returns the URL through it. It ends with t. It fails and skips
// like Server.
func Pooler(t testing.TB, database string) string {
	t.Helper()
	programs := installed("/usr/sbin/pgbouncer")
	if len(programs) == 0 {
		if os.Getenv("CI") == "" {
			t.Skip("no pgbouncer for this test: apt-get install pgbouncer")
		}
		t.Fatal("no pgbouncer for this test: apt-get install pgbouncer")
	}
	ctx, cancel := context.WithTimeout(t.Context(), setupTimeout)
	defer cancel()
	through, p, err := startPooler(ctx, programs[0], database)
	if err != nil {
		t.Fatalf("start pgbouncer: %v", err)
	}
	t.Cleanup(p.Stop)
	return through
}

func startPooler(ctx context.Context, program, database string) (string, *Process, error) {
	server, err := url.Parse(database)
	if err != nil {
		return "", nil, err
	}
	port, err := freeport.Get()
	if err != nil {
		return "", nil, err
	}
	dir, err := os.MkdirTemp("", "palaver-pgbouncer-")
	if err != nil {
		return "", nil, err
	}
	settings, users := filepath.Join(dir, "pgbouncer.ini"), filepath.Join(dir, "users.txt")
	for path, text := range map[string]string{
		settings: fmt.Sprintf(poolerSettings, server.Hostname(), server.Port(), port, users, serverConnections),
		users:    fmt.Sprintf("%q \"\"\n", server.User.Username()),
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return "", nil, err
		}
	}
	as, err := OtherUser(dir)
	if err != nil {
		return "", nil, err
	}
	command := exec.Command(program, settings)
	command.SysProcAttr, command.Dir = as, dir
	p, err := Start(command, dir, syscall.SIGTERM)
	if err != nil {
		return "", nil, err
	}
	through := With(database, func(u *url.URL) { u.Host = fmt.Sprintf("127.0.0.1:%d", port) })
	if err := p.Ready(ctx, With(through, func(u *url.URL) {
		u.RawQuery += "&default_query_exec_mode=exec"
	})); err != nil {
		p.Stop()
		return "", nil, err
	}
	return through, p, nil
}
