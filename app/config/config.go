// Package config holds all settings, by environment variable or flag: names, defaults,
// validation, and the choice of a model from the keys that are set. --help and
// .env.example are generated from the same struct.
package config

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/guard"
	"github.com/palaver-chat/palaver/internal/payload"
)

// Config holds the settings of every role. Durations and sizes are positive after Validate,
// which checks the tags allow (the values of a text), url (the schemes of an address), secret
// (a secret is long enough) and range (of a number or duration). A text without a default may
// be empty. Model calls and downloads must end before their activities time out.
type Config struct {
	Host           string `env:"HOST" default:"127.0.0.1" group:"Server" help:"Address the page and the API listen on; 0.0.0.0 or :: for all interfaces."`
	Port           int    `env:"PORT" default:"8080" range:"0..65535" group:"Server" help:"Port of the page and the API. 0: any free port."`
	AllowedHosts   string `env:"ALLOWED_HOSTS" group:"Server" help:"Host names that requests may use, in addition to localhost, loopback addresses and HOST: chat.example.com, or *.example.com for all subdomains, separated by commas; * allows every name. A process that listens on other interfaces accepts every IP address. Other requests get 421."`
	AllowedOrigins string `env:"ALLOWED_ORIGINS" group:"Server, advanced" help:"Origins of other pages that may send requests with a bearer token or a personal key, such as https://app.example.com, separated by commas. Cookies do not count there. These pages may also have the chat in a frame."`
	DataDir        string `env:"PALAVER_DATA_DIR" default:".palaver" group:"Server" help:"Folder for the databases and the cookie secret. Use it only for Palaver: only Palaver's user can read it afterwards."`

	StreamMode string `name:"chat-stream-mode" env:"CHAT_STREAM_MODE" default:"events" allow:"events,messages" group:"Server, advanced" help:"Default of stream_mode: events (all events) or messages (finished text only)."`

	Provider         string        `name:"chat-model-provider" env:"CHAT_MODEL_PROVIDER" group:"Model" help:"gemini, openai, anthropic, ollama, openai-compatible, offline or none. Default: the provider whose key is set (gemini first), openai-compatible if only LLM_BASE_URL is set, otherwise offline."`
	ModelName        string        `name:"chat-model-name" env:"CHAT_MODEL_NAME" group:"Model" help:"Model for most answers. Each provider has a default."`
	ModelNameStrong  string        `name:"chat-model-name-strong" env:"CHAT_MODEL_NAME_STRONG" group:"Model" help:"Model for compare and audit. Each provider has a default."`
	Models           string        `name:"chat-models" env:"CHAT_MODELS" group:"Model" help:"Models of the provider that people can choose for a conversation, separated by commas. The default is CHAT_MODEL_NAME, which must be one of them, or the first. Without it, people cannot choose. A chosen model also compares and audits."`
	APIKey           string        `name:"llm-api-key" env:"LLM_API_KEY" group:"Model" help:"Key for the provider chosen by CHAT_MODEL_PROVIDER or for LLM_BASE_URL."`
	GeminiAPIKey     string        `name:"gemini-api-key" env:"GEMINI_API_KEY" group:"Model" help:"Key for Gemini."`
	OpenAIAPIKey     string        `name:"openai-api-key" env:"OPENAI_API_KEY" group:"Model" help:"Key for OpenAI."`
	AnthropicAPIKey  string        `name:"anthropic-api-key" env:"ANTHROPIC_API_KEY" group:"Model" help:"Key for Anthropic."`
	BaseURL          string        `name:"llm-base-url" env:"LLM_BASE_URL" url:"http,https" group:"Model" help:"URL of an OpenAI-compatible endpoint, for example http://localhost:11434/v1. Each provider has a default."`
	FirstByteTimeout time.Duration `name:"llm-first-byte-timeout" env:"LLM_FIRST_BYTE_TIMEOUT" default:"120s" range:"100ms..12m" group:"Model, advanced" help:"How long a model may be silent before the first byte of a stream, and between bytes. Reasoning models and long prompts need time before the first word. An answer that is not streamed is bounded by LLM_TIMEOUT alone."`
	ModelTimeout     time.Duration `name:"llm-timeout" env:"LLM_TIMEOUT" default:"9m" range:"100ms..12m" group:"Model, advanced" help:"Total time of one model call. TURN_DEADLINE bounds all calls of a turn."`
	RetryBudget      time.Duration `name:"llm-retry-budget" env:"LLM_RETRY_BUDGET" default:"45s" range:"0s..24h" group:"Model, advanced" help:"Retry budget of a failed model call: no retry starts later than this after the first try."`
	Vision           string        `name:"chat-model-vision" env:"CHAT_MODEL_VISION" allow:"on,off" group:"Model, advanced" help:"on: the models accept pictures. off: they do not. Default: models get pictures until they refuse one."`
	HideReasoning    bool          `env:"HIDE_REASONING" group:"Model, advanced" help:"true: people and clients do not see what models think before they answer."`
	ContextTokens    int           `name:"llm-context-tokens" env:"LLM_CONTEXT_TOKENS" default:"0" group:"Model, advanced" help:"Context window in tokens, for a prompt and its answer. Longer prompts are shortened. 0: 4096 for ollama, which is its default (set OLLAMA_CONTEXT_LENGTH's value here), and for others the limit that they report when a prompt is too long."`
	ChatThreshold    int           `name:"chat-context-threshold" env:"CHAT_CONTEXT_THRESHOLD" default:"50" range:"0.." group:"Model, advanced" help:"The model gets all items of a discovery board that has at most this many. For a larger board it gets a summary and the items that the message names."`
	ChatTemperature  float64       `name:"llm-temp-chat" env:"LLM_TEMP_CHAT" default:"0.4" range:"0..2" group:"Model, advanced" help:"Temperature of answers about discovery boards, 0 to 2."`
	ChatMaxTokens    int           `name:"llm-chat-max-tokens" env:"LLM_CHAT_MAX_TOKENS" default:"4096" range:"64.." group:"Model, advanced" help:"Maximum tokens of one answer about a discovery board."`
	HistoryTokens    int           `name:"chat-history-tokens" env:"CHAT_HISTORY_TOKENS" default:"8000" range:"200.." group:"Model, advanced" help:"Tokens of earlier messages that a prompt contains in full, at most a quarter of LLM_CONTEXT_TOKENS. Older messages are summarised."`
	Prices           string        `name:"llm-prices" env:"LLM_PRICES" group:"Model, advanced" help:"Prices in US dollars, in addition to those that Palaver knows, as JSON: in and out per million tokens, picture and search each. Example: {\"qwen3\":{\"in\":0.1,\"out\":0.4},\"web_search\":{\"search\":0.008}}. The cost of a model without a price is not known, and DAILY_COST_USD does not count it."`
	EmbeddingModel   string        `name:"embedding-model-name" env:"EMBEDDING_MODEL_NAME" group:"Model" help:"Embedding model, for retrieval by words and meaning. off: by words only. Default: text-embedding-3-small with openai, gemini-embedding-001 with gemini, and none with others or with LLM_BASE_URL."`
	ImageModel       string        `name:"image-model-name" env:"IMAGE_MODEL_NAME" default:"gpt-image-1" group:"Model" help:"Model of the tool generate_image. none: the tool is disabled. An OpenAI model uses OPENAI_API_KEY if it is set, with any chat provider."`

	MemoryBackend string `name:"chat-memory-backend" env:"CHAT_MEMORY_BACKEND" allow:"sqlite,postgres" group:"Database, advanced" help:"sqlite, or postgres with DATABASE_URL. Default: postgres if DATABASE_URL is set, otherwise sqlite in the data folder."`
	DatabaseURL   string `env:"DATABASE_URL" group:"Database" help:"Postgres URL: postgres://USER:PASSWORD@HOST:5432/DATABASE. Supabase's transaction pooler on port 6543 works, too. The role must own the tables. CHAT_MEMORY_BACKEND=sqlite ignores it."`

	DatabaseConnections int  `env:"DATABASE_CONNECTIONS" default:"0" range:"0..1000" group:"Database, advanced" help:"Maximum connections of one process to Postgres. 0: 10, or pool_max_conns of DATABASE_URL. All processes together, and Temporal, must stay below the server's max_connections."`
	AllowNewerSchema    bool `env:"ALLOW_NEWER_SCHEMA" group:"Database, advanced" help:"true: starts with a database that a newer release has migrated, for a rollback that the release notes allow."`

	TemporalAddress   string `env:"TEMPORAL_ADDRESS" group:"Temporal and NATS" help:"Temporal server for serve, api and worker. Default: 127.0.0.1:7233. The Temporal SDK's other TEMPORAL_ variables (API key, TLS, profile) apply, too. The one-process program needs no server."`
	TemporalNamespace string `env:"TEMPORAL_NAMESPACE" group:"Temporal and NATS, advanced" help:"Temporal namespace. Default: default."`
	WorkflowVersion   string `env:"WORKFLOW_VERSION" group:"Temporal and NATS, advanced" help:"Version of the workflow's rules that threads follow from their next run on; without it the one that this release and the one before it both know. See docs/upgrades.md."`

	PayloadEncryptionKey string `env:"PAYLOAD_ENCRYPTION_KEY" group:"Temporal and NATS" help:"At least 32 characters. Encrypts payloads in Temporal's history, and tokens of connected accounts unless TOKEN_ENCRYPTION_KEY is set. All processes need the same value. Of several keys, separated by commas, the first encrypts and all decrypt. If the first is the word plain, nothing is encrypted. See docs/deploy.md."`
	CodecToken           string `name:"codec-token" env:"CODEC_TOKEN" secret:"yes" group:"Temporal and NATS, advanced" help:"At least 16 characters. Bearer token or password with which clients may decrypt payloads at /codec. Without it, only programs on the same host may, and nobody if HOST is no loopback address or TRUSTED_PROXIES or ALLOWED_HOSTS is set."`
	TemporalUIOrigin     string `name:"temporal-ui-origin" env:"TEMPORAL_UI_ORIGIN" group:"Temporal and NATS, advanced" help:"Origins of Temporal Web UIs that may send requests to /codec, such as https://temporal.example.com, separated by commas. Not needed in the one-process program."`

	NATSURL   string `name:"nats-url" env:"NATS_URL" group:"Temporal and NATS" help:"NATS server for serve, api and worker. Without it, text arrives in larger steps. The one-process program needs no server."`
	NATSToken string `name:"nats-token" env:"NATS_TOKEN" secret:"yes" group:"Temporal and NATS, advanced" help:"At least 16 characters. Token for the server of NATS_URL, unless that URL has one. NATS_PORT requires it."`

	NATSCredentials string `name:"nats-credentials" env:"NATS_CREDENTIALS" group:"Temporal and NATS, advanced" help:"Credentials for the server of NATS_URL: the path of a .creds file, or its content."`

	FollowUps string `name:"follow-ups" env:"FOLLOW_UPS" default:"on" allow:"on,off" group:"Server, advanced" help:"on or off: whether the page suggests follow-up questions. They come from headings of the cited documents, without a model call."`

	SharedLinks string `name:"shared-links" env:"SHARED_LINKS" default:"on" allow:"on,off" group:"Server" help:"on or off: whether people can create public links to copies of conversations. off also disables existing links."`
	Attachments string `name:"attachments" env:"ATTACHMENTS" default:"chat" allow:"chat,library" group:"Server" help:"chat or library: where a file or a long text that somebody attaches to a message is kept. Those of a chat are found by its answers only, and are deleted with it; people can put each into their library."`
	Titles      string `name:"titles" env:"TITLES" default:"on" allow:"on,off" group:"Server" help:"on or off: whether a model writes the title of a conversation, in one small call after its first answer. With off, or without a model, the title comes from the question and the document."`

	TavilyAPIKey  string `name:"tavily-api-key" env:"TAVILY_API_KEY" group:"Web search" help:"Tavily key for web search. Without it, web search is not available."`
	TavilyBaseURL string `name:"tavily-base-url" env:"TAVILY_BASE_URL" url:"http,https" group:"Web search, advanced" help:"Alternative URL of Tavily's API."`

	GoogleAPIKey         string        `name:"google-api-key" env:"GOOGLE_API_KEY" group:"Imports" help:"Key of the Google Drive API, to import files that are shared with anyone who has the link. See docs/imports.md."`
	GoogleServiceAccount string        `env:"GOOGLE_SERVICE_ACCOUNT" group:"Imports" help:"Key of a Google service account (JSON, or the path of its file), to import files that are shared with it. It replaces GOOGLE_API_KEY."`
	GoogleDriveBaseURL   string        `name:"google-drive-base-url" env:"GOOGLE_DRIVE_BASE_URL" url:"http,https" group:"Imports, advanced" help:"Alternative URL of the Google Drive API."`
	ImportTimeout        time.Duration `env:"IMPORT_TIMEOUT" default:"5m" range:"1s..10m" group:"Imports, advanced" help:"Timeout of a download. MAX_UPLOAD_MB limits its size."`

	GoogleClientID     string `name:"google-client-id" env:"GOOGLE_CLIENT_ID" group:"Imports" help:"OAuth client (web application) with which people connect their own Google accounts, to import private files. See docs/imports.md."`
	GoogleClientSecret string `name:"google-client-secret" env:"GOOGLE_CLIENT_SECRET" group:"Imports" help:"Secret of GOOGLE_CLIENT_ID."`
	GoogleOAuthURL     string `name:"google-oauth-base-url" env:"GOOGLE_OAUTH_BASE_URL" url:"http,https" group:"Imports, advanced" help:"Alternative URL of Google's sign-in, for tests."`
	TokenEncryptionKey string `name:"token-encryption-key" env:"TOKEN_ENCRYPTION_KEY" group:"Imports, advanced" help:"At least 32 characters. Encrypts the tokens of connected accounts. To rotate it, put the new key first and the old one after a comma. Default: PAYLOAD_ENCRYPTION_KEY, otherwise a key derived from COOKIE_SECRET."`

	MCPServers   string `name:"mcp-servers" env:"MCP_SERVERS" group:"MCP" help:"JSON list of MCP servers whose tools agents may use: {name, transport (http, stdio or rpc), url or command, headers, allow, approve (never, ask or edit)}; see docs/mcp.md."`
	MCPJWTSecret string `name:"mcp-jwt-secret" env:"MCP_JWT_SECRET" secret:"yes" group:"MCP, advanced" help:"At least 16 characters. Signs the short-lived tokens (HS256) that identify the user to MCP servers."`
	AllowPrivate string `name:"allow-private-addresses" env:"ALLOW_PRIVATE_ADDRESSES" group:"MCP" help:"Private networks that imports and MCP connections may reach, such as 127.0.0.0/8,10.1.0.0/16. Default: public addresses only."`

	TurnDeadline      time.Duration `env:"TURN_DEADLINE" default:"10m" range:"1s..24h" group:"Limits, advanced" help:"Timeout of a turn, without the time that it waits for people."`
	ApprovalTimeout   time.Duration `env:"APPROVAL_TIMEOUT" default:"0s" range:"0s..8760h" group:"Limits, advanced" help:"Timeout of tool approvals. After it, the calls are not made. 0s: no limit."`
	TurnMaxSteps      int           `name:"turn-max-steps" env:"TURN_MAX_STEPS" default:"20" range:"1..1000" group:"Limits, advanced" help:"Maximum model calls of one turn."`
	TurnMaxTokens     int           `name:"turn-max-tokens" env:"TURN_MAX_TOKENS" default:"200000" range:"1.." group:"Limits, advanced" help:"Token budget of a turn, input and output."`
	TurnMaxCostUSD    float64       `name:"turn-max-cost-usd" env:"TURN_MAX_COST_USD" default:"0" range:"0..1000000" group:"Limits, advanced" help:"Cost budget of a turn in US dollars, by known prices. After it, or after one of the two limits above, the model answers once more, with what it has found. 0: no limit."`
	Effort            string        `env:"EFFORT" default:"quick" allow:"quick,normal,thorough" group:"Limits" help:"How much work an answer may take if the message does not say: quick: one search; normal: a few steps if needed; thorough: a plan, then steps up to the limits."`
	ThreadIdleTimeout time.Duration `env:"THREAD_IDLE_TIMEOUT" default:"30m" range:"1s..720h" group:"Limits, advanced" help:"The workflow of an idle thread completes after this time. The next message starts it again."`
	MaxUploadMB       int           `name:"max-upload-mb" env:"MAX_UPLOAD_MB" default:"50" range:"1..500" group:"Limits" help:"Largest document, in megabytes."`
	OCR               string        `name:"ocr" env:"OCR" default:"auto" allow:"auto,off" group:"Limits" help:"auto: workers read scanned pages and pictures with tesseract, if it is on their PATH. off: the pages stay unread, and documents say so."`
	OCRLanguages      string        `name:"ocr-languages" env:"OCR_LANGUAGES" group:"Limits, advanced" help:"Tesseract's languages for scanned pages, such as deu+eng. Each one takes time. Default: the installed ones, at most four."`
	IngestMemoryMB    int           `name:"ingest-memory-mb" env:"INGEST_MEMORY_MB" default:"512" group:"Limits, advanced" help:"Memory in megabytes that a process may use to receive and process documents. Further documents wait. 0: no limit."`

	ChatRateLimit         string        `env:"CHAT_RATE_LIMIT" default:"10/minute" group:"Callers" help:"Rate limit of turns for anonymous callers of one address: N/second, N/minute, N/hour or off. Retries, answers and stops do not count. IPv6 addresses count by their /64. Shared by all API processes."`
	MaxNewThreads         string        `name:"max-new-threads-per-address" env:"MAX_NEW_THREADS_PER_ADDRESS" default:"60/hour" group:"Callers, advanced" help:"Rate limit of new conversations for anonymous callers of one address, in the same form."`
	MaxTurns              int           `name:"max-turns-per-caller" env:"MAX_TURNS_PER_CALLER" default:"4" range:"0..100000" group:"Callers, advanced" help:"Maximum running turns of one caller. Turns that wait for a person do not count. 0: no limit."`
	MaxStreams            int           `name:"max-streams-per-caller" env:"MAX_STREAMS_PER_CALLER" default:"20" range:"0..100000" group:"Callers, advanced" help:"Maximum open streams of one caller, in each API process. 0: no limit."`
	MaxAddressStreams     int           `name:"max-streams-per-address" env:"MAX_STREAMS_PER_ADDRESS" default:"100" range:"0..100000" group:"Callers, advanced" help:"Maximum open streams of the anonymous callers of one address, in each API process. 0: no limit."`
	UserRateLimit         string        `env:"USER_RATE_LIMIT" default:"120/minute" group:"Callers" help:"Rate limit of turns for one signed-in caller, in the form of CHAT_RATE_LIMIT. Searches and uploads that use an embedding model have the same limit, counted separately."`
	ChangeRateLimit       string        `env:"CHANGE_RATE_LIMIT" default:"120/minute" group:"Callers, advanced" help:"Rate limit of changes of discovery boards, and of imports by API or MCP, for one signed-in caller or the anonymous callers of one address, in the form of CHAT_RATE_LIMIT."`
	CallerQuota           string        `name:"quota-per-caller" env:"QUOTA_PER_CALLER" default:"conversations=20000,documents=5000,sets=1000,pictures=5000,discoveries=1000,storage=8GB" group:"Callers, advanced" help:"Storage quota of one caller: uploaded documents, pictures, message repositories and discovery boards. Omitted numbers keep their defaults. 0: no limit. off: no limits at all. Existing data is kept."`
	AddressQuota          string        `name:"quota-per-address" env:"QUOTA_PER_ADDRESS" default:"conversations=5000,documents=500,sets=200,pictures=500,discoveries=200,storage=256MB" group:"Callers, advanced" help:"Storage quota of all anonymous callers of one address, in the same form."`
	AnonymousQuota        string        `name:"quota-anonymous" env:"QUOTA_ANONYMOUS" default:"conversations=100000,documents=10000,sets=5000,pictures=10000,discoveries=5000,storage=5GB" group:"Callers, advanced" help:"Storage quota of all anonymous callers together, in the same form. It is counted at each insert, so large numbers cost time."`
	AuditRetention        time.Duration `env:"AUDIT_RETENTION" default:"8760h" group:"Callers, advanced" help:"Retention of audit log entries, at least 720h. 0s: they are kept."`
	AnonymousRetention    time.Duration `env:"ANONYMOUS_RETENTION" default:"720h" range:"0s..87600h" group:"Callers" help:"Retention of the data of anonymous callers after their last request. Workers delete it daily; palaver prune deletes it immediately. 0s: it is kept."`
	ConversationRetention time.Duration `env:"CONVERSATION_RETENTION" default:"0s" range:"0s..876000h" group:"Callers" help:"Retention of all conversations after their last message, at least 24h. Conversations with an open question are kept. 0s: they are kept."`
	SpaceAnswers          string        `env:"SPACE_ANSWERS" default:"withhold" allow:"withhold,keep" group:"Callers, advanced" help:"What people see of their own answers of a space, outside of it and after they have left it. withhold: a remark instead of what was taken from documents. keep: all of the answer."`
	ImportRetention       time.Duration `env:"IMPORT_RETENTION" default:"2160h" range:"0s..876000h" group:"Callers, advanced" help:"Retention of an import's record (address and title) after its end, if its document is deleted. 0s: it is kept."`
	PruneDryRun           bool          `env:"PRUNE_DRY_RUN" group:"Callers, advanced" help:"true: the daily deletion only logs what it would delete."`
	DailyTokens           int64         `env:"DAILY_TOKENS" default:"0" range:"0.." group:"Callers" help:"Daily token budget (UTC, input and output) of one caller, and of all anonymous callers of one address together, for turns and for searches and uploads with an embedding model. After it, they get 429. A running turn may exceed it. 0: no limit."`
	DailyCostUSD          float64       `name:"daily-cost-usd" env:"DAILY_COST_USD" default:"0" range:"0..1000000" group:"Callers" help:"The same budget in US dollars, by the known prices of models, web searches and pictures. 0: no limit."`
	MaxConnections        int           `name:"max-connections-per-address" env:"MAX_CONNECTIONS_PER_ADDRESS" default:"256" range:"0..100000" group:"Callers, advanced" help:"Maximum open connections of one address to an API process. IPv6 addresses count by their /64. Loopback addresses and TRUSTED_PROXIES have no limit. 0: no limit."`
	TrustedProxies        string        `env:"TRUSTED_PROXIES" group:"Callers" help:"Addresses or networks (10.0.0.0/8) of the proxies before the API, separated by commas. Only their X-Forwarded-For and X-Forwarded-Proto are used."`
	XFF                   string        `name:"xff" env:"XFF" default:"rightmost-untrusted" allow:"rightmost-untrusted,leftmost" group:"Callers, advanced" help:"Which address of X-Forwarded-For is the client: rightmost-untrusted (proxies append to it) or leftmost (the proxy must overwrite the client's header)."`

	AuthMode          string `env:"AUTH_MODE" default:"anonymous" allow:"anonymous,required" group:"Identity" help:"anonymous: callers without a token get a signed cookie; required: they get 401."`
	OIDCIssuer        string `name:"oidc-issuer" env:"OIDC_ISSUER" group:"Identity" help:"Issuer URL of an OpenID Connect provider, such as https://login.example.com/realms/main. Its tokens are accepted, and with OIDC_CLIENT_ID the page offers to sign in there. See docs/identity.md."`
	OIDCClientID      string `name:"oidc-client-id" env:"OIDC_CLIENT_ID" group:"Identity" help:"The page's client at OIDC_ISSUER: a public one (without a secret), with PKCE and the page's address as its redirect URI."`
	OIDCAudience      string `name:"oidc-audience" env:"OIDC_AUDIENCE" group:"Identity, advanced" help:"Accepted audiences (aud) of the tokens of OIDC_ISSUER, separated by commas. With it, the page sends access tokens for the first one. Default: OIDC_CLIENT_ID, and the page sends id tokens."`
	OIDCScopes        string `name:"oidc-scopes" env:"OIDC_SCOPES" default:"openid profile email" group:"Identity, advanced" help:"Scopes that the page requests, separated by blanks. Some providers renew a session only with offline_access."`
	OIDCNameClaim     string `name:"oidc-name-claim" env:"OIDC_NAME_CLAIM" default:"name" group:"Identity, advanced" help:"Claim with a person's name. A path such as profile.name names a member of a claim."`
	OIDCEmailClaim    string `name:"oidc-email-claim" env:"OIDC_EMAIL_CLAIM" default:"email" group:"Identity, advanced" help:"Claim with a person's email address, in the same form."`
	OIDCGroupsClaim   string `name:"oidc-groups-claim" env:"OIDC_GROUPS_CLAIM" default:"groups" group:"Identity, advanced" help:"Claim with a person's groups, in the same form: a text or a list."`
	AdminGroups       string `env:"ADMIN_GROUPS" group:"Identity, advanced" help:"Groups of OIDC_ISSUER (values of OIDC_GROUPS_CLAIM), separated by commas, whose people are administrators: the page shows them the people, usage, audit log and health of the installation."`
	OIDCIssuers       string `name:"oidc-issuers" env:"OIDC_ISSUERS" group:"Identity, advanced" help:"Further OpenID Connect providers whose tokens are accepted, as a JSON list of {issuer, audiences, name_claim, email_claim, groups_claim}. The page offers no sign-in there."`
	SupabaseJWTSecret string `name:"supabase-jwt-secret" env:"SUPABASE_JWT_SECRET" secret:"yes" group:"Identity, advanced" help:"HS256 secret of bearer tokens."`
	SupabaseJWKSURL   string `name:"supabase-jwks-url" env:"SUPABASE_JWKS_URL" url:"http,https" group:"Identity, advanced" help:"URL of the public keys of bearer tokens, https://PROJECT.supabase.co/auth/v1/.well-known/jwks.json. Can be set in addition to the secret."`
	SupabaseIssuer    string `name:"supabase-issuer" env:"SUPABASE_ISSUER" group:"Identity, advanced" help:"Required issuer (iss) of bearer tokens, https://PROJECT.supabase.co/auth/v1. Without it, the issuer is not checked."`
	SupabaseURL       string `name:"supabase-url" env:"SUPABASE_URL" group:"Identity" help:"https://PROJECT.supabase.co. With SUPABASE_ANON_KEY, the page offers to sign in. Without SUPABASE_JWT_SECRET and SUPABASE_JWKS_URL, the public keys are read from there."`
	SupabaseAnonKey   string `name:"supabase-anon-key" env:"SUPABASE_ANON_KEY" group:"Identity" help:"The project's publishable (anon) key. Everybody who opens the page can read it."`
	SupabaseSignIn    string `name:"supabase-sign-in" env:"SUPABASE_SIGN_IN" default:"link,password" group:"Identity" help:"How people sign in, separated by commas: link (by email), password, and the OAuth providers that the project has, such as google or github."`
	CookieSecret      string `env:"COOKIE_SECRET" secret:"32" group:"Identity" help:"At least 32 characters. Signs the cookies of anonymous callers. Default: a generated secret in the data folder."`
	ProxySharedSecret string `env:"PROXY_SHARED_SECRET" secret:"yes" group:"Identity, advanced" help:"At least 16 characters. A proxy that sends it as X-Proxy-Secret identifies the caller by the header userid."`

	MetricsToken string `name:"metrics-token" env:"METRICS_TOKEN" secret:"yes" group:"Operations" help:"At least 16 characters. Bearer token for /metrics and the details of /readyz. Without it, only programs on the same host can read them, and not through a proxy."`

	WorkerMetricsPort int `env:"WORKER_METRICS_PORT" default:"0" range:"0..65535" group:"Operations, advanced" help:"Port for /metrics, /healthz and /readyz of a process that is only a worker. 0: none. API processes serve them on PORT."`

	SettingsDir string `env:"SETTINGS_DIR" group:"Operations" help:"Folders, separated like those of PATH, with one file for each setting, for secrets: the file OPENAI_API_KEY contains the value of that setting. A setting can also be read from the file whose path is in the variable with the suffix _FILE."`

	DrainDelay time.Duration `env:"DRAIN_DELAY" default:"0s" range:"0s..10m" group:"Operations, advanced" help:"After SIGTERM, /readyz of an API process fails immediately, and the process serves for this long, so that load balancers notice. Use more than their check interval. 0s: it stops immediately."`

	RepairInterval time.Duration `env:"REPAIR_INTERVAL" default:"1m" range:"0s..24h" group:"Operations, advanced" help:"How often each worker settles turns and documents whose workflow was lost. 0s: never; they are then settled when the conversation is used, or by palaver repair."`

	LogLevel  string `env:"LOG_LEVEL" default:"info" allow:"debug,info,warn,error" group:"Operations" help:"debug, info, warn or error."`
	LogFormat string `env:"LOG_FORMAT" default:"text" allow:"text,json" group:"Operations, advanced" help:"text or json."`

	LangSmithTracing  bool   `name:"langsmith-tracing" env:"LANGSMITH_TRACING" group:"Traces" help:"Sends a trace of every turn to LangSmith, if the next three are set, too. Optional and off by default. When off, nothing is sent. Keys: https://smith.langchain.com/ Example: true (or 1)"`
	LangSmithEndpoint string `name:"langsmith-endpoint" env:"LANGSMITH_ENDPOINT" url:"http,https" group:"Traces" help:"LangSmith's URL. Traces contain what people write and what models answer: for sensitive data use a self-hosted LangSmith (https://HOST/api/v1), set TRACE_CONTENT=off, or leave tracing off. Example: https://api.smith.langchain.com, in the EU https://eu.api.smith.langchain.com"`
	LangSmithAPIKey   string `name:"langsmith-api-key" env:"LANGSMITH_API_KEY" group:"Traces" help:"LangSmith's key. Example: lsv2_pt_…"`
	LangSmithProject  string `name:"langsmith-project" env:"LANGSMITH_PROJECT" group:"Traces" help:"Name of the LangSmith project for traces. Example: palaver"`
	TraceContent      string `env:"TRACE_CONTENT" default:"on" allow:"on,off" group:"Traces" help:"on or off: whether traces contain texts of people, models, documents and tools. OpenTelemetry's own variables (OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS, OTEL_SERVICE_NAME …) send the same traces anywhere by OTLP over HTTP (the protocol http/protobuf, port 4318 as a rule; not gRPC, not http/json)."`

	// OwnProviders are further names that CHAT_MODEL_PROVIDER may have. The program sets
	// them before it reads the settings.
	OwnProviders []string `kong:"-"`

	// ClockOffset shifts the clock of an API process for turn ids and creation times.
	// For tests of API machines whose clocks differ.
	ClockOffset time.Duration `hidden:""`
	// ClockFile shifts the clocks by which a worker measures leases (clock.FromFile).
	ClockFile string `hidden:""`
	// ContinueAfter is the history length, in events, after which runs started by this
	// API process continue as new. For tests; 0: when Temporal suggests it.
	ContinueAfter int `hidden:""`
	// ImportWait and ImportRetryBudget shorten how long a chat waits for an import, and how
	// long a step of an import is retried, for tests that wait for the end of these times.
	ImportWait        time.Duration `hidden:""`
	ImportRetryBudget time.Duration `hidden:""`
	// AnswerTimeout shortens api.AnswerTimeout, for tests that wait for the timeout.
	AnswerTimeout time.Duration `hidden:""`
}

