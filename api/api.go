// Package api is Palaver's HTTP API: the server, its middleware, the commands to threads
// with their event streams, and the plain resources, one file each. Packages below it
// have the wire formats with their routes (api/dialect), and what the routes share. The
// package uses the engine only through Threads.
package api

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/activities/repair"
	"github.com/palaver-chat/palaver/api/credential"
	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/follow"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/limits"
	"github.com/palaver-chat/palaver/api/mcpserver"
	"github.com/palaver-chat/palaver/api/openapi"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/audit"
	"github.com/palaver-chat/palaver/documents/extract"
	"github.com/palaver-chat/palaver/imports"
	"github.com/palaver-chat/palaver/imports/connections"
	"github.com/palaver-chat/palaver/internal/build"
	"github.com/palaver-chat/palaver/internal/bus"
	"github.com/palaver-chat/palaver/internal/guard"
	"github.com/palaver-chat/palaver/internal/memlimit"
	"github.com/palaver-chat/palaver/llm"
)

// Searcher finds passages, ranked as in answers. Without docIDs it searches all
// documents that owner may see.
type Searcher interface {
	Search(ctx context.Context, owner, query string, docIDs []string, k int) ([]chat.Hit, error)
}

// Values of Config.StreamMode.
const (
	StreamEvents   = "events"   // everything
	StreamMessages = "messages" // finished text and the terminal event
)

// FeatureSharedLinks names the feature that lets people share conversations by links.
const FeatureSharedLinks = "shared_links"

// FeatureChatAttachments says that what is attached to a message belongs to its conversation, not to the library.
const FeatureChatAttachments = "chat_attachments"

// Config is how the API is set up.
type Config struct {
	StreamMode     string // for requests without stream_mode; default StreamEvents
	Identity       identity.Config
	SignIn         SignIn // how the page lets people sign in at Supabase
	OIDC           OIDC   // the same at an OpenID Connect provider
	Limits         limits.Config
	MaxUploadBytes int64            // default 50 MB
	UploadMemory   int64            // bytes that storing uploads may take at once; 0: no limit
	TempDir        string           // for uploads while they are received; default: the system's
	Hosts          *guard.Hosts     // hosts that requests may be addressed to; default loopback only
	Operators      *guard.Operators // who may read metrics and the details of readiness; default local callers
	Features       map[string]bool  // shown by /api/config
	ClockOffset    time.Duration    // added to the clock for new ids and creation times; for tests
	AnswerTimeout  time.Duration    // default AnswerTimeout; shorter in tests
	BodyTimeout    time.Duration    // default request.BodyTimeout; shorter in tests
	WriteTimeout   time.Duration    // default request.WriteTimeout; shorter in tests
}

// OIDC is how the page lets people sign in at an OpenID Connect provider.
type OIDC struct {
	Issuer     string // one of Config.Identity.Issuers; empty: the page offers no such sign-in
	ClientID   string
	Scopes     string // separated by blanks
	Audience   string // of the access tokens that the page sends; empty: it sends id tokens
	NameClaim  string
	EmailClaim string
}

// SignIn is how the page lets people sign in at Supabase.
type SignIn struct {
	URL       string   // of the Supabase project; empty: the page offers no sign-in
	Key       string   // its publishable key
	Methods   []string // link, password
	Providers []string // OAuth
}

// Deps is what the API depends on.
type Deps struct {
	Store   db.Store
	Threads Threads
	Bus     bus.Bus
	Search  Searcher
	Model   llm.Info
	Agents  chat.Agents
	// DocumentTypes are the types of documents that can be uploaded.
	DocumentTypes extract.Types
	ImportSources imports.Sources   // added sources of imports
	Dialects      []dialect.Dialect // added dialects, which AcceptDialects has checked
	Page          http.Handler      // the web page; nil: none
	Config        Config
	Log           *slog.Logger // default slog.Default()
	// Ready holds further readiness checks by name (temporal…).
	Ready map[string]func(context.Context) error
	// Optional returns the state of optional parts by name (mcp:files…): "ok",
	// "starting", "sign_in" or "down". /readyz shows it and stays ready.
	Optional func() map[string]string
	// Stop is closed when the server shuts down; it ends open streams.
	Stop <-chan struct{}
	// Accounts are the accounts that people connect; nil: accounts cannot be connected.
	Accounts *connections.Accounts
	// Users deletes users; nil: callers cannot delete all their data with one request.
	Users UserRemover
	// Audit records what callers do, for operators; nil: nothing is recorded.
	Audit *audit.Log
	// Version describes the build, for administrators.
	Version build.Info
	// Settled is called with each lost turn that the API has settled; may be nil.
	Settled func(context.Context, activities.Ending)
	// Metrics is served under /metrics; default: a new registry.
	Metrics *prometheus.Registry
}

