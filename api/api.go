// Package api is Palaver's HTTP API: identity and limits, one file per resource,
// server-sent events. api/dialect has the wire formats, api/follow delivers events
// to viewers. The package uses the engine only through Threads.
package api

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/palaver-chat/palaver/api/follow"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/guard"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/repair"
	"github.com/palaver-chat/palaver/retrieval/extract"
	"github.com/palaver-chat/palaver/stream"
)

// Searcher finds passages, ranked as in answers. Without docIDs it searches all
// documents that owner may see.
type Searcher interface {
	Search(ctx context.Context, owner, query string, docIDs []string, k int) ([]chat.Hit, error)
}

// Values of Config.AuthMode.
const (
	AuthAnonymous = "anonymous" // without a token, a signed cookie names the caller
	AuthRequired  = "required"  // without a token, 401
)

// Values of Config.StreamMode.
const (
	StreamEvents   = "events"   // everything
	StreamMessages = "messages" // finished text and the terminal event
)

// Config is how the API is set up.
type Config struct {
	StreamMode        string // for requests without stream_mode; default StreamEvents
	AuthMode          string // default AuthAnonymous
	CookieSecret      []byte // signs the anonymous cookie; at least 16 bytes unless AuthRequired
	SupabaseJWTSecret string // HS256 secret of tokens; empty: HS256 tokens are refused
	SupabaseJWKSURL   string // URL of the tokens' public keys; empty: tokens signed with such keys are refused
	ProxySharedSecret string // proves that a proxy set the userid header; empty: the header is never trusted
	MaxUploadBytes    int64  // default 50 MB
	Limits            Limits
	Hosts             *guard.Hosts    // that requests may be addressed to; default loopback only
	TrustedProxies    []netip.Prefix  // proxies whose X-Forwarded-For is trusted
	ForwardedFor      string          // Leftmost (default) or RightmostUntrusted
	TrustedOrigins    []string        // other origins ("https://host") whose pages may use a caller's cookie
	Features          map[string]bool // shown by /api/config
	ClockOffset       time.Duration   // added to the clock for new ids and creation times; for tests
	AnswerTimeout     time.Duration   // default AnswerTimeout; shorter in tests
}

// Deps is what the API depends on.
type Deps struct {
	Store   db.Store
	Threads Threads
	Bus     stream.Bus
	Search  Searcher
	Model   llm.Info
	Agents  chat.Agents
	// DocumentTypes are those that can be uploaded.
	DocumentTypes extract.Types
	Page          http.Handler // the web page; nil: none
	Config        Config
	Log           *slog.Logger // default slog.Default()
	// Ready holds further readiness checks by name (temporal…).
	Ready map[string]func(context.Context) error
	// Optional returns the state of optional parts by name (mcp:files…): "ok",
	// "starting" or "down". /readyz shows it and stays ready.
	Optional func() map[string]string
	// Stop is closed when the server shuts down; it ends open streams.
	Stop <-chan struct{}
	// Metrics is served under /metrics; a registry of its own by default.
	Metrics *prometheus.Registry
}

type server struct {
	Deps
	tokens  *tokens
	hub     *follow.Hub
	metrics *metrics
	limits  *limits
	repair  *repair.Checker
	offered http.Handler // MCP
	openAPI openAPI
	csrf    *http.CrossOriginProtection
	ping    time.Duration // interval of the comment lines that keep streams open
	grace   time.Duration // how long a client may be disconnected before its turn is cancelled (on_disconnect)

	answerTimeout time.Duration
	routeTimes    map[string]time.Duration // by method and path

	disconnects disconnects
	watches     threadWatches
}

const (
	pingInterval    = 10 * time.Second // docs/contract.md promises 15
	disconnectGrace = 5 * time.Second
	defaultUpload   = 50 << 20
)

// New makes the API's handler. An error names the wrong setting.
func New(d Deps) (http.Handler, error) {
	s, err := newServer(d)
	if err != nil {
		return nil, err
	}
	return s.routes(), nil
}

