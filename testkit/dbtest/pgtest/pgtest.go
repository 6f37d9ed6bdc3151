// Package pgtest gives tests a real Postgres: the server of PALAVER_TEST_POSTGRES, an
// address with a role that may create databases, the one on 127.0.0.1:5432 where
// one answers without a password, else one started for the test run from
// Debian's programs. It imports no other package of Palaver.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/palaver-chat/palaver/testkit/freeport"
)

// setupTimeout limits every step of starting a server or creating a database.
const setupTimeout = 30 * time.Second

// howTo tells what to install when there is no Postgres.
const howTo = "no Postgres for this test: nothing answers on 127.0.0.1:5432 without a password, and none can be started; apt-get install postgresql"

// Database makes an empty database and returns its URL; it is dropped when t
// ends. Its commits do not wait for the disk.
func Database(t testing.TB) string {
	t.Helper()
	server := Server(t)
	name := fmt.Sprintf("palaver_test_%d_%d", os.Getpid(), time.Now().UnixNano())
	Exec(t, server, "CREATE DATABASE "+name, "ALTER DATABASE "+name+" SET synchronous_commit = off")
	t.Cleanup(func() { Exec(t, server, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)") })
	return With(server, func(u *url.URL) { u.Path = "/" + name })
}

// Exec runs statements one by one in the database at url.
func Exec(t testing.TB, url string, statements ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), setupTimeout) // t.Context is cancelled in cleanups
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatalf("connect to the test's Postgres: %v", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	for _, s := range statements {
		if _, err := conn.Exec(ctx, s, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// With returns the URL raw, changed by change.
func With(raw string, change func(u *url.URL)) string {
	u, err := url.Parse(raw)
	if err != nil {
		panic(err) // made by this package
	}
	change(u)
	return u.String()
}

// The server of this test run; a started one is stopped by Stop.
var (
	once    sync.Once
	address string
	started *Process
	failure error
)

// Server returns the URL of a server on which databases can be created. Without one the
// test fails; if CI is not set and Postgres is not installed, it is skipped.
func Server(t testing.TB) string {
	t.Helper()
	once.Do(func() {
		if address = running(); address == "" {
			address, started, failure = start()
		}
	})
	refuse(t, failure)
	return address
}

// Private starts a server only for t. Call stop to end it before t ends.
func Private(t testing.TB) (url string, stop func()) {
	t.Helper()
	url, p, err := start()
	refuse(t, err)
	stop = sync.OnceFunc(p.Stop)
	t.Cleanup(stop)
	return url, stop
}

// refuse fails or skips a test that has no server.
func refuse(t testing.TB, err error) {
	t.Helper()
	switch {
	case err == nil:
	case errors.Is(err, errNotInstalled) && os.Getenv("CI") == "":
		t.Skip(howTo)
	default:
		t.Fatalf("%s: %v", howTo, err)
	}
}

// Main runs the tests of a package and stops the server that Server started. Call it from
// TestMain.
func Main(m *testing.M) int {
	code := m.Run()
	if started != nil {
		started.Stop()
	}
	return code
}

// running looks for a server on which databases can be created.
func running() string {
	ctx, cancel := context.WithTimeout(context.Background(), setupTimeout)
	defer cancel()
	const usual = "@127.0.0.1:5432/postgres?sslmode=disable&connect_timeout=3"
	for _, candidate := range []string{os.Getenv("PALAVER_TEST_POSTGRES"), "postgres://postgres" + usual, "postgres://root" + usual} {
		if candidate == "" {
			continue
		}
		conn, err := pgx.Connect(ctx, candidate)
		if err != nil {
			continue
		}
		allowed := false
		err = conn.QueryRow(ctx, "SELECT rolcreatedb OR rolsuper FROM pg_roles WHERE rolname = current_user").Scan(&allowed)
		_ = conn.Close(ctx)
		if err == nil && allowed {
			return candidate
		}
	}
	return ""
}

var errNotInstalled = errors.New("its programs are not installed")

// start creates a cluster in a temporary folder and starts a server on a free port.
func start() (string, *Process, error) {
	programs := installed("/usr/lib/postgresql/*/bin/postgres")
	if len(programs) == 0 {
		return "", nil, errNotInstalled
	}
	ctx, cancel := context.WithTimeout(context.Background(), setupTimeout)
	defer cancel()
	slices.Sort(programs)
	bin := filepath.Dir(programs[len(programs)-1])
	dir, err := os.MkdirTemp("", "palaver-postgres-")
	if err != nil {
		return "", nil, err
	}
	as, err := OtherUser(dir)
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	data := filepath.Join(dir, "data")
	initdb := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
	initdb.SysProcAttr, initdb.Dir = as, dir
	if out, err := initdb.CombinedOutput(); err != nil {
		return "", nil, errors.Join(fmt.Errorf("initdb: %w: %s", err, lastLine(out)), os.RemoveAll(dir))
	}
	port, err := freeport.Get()
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	server := exec.Command(filepath.Join(bin, "postgres"), "-D", data, "-p", strconv.Itoa(port), "-k", dir,
		"-c", "listen_addresses=127.0.0.1", "-c", "fsync=off")
	server.SysProcAttr, server.Dir = as, dir
	p, err := Start(server, dir, syscall.SIGINT) // fast shutdown
	if err != nil {
		return "", nil, err
	}
	address := fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", port)
	if err := p.Ready(ctx, address); err != nil {
		p.Stop()
		return "", nil, err
	}
	return address, p, nil
}

// installed finds a program of one of Debian's packages; scripts/postgres puts
// them there.
func installed(pattern string) []string {
	programs, _ := filepath.Glob(pattern)
	return programs
}

func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
}