type server struct {
	Deps
	hub      *follow.Hub
	metrics  *metrics
	identity *identity.Identifier
	limits   *limits.Limiter
	repair   *repair.Checker
	mcp      *mcpserver.Server
	openAPI  openapi.Document
	memory   *memlimit.Limit // of uploads
	sending  *memlimit.Limit // of files that are read to be sent
	large    *request.Large
	ping     time.Duration // interval of the comment lines that keep streams open
	grace    time.Duration // how long a client may be disconnected before its turn is cancelled (on_disconnect)

	// expiry fires when a caller's credential expires or is revoked; tests replace it.
	expiry func(identity.Caller) (expired <-chan time.Time, stop func())

	answerTimeout time.Duration
	routeTimes    map[string]time.Duration // by method and path

	disconnects disconnects
	groups      knownGroups
	watches     threadWatches
}

const (
	pingInterval    = 10 * time.Second // docs/contract.md promises 15
	disconnectGrace = 5 * time.Second
	defaultUpload   = 50 << 20

	// Bytes of memory that the large bodies being parsed, and the files being read to be
	// sent, may take at once.
	parseMemory = 128 << 20
	sendMemory  = 128 << 20

	// AnswerTimeout limits the time from the arrival of the whole request to the
	// status line. Streams go on after it.
	AnswerTimeout = 15 * time.Second
	// readyTimeout is the timeout of /readyz, which probes call.
	readyTimeout = 5 * time.Second
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
	if d.Config.Operators == nil {
		d.Config.Operators = guard.NewOperators("")
	}
	d.Config.Identity.Sessions, d.Config.Identity.Keys = d.Store, d.Store
	if d.Log == nil {
		d.Log = slog.Default()
	}
	if d.Metrics == nil {
		d.Metrics = prometheus.NewRegistry()
	}
	s := &server{Deps: d, ping: pingInterval, grace: disconnectGrace,
		answerTimeout: cmp.Or(d.Config.AnswerTimeout, AnswerTimeout), routeTimes: map[string]time.Duration{}}
	s.memory, s.sending = memlimit.New(d.Config.UploadMemory), memlimit.New(sendMemory)
	s.large = &request.Large{Memory: memlimit.New(parseMemory), Dir: d.Config.TempDir, Admit: func(c *gin.Context) (func(), error) {
		return s.limits.AdmitLarge(c.Request.Context(), identity.Of(c))
	}}
	s.disconnects.s = s
	s.watches = threadWatches{s: s, watches: map[threadKey]*threadWatch{}}
	s.limits = &limits.Limiter{Config: d.Config.Limits, Store: d.Store, SettleLost: s.settleBusy, Key: d.Config.Identity.CookieSecret, Log: d.Log}
	s.repair = &repair.Checker{Store: d.Store, Threads: d.Threads, Log: d.Log, Stop: d.Bus.AnnounceStop, Settled: d.Settled}
	s.mcp = mcpserver.New(mcpserver.Server{Backend: mcpBackend{s}, Describe: s.describeToMCP, Log: d.Log, Stop: d.Stop, Ping: pingInterval, AllowedNames: d.Config.Hosts.Named(),
		Expiry: func(who identity.Caller) (<-chan time.Time, func()) { return s.expiry(who) }})
	var err error
	if s.identity, err = identity.New(d.Config.Identity, d.Stop, d.Log); err != nil {
		return nil, err
	}
	s.expiry = s.identity.Watch
	if s.openAPI, err = s.newDocument(s.identity.Mode); err != nil {
		return nil, err
	}
	if s.metrics, err = newMetrics(d.Metrics); err != nil {
		return nil, err
	}
	s.hub = follow.NewHub(countedThreads{d.Threads, s.metrics.queries}, d.Store, d.Bus, s.render, d.Log)
	s.hub.Check = s.checkTurn
	// Until the bus closes: other processes ask who follows a turn here.
	if err := d.Bus.AnswerWatched(context.Background(), func(turnID string) bool { return s.hub.Viewers(turnID) > 0 }); err != nil {
		d.Log.Warn("subscription to viewer queries failed; turns of other processes with on_disconnect=cancel may be cancelled while a client of this process follows them", "error", err)
	}
	return s, nil
}

