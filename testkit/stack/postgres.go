package stack

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
	"syscall"

	"github.com/jackc/pgx/v5"

	"github.com/palaver-chat/palaver/testkit/dbtest/pgtest"
	"github.com/palaver-chat/palaver/testkit/freeport"
)

// Postgres is a Postgres server that was started for one benchmark.
type Postgres struct {
	URL string // of its database postgres, as a superuser

	process *pgtest.Process
	bin     string // folder of its programs
}

// PostgresSettings override the server's defaults.
type PostgresSettings map[string]string

// LikeSQLite gives Postgres the durability of Palaver on SQLite: a commit survives a crash
// of the process, not of the machine.
var LikeSQLite = PostgresSettings{"synchronous_commit": "off"}

// StartPostgres starts a server with its own data folder. The caller must Stop it.
func StartPostgres(ctx context.Context, settings PostgresSettings) (*Postgres, error) {
	programs, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil || len(programs) == 0 {
		return nil, errors.New("no Postgres is installed (Debian: apt-get install postgresql)")
	}
	slices.Sort(programs)
	bin := filepath.Dir(programs[len(programs)-1])
	dir, err := os.MkdirTemp("", "palaver-bench-postgres-")
	if err != nil {
		return nil, err
	}
	as, err := pgtest.OtherUser(dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	data := filepath.Join(dir, "data")
	initdb := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
	initdb.SysProcAttr, initdb.Dir = as, dir
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("initdb: %w: %s", err, out), os.RemoveAll(dir))
	}
	port, err := freeport.Get()
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	args := []string{"-D", data, "-p", strconv.Itoa(port), "-k", dir, "-c", "listen_addresses=127.0.0.1",
		"-c", "max_connections=300", "-c", "shared_buffers=256MB", "-c", "max_wal_size=4GB"}
	for name, value := range settings {
		args = append(args, "-c", name+"="+value)
	}
	server := exec.Command(filepath.Join(bin, "postgres"), args...)
	server.SysProcAttr, server.Dir = as, dir
	p := &Postgres{bin: bin}
	if p.process, err = pgtest.Start(server, dir, syscall.SIGINT); err != nil { // fast shutdown
		return nil, err
	}
	p.URL = fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", port)
	if err := p.process.Ready(ctx, p.URL); err != nil {
		p.Stop()
		return nil, err
	}
	return p, nil
}

// Pid returns the id of the server process; the backends are its children.
func (p *Postgres) Pid() int { return p.process.Pid() }

// Stop stops the server and removes its data.
func (p *Postgres) Stop() { p.process.Stop() }

// Database creates an empty database and returns its URL.
func (p *Postgres) Database(ctx context.Context, name string) (string, error) {
	if err := p.exec(ctx, p.URL, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize()); err != nil {
		return "", err
	}
	return p.url(name), nil
}

// Dump writes a database into a file with pg_dump.
func (p *Postgres) Dump(ctx context.Context, database, file string) error {
	return p.tool(ctx, "pg_dump", "--format=custom", "--file="+file, p.url(database))
}

// Restore replaces the content of a database with that of a file that Dump wrote.
func (p *Postgres) Restore(ctx context.Context, database, file string) error {
	return p.tool(ctx, "pg_restore", "--clean", "--if-exists", "--dbname="+p.url(database), file)
}

func (p *Postgres) tool(ctx context.Context, name string, args ...string) error {
	out, err := exec.CommandContext(ctx, filepath.Join(p.bin, name), args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return nil
}

// url returns the URL of another database of the server.
func (p *Postgres) url(database string) string {
	u, err := url.Parse(p.URL)
	if err != nil {
		panic(err) // cannot happen: StartPostgres made the URL
	}
	u.Path = "/" + database
	return u.String()
}

func (p *Postgres) exec(ctx context.Context, url, sql string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol)
	return errors.Join(err, conn.Close(ctx))
}
