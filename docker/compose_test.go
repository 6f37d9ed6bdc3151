// Package docker checks the Dockerfile and docker-compose.yml without a container
// engine. It is a separate module, so that its dependencies stay out of the product.
package docker

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/require"
)

// root is the path of the repository.
const root = ".."

// secrets are the variables that an operator must set.
var secrets = map[string]string{
	"POSTGRES_PASSWORD": "a1b2c3d4e5f6",
	"NATS_TOKEN":        "f6e5d4c3b2a1",
	"COOKIE_SECRET":     "0123456789abcdef",
}

func load(t *testing.T, env map[string]string) (*types.Project, error) {
	t.Helper()
	var list []string
	for name, value := range env {
		list = append(list, name+"="+value)
	}
	options, err := cli.NewProjectOptions([]string{filepath.Join(root, "docker-compose.yml")}, cli.WithEnv(list), cli.WithProfiles([]string{"*"}))
	require.NoError(t, err)
	return options.LoadProject(t.Context())
}

func project(t *testing.T) *types.Project {
	t.Helper()
	p, err := load(t, secrets)
	require.NoError(t, err)
	return p
}

func TestComposeHasEveryService(t *testing.T) {
	p := project(t)
	require.ElementsMatch(t, []string{"postgres", "temporal-schema", "temporal", "temporal-namespace", "temporal-ui", "nats", "api", "worker"}, p.ServiceNames())
	require.Equal(t, []string{"ui"}, p.Services["temporal-ui"].Profiles, "it checks no hosts, so it runs only when asked for")
	require.Equal(t, []string{"palaver", "postgres"}, slices.Sorted(maps.Keys(p.Volumes)))
}

func TestComposeRequiresEverySecret(t *testing.T) {
	for name := range secrets {
		for _, value := range []string{"", "unset"} {
			env := maps.Clone(secrets)
			env[name] = ""
			if value == "unset" {
				delete(env, name)
			}
			_, err := load(t, env)
			require.ErrorContains(t, err, name, "%s %q", name, value)
		}
	}
}

func TestComposeContainsNoSecret(t *testing.T) {
	file, err := os.ReadFile(filepath.Join(root, "docker-compose.yml"))
	require.NoError(t, err)
	for _, line := range strings.Split(string(file), "\n") {
		name, value, found := strings.Cut(strings.TrimSpace(line), ":")
		if found && regexp.MustCompile(`(?i)(password|secret|token|_pwd|_key)$`).MatchString(name) {
			require.Regexp(t, `^\s*\$\{[A-Z_]+(:\?[^}]+|:-)\}`, value, "%s must be a variable without a default", name)
		}
	}
}

func TestEveryImageIsPinned(t *testing.T) {
	for _, s := range project(t).Services {
		if s.Build != nil {
			continue // our own image
		}
		require.Regexp(t, `^[a-z/-]+:\d+\.\d+`, s.Image, s.Name)
	}
}

func TestEveryServiceHasAHealthCheckAndRestarts(t *testing.T) {
	for _, s := range project(t).Services {
		if strings.HasPrefix(s.Restart, "on-failure") {
			continue // runs once
		}
		require.Equal(t, "unless-stopped", s.Restart, s.Name)
		require.NotNil(t, s.HealthCheck, s.Name)
		require.Equal(t, "CMD", s.HealthCheck.Test[0], "%s: an image may have no shell", s.Name)
		require.NotNil(t, s.HealthCheck.Timeout, s.Name)
		require.NotNil(t, s.HealthCheck.StartPeriod, s.Name)
	}
}

func TestEveryServiceIsBoundedAndRotatesItsLog(t *testing.T) {
	for _, s := range project(t).Services {
		require.Positive(t, s.MemLimit, "%s: memory", s.Name)
		require.Positive(t, s.CPUS, "%s: CPUs", s.Name)
		require.NotNil(t, s.Logging, s.Name)
		require.Equal(t, "json-file", s.Logging.Driver, s.Name)
		require.NotEmpty(t, s.Logging.Options["max-size"], s.Name)
		require.NotEmpty(t, s.Logging.Options["max-file"], s.Name)
	}
	env := maps.Clone(secrets)
	env["PALAVER_MEMORY"], env["POSTGRES_MEMORY"] = "3g", "5g"
	p, err := load(t, env)
	require.NoError(t, err)
	require.Equal(t, types.UnitBytes(3<<30), p.Services["worker"].MemLimit)
	require.Equal(t, types.UnitBytes(5<<30), p.Services["postgres"].MemLimit)
}

// The number of the first start is that of every later one.
func TestTemporalStartsWithEnoughHistoryShards(t *testing.T) {
	require.Equal(t, "512", *project(t).Services["temporal"].Environment["NUM_HISTORY_SHARDS"])
}

func TestWorkerHasAPortForItsHealthCheck(t *testing.T) {
	require.Equal(t, "9090", *project(t).Services["worker"].Environment["WORKER_METRICS_PORT"])
}

