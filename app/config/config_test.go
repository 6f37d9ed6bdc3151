package config_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/app/config"
	"github.com/palaver-chat/palaver/testkit/must"
)

type grammar struct {
	config.Config
	config.Embedded
}

// parse reads settings in an empty folder with no environment but env.
func parse(t *testing.T, env map[string]string, args ...string) (*grammar, error) {
	t.Helper()
	t.Chdir(t.TempDir())
	return parseHere(t, env, args...)
}

// settings returns the names of all settings.
func settings() (names []string) {
	for _, line := range regexp.MustCompile(`(?m)^#([A-Z_]+)=|^# ([A-Z_]+)$`).FindAllStringSubmatch(config.EnvExample(), -1) {
		names = append(names, line[1]+line[2])
	}
	return names
}

func parseHere(t *testing.T, env map[string]string, args ...string) (*grammar, error) {
	t.Helper()
	for _, name := range settings() {
		t.Setenv(name, "") // restored afterwards; empty counts as not set
	}
	for name, value := range env {
		t.Setenv(name, value)
	}
	var g grammar
	_, err := config.Parse(&g, args, kong.Exit(func(int) {}), kong.Writers(&bytes.Buffer{}, &bytes.Buffer{}))
	return &g, err
}

func TestSecretIsReadFromAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(path, []byte("0123456789abcdef0123456789abcdef\n"), 0o600))
	c, err := parse(t, map[string]string{"COOKIE_SECRET_FILE": path})
	t.Cleanup(func() { _ = os.Unsetenv("COOKIE_SECRET") })
	require.NoError(t, err)
	require.Equal(t, "0123456789abcdef0123456789abcdef", c.CookieSecret)
	_, err = parse(t, map[string]string{"COOKIE_SECRET_FILE": path, "COOKIE_SECRET": "another secret of 32 characters, or more"})
	require.ErrorContains(t, err, "COOKIE_SECRET_FILE: COOKIE_SECRET is set, too")
	c, err = parse(t, map[string]string{"COOKIE_SECRET_FILE": path, "COOKIE_SECRET": ""}) // docker-compose.yml passes an unset variable as an empty one
	require.NoError(t, err)
	require.Equal(t, "0123456789abcdef0123456789abcdef", c.CookieSecret)
	require.NoError(t, os.Unsetenv("COOKIE_SECRET"))
	_, err = parse(t, map[string]string{"COOKIE_SECRET_FILE": path + "s"})
	require.ErrorContains(t, err, "COOKIE_SECRET_FILE: cannot read")
}

func TestSettingsMayBeFilesOfAFolder(t *testing.T) {
	dir := t.TempDir()
	for name, value := range map[string]string{"COOKIE_SECRET": "0123456789abcdef0123456789abcdef\n", "METRICS_TOKEN": "\n", "README": "no setting"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(value), 0o600))
	}
	c := must.Have(parse(t, map[string]string{"SETTINGS_DIR": dir, "COOKIE_SECRET": ""}))(t)
	require.Equal(t, "0123456789abcdef0123456789abcdef", c.CookieSecret)
	require.Empty(t, c.MetricsToken, "its file is empty")
	own := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(own, "CODEC_TOKEN"), []byte("0123456789abcdef0123456789abcdef"), 0o600))
	require.NoError(t, os.Unsetenv("COOKIE_SECRET"))
	c = must.Have(parse(t, map[string]string{"SETTINGS_DIR": dir + string(filepath.ListSeparator) + own, "COOKIE_SECRET": ""}))(t)
	require.Equal(t, "0123456789abcdef0123456789abcdef", c.CookieSecret)
	require.Equal(t, "0123456789abcdef0123456789abcdef", c.CodecToken)
	require.NoError(t, os.Unsetenv("CODEC_TOKEN"))
	_, err := parse(t, map[string]string{"SETTINGS_DIR": dir, "COOKIE_SECRET": "another secret of 32 characters, or more"})
	require.ErrorContains(t, err, "SETTINGS_DIR: COOKIE_SECRET is set, too")
	require.NoError(t, os.Unsetenv("COOKIE_SECRET"))
	_, err = parse(t, map[string]string{"SETTINGS_DIR": filepath.Join(dir, "missing")})
	require.ErrorContains(t, err, "SETTINGS_DIR: cannot list the folder")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "CODEC_TOKEN"), 0o700))
	t.Cleanup(func() { _ = os.Unsetenv("COOKIE_SECRET") })
	_, err = parse(t, map[string]string{"SETTINGS_DIR": dir, "COOKIE_SECRET": ""})
	require.ErrorContains(t, err, "SETTINGS_DIR: cannot read")
}