func newServer(d Deps) (*server, error) {
	if d.Store == nil || d.Threads == nil || d.Bus == nil || d.Search == nil {
		return nil, errors.New("api: Store, Threads, Bus and Search are needed")
	}
	switch d.Config.AuthMode {
	case "":
		d.Config.AuthMode = AuthAnonymous
	case AuthAnonymous, AuthRequired:
	default:
		return nil, errors.New("AUTH_MODE must be anonymous or required")
	}
	if d.Config.AuthMode == AuthRequired && d.Config.SupabaseJWTSecret+d.Config.SupabaseJWKSURL+d.Config.ProxySharedSecret == "" {
		return nil, errors.New("AUTH_MODE=required needs SUPABASE_JWT_SECRET, SUPABASE_JWKS_URL or PROXY_SHARED_SECRET")
	}
	if d.Config.AuthMode == AuthAnonymous && len(d.Config.CookieSecret) < 16 {
		return nil, errors.New("COOKIE_SECRET must have at least 16 bytes")
	}
	switch d.Config.StreamMode {
	case "", StreamEvents, StreamMessages:
	default:
		return nil, errors.New("CHAT_STREAM_MODE must be events or messages")
	}
	if d.Config.MaxUploadBytes <= 0 {
		d.Config.MaxUploadBytes = defaultUpload
	}
	if d.Config.Hosts == nil {
		d.Config.Hosts, _ = guard.NewHosts("", "")
	}
	if d.Log == nil {
		d.Log = slog.Default()
	}
	if d.Metrics == nil {
		d.Metrics = prometheus.NewRegistry()
	}
	s := &server{Deps: d, csrf: http.NewCrossOriginProtection(), ping: pingInterval, grace: disconnectGrace,
		answerTimeout: cmp.Or(d.Config.AnswerTimeout, AnswerTimeout), routeTimes: map[string]time.Duration{}}
	s.disconnects.s = s
	s.watches = threadWatches{s: s, watches: map[threadKey]*threadWatch{}}
	s.limits = newLimits(d.Config.Limits, d.Store)
	s.repair = &repair.Checker{Store: d.Store, Threads: d.Threads, Log: d.Log, Stop: d.Bus.AnnounceStop}
	s.offered = s.newMCP()
	var err error
	if s.openAPI, err = newOpenAPI(d.Config.AuthMode, d.Agents); err != nil {
		return nil, err
	}
	for _, origin := range d.Config.TrustedOrigins {
		if err := s.csrf.AddTrustedOrigin(origin); err != nil {
			return nil, err
		}
	}
	if s.metrics, err = newMetrics(d.Metrics); err != nil {
		return nil, err
	}
	s.hub = follow.NewHub(countedThreads{d.Threads, s.metrics.queries}, d.Store, d.Bus, s.render, d.Log)
	s.hub.Check = s.checkTurn
	// Until the bus closes: other processes ask who follows a turn here.
	if err := d.Bus.AnswerWatched(context.Background(), func(turnID string) bool { return s.hub.Viewers(turnID) > 0 }); err != nil {
		d.Log.Warn("subscribing to other processes' questions about viewers failed; their turns with on_disconnect=cancel may end although a client follows here", "error", err)
	}
	s.tokens, err = newTokens(d.Config, d.Stop, d.Log)
	return s, err
}

