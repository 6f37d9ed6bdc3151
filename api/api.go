// Package api is Palaver's HTTP face: identity and limits, one file per
// resource, server-sent events. Wire formats are in api/dialect, the way of an
// event to its viewers in api/follow. It knows the engine as Threads only.
package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/palaver-chat/palaver/api/follow"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/stream"
)

// Searcher finds passages, ranked as answers rank them. No docIDs: all that
// owner may see.
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
	StreamMode        string // of requests that name none; default StreamEvents
	AuthMode          string // default AuthAnonymous
	CookieSecret      []byte // signs the anonymous cookie; at least 16 bytes unless AuthRequired
	SupabaseJWTSecret string // HS256 secret of tokens; empty: none is accepted that is signed with one
	SupabaseJWKSURL   string // where the public keys of tokens are; empty: none is accepted that is signed with such a key
	ProxySharedSecret string // proves that the userid header is a proxy's word; empty: it never is
	MaxUploadBytes    int64  // default 50 MB
	Limits            Limits
	TrustedProxies    []netip.Prefix  // whose X-Forwarded-For is believed
	ForwardedFor      string          // Leftmost (default) or RightmostUntrusted
	TrustedOrigins    []string        // other origins ("https://host") whose pages may send a caller's cookie
	Features          map[string]bool // shown by /api/config
}

// Deps is what the API stands on.
type Deps struct {
	Store   db.Store
	Threads Threads
	Bus     stream.Bus
	Search  Searcher
	Model   llm.Info
	Page    http.Handler // the web page; nil: none
	Config  Config
	Log     *slog.Logger // default slog.Default()
	// Ready checks what the API does not know of itself, by name (temporal…);
	// nil values are well.
	Ready func(context.Context) map[string]error
	// Optional is the state of what some answers use and others do without, by name
	// (mcp:files…): "ok", "starting" or "down". It shows under /readyz, which stays
	// ready.
	Optional func() map[string]string
	// Stop ends open streams when it is closed, so that the server can shut down.
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
	offered http.Handler // MCP
	openAPI openAPI
	csrf    *http.CrossOriginProtection
	ping    time.Duration // a comment line at least this often
	grace   time.Duration // how long a gone client may stay away (on_disconnect)
}

const (
	pingEvery       = 10 * time.Second // the contract promises 15
	disconnectGrace = 5 * time.Second
	requestTimeout  = 25 * time.Second // of everything that is not a stream
	defaultUpload   = 50 << 20
)