// Embedded holds the settings of the one-process program only: its Temporal and NATS.
type Embedded struct {
	TemporalPort    int    `env:"TEMPORAL_PORT" default:"7233" range:"0..65535" group:"Embedded servers, advanced" help:"Port of the embedded Temporal (gRPC) on 127.0.0.1. 0: any free port."`
	TemporalUIPort  int    `name:"temporal-ui-port" env:"TEMPORAL_UI_PORT" default:"8233" range:"0..65535" group:"Embedded servers" help:"Port of the Temporal Web UI on 127.0.0.1. 0: any free port."`
	TemporalUIWrite string `name:"temporal-ui-write" env:"TEMPORAL_UI_WRITE" default:"off" allow:"on,off" group:"Embedded servers, advanced" help:"on: the Temporal Web UI can signal, cancel, terminate and reset workflows. off: it is read-only. It has no sign-in."`
	NATSPort        int    `name:"nats-port" env:"NATS_PORT" default:"0" range:"0..65535" group:"Embedded servers, advanced" help:"Port on 127.0.0.1 of an embedded NATS for other processes, which need NATS_TOKEN. 0: no embedded NATS; this is the only process."`
}

// Error is an invalid setting: its variable and what is allowed.
type Error struct {
	Variable string
	Problem  string
}