func TestTokensAreEncryptedWithPayloadKeysUnlessTokenKeysAreSet(t *testing.T) {
	one, two := strings.Repeat("1", 32), strings.Repeat("2", 32)
	cfg := config.Config{CookieSecret: "cookie", PayloadEncryptionKey: "plain, " + one}
	secrets := must.Have(cfg.TokenSecrets())(t)
	require.Equal(t, [][]byte{[]byte(one), []byte("cookie")}, secrets)
	cfg.TokenEncryptionKey = two
	secrets = must.Have(cfg.TokenSecrets())(t)
	require.Equal(t, [][]byte{[]byte(two), []byte(one), []byte("cookie")}, secrets)
	worker := config.Config{DataDir: t.TempDir(), TokenEncryptionKey: two}
	require.Equal(t, [][]byte{[]byte(two)}, must.Have(worker.TokenSecrets())(t), "a worker without COOKIE_SECRET")
	require.NoFileExists(t, filepath.Join(worker.DataDir, "cookie_secret"))
}

func TestDefaults(t *testing.T) {
	g := must.Have(parse(t, nil))(t)
	assert.Equal(t, 8080, g.Port)
	assert.Equal(t, "127.0.0.1", g.Host)
	assert.Equal(t, ".palaver", g.DataDir)
	assert.Equal(t, 120*time.Second, g.FirstByteTimeout)
	assert.Equal(t, 9*time.Minute, g.ModelTimeout)
	assert.Equal(t, 45*time.Second, g.RetryBudget)
	assert.Equal(t, 10*time.Minute, g.TurnDeadline)
	assert.Equal(t, 20, g.TurnMaxSteps)
	assert.Equal(t, 200_000, g.TurnMaxTokens)
	assert.Equal(t, 30*time.Minute, g.ThreadIdleTimeout)
	assert.Equal(t, 50, g.MaxUploadMB)
	assert.Equal(t, "anonymous", g.AuthMode)
	assert.Equal(t, config.Embedded{TemporalPort: 7233, TemporalUIPort: 8233, TemporalUIWrite: "off"}, g.Embedded)
	assert.Equal(t, config.Choice{Provider: config.Offline}, g.Model())
}

func TestFlagOverridesEnvironmentOverridesDotEnv(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile(".env", []byte("PORT=1001\nHOST=10.0.0.1\nMAX_UPLOAD_MB=7\n"), 0o600))
	// godotenv adds to the environment what is not in it; t.Setenv restores it.
	for _, name := range []string{"PORT", "HOST", "MAX_UPLOAD_MB"} {
		t.Setenv(name, "")
		require.NoError(t, os.Unsetenv(name))
	}
	t.Setenv("PORT", "1002")
	t.Setenv("HOST", "10.0.0.2")
	var g grammar
	must.Have(config.Parse(&g, []string{"--port", "1003"}))(t)
	assert.Equal(t, 1003, g.Port)
	assert.Equal(t, "10.0.0.2", g.Host)
	assert.Equal(t, 7, g.MaxUploadMB)
}

func TestMCPServersCanBeSetInDotEnv(t *testing.T) {
	t.Chdir(t.TempDir())
	const list = `[{"name":"files","transport":"stdio","command":["a","b #c"],"approve":"never"}]`
	require.NoError(t, os.WriteFile(".env", []byte("MCP_SERVERS='"+list+"'\n"), 0o600))
	t.Setenv("MCP_SERVERS", "")
	require.NoError(t, os.Unsetenv("MCP_SERVERS"))
	var g grammar
	must.Have(config.Parse(&g, nil))(t)
	assert.Equal(t, list, g.MCPServers)
}

func TestInvalidDotEnvIsRefusedWithoutQuotingIt(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile(".env", []byte("{\nLLM_API_KEY=geheim\n"), 0o600))
	_, err := parseHere(t, nil)
	require.ErrorContains(t, err, ".env: ")
	assert.NotContains(t, err.Error(), "geheim")
}