// New makes the API's handler. The error names the setting that is wrong.
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
	if d.Log == nil {
		d.Log = slog.Default()
	}
	if d.Metrics == nil {
		d.Metrics = prometheus.NewRegistry()
	}
	s := &server{Deps: d, csrf: http.NewCrossOriginProtection(), ping: pingEvery, grace: disconnectGrace}
	s.limits = newLimits(d.Config.Limits, d.Store)
	s.offered = s.newMCP()
	var err error
	if s.openAPI, err = openAPIs[d.Config.AuthMode](); err != nil {
		return nil, err
	}
	for _, origin := range d.Config.TrustedOrigins {
		if err := s.csrf.AddTrustedOrigin(origin); err != nil {
			return nil, err
		}
	}
	s.hub = follow.NewHub(d.Threads, d.Store, d.Bus, s.render, d.Log)
	// Until the bus ends: other processes ask who follows a turn here.
	if err := d.Bus.AnswerWatched(context.Background(), func(turnID string) bool { return s.hub.Viewers(turnID) > 0 }); err != nil {
		d.Log.Warn("other processes are not told who follows a turn here", "error", err)
	}
	if s.metrics, err = newMetrics(d.Metrics); err != nil {
		return nil, err
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
	e.Use(s.requestID, s.access, s.recovery, securityHeaders)

	e.GET("/healthz", s.health)
	e.GET("/readyz", s.ready)
	e.GET("/metrics", gin.WrapH(s.metrics.handler()))
	e.GET("/openapi.json", s.openAPI.serve)
	e.GET("/api/config", s.handle(s.config))

	a := e.Group("/api", s.identify)
	a.GET("/me", s.handle(s.me))
	a.PUT("/me", s.handle(s.putMe))

	a.POST("/chat", s.stream(s.oneStream(s.postChat)))
	a.POST("/chat/resume", s.stream(s.oneStream(s.postResume)))
	a.POST("/chat/cancel", s.handle(s.postCancel))
	a.GET("/chat/history/:thread_id", s.handle(s.history))
	a.GET("/chat/stream/:thread_id", s.stream(s.oneStream(s.attach)))

	a.POST("/agent/v2/stream", s.stream(s.oneStream(s.agentStream)))
	a.POST("/agent/v2/resume", s.stream(s.oneStream(s.agentResume)))
	a.POST("/agent/v2/stop", s.handle(s.agentStop))

	a.POST("/ui/chat", s.stream(s.oneStream(s.postUI)))
	a.GET("/ui/chat/:id", s.handle(s.getUI))
	a.GET("/ui/chat/:id/stream", s.stream(s.oneStream(s.getUIStream)))
	a.POST("/ui/chat/:id/stop", s.handle(s.postUIStop))

	a.GET("/conversations", s.handle(s.listConversations))
	a.POST("/conversations", s.handle(s.createConversation))
	a.GET("/conversations/:id", s.handle(s.getConversation))
	a.PATCH("/conversations/:id", s.handle(s.patchConversation))
	a.DELETE("/conversations/:id", s.handle(s.deleteConversation))

	a.GET("/documents", s.handle(s.listDocuments))
	a.POST("/documents", s.stream(s.oneUpload(s.createDocument))) // an upload may take its time
	a.GET("/documents/:id", s.handle(s.getDocument))
	a.DELETE("/documents/:id", s.handle(s.deleteDocument))
	a.GET("/documents/:id/text", s.handle(s.documentText))
	a.GET("/documents/:id/chunks/:chunk_id", s.handle(s.documentChunk))

	a.GET("/document-sets", s.handle(s.listSets))
	a.POST("/document-sets", s.handle(s.createSet))
	a.PUT("/document-sets/:id", s.handle(s.updateSet))
	a.DELETE("/document-sets/:id", s.handle(s.deleteSet))

	a.GET("/search", s.handle(s.search))

	a.POST("/attachments", s.stream(s.oneUpload(s.createAttachment))) // an upload may take its time
	a.GET("/attachments/:id", s.handle(s.getAttachment))

	v1 := e.Group("/api/v1", s.identify)
	v1.POST("/chat/stream", s.stream(s.oneStream(s.postLangGraph)))
	v1.POST("/chat/feedback", s.stream(s.oneStream(s.postFeedback)))
	v1.GET("/chat/interrupt", s.handle(s.getInterrupt))
	v1.GET("/threads/:thread_id/repo", s.handle(s.getRepo))
	v1.PUT("/threads/:thread_id/repo", s.stream(s.putRepo)) // 8 MB may take their time

	m := e.Group("/mcp", s.identify)
	m.POST("", s.stream(s.oneStream(s.mcp)))
	m.GET("", s.stream(s.mcp)) // answered with 405, as is DELETE: there are no sessions
	m.DELETE("", s.stream(s.mcp))
	m.POST("/rpc", s.stream(s.oneStream(s.rpc)))

	e.NoRoute(s.page)
	e.NoMethod(func(c *gin.Context) { s.fail(c, errMethod) }) // gin has named the others in Allow
	return e
}

// handle runs a handler with a deadline and writes its error.
func (s *server) handle(h func(*gin.Context) error) gin.HandlerFunc {
	return func(c *gin.Context) {
		ctx, cancel := context.WithTimeout(c.Request.Context(), requestTimeout)
		defer cancel()
		c.Request = c.Request.WithContext(ctx)
		c.Header("Cache-Control", "no-store")
		if err := h(c); err != nil {
			s.fail(c, err)
		}
	}
}

// stream is handle for what may take long.
func (s *server) stream(h func(*gin.Context) error) gin.HandlerFunc {
	return func(c *gin.Context) {
		c.Header("Cache-Control", "no-store")
		if err := h(c); err != nil {
			s.fail(c, err)
		}
	}
}