func (e *Error) Error() string { return e.Variable + ": " + e.Problem }

func refuse(variable, format string, args ...any) error {
	return &Error{Variable: variable, Problem: fmt.Sprintf(format, args...)}
}

// Validate trims the values and reports the first invalid one, as *Error.
func (c *Config) Validate() error {
	c.trim()
	if err := checkTags(c); err != nil {
		return err
	}
	for _, check := range []func() error{c.checkServer, c.checkModel, c.checkStores, c.checkRetentions, c.checkCallers, c.checkQuotas, c.checkIdentity, c.checkMCP, c.checkGoogle, c.checkTraces} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// trim removes surrounding white space, which pasted values and files often have.
func (c *Config) trim() {
	for _, v := range variables(c) {
		if s, ok := v.value.(*string); ok {
			*s = strings.TrimSpace(*s)
		}
	}
}

func (c *Config) checkServer() error {
	if _, err := guard.NewHosts(c.Host, c.AllowedHosts); err != nil {
		return refuse("ALLOWED_HOSTS", "%v", err)
	}
	if _, err := guard.ParseOrigins(c.AllowedOrigins); err != nil {
		return refuse("ALLOWED_ORIGINS", "%v", err)
	}
	if c.DataDir == "" {
		return refuse("PALAVER_DATA_DIR", "a folder is needed")
	}
	return nil
}

func (c *Config) checkStores() error {
	if c.Postgres() {
		if c.DatabaseURL == "" {
			return refuse("CHAT_MEMORY_BACKEND", "postgres needs DATABASE_URL")
		}
		if err := address("DATABASE_URL", c.DatabaseURL, "postgres", "postgresql"); err != nil {
			return err
		}
	}
	if _, err := payload.NewKeys(c.PayloadEncryptionKey); err != nil {
		return refuse("PAYLOAD_ENCRYPTION_KEY", "%v", err)
	}
	for _, origin := range c.UIOrigins() {
		if err := address("TEMPORAL_UI_ORIGIN", origin, "http", "https"); err != nil {
			return err
		}
	}
	for server := range strings.SplitSeq(c.NATSURL, ",") {
		if err := address("NATS_URL", strings.TrimSpace(server), "nats", "tls", "ws", "wss"); err != nil {
			return err
		}
	}
	return c.checkNATSCredentials()
}

// UIOrigins returns the origins of Temporal's Web UI.
func (c *Config) UIOrigins() []string {
	var origins []string
	for _, origin := range payload.Split(c.TemporalUIOrigin) {
		origins = append(origins, strings.TrimSuffix(origin, "/"))
	}
	return origins
}

// KeepAnswers is the value of Config.SpaceAnswers with which people keep their answers of a space.
const KeepAnswers = "keep"

// Postgres reports whether DatabaseURL is used; otherwise the database is SQLite in the
// data folder.
func (c *Config) Postgres() bool {
	return c.MemoryBackend == "postgres" || (c.MemoryBackend == "" && c.DatabaseURL != "")
}

func (c *Config) checkRetentions() error {
	if c.ConversationRetention != 0 && c.ConversationRetention < 24*time.Hour { // a wrong unit would remove what people just wrote
		return refuse("CONVERSATION_RETENTION", "%s is not allowed; use at least 24h, or 0s for no end", c.ConversationRetention)
	}
	if c.AuditRetention != 0 && c.AuditRetention < db.AuditKept {
		return refuse("AUDIT_RETENTION", "%s is not allowed; use at least %s, or 0s for no end", c.AuditRetention, db.AuditKept)
	}
	return nil
}

func (c *Config) checkIdentity() error {
	if c.AuthMode == "required" && c.SupabaseJWTSecret+c.JWKSURL()+c.ProxySharedSecret+c.OIDCIssuer+c.OIDCIssuers == "" {
		return refuse("AUTH_MODE", "required needs OIDC_ISSUER, SUPABASE_JWT_SECRET, SUPABASE_JWKS_URL, SUPABASE_URL or PROXY_SHARED_SECRET; without one of them every caller would be refused")
	}
	if err := c.checkOIDC(); err != nil {
		return err
	}
	return c.checkSignIn()
}

// Validate reports the first invalid value.
func (e *Embedded) Validate() error { return checkTags(e) }

func oneOf(name, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return refuse(name, "%q is not allowed; use one of %s", value, strings.Join(allowed, ", "))
}

// address checks an absolute URL. The error does not repeat the URL, which may hold a
// password.
func address(name, value string, schemes ...string) error {
	if value == "" {
		return nil
	}
	u, err := url.Parse(value)
	if err != nil || u.Host == "" || !slices.Contains(schemes, u.Scheme) {
		return refuse(name, "not a URL; use one that begins with %s://", strings.Join(schemes, ":// or "))
	}
	return nil
}