// Rule S1.
func TestInvalidValueIsAOneLineErrorThatNamesItsVariable(t *testing.T) {
	for _, c := range []struct {
		name string
		env  map[string]string
		says []string
	}{
		{"a port that is not a number", map[string]string{"PORT": "abc"}, []string{"PORT", "abc"}},
		{"a port too high", map[string]string{"PORT": "65536"}, []string{"PORT:", "0 to 65535"}},
		{"an embedded port", map[string]string{"TEMPORAL_PORT": "-1"}, []string{"TEMPORAL_PORT:", "0 to 65535"}},
		{"a UI port", map[string]string{"TEMPORAL_UI_PORT": "70000"}, []string{"TEMPORAL_UI_PORT:"}},
		{"a NATS port", map[string]string{"NATS_PORT": "70000"}, []string{"NATS_PORT:"}},
		{"an unknown provider", map[string]string{"CHAT_MODEL_PROVIDER": "hal"}, []string{"CHAT_MODEL_PROVIDER:", `"hal"`, "gemini", "openai-compatible", "offline"}},
		{"a key without a provider", map[string]string{"LLM_API_KEY": "k"}, []string{"CHAT_MODEL_PROVIDER:", "LLM_API_KEY"}},
		{"a provider without its key", map[string]string{"CHAT_MODEL_PROVIDER": "openai"}, []string{"OPENAI_API_KEY:", "LLM_API_KEY"}},
		{"a compatible endpoint without address", map[string]string{"CHAT_MODEL_PROVIDER": "openai-compatible", "CHAT_MODEL_NAME": "m"}, []string{"LLM_BASE_URL:"}},
		{"an endpoint without a model", map[string]string{"LLM_BASE_URL": "http://localhost:1/v1"}, []string{"CHAT_MODEL_NAME:"}},
		{"a base URL that is not a URL", map[string]string{"LLM_BASE_URL": "localhost:11434"}, []string{"LLM_BASE_URL:", "http://"}},
		{"a choice of models without one", map[string]string{"CHAT_MODELS": "a,b"}, []string{"CHAT_MODELS:", "offline"}},
		{"a choice without the default", map[string]string{"OPENAI_API_KEY": "o", "CHAT_MODEL_NAME": "c", "CHAT_MODELS": "a, b"}, []string{"CHAT_MODELS:", "CHAT_MODEL_NAME"}},
		{"a model twice", map[string]string{"OPENAI_API_KEY": "o", "CHAT_MODELS": "a,b,a"}, []string{"CHAT_MODELS:", "twice"}},
		{"a model with a space", map[string]string{"OPENAI_API_KEY": "o", "CHAT_MODELS": "a b"}, []string{"CHAT_MODELS:", `"a b"`}},
		{"too many models", map[string]string{"OPENAI_API_KEY": "o", "CHAT_MODELS": "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21"}, []string{"CHAT_MODELS:", "at most 20"}},
		{"embeddings without a provider for them", map[string]string{"EMBEDDING_MODEL_NAME": "e"}, []string{"EMBEDDING_MODEL_NAME:", "offline"}},
		{"a duration without unit", map[string]string{"LLM_TIMEOUT": "20"}, []string{"LLM_TIMEOUT"}},
		{"a duration of zero", map[string]string{"LLM_FIRST_BYTE_TIMEOUT": "0s"}, []string{"LLM_FIRST_BYTE_TIMEOUT:", "from 100ms"}},
		{"a negative budget", map[string]string{"LLM_RETRY_BUDGET": "-1s"}, []string{"LLM_RETRY_BUDGET:"}},
		{"a turn deadline that is too long", map[string]string{"TURN_DEADLINE": "1000h"}, []string{"TURN_DEADLINE:"}},
		{"a turn without steps", map[string]string{"TURN_MAX_STEPS": "0"}, []string{"TURN_MAX_STEPS:", "1 to 1000"}},
		{"a turn without tokens", map[string]string{"TURN_MAX_TOKENS": "-1"}, []string{"TURN_MAX_TOKENS:"}},
		{"an idle timeout of zero", map[string]string{"THREAD_IDLE_TIMEOUT": "0s"}, []string{"THREAD_IDLE_TIMEOUT:"}},
		{"a limit for uploads that is too high", map[string]string{"MAX_UPLOAD_MB": "9999"}, []string{"MAX_UPLOAD_MB:", "1 to 500"}},
		{"postgres without its address", map[string]string{"CHAT_MEMORY_BACKEND": "postgres"}, []string{"CHAT_MEMORY_BACKEND:", "DATABASE_URL"}},
		{"an unknown store", map[string]string{"CHAT_MEMORY_BACKEND": "redis"}, []string{"CHAT_MEMORY_BACKEND:", "sqlite"}},
		{"another database's URL", map[string]string{"DATABASE_URL": "mysql://u:geheim@h/d"}, []string{"DATABASE_URL:", "postgres://"}},
		{"a database URL with a bare password", map[string]string{"DATABASE_URL": "postgres://u:geheim/%zz@h/d"}, []string{"DATABASE_URL:", "postgres://"}},
		{"a retention of conversations that is too short", map[string]string{"CONVERSATION_RETENTION": "1h"}, []string{"CONVERSATION_RETENTION:", "at least 24h"}},
		{"a short key for payloads", map[string]string{"PAYLOAD_ENCRYPTION_KEY": "plain,geheim"}, []string{"PAYLOAD_ENCRYPTION_KEY:", "too short"}},
		{"a short token for decrypting payloads", map[string]string{"CODEC_TOKEN": "short"}, []string{"CODEC_TOKEN:", "too short"}},
		{"a Web UI without a scheme", map[string]string{"TEMPORAL_UI_ORIGIN": "temporal.example.com"}, []string{"TEMPORAL_UI_ORIGIN:"}},
		{"an unknown auth mode", map[string]string{"AUTH_MODE": "open"}, []string{"AUTH_MODE:", "anonymous, required"}},
		{"required sign-in without a way to sign in", map[string]string{"AUTH_MODE": "required"}, []string{"AUTH_MODE:", "SUPABASE_JWT_SECRET"}},
		{"a sign-in without a key", map[string]string{"SUPABASE_URL": "https://p.example"}, []string{"SUPABASE_ANON_KEY:", "missing"}},
		{"a sign-in without an address", map[string]string{"SUPABASE_ANON_KEY": "geheim"}, []string{"SUPABASE_URL:", "missing"}},
		{"an import that may take too long", map[string]string{"IMPORT_TIMEOUT": "11m"}, []string{"IMPORT_TIMEOUT:", "1s to 10m"}},
		{"an origin with a path", map[string]string{"ALLOWED_ORIGINS": "https://app.example.com/"}, []string{"ALLOWED_ORIGINS:", "no path"}},
		{"every origin", map[string]string{"ALLOWED_ORIGINS": "*"}, []string{"ALLOWED_ORIGINS:", "no *"}},
		{"an issuer without TLS", map[string]string{"OIDC_ISSUER": "http://login.example.com", "OIDC_CLIENT_ID": "p"}, []string{"OIDC_ISSUER:", "https://"}},
		{"an issuer with a query", map[string]string{"OIDC_ISSUER": "https://login.example.com/?a", "OIDC_CLIENT_ID": "p"}, []string{"OIDC_ISSUER:"}},
		{"an issuer without an audience", map[string]string{"OIDC_ISSUER": "https://login.example.com"}, []string{"OIDC_AUDIENCE:", "OIDC_CLIENT_ID"}},
		{"a client without an issuer", map[string]string{"OIDC_CLIENT_ID": "p"}, []string{"OIDC_ISSUER:", "missing"}},
		{"scopes without openid", map[string]string{"OIDC_SCOPES": "profile"}, []string{"OIDC_SCOPES:", "openid"}},
		{"issuers that are no list", map[string]string{"OIDC_ISSUERS": "https://login.example.com"}, []string{"OIDC_ISSUERS:", "JSON"}},
		{"an issuer with an unknown field", map[string]string{"OIDC_ISSUERS": `[{"issuer":"https://a.example","audience":"p"}]`}, []string{"OIDC_ISSUERS:", "JSON"}},
		{"a further issuer without an audience", map[string]string{"OIDC_ISSUERS": `[{"issuer":"https://a.example"}]`}, []string{"OIDC_ISSUERS:", "audiences"}},
		{"an issuer twice", map[string]string{"OIDC_ISSUER": "https://a.example", "OIDC_CLIENT_ID": "p", "OIDC_ISSUERS": `[{"issuer":"https://a.example","audiences":["q"]}]`}, []string{"OIDC_ISSUERS:", "twice"}},
		{"a sign-in without TLS", map[string]string{"SUPABASE_URL": "http://geheim.example", "SUPABASE_ANON_KEY": "k"}, []string{"SUPABASE_URL:", "https://"}},
		{"a sign-in at an address without a scheme", map[string]string{"SUPABASE_URL": "geheim.example", "SUPABASE_ANON_KEY": "k"}, []string{"SUPABASE_URL:", "https://"}},
		{"a sign-in address that would add to the content security policy", map[string]string{"SUPABASE_URL": "https://a.example;script-src", "SUPABASE_ANON_KEY": "k"}, []string{"SUPABASE_URL:"}},
		{"an invalid way to sign in", map[string]string{"SUPABASE_URL": "https://p.example", "SUPABASE_ANON_KEY": "k", "SUPABASE_SIGN_IN": "link,Git Hub"}, []string{"SUPABASE_SIGN_IN:", "OAuth"}},
		{"a way to sign in twice", map[string]string{"SUPABASE_URL": "https://p.example", "SUPABASE_ANON_KEY": "k", "SUPABASE_SIGN_IN": "link,link"}, []string{"SUPABASE_SIGN_IN:", "once"}},
		{"keys at an address without a scheme", map[string]string{"SUPABASE_JWKS_URL": "geheim.example/jwks"}, []string{"SUPABASE_JWKS_URL:", "https://"}},
		{"a guessable proxy", map[string]string{"PROXY_SHARED_SECRET": "geheim"}, []string{"PROXY_SHARED_SECRET:", "16 characters"}},
		{"a guessable secret", map[string]string{"COOKIE_SECRET": "0123456789abcdef"}, []string{"COOKIE_SECRET:", "32 characters"}},
		{"guessable metrics", map[string]string{"METRICS_TOKEN": "geheim"}, []string{"METRICS_TOKEN:", "16 characters"}},
		{"a NATS URL with another scheme", map[string]string{"NATS_URL": "http://u:geheim@h"}, []string{"NATS_URL:", "nats://"}},
		{"a missing file of NATS credentials", map[string]string{"NATS_CREDENTIALS": "/geheim/user.creds"}, []string{"NATS_CREDENTIALS:", ".creds"}},
		{"a file that has no NATS credentials", map[string]string{"NATS_CREDENTIALS": "config_test.go"}, []string{"NATS_CREDENTIALS:", ".creds"}},
		{"a Google client without its secret", map[string]string{"GOOGLE_CLIENT_ID": "x"}, []string{"GOOGLE_CLIENT_SECRET:"}},
		{"Google's address", map[string]string{"GOOGLE_OAUTH_BASE_URL": "x"}, []string{"GOOGLE_OAUTH_BASE_URL:"}},
		{"a short key for tokens", map[string]string{"TOKEN_ENCRYPTION_KEY": "0123456789abcdef0123456789abcdef,short"}, []string{"TOKEN_ENCRYPTION_KEY:"}},
		{"Tavily's address", map[string]string{"TAVILY_BASE_URL": "x"}, []string{"TAVILY_BASE_URL:"}},
		{"MCP servers that are not a list", map[string]string{"MCP_SERVERS": `{"name":"geheim"}`}, []string{"MCP_SERVERS:", "JSON list"}},
		{"an MCP server without a URL", map[string]string{"MCP_SERVERS": `[{"name":"files","transport":"http","headers":{"A":"geheim"}}]`}, []string{"MCP_SERVERS:", "files", "url"}},
		{"a guessable MCP secret", map[string]string{"MCP_JWT_SECRET": "geheim"}, []string{"MCP_JWT_SECRET:", "16 characters"}},
		{"an MCP secret that also signs Palaver's own tokens", map[string]string{"MCP_JWT_SECRET": "geheim geheim geheim", "SUPABASE_JWT_SECRET": "geheim geheim geheim"}, []string{"MCP_JWT_SECRET:", "of its own"}},
		{"a network that is a name", map[string]string{"ALLOW_PRIVATE_ADDRESSES": "10.0.0.0/8,localhost"}, []string{"ALLOW_PRIVATE_ADDRESSES:", "localhost"}},
		{"an unknown log level", map[string]string{"LOG_LEVEL": "loud"}, []string{"LOG_LEVEL:", "debug, info, warn, error"}},
		{"an unknown stream mode", map[string]string{"CHAT_STREAM_MODE": "updates"}, []string{"CHAT_STREAM_MODE:", "events, messages"}},
		{"a rate without its period", map[string]string{"CHAT_RATE_LIMIT": "10"}, []string{"CHAT_RATE_LIMIT:", "10/minute"}},
		{"a rate of zero", map[string]string{"CHAT_RATE_LIMIT": "0/minute"}, []string{"CHAT_RATE_LIMIT:", "off"}},
		{"a rate per day", map[string]string{"MAX_NEW_THREADS_PER_ADDRESS": "9/day"}, []string{"MAX_NEW_THREADS_PER_ADDRESS:", "N/hour"}},
		{"a negative number of turns", map[string]string{"MAX_TURNS_PER_CALLER": "-1"}, []string{"MAX_TURNS_PER_CALLER:", "0 to 100000"}},
		{"a negative number of streams", map[string]string{"MAX_STREAMS_PER_CALLER": "-1"}, []string{"MAX_STREAMS_PER_CALLER:"}},
		{"a proxy by its name", map[string]string{"TRUSTED_PROXIES": "10.0.0.0/8, proxy.example"}, []string{"TRUSTED_PROXIES:", "proxy.example"}},
		{"an unknown choice of the forwarded address", map[string]string{"XFF": "last"}, []string{"XFF:", "rightmost-untrusted, leftmost"}},
		{"LangSmith's address", map[string]string{"LANGSMITH_ENDPOINT": "smith"}, []string{"LANGSMITH_ENDPOINT:", "https://"}},
		{"a switch for traces that is not true or false", map[string]string{"LANGSMITH_TRACING": "perhaps"}, []string{"langsmith-tracing"}},
		{"traces with half of the content", map[string]string{"TRACE_CONTENT": "some"}, []string{"TRACE_CONTENT:", "on, off"}},
		{"traces to an address without a scheme", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "localhost:4318"}, []string{"OTEL_EXPORTER_OTLP_ENDPOINT:", "http:// or https://"}},
		{"traces to a path", map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "/v1/traces"}, []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT:", "http:// or https://"}},
		{"traces over gRPC", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "grpc://collector:4317"}, []string{"OTEL_EXPORTER_OTLP_ENDPOINT:", "http:// or https://"}},
		{"traces by another protocol", map[string]string{"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, []string{"OTEL_EXPORTER_OTLP_PROTOCOL:", "http/protobuf"}},
		{"an unknown log format", map[string]string{"LOG_FORMAT": "xml"}, []string{"LOG_FORMAT:", "text, json"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parse(t, c.env)
			require.Error(t, err)
			for _, part := range c.says {
				assert.ErrorContains(t, err, part)
			}
			assert.NotContains(t, err.Error(), "\n")
			assert.NotContains(t, err.Error(), "geheim", "a secret's value is never repeated")
		})
	}
}