func TestServicesWaitForTheirDependencies(t *testing.T) {
	services := project(t).Services
	for _, s := range services {
		for name, on := range s.DependsOn {
			other := services[name]
			if strings.HasPrefix(other.Restart, "on-failure") {
				require.Equal(t, types.ServiceConditionCompletedSuccessfully, on.Condition, "%s waits for %s", s.Name, name)
				continue
			}
			require.Equal(t, types.ServiceConditionHealthy, on.Condition, "%s waits for %s", s.Name, name)
		}
	}
	require.Contains(t, services["api"].DependsOn, "worker", "it registers the search attributes")
}

func TestOnlyThePageAndTheWebUIArePublishedOnLoopback(t *testing.T) {
	for _, s := range project(t).Services {
		if s.Name != "api" && s.Name != "temporal-ui" {
			require.Empty(t, s.Ports, s.Name)
			continue
		}
		require.Len(t, s.Ports, 1, s.Name)
		require.Equal(t, "127.0.0.1", s.Ports[0].HostIP, s.Name)
	}
}

func TestRolesUseOnlyDeclaredVariables(t *testing.T) {
	example, err := os.ReadFile(filepath.Join(root, ".env.example"))
	require.NoError(t, err)
	p := project(t)
	for _, role := range []string{"api", "worker"} {
		s := p.Services[role]
		require.Equal(t, types.ShellCommand{role}, s.Command)
		require.Equal(t, p.Services["worker"].Environment, s.Environment)
		for name := range s.Environment {
			require.Contains(t, string(example), "#"+name+"=", "%s: %s", role, name)
		}
		require.True(t, s.ReadOnly, role)
		require.Equal(t, []string{"ALL"}, s.CapDrop)
		require.Equal(t, types.ShellCommand{"/palaver", "health", role}, types.ShellCommand(s.HealthCheck.Test[1:]))
	}
	require.Equal(t, "postgres://palaver:a1b2c3d4e5f6@postgres:5432/palaver?sslmode=disable", *p.Services["api"].Environment["DATABASE_URL"])
	require.Equal(t, "nats://f6e5d4c3b2a1@nats:4222", *p.Services["api"].Environment["NATS_URL"])
	require.Contains(t, []string(p.Services["nats"].Command), "f6e5d4c3b2a1")
}

// notPassed are the settings that docker-compose.yml does not pass on, and why.
var notPassed = map[string]string{
	"HOST":                "the image listens on all interfaces of its container",
	"PORT":                "the port on the host; in the container it is 8080",
	"PALAVER_DATA_DIR":    "the image has /data",
	"CHAT_MEMORY_BACKEND": "the database is Postgres",
	"TEMPORAL_NAMESPACE":  "temporal-namespace makes the default one",
	"NATS_TOKEN":          "it is in NATS_URL",
	"TEMPORAL_PORT":       "no container has embedded servers",
	"TEMPORAL_UI_PORT":    "no container has embedded servers",
	"TEMPORAL_UI_WRITE":   "no container has embedded servers",
	"NATS_PORT":           "no container has embedded servers",
}

func TestEverySettingIsPassedOnOrExcused(t *testing.T) {
	example, err := os.ReadFile(filepath.Join(root, ".env.example"))
	require.NoError(t, err)
	env := project(t).Services["api"].Environment
	known := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^#([A-Z_]+)=`).FindAllStringSubmatch(string(example), -1) {
		name := m[1]
		known[name] = true
		_, passed := env[name]
		_, excused := notPassed[name]
		require.True(t, passed != excused, "%s: passed on %t, excused %t", name, passed, excused)
	}
	require.Greater(t, len(known), 50)
	for name := range notPassed {
		require.True(t, known[name], "%s is no setting", name)
	}
}

func TestSettingsOfTheOperatorReachTheRoles(t *testing.T) {
	plain := project(t).Services["api"].Environment
	for name := range plain {
		switch name {
		case "DATABASE_URL", "TEMPORAL_ADDRESS", "NATS_URL": // those of the containers
			continue
		}
		env := maps.Clone(secrets)
		env[name] = "the operator's 123"
		p, err := load(t, env)
		require.NoError(t, err)
		require.Equal(t, "the operator's 123", *p.Services["api"].Environment[name], name)
	}
}

func TestMountedFilesExist(t *testing.T) {
	for _, s := range project(t).Services {
		for _, v := range s.Volumes {
			if v.Type != types.VolumeTypeBind {
				continue
			}
			require.True(t, v.ReadOnly, s.Name)
			require.DirExists(t, v.Source, s.Name)
			for _, word := range append(slices.Clone([]string(s.Entrypoint)), values(s.Environment)...) {
				if inside, found := strings.CutPrefix(word, v.Target+"/"); found {
					require.FileExists(t, filepath.Join(v.Source, inside), s.Name)
				}
			}
		}
	}
}

func values(env types.MappingWithEquals) (all []string) {
	for _, value := range env {
		if value != nil {
			all = append(all, *value)
		}
	}
	return all
}