func (s *server) routes() http.Handler {
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	e.RedirectTrailingSlash = false
	e.HandleMethodNotAllowed = true
	e.MaxMultipartMemory = 1 << 20
	_ = e.SetTrustedProxies(nil) // nil is always accepted
	e.Use(request.LimitBody(cmp.Or(s.Config.BodyTimeout, request.BodyTimeout)), request.LimitWrites(cmp.Or(s.Config.WriteTimeout, request.WriteTimeout)), request.SetID, s.access, s.recovery, s.securityHeaders(), s.checkHost, s.otherOrigins, s.large.Use)

	for _, o := range s.operations() {
		s.route(e, o)
	}
	e.NoRoute(request.Within(s.answerTimeout), s.page)
	e.NoMethod(func(c *gin.Context) { s.fail(c, problem.Method) }) // gin has listed the allowed methods in Allow
	return e
}

// Routes returns the routes of the API, as "METHOD /path/:parameter", with their
// answer timeouts. All other paths belong to the page.
func Routes() map[string]time.Duration {
	s := serverWithoutParts(nil)
	s.routes() // runs no handler
	return s.routeTimes
}

// serverWithoutParts returns a server whose routes can be listed but not served.
func serverWithoutParts(added []dialect.Dialect) *server {
	return &server{Deps: Deps{Dialects: added}, answerTimeout: AnswerTimeout, routeTimes: map[string]time.Duration{}, limits: &limits.Limiter{}}
}

// route registers a route with its answer timeout and the limits of its caller. A GET that is no stream
// and changes nothing also answers HEAD.
func (s *server) route(e *gin.Engine, o openapi.Operation) {
	timeout, h := s.answerTimeout, o.Handle
	var before []gin.HandlerFunc
	if o.Probe {
		timeout = min(timeout, readyTimeout)
	}
	if o.Failure != nil {
		before = append(before, o.Failure)
	}
	if !o.Open {
		before = append(before, s.identify)
	}
	if !o.Open {
		before = append(before, s.enterSpace(o.InSpace, o.Sends))
	}
	if o.Takes != 0 {
		before = append(before, s.onlyBy(o.Takes))
	}
	if o.Admin {
		before = append(before, s.onlyAdmins)
	}
	switch {
	case o.Stream:
		h = s.limits.OneStream(h)
		before = append(before, request.Streams)
	case o.Download:
		h = s.limits.OneDownload(h)
	case o.File, o.Upload:
		h = s.limits.OneUpload(h)
	}
	s.routeTimes[o.Route] = timeout
	method, path, _ := strings.Cut(o.Route, " ")
	handlers := append(append([]gin.HandlerFunc{request.Within(timeout)}, before...), s.handle(h))
	e.Handle(method, path, handlers...)
	if method == http.MethodGet && !o.Stream && !o.Once { // net/http drops the body
		e.Handle(http.MethodHead, path, handlers...)
	}
}

// now returns the time for new ids and creation times.
func (s *server) now() time.Time { return time.Now().Add(s.Config.ClockOffset).UTC() }

// identify sets the request's caller, or refuses the request.
func (s *server) identify(c *gin.Context) {
	if err := s.identity.Identify(c); err != nil {
		s.refusedSignIn(c, err)
		s.fail(c, err)
		return
	}
	if identity.Of(c).New && s.wantsToken(c) {
		c.Writer.Header().Del("Set-Cookie") // of the caller that the request would have been
		s.fail(c, problem.Unauthenticated)
		return
	}
	s.noteGroups(c)
	s.limits.Visit(identity.Of(c))
}

// onlyBy refuses callers with other kinds of credentials.
func (s *server) onlyBy(takes credential.Kinds) gin.HandlerFunc {
	return func(c *gin.Context) {
		switch by := identity.Of(c).By; {
		case by&takes != 0:
		case by == credential.Key:
			s.fail(c, errByKey)
		default:
			s.fail(c, errNoAccount)
		}
	}
}

var (
	errByKey     = &problem.Problem{Status: http.StatusForbidden, Code: chat.CodeForbidden, Message: messages.ByKey}
	errNoAdmin   = &problem.Problem{Status: http.StatusForbidden, Code: chat.CodeForbidden, Message: messages.AdminsOnly}
	errNoAccount = &problem.Problem{Status: http.StatusForbidden, Code: chat.CodeForbidden, Message: messages.NoAccount}
)

// handle runs a handler and writes its error.
func (s *server) handle(h func(*gin.Context) error) gin.HandlerFunc {
	return func(c *gin.Context) {
		c.Header("Cache-Control", "no-store")
		if err := h(c); err != nil {
			s.fail(c, err)
		}
	}
}