// Rule S2.
func TestModelChoice(t *testing.T) {
	for _, c := range []struct {
		name string
		env  map[string]string
		want config.Choice
	}{
		{"nothing set", nil, config.Choice{Provider: "offline"}},
		{"one key", map[string]string{"ANTHROPIC_API_KEY": "a"}, config.Choice{Provider: "anthropic", APIKey: "a", KeyVariable: "ANTHROPIC_API_KEY"}},
		{"several keys", map[string]string{"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o", "GEMINI_API_KEY": "g"}, config.Choice{Provider: "gemini", APIKey: "g", KeyVariable: "GEMINI_API_KEY"}},
		{"no gemini among them", map[string]string{"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o"}, config.Choice{Provider: "openai", APIKey: "o", KeyVariable: "OPENAI_API_KEY"}},
		{"named against the order", map[string]string{"CHAT_MODEL_PROVIDER": "openai", "OPENAI_API_KEY": "o", "GEMINI_API_KEY": "g"}, config.Choice{Provider: "openai", APIKey: "o", KeyVariable: "OPENAI_API_KEY"}},
		{"the general key first", map[string]string{"CHAT_MODEL_PROVIDER": "openai", "OPENAI_API_KEY": "o", "LLM_API_KEY": " k\n"}, config.Choice{Provider: "openai", APIKey: "k", KeyVariable: "LLM_API_KEY"}},
		{"an endpoint", map[string]string{"LLM_BASE_URL": "http://h/v1", "CHAT_MODEL_NAME": "m"}, config.Choice{Provider: "openai-compatible"}},
		{"an endpoint with a key", map[string]string{"LLM_BASE_URL": "http://h/v1", "CHAT_MODEL_NAME": "m", "LLM_API_KEY": "k"}, config.Choice{Provider: "openai-compatible", APIKey: "k", KeyVariable: "LLM_API_KEY"}},
		{"a proxy for a provider", map[string]string{"LLM_BASE_URL": "http://h/v1", "CHAT_MODEL_PROVIDER": "gemini"}, config.Choice{Provider: "gemini"}},
		{"ollama", map[string]string{"CHAT_MODEL_PROVIDER": "ollama"}, config.Choice{Provider: "ollama"}},
		{"offline in spite of a key", map[string]string{"CHAT_MODEL_PROVIDER": "offline", "OPENAI_API_KEY": "o"}, config.Choice{Provider: "offline"}},
		{"an endpoint with a choice of models", map[string]string{"LLM_BASE_URL": "http://h/v1", "CHAT_MODELS": "m,n"}, config.Choice{Provider: "openai-compatible"}},
		{"none", map[string]string{"CHAT_MODEL_PROVIDER": "none"}, config.Choice{Provider: "none"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := must.Have(parse(t, c.env))(t)
			assert.Equal(t, c.want, g.Model())
		})
	}
}

