// Package docker checks the Dockerfile and docker-compose.yml without a container
// engine. It is a separate module, so that its dependencies stay out of the product.
package docker

import (
	"cmp"
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

// load reads docker-compose.yml and overlays.
func load(t *testing.T, env map[string]string, overlays ...string) (*types.Project, error) {
	t.Helper()
	var list []string
	for name, value := range env {
		list = append(list, name+"="+value)
	}
	files := []string{filepath.Join(root, "docker-compose.yml")}
	for _, name := range overlays {
		files = append(files, filepath.Join(root, name))
	}
	options, err := cli.NewProjectOptions(files, cli.WithEnv(list), cli.WithProfiles([]string{"*"}))
	require.NoError(t, err)
	return options.LoadProject(t.Context())
}

func project(t *testing.T) *types.Project {
	t.Helper()
	p, err := load(t, nil)
	require.NoError(t, err)
	return p
}

// withTLS returns the project with docker-compose.tls.yml as an overlay.
func withTLS(t *testing.T, env map[string]string) *types.Project {
	t.Helper()
	all := map[string]string{"PALAVER_HOST": "chat.example.com"}
	maps.Copy(all, env)
	p, err := load(t, all, "docker-compose.tls.yml")
	require.NoError(t, err)
	return p
}

func TestComposeHasEveryService(t *testing.T) {
	p := project(t)
	require.ElementsMatch(t, []string{"postgres", "postgres-roles", "temporal-schema", "temporal", "temporal-namespace", "temporal-ui", "nats", "api", "worker"}, p.ServiceNames())
	require.Equal(t, []string{"ui"}, p.Services["temporal-ui"].Profiles, "it does not check the Host header, so it must not start by default")
	require.Equal(t, []string{"palaver", "postgres"}, slices.Sorted(maps.Keys(p.Volumes)))
}

// Each container has only the secrets that it needs, as files, and no variable has a secret.
func TestSecretsAreFilesOfTheContainersThatNeedThem(t *testing.T) {
	p := project(t)
	want := map[string][]string{
		"postgres":        {"postgres_password"},
		"postgres-roles":  {"palaver_database_password", "postgres_password", "temporal_database_password"},
		"temporal-schema": {"temporal_database_password"},
		"temporal":        {"temporal_database_password"},
		"nats":            {"nats_token"},
		"api":             {"cookie_secret", "nats_token", "palaver_database_url", "token_encryption_key"},
		"worker":          {"nats_token", "palaver_database_url", "token_encryption_key"},
	}
	for _, s := range p.Services {
		var sources []string
		for _, secret := range s.Secrets {
			sources = append(sources, secret.Source)
			require.Contains(t, p.Secrets, secret.Source)
			require.True(t, strings.HasSuffix(p.Secrets[secret.Source].File, "/secrets/"+secret.Source))
		}
		slices.Sort(sources)
		require.Equal(t, want[s.Name], sources, s.Name)
		for name, value := range s.Environment {
			if value == nil { // passed on when set
				continue
			}
			if path, inside := strings.CutPrefix(*value, "/run/secrets/"); inside {
				require.Contains(t, sources, path, "%s: %s", s.Name, name)
				require.True(t, strings.HasSuffix(name, "_FILE"), name)
			}
		}
	}
	moved, err := load(t, map[string]string{"SECRETS_DIR": "/srv/secrets"})
	require.NoError(t, err)
	require.Equal(t, "/srv/secrets/cookie_secret", moved.Secrets["cookie_secret"].File)
}

// ownSecrets are the settings with secrets that one role has alone.
var ownSecrets = map[string][]string{
	"api":    {"COOKIE_SECRET_FILE", "SUPABASE_JWT_SECRET", "PROXY_SHARED_SECRET", "CODEC_TOKEN"},
	"worker": {"MCP_JWT_SECRET", "LANGSMITH_API_KEY", "OTEL_EXPORTER_OTLP_HEADERS", "TAVILY_API_KEY", "GOOGLE_API_KEY"},
}

// onlyWhether are the settings of which the API knows only whether the worker has them: the page shows it.
var onlyWhether = []string{"TAVILY_API_KEY", "GOOGLE_API_KEY"}

// What faces the Internet has no key that only the worker uses, and the worker none that identifies callers.
func TestRolesHaveNoSecretsOfTheOther(t *testing.T) {
	given := map[string]string{"SECRETS_DIR": "/srv/secrets"}
	for _, names := range ownSecrets {
		for _, name := range names {
			given[name] = "a secret"
		}
	}
	p, err := load(t, given)
	require.NoError(t, err)
	for role, other := range map[string]string{"api": "worker", "worker": "api"} {
		own, others := p.Services[role].Environment, p.Services[other].Environment
		for _, name := range ownSecrets[role] {
			require.NotEmpty(t, *own[name], name)
			if slices.Contains(onlyWhether, name) {
				require.Equal(t, "set", *others[name], name)
				continue
			}
			require.NotContains(t, others, name, other)
		}
		var folders []string
		for _, v := range p.Services[role].Volumes {
			if v.Type == types.VolumeTypeBind {
				folders = append(folders, v.Source)
			}
		}
		require.Equal(t, []string{"/srv/secrets/settings", "/srv/secrets/settings-" + role}, folders)
	}
	plain := project(t).Services["api"].Environment
	for _, name := range onlyWhether {
		require.Empty(t, *plain[name], name)
	}
}

func TestComposeContainsNoSecret(t *testing.T) {
	file, err := os.ReadFile(filepath.Join(root, "docker-compose.yml"))
	require.NoError(t, err)
	for _, line := range strings.Split(string(file), "\n") {
		name, value, found := strings.Cut(strings.TrimSpace(line), ":")
		if found && regexp.MustCompile(`(?i)(password|secret|token|_pwd|_key)$`).MatchString(name) {
			require.Regexp(t, `^\s*(\$\{[A-Z_]+:(-|\+set)\}|\{file: .*)`, value, "%s must be a variable without a default, or a file", name)
		}
	}
	for _, path := range []string{".gitignore", ".dockerignore"} {
		text, err := os.ReadFile(filepath.Join(root, path))
		require.NoError(t, err)
		require.Regexp(t, `(?m)^(/secrets/|\*)$`, string(text), path)
	}
}

// A key in a file of secrets/settings, as docs/deploy.md has it, while docker-compose.yml
// passes an empty variable of that name.
func TestOptionalSecretsMayBeFiles(t *testing.T) {
	docs, err := os.ReadFile(filepath.Join(root, "docs", "deploy.md"))
	require.NoError(t, err)
	require.Contains(t, string(docs), "secrets/settings/OPENAI_API_KEY")
	p, err := load(t, map[string]string{"SECRETS_DIR": "/srv/secrets"})
	require.NoError(t, err)
	for _, role := range []string{"api", "worker"} {
		s := p.Services[role]
		require.Empty(t, *s.Environment["OPENAI_API_KEY"], "when the variable is empty, the program reads the file")
		for _, folder := range strings.Split(*s.Environment["SETTINGS_DIR"], ":") {
			i := slices.IndexFunc(s.Volumes, func(v types.ServiceVolumeConfig) bool { return v.Target == folder })
			require.GreaterOrEqual(t, i, 0, role)
			require.True(t, s.Volumes[i].ReadOnly)
		}
	}
}

var pinned = regexp.MustCompile(`^[a-z0-9/-]+:\d+\.\d+[a-z0-9.-]*@sha256:[0-9a-f]{64}$`)

func TestEveryImageIsPinnedByDigest(t *testing.T) {
	digests := map[string]string{}
	for _, s := range withTLS(t, nil).Services {
		if s.Build != nil {
			continue // our own image
		}
		require.Regexp(t, pinned, s.Image, s.Name)
		tag, digest, _ := strings.Cut(s.Image, "@")
		require.Equal(t, digest, cmp.Or(digests[tag], digest), "%s has two digests", tag)
		digests[tag] = digest
	}
	require.Len(t, digests, 6)
}

func TestEveryServiceHasAHealthCheckAndRestarts(t *testing.T) {
	for _, s := range withTLS(t, nil).Services {
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
	for _, s := range withTLS(t, nil).Services {
		require.Positive(t, s.MemLimit, "%s: memory", s.Name)
		require.Positive(t, s.CPUS, "%s: CPUs", s.Name)
		require.NotNil(t, s.Logging, s.Name)
		require.Equal(t, "json-file", s.Logging.Driver, s.Name)
		require.NotEmpty(t, s.Logging.Options["max-size"], s.Name)
		require.NotEmpty(t, s.Logging.Options["max-file"], s.Name)
	}
	p, err := load(t, map[string]string{"PALAVER_MEMORY": "3g", "POSTGRES_MEMORY": "5g"})
	require.NoError(t, err)
	require.Equal(t, types.UnitBytes(3<<30), p.Services["worker"].MemLimit)
	require.Equal(t, types.UnitBytes(5<<30), p.Services["postgres"].MemLimit)
}

// The number of history shards cannot be changed after the first start.
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

// settings returns the names of all settings, as .env.example has them.
func settings(t *testing.T) (names []string) {
	example, err := os.ReadFile(filepath.Join(root, ".env.example"))
	require.NoError(t, err)
	for _, line := range regexp.MustCompile(`(?m)^#([A-Z_]+)=|^# ([A-Z_]+)$`).FindAllStringSubmatch(string(example), -1) {
		names = append(names, line[1]+line[2])
	}
	return names
}

func TestRolesUseOnlyDeclaredVariables(t *testing.T) {
	known := settings(t)
	p := project(t)
	for _, role := range []string{"api", "worker"} {
		s := p.Services[role]
		require.Equal(t, types.ShellCommand{role}, s.Command)
		other := p.Services[map[string]string{"api": "worker", "worker": "api"}[role]].Environment
		for name := range s.Environment {
			if _, both := other[name]; !both {
				require.Contains(t, ownSecrets[role], name)
			}
			if slices.Contains(openTelemetry, name) {
				continue
			}
			require.Contains(t, known, strings.TrimSuffix(name, "_FILE"), role)
		}
		require.True(t, s.ReadOnly, role)
		require.Equal(t, []string{"ALL"}, s.CapDrop)
		require.Equal(t, types.ShellCommand{"/palaver", "health", role}, types.ShellCommand(s.HealthCheck.Test[1:]))
	}
}

// openTelemetry are variables of OpenTelemetry's SDK, which are not in .env.example.
var openTelemetry = []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS",
	"OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES", "OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG"}

// The SDK takes an empty sampler for an unknown one.
func TestVariablesOfOpenTelemetryReachTheRolesOnlyWhenSet(t *testing.T) {
	for _, name := range openTelemetry {
		require.Nil(t, project(t).Services["worker"].Environment[name], name)
		p, err := load(t, map[string]string{name: "a value"})
		require.NoError(t, err)
		value := p.Services["worker"].Environment[name]
		require.NotNil(t, value, name)
		require.Equal(t, "a value", *value)
	}
}

func TestSettingsOfTheOperatorReachTheRoles(t *testing.T) {
	given := map[string]string{}
	for _, role := range []string{"api", "worker"} {
		for name := range project(t).Services[role].Environment {
			if name != "TEMPORAL_ADDRESS" && name != "NATS_URL" && name != "SETTINGS_DIR" && !strings.HasSuffix(name, "_FILE") { // the containers have fixed values
				given[name] = "the operator's 123 of " + name
			}
		}
	}
	p, err := load(t, given)
	require.NoError(t, err)
	for _, role := range []string{"api", "worker"} {
		for name, value := range p.Services[role].Environment {
			if given[name] != "" && !(role == "api" && slices.Contains(onlyWhether, name)) {
				require.Equal(t, given[name], *value, name)
			}
		}
	}
}

func TestMountedFilesExist(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "secrets")
	makeSecrets(t, folder)
	for _, s := range withTLS(t, map[string]string{"SECRETS_DIR": folder}).Services {
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

// Without --no-TTY, docker compose exec does not accept input from a file.
func TestDumpsOfTheDocsNeedNoTerminal(t *testing.T) {
	docs, err := os.ReadFile(filepath.Join(root, "docs", "deploy.md"))
	require.NoError(t, err)
	found := regexp.MustCompile(`(?m)^ *docker compose exec (.*) ([<>]) \$name\.dump$`).FindAllStringSubmatch(string(docs), -1)
	require.Len(t, found, 2, "the dumps and the restore")
	for _, line := range found {
		require.Contains(t, line[1], "--no-TTY postgres pg_")
	}
	roles, err := os.ReadFile("postgres/roles.sql")
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`\('(\w+)', '(?:palaver|temporal)'\)`).FindAllStringSubmatch(string(roles), -1) {
		require.Equal(t, 2, strings.Count(string(docs), "for name in temporal temporal_visibility palaver; do"), "both commands cover all databases")
		require.Contains(t, "temporal temporal_visibility palaver", m[1])
	}
}

// A new container may have another address. If the server announced the old one, requests
// fail with "Not enough hosts" until its entry in the database is stale.
func TestTemporalAnnouncesAnAddressThatStays(t *testing.T) {
	env := project(t).Services["temporal"].Environment
	require.Equal(t, "127.0.0.1", *env["TEMPORAL_BROADCAST_ADDRESS"])
	require.Equal(t, "0.0.0.0", *env["BIND_ON_IP"])
}