func (s *server) routes() http.Handler {
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	e.RedirectTrailingSlash = false
	e.HandleMethodNotAllowed = true
	e.MaxMultipartMemory = 1 << 20
	_ = e.SetTrustedProxies(nil) // nil is always accepted
	e.Use(s.requestID, s.access, s.recovery, securityHeaders, s.checkHost)

	answer, ready := s.answerTimeout, min(s.answerTimeout, readyTimeout)
	root := group{s: s, engine: e}
	root.GET("/healthz", ready, s.health)
	root.GET("/readyz", ready, s.ready)
	root.GET("/metrics", answer, s.metrics.serve)
	root.GET("/openapi.json", answer, s.openAPI.serve)
	root.GET("/api/config", answer, s.config)

	a := group{s, e, "/api", []gin.HandlerFunc{s.identify}}
	a.GET("/me", answer, s.me)
	a.PUT("/me", answer, s.putMe)

	a.POST("/chat", answer, s.oneStream(s.postChat))
	a.POST("/chat/resume", answer, s.oneStream(s.postResume))
	a.POST("/chat/cancel", answer, s.postCancel)
	a.GET("/chat/history/:thread_id", answer, s.history)
	a.GET("/chat/stream/:thread_id", answer, s.oneStream(s.attach))

	a.POST("/agent/v2/stream", answer, s.oneStream(s.agentStream))
	a.POST("/agent/v2/resume", answer, s.oneStream(s.agentResume))
	a.POST("/agent/v2/stop", answer, s.agentStop)

	a.POST("/ui/chat", answer, s.oneStream(s.postUI))
	a.GET("/ui/chat/:id", answer, s.getUI)
	a.GET("/ui/chat/:id/stream", answer, s.oneStream(s.getUIStream))
	a.POST("/ui/chat/:id/stop", answer, s.postUIStop)

	a.GET("/conversations", answer, s.listConversations)
	a.POST("/conversations", answer, s.createConversation)
	a.GET("/conversations/:id", answer, s.getConversation)
	a.PATCH("/conversations/:id", answer, s.patchConversation)
	a.DELETE("/conversations/:id", answer, s.deleteConversation)

	a.GET("/documents", answer, s.listDocuments)
	a.POST("/documents", answer, s.oneUpload(s.createDocument))
	a.GET("/documents/:id", answer, s.getDocument)
	a.DELETE("/documents/:id", answer, s.deleteDocument)
	a.GET("/documents/:id/text", answer, s.documentText)
	a.GET("/documents/:id/chunks/:chunk_id", answer, s.documentChunk)

	a.GET("/document-sets", answer, s.listSets)
	a.POST("/document-sets", answer, s.createSet)
	a.PUT("/document-sets/:id", answer, s.updateSet)
	a.DELETE("/document-sets/:id", answer, s.deleteSet)

	a.GET("/search", answer, s.search)

	a.POST("/attachments", answer, s.oneUpload(s.createAttachment))
	a.GET("/attachments/:id", answer, s.getAttachment)

	v1 := group{s, e, "/api/v1", []gin.HandlerFunc{s.identify}}
	v1.POST("/chat/stream", answer, s.oneStream(s.postLangGraph))
	v1.POST("/chat/feedback", answer, s.oneStream(s.postFeedback))
	v1.GET("/chat/interrupt", answer, s.getInterrupt)
	v1.GET("/threads/:thread_id/repo", answer, s.getRepo)
	v1.PUT("/threads/:thread_id/repo", answer, s.putRepo)

	m := group{s, e, "/mcp", []gin.HandlerFunc{s.identify}}
	m.POST("", answer, s.oneStream(s.mcp))
	m.GET("", answer, s.mcp) // GET and DELETE get a 405: there are no sessions
	m.DELETE("", answer, s.mcp)
	m.POST("/rpc", answer, s.oneStream(s.rpc))

	e.NoRoute(s.within(answer), s.page)
	e.NoMethod(func(c *gin.Context) { s.fail(c, errMethod) }) // gin has listed the allowed methods in Allow
	return e
}

// group registers routes under a prefix, each with its answer timeout.
type group struct {
	s      *server
	engine *gin.Engine
	prefix string
	before []gin.HandlerFunc // run before every route's handler
}

type handler = func(*gin.Context) error

func (g group) GET(path string, within time.Duration, h handler) {
	g.route(http.MethodGet, path, within, h)
}

func (g group) POST(path string, within time.Duration, h handler) {
	g.route(http.MethodPost, path, within, h)
}

func (g group) PUT(path string, within time.Duration, h handler) {
	g.route(http.MethodPut, path, within, h)
}

func (g group) PATCH(path string, within time.Duration, h handler) {
	g.route(http.MethodPatch, path, within, h)
}

func (g group) DELETE(path string, within time.Duration, h handler) {
	g.route(http.MethodDelete, path, within, h)
}

func (g group) route(method, path string, within time.Duration, h handler) {
	path = g.prefix + path
	g.s.routeTimes[method+" "+path] = within
	g.engine.Handle(method, path, slices.Concat([]gin.HandlerFunc{g.s.within(within)}, g.before, []gin.HandlerFunc{g.s.handle(h)})...)
}

// now returns the time for new ids and creation times.
func (s *server) now() time.Time { return time.Now().Add(s.Config.ClockOffset).UTC() }

// handle runs a handler and writes its error.
func (s *server) handle(h handler) gin.HandlerFunc {
	return func(c *gin.Context) {
		c.Header("Cache-Control", "no-store")
		if err := h(c); err != nil {
			s.fail(c, err)
		}
	}
}