func TestDatabaseIsTheNamedOneElseChosenByItsURL(t *testing.T) {
	for _, c := range []struct {
		backend, url string
		postgres     bool
	}{
		{"", "", false},
		{"sqlite", "", false},
		{"", "postgres://h/d", true},
		{"", "postgresql://u:p@h:6543/d?sslmode=require", true},
		{"postgres", "postgres://h/d", true},
		{"sqlite", "postgres://h/d", false},
		{"sqlite", "ignored whatever it is", false},
	} {
		g, err := parse(t, map[string]string{"CHAT_MEMORY_BACKEND": c.backend, "DATABASE_URL": c.url})
		require.NoError(t, err, "%+v", c)
		assert.Equal(t, c.postgres, g.Postgres(), "%+v", c)
	}
}

func TestAuthRequiredAcceptsEachWayToSignIn(t *testing.T) {
	for name, value := range map[string]string{
		"SUPABASE_JWT_SECRET": "a secret of some length",
		"SUPABASE_JWKS_URL":   "https://project.example/auth/v1/.well-known/jwks.json",
		"PROXY_SHARED_SECRET": "a secret of some length",
	} {
		_, err := parse(t, map[string]string{"AUTH_MODE": "required", name: value})
		require.NoError(t, err, name)
	}
}

