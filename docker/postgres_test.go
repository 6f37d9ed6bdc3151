package docker

import (
	"context"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// cluster is a separate Postgres server, because roles belong to a whole server.
type cluster struct {
	t      *testing.T
	socket string
	setup  string // a copy of docker/postgres, which containers mount as /setup
}

// startCluster starts a server with this superuser. Connections by socket need no password;
// connections by TCP do.
func startCluster(t *testing.T, superuser string) *cluster {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	if len(found) == 0 {
		require.Empty(t, os.Getenv("CI"), "Postgres is missing: scripts/postgres installs it")
		t.Skip("needs Postgres (Debian: apt-get install postgresql)")
	}
	bin := found[len(found)-1]
	folder, err := os.MkdirTemp("/tmp", "palaver-roles-") // short: the path of a socket has 107 bytes
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	c := &cluster{t: t, socket: folder, setup: folder}
	as := unprivileged(t, folder)
	run := func(name string, args ...string) {
		cmd := exec.Command(filepath.Join(bin, name), args...)
		cmd.Dir, cmd.SysProcAttr = folder, as
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	data := filepath.Join(folder, "data")
	run("initdb", "--pgdata", data, "--username", superuser, "--auth-local", "trust", "--auth-host", "scram-sha-256", "--no-sync")
	run("pg_ctl", "--pgdata", data, "--wait", "--log", filepath.Join(folder, "log"), "--options", "-c listen_addresses=127.0.0.1 -c fsync=off -c port="+c.port()+" -c unix_socket_directories="+folder, "start")
	t.Cleanup(func() { run("pg_ctl", "--pgdata", data, "--mode", "immediate", "stop") })
	for _, name := range []string{"roles.sh", "roles.sql"} {
		text, err := os.ReadFile(filepath.Join("postgres", name))
		require.NoError(t, err)
		text = []byte(strings.ReplaceAll(string(text), "/setup/", c.setup+"/"))
		require.NoError(t, os.WriteFile(filepath.Join(c.setup, name), text, 0o644))
	}
	return c
}

var clusterPort = map[string]string{}

func (c *cluster) port() string {
	if clusterPort[c.socket] == "" {
		clusterPort[c.socket] = strconv.Itoa(freePort(c.t))
	}
	return clusterPort[c.socket]
}

// unprivileged returns the credentials of the user postgres when the tests run as root,
// because Postgres does not start as root, and makes that user the owner of the folder.
// Otherwise it returns nil.
func unprivileged(t *testing.T, folder string) *syscall.SysProcAttr {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	require.NoError(t, err)
	uid, err := strconv.Atoi(u.Uid)
	require.NoError(t, err)
	gid, err := strconv.Atoi(u.Gid)
	require.NoError(t, err)
	require.NoError(t, os.Chown(folder, uid, gid))
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
}

func (c *cluster) psql(role, database, statement string, env ...string) (string, error) {
	cmd := exec.Command("psql", "--no-psqlrc", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1", "--username="+role, "--dbname="+database, "--command="+statement)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "PGPORT=" + c.port(), "PGHOST=" + c.socket}, env...)
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (c *cluster) must(role, database, statement string) string {
	c.t.Helper()
	out, err := c.psql(role, database, statement)
	require.NoError(c.t, err, out)
	return out
}

// roles runs roles.sh as the container does.
func (c *cluster) roles(passwords map[string]string) (string, error) {
	cmd := exec.CommandContext(context.Background(), "/bin/sh", filepath.Join(c.setup, "roles.sh"))
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "PGHOST=" + c.socket, "PGPORT=" + c.port()}
	for _, name := range []string{"POSTGRES", "PALAVER", "TEMPORAL"} {
		path := filepath.Join(c.t.TempDir(), name)
		require.NoError(c.t, os.WriteFile(path, []byte(passwords[name]+"\n"), 0o600))
		cmd.Env = append(cmd.Env, name+"_PASSWORD_FILE="+path)
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (c *cluster) mustRoles(passwords map[string]string) {
	c.t.Helper()
	out, err := c.roles(passwords)
	require.NoError(c.t, err, out)
}

// login connects by TCP with a password, as another container does, and returns the error.
func (c *cluster) login(role, password, database string) error {
	_, err := c.psql(role, database, "SELECT 1", "PGHOST=127.0.0.1", "PGPASSWORD="+password)
	return err
}

func TestRolesOwnTheirDatabasesAndCanDoNothingElse(t *testing.T) {
	c := startCluster(t, "postgres")
	c.mustRoles(map[string]string{"PALAVER": "it's one", "TEMPORAL": "two"})
	c.mustRoles(map[string]string{"PALAVER": "it's one", "TEMPORAL": "three"}) // again, with another password

	require.NoError(t, c.login("palaver", "it's one", "palaver"))
	require.NoError(t, c.login("temporal", "three", "temporal_visibility"))
	require.Error(t, c.login("temporal", "two", "temporal"), "the previous password")
	for role, databases := range map[string][]string{"palaver": {"temporal", "temporal_visibility", "postgres", "template1"}, "temporal": {"palaver", "postgres", "template1"}} {
		for _, database := range databases {
			out, err := c.psql(role, database, "SELECT 1")
			require.Error(t, err, "%s connects to %s", role, database)
			require.Contains(t, out, "permission denied")
		}
		require.Equal(t, "f,f,f,f,f", c.must("postgres", "postgres",
			"SELECT concat_ws(',', rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls) FROM pg_roles WHERE rolname = '"+role+"'"))
		own := role
		_, err := c.psql(role, own, "CREATE ROLE another")
		require.Error(t, err)
		_, err = c.psql(role, own, "CREATE DATABASE another")
		require.Error(t, err)
	}
	c.must("palaver", "palaver", "CREATE TABLE t (id int); DROP TABLE t")
	c.must("temporal", "temporal_visibility", "CREATE EXTENSION btree_gin") // Temporal's schema has it
}