func TestSupabaseURLIsEnoughForTokensAndTheSignIn(t *testing.T) {
	c := must.Have(parse(t, map[string]string{"AUTH_MODE": "required", "SUPABASE_URL": "https://project.example/", "SUPABASE_ANON_KEY": "public", "SUPABASE_SIGN_IN": " google, link"}))(t)
	assert.Equal(t, "https://project.example/auth/v1/.well-known/jwks.json", c.JWKSURL())
	assert.Equal(t, config.SignIn{URL: "https://project.example", Key: "public", Methods: []string{"link"}, Providers: []string{"google"}}, c.SignIn())
	c = must.Have(parse(t, map[string]string{"SUPABASE_URL": "http://127.0.0.1:54321", "SUPABASE_ANON_KEY": "public", "SUPABASE_JWT_SECRET": "a secret of some length"}))(t)
	assert.Empty(t, c.JWKSURL())
	assert.Equal(t, []string{"link", "password"}, c.SignIn().Methods)
}

func TestCookieKeyIsCreatedOnceAndKeptPrivate(t *testing.T) {
	c := config.Config{DataDir: t.TempDir()}
	var group sync.WaitGroup
	keys := make([]string, 8)
	for i := range keys {
		group.Go(func() {
			key, err := c.CookieKey()
			assert.NoError(t, err)
			keys[i] = string(key)
		})
	}
	group.Wait()
	for _, key := range keys {
		assert.Equal(t, keys[0], key, "processes that start at once use the same secret")
	}
	assert.GreaterOrEqual(t, len(keys[0]), 32)

	files := must.Have(os.ReadDir(c.DataDir))(t)
	require.Len(t, files, 1, "no temporary file is left")
	info := must.Have(files[0].Info())(t)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	require.NoError(t, os.WriteFile(filepath.Join(c.DataDir, files[0].Name()), []byte("x"), 0o600))
	_, err := c.CookieKey()
	require.ErrorContains(t, err, "damaged")

	c.CookieSecret = "given by the operator"
	key := must.Have(c.CookieKey())(t)
	assert.Equal(t, "given by the operator", string(key))
}

func TestHelpListsEverySettingWithItsVariable(t *testing.T) {
	var out bytes.Buffer
	var g grammar
	func() {
		defer func() { _ = recover() }() // kong's exit
		_, _ = config.Parse(&g, []string{"--help"}, kong.Exit(func(int) { panic("exit") }), kong.Writers(&out, &out))
	}()
	for _, name := range settings() {
		assert.Contains(t, out.String(), "$"+name)
	}
}

func TestEnvExampleIsUpToDate(t *testing.T) {
	committed := must.Have(os.ReadFile("../../.env.example"))(t)
	assert.Equal(t, config.EnvExample(), string(committed), "run: go generate ./app/config")
}

func TestEnvExampleShowsAFewSettingsAndNamesTheRest(t *testing.T) {
	t.Parallel()
	shown := regexp.MustCompile(`(?m)^#[A-Z_]+=`).FindAllString(config.EnvExample(), -1)
	assert.LessOrEqual(t, len(shown), 55, "mark what few installations set as advanced")
	assert.Greater(t, len(settings()), 100)
}

// notPassed are the settings that docker-compose.yml does not pass on, and why.
var notPassed = map[string]string{
	"HOST":                "the image listens on all interfaces of its container",
	"PORT":                "the port on the host; in the container it is 8080",
	"PALAVER_DATA_DIR":    "the image has /data",
	"CHAT_MEMORY_BACKEND": "the database is Postgres",
	"TEMPORAL_NAMESPACE":  "temporal-namespace creates the namespace default",
	"NATS_CREDENTIALS":    "the NATS server of docker-compose.yml has a token",
	"TEMPORAL_PORT":       "no container has embedded servers",
	"TEMPORAL_UI_PORT":    "no container has embedded servers",
	"TEMPORAL_UI_WRITE":   "no container has embedded servers",
	"NATS_PORT":           "no container has embedded servers",
}

func TestComposePassesOnEverySettingOrItIsExcused(t *testing.T) {
	t.Parallel()
	compose := string(must.Have(os.ReadFile("../../docker-compose.yml"))(t))
	for _, name := range settings() {
		passed := regexp.MustCompile(`(?m)^ +` + name + `(_FILE)?: `).MatchString(compose)
		_, excused := notPassed[name]
		assert.True(t, passed != excused, "%s: passed on %t, excused %t", name, passed, excused)
	}
	for name := range notPassed {
		assert.Contains(t, settings(), name)
	}
}

func TestLoggerFollowsLevelAndFormat(t *testing.T) {
	var out bytes.Buffer
	log := (&config.Config{LogLevel: "warn", LogFormat: "json"}).Logger(&out)
	log.Info("quiet")
	log.Warn("heard")
	assert.NotContains(t, out.String(), "quiet")
	assert.Contains(t, out.String(), `"msg":"heard"`)
	assert.True(t, strings.HasPrefix(out.String(), "{"))
}

func TestEnvExampleExplainsLangSmith(t *testing.T) {
	t.Parallel()
	text := config.EnvExample()
	for _, name := range []string{"LANGSMITH_TRACING", "LANGSMITH_ENDPOINT", "LANGSMITH_API_KEY", "LANGSMITH_PROJECT"} {
		before, _, found := strings.Cut(text, "\n#"+name+"=\n")
		if help := before[strings.LastIndex(before, "\n#")+1:]; !found || !strings.Contains(help, "Example: ") {
			t.Errorf("%s has no example: %q", name, help)
		}
	}
	for _, word := range []string{"https://smith.langchain.com/", "Optional and off by default", "self-hosted", "TRACE_CONTENT=off", "what people write", "When off, nothing is sent"} {
		if !strings.Contains(text, word) {
			t.Errorf("nothing says %q", word)
		}
	}
}

func TestSettingsForTestsAreNotListed(t *testing.T) {
	g := must.Have(parse(t, nil, "--clock-offset=-5s", "--continue-after=150"))(t)
	assert.Equal(t, -5*time.Second, g.ClockOffset)
	assert.Equal(t, 150, g.ContinueAfter)
	var help bytes.Buffer
	must.Have(config.Parse(&grammar{}, []string{"--help"}, kong.Exit(func(int) {}), kong.Writers(&help, &help)))(t)
	require.Contains(t, help.String(), "--thread-idle-timeout")
	assert.NotContains(t, help.String(), "clock-offset")
	assert.NotContains(t, help.String(), "continue-after")
	assert.NotContains(t, config.EnvExample(), "CLOCK_OFFSET")
}

// A proxy on the same host may forward requests without a header that says so.
func TestServerIsExposedUnlessItIsLocal(t *testing.T) {
	for name, c := range map[string]struct {
		config.Config
		exposed bool
	}{
		"loopback":      {config.Config{Host: "127.0.0.1"}, false},
		"loopback IPv6": {config.Config{Host: "::1"}, false},
		"localhost":     {config.Config{Host: "localhost"}, false},
		"all":           {config.Config{Host: "0.0.0.0"}, true},
		"a name":        {config.Config{Host: "chat.example.com"}, true},
		"a proxy":       {config.Config{Host: "127.0.0.1", TrustedProxies: "127.0.0.1"}, true},
		"a public name": {config.Config{Host: "127.0.0.1", AllowedHosts: "chat.example.com"}, true},
	} {
		require.Equal(t, c.exposed, c.Exposed(), name)
	}
}

func TestIssuersOfTokens(t *testing.T) {
	c := must.Have(parse(t, map[string]string{"AUTH_MODE": "required", "OIDC_ISSUER": "https://a.example/realms/main", "OIDC_CLIENT_ID": "page", "OIDC_GROUPS_CLAIM": "roles",
		"OIDC_ISSUERS": `[{"issuer":"https://b.example/","audiences":["p","q"],"name_claim":"nickname"}]`}))(t)
	require.NoError(t, c.Config.Validate())
	require.Equal(t, []config.Issuer{
		{URL: "https://a.example/realms/main", Audiences: []string{"page"}, NameClaim: "name", EmailClaim: "email", GroupsClaim: "roles"},
		{URL: "https://b.example/", Audiences: []string{"p", "q"}, NameClaim: "nickname", EmailClaim: "email", GroupsClaim: "roles"},
	}, c.Issuers())
	require.Equal(t, config.OIDCSignIn{Issuer: "https://a.example/realms/main", ClientID: "page", Scopes: "openid profile email", NameClaim: "name", EmailClaim: "email"}, c.OIDCSignIn())
	c = must.Have(parse(t, map[string]string{"OIDC_ISSUER": "https://a.example", "OIDC_CLIENT_ID": "page", "OIDC_AUDIENCE": "api, other", "OIDC_SCOPES": " openid  offline_access "}))(t)
	require.NoError(t, c.Config.Validate())
	require.Equal(t, "api", c.OIDCSignIn().Audience)
	require.Equal(t, "openid offline_access", c.OIDCSignIn().Scopes)
	require.Equal(t, []string{"api", "other"}, c.Issuers()[0].Audiences)
}
