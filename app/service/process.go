package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/ulule/limiter/v3"
	"go.temporal.io/sdk/client"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/agents/assistant"
	"github.com/palaver-chat/palaver/agents/discovery"
	"github.com/palaver-chat/palaver/agents/documents"
	"github.com/palaver-chat/palaver/agents/documents/intent"
	"github.com/palaver-chat/palaver/agents/plan"
	"github.com/palaver-chat/palaver/api"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/limits"
	"github.com/palaver-chat/palaver/app/config"
	"github.com/palaver-chat/palaver/app/heartbeat"
	"github.com/palaver-chat/palaver/app/prune"
	"github.com/palaver-chat/palaver/app/telemetry"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/audit"
	"github.com/palaver-chat/palaver/documents/extract"
	"github.com/palaver-chat/palaver/documents/ingest"
	"github.com/palaver-chat/palaver/documents/retrieval"
	"github.com/palaver-chat/palaver/imports/connections"
	"github.com/palaver-chat/palaver/imports/flow"
	"github.com/palaver-chat/palaver/internal/build"
	"github.com/palaver-chat/palaver/internal/bus"
	"github.com/palaver-chat/palaver/internal/clock"
	"github.com/palaver-chat/palaver/internal/guard"
	"github.com/palaver-chat/palaver/internal/memlimit"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/tools"
	"github.com/palaver-chat/palaver/tools/mcp"
	"github.com/palaver-chat/palaver/web"
	"github.com/palaver-chat/palaver/worker"
	"github.com/palaver-chat/palaver/workflows"
)

// Parts are the dependencies of a process. The code that opened them closes them,
// after Stop.
type Parts struct {
	Config    *config.Config
	Log       *slog.Logger
	Store     db.Store
	Model     llm.Model
	Bus       bus.Bus
	Temporal  client.Client
	Namespace string // of Temporal
	Additions Additions
	Metrics   *prometheus.Registry // of Temporal's client and the process; nil: a new one
}

// Roles say what a process does.
type Roles struct {
	API    net.Listener // nil: no API
	Worker bool
}

// Process is a running process.
type Process struct {
	parts      Parts
	agents     []workflows.Agent
	http       *http.Server
	worker     *worker.Worker
	titles     *activities.Titles // nil: none are written
	metrics    *prometheus.Registry
	background sync.WaitGroup // see inBackground
	model      llm.Model      // counted
	counts     *telemetry.Metrics
	traces     *telemetry.Traces
	settled    func(context.Context, activities.Ending) // for each turn that the process settles
	mcp        *mcp.Servers                             // of a worker; nil without
	audit      *audit.Log
	accounts   *connections.Accounts
	stopping   chan struct{} // closed when streams are to end
	failed     chan error
	heartbeat  func() // ends a worker's heartbeat
	once       sync.Once
	listens    bool // has an API

	draining   atomic.Bool // /readyz fails
	attributes atomic.Bool // Temporal has the search attributes
}

const (
	// How long Stop waits for requests in flight. Streams end at once; their clients
	// reconnect.
	drainTimeout = 3 * time.Second
	megabyte     = 1 << 20
)

// Start starts the roles. While Temporal is unavailable, the API answers (and /readyz
// reports it), and the worker waits until ctx ends.
func Start(ctx context.Context, parts Parts, roles Roles) (*Process, error) {
	p := &Process{parts: parts, agents: parts.Additions.agents(), stopping: make(chan struct{}), failed: make(chan error, 2), heartbeat: func() {}, listens: roles.API != nil, metrics: parts.Metrics}
	if p.metrics == nil {
		p.metrics = prometheus.NewRegistry()
	}
	if err := p.observe(); err != nil {
		return nil, err
	}
	var err error
	if p.accounts, err = OpenAccounts(parts.Config, parts.Store, parts.Log); err != nil {
		return nil, err
	}
	p.audit = audit.Open(parts.Store, parts.Log)
	p.audit.Record(db.AuditEntry{Kind: audit.Started, Channel: audit.Command, Detail: started(parts.Config, roles)})
	if err := p.openTelemetry(ctx, roles); err != nil {
		p.Stop()
		return nil, err
	}
	if roles.Worker {
		if p.mcp, err = OpenMCP(parts.Config, parts.Store, p.accounts, parts.Log); err != nil {
			p.Stop()
			return nil, err
		}
	}
	if roles.API != nil {
		if err := p.startAPI(roles.API); err != nil {
			p.Stop()
			return nil, err
		}
	}
	if roles.API == nil && parts.Config.WorkerMetricsPort != 0 { // before the worker, which waits for Temporal
		if err := p.serveWorker(); err != nil {
			p.Stop()
			return nil, err
		}
	}
	if roles.Worker {
		if p.heartbeat, err = heartbeat.Start(parts.Config.DataDir, parts.Log); err != nil {
			p.heartbeat = func() {}
			parts.Log.Warn("writing the heartbeat file failed; palaver health worker does not see this process", "error", err)
		}
		if err := p.startWorker(ctx); err != nil {
			p.Stop()
			return nil, err
		}
	}
	return p, nil
}

// Failed receives an error when the process cannot go on.
func (p *Process) Failed() <-chan error { return p.failed }

// fail reports that the process cannot go on.
func (p *Process) fail(err error) {
	select {
	case p.failed <- err:
	default: // the process is ending already
	}
}

// Drain makes /readyz fail and goes on serving for DRAIN_DELAY, so that load balancers send
// new requests elsewhere before Stop refuses them. A process without an API does not wait.
func (p *Process) Drain() {
	p.draining.Store(true)
	if delay := p.parts.Config.DrainDelay; delay > 0 && p.listens {
		p.parts.Log.Info("draining", "delay", delay)
		select {
		case <-time.After(delay):
		case <-p.stopping:
		}
	}
}

// Stop refuses new requests, ends open streams, waits briefly for requests in flight,
// then stops the worker; running activities save what they have. It takes a few
// seconds at most.
func (p *Process) Stop() {
	p.once.Do(func() {
		close(p.stopping)
		if p.http != nil {
			ctx, cancel := context.WithTimeout(context.Background(), drainTimeout)
			defer cancel()
			if err := p.http.Shutdown(ctx); err != nil {
				_ = p.http.Close()
			}
		}
		p.background.Wait()
		if p.worker != nil {
			p.worker.Stop()
			if p.titles != nil {
				p.titles.Close()
			}
		}
		if p.mcp != nil {
			p.mcp.Close()
		}
		p.traces.Close()
		if p.counts != nil {
			p.counts.Ledger.Close()
		}
		p.audit.Close()
		p.heartbeat()
	})
}

// openTelemetry registers the process's own metrics. Traces are made by workers.
func (p *Process) openTelemetry(ctx context.Context, roles Roles) (err error) {
	cfg := p.parts.Config
	if p.counts, err = telemetry.NewMetrics(p.metrics); err != nil {
		return err
	}
	p.counts.Ledger = telemetry.NewLedger(p.parts.Store, p.parts.Log)
	if roles.Worker {
		p.traces, err = telemetry.NewTraces(ctx, telemetry.Settings{
			LangSmithTracing:  cfg.LangSmithTracing,
			LangSmithEndpoint: cfg.LangSmithEndpoint,
			LangSmithAPIKey:   cfg.LangSmithAPIKey,
			LangSmithProject:  cfg.LangSmithProject,
			Content:           cfg.TraceContent == "on",
		}, p.parts.Log)
		if err != nil {
			return err
		}
	}
	p.model = telemetry.Model(p.parts.Model, p.traces, p.counts)
	p.settled = telemetry.Settled(p.traces, p.counts, p.parts.Store, p.parts.Log)
	return nil
}

func issuers(cfg *config.Config) []identity.Issuer {
	var all []identity.Issuer
	for _, i := range cfg.Issuers() {
		all = append(all, identity.Issuer{URL: i.URL, Audiences: i.Audiences, Claims: identity.Claims{Name: i.NameClaim, Email: i.EmailClaim, Groups: i.GroupsClaim}})
	}
	return all
}

func admins(cfg *config.Config) identity.Admins {
	groups, audience := cfg.Administrators()
	return identity.Admins{Issuer: cfg.OIDCIssuer, ClientID: cfg.OIDCClientID, Audience: audience, Groups: groups}
}

func (p *Process) startAPI(listener net.Listener) error {
	cfg := p.parts.Config
	key, err := cfg.CookieKey()
	if err != nil {
		return err
	}
	rules, err := Rules(cfg)
	if err != nil {
		return err
	}
	search := retrieval.New(p.parts.Store, p.model)
	uploadMemory, _ := cfg.IngestMemory()
	handler, err := api.New(api.Deps{
		Store: p.parts.Store,
		Threads: &workflows.Client{
			Temporal: p.parts.Temporal, Namespace: p.parts.Namespace, Rules: rules, ContinueAfter: cfg.ContinueAfter,
		},
		Bus:           p.parts.Bus,
		Search:        search,
		Model:         p.parts.Model.Info(),
		Agents:        workflows.AgentInfos(p.agents),
		DocumentTypes: p.parts.Additions.Types(),
		ImportSources: p.parts.Additions.ImportSources,
		Dialects:      p.parts.Additions.Dialects,
		Page:          web.Handler(),
		Config: api.Config{
			StreamMode: cfg.StreamMode,
			Identity: identity.Config{
				Mode:           cfg.AuthMode,
				CookieSecret:   key,
				JWTSecret:      cfg.SupabaseJWTSecret,
				JWKSURL:        cfg.JWKSURL(),
				Issuer:         cfg.SupabaseIssuer,
				Issuers:        issuers(cfg),
				Admins:         admins(cfg),
				ProxySecret:    cfg.ProxySharedSecret,
				TrustedProxies: cfg.Proxies(),
				ForwardedFor:   cfg.XFF,
				Origins:        cfg.Origins(),
			},
			SignIn:         api.SignIn(cfg.SignIn()),
			OIDC:           api.OIDC(cfg.OIDCSignIn()),
			Limits:         callerLimits(cfg),
			Hosts:          cfg.Hosts(),
			Operators:      guard.NewOperators(cfg.MetricsToken),
			MaxUploadBytes: int64(cfg.MaxUploadMB) * megabyte,
			UploadMemory:   uploadMemory,
			TempDir:        cfg.DataDir,
			Features:       map[string]bool{"web_search": cfg.TavilyAPIKey != "", "follow_ups": cfg.FollowUps != "off", api.FeatureSharedLinks: cfg.SharedLinks != "off", api.FeatureChatAttachments: cfg.Attachments != "library", "google_account": p.accounts.Available(), "google_drive": p.accounts.Available() || cfg.GoogleAPIKey != "" || cfg.GoogleServiceAccount != ""},
			ClockOffset:    cfg.ClockOffset,
			AnswerTimeout:  cfg.AnswerTimeout,
		},
		Log:   p.parts.Log,
		Ready: p.checks(),
		Optional: func() map[string]string {
			if p.mcp == nil {
				return nil
			}
			return p.mcp.States()
		},
		Stop:     p.stopping,
		Accounts: p.accounts,
		Users:    p.userDeletion(),
		Audit:    p.audit,
		Version:  build.Read(),
		Metrics:  p.metrics,
		Settled:  p.settled,
	})
	if err != nil {
		return err
	}
	if handler, err = withCodec(cfg, handler); err != nil {
		return err
	}
	p.http = httpServer(handler, p.parts.Log)
	listener = guard.LimitConnections(listener, cfg.MaxConnections, cfg.Proxies())
	go func() {
		if err := p.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			p.fail(fmt.Errorf("serve HTTP: %w", err))
		}
	}()
	return nil
}

// httpServer returns the server of page and API. Streams and uploads have their own timeouts;
// a timeout for whole requests would end them.
func httpServer(handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

func (p *Process) startWorker(ctx context.Context) error {
	if err := p.waitForTemporal(ctx); err != nil {
		return err
	}
	p.ensureSearchAttributes(ctx)
	cfg := p.parts.Config
	extract.CacheDir = filepath.Join(cfg.DataDir, "cache")
	search, err := tools.NewTavily(cfg.TavilyAPIKey, cfg.TavilyBaseURL)
	if err != nil {
		return err
	}
	importer, err := newImporter(ctx, cfg, p.parts.Additions, p.accounts)
	if err != nil {
		return err
	}
	threads := &workflows.Client{Temporal: p.parts.Temporal, Namespace: p.parts.Namespace}
	prices, err := cfg.PriceTable()
	if err != nil {
		return err
	}
	_, ingestMemory := cfg.IngestMemory()
	if cfg.Titles == "on" {
		p.titles = activities.NewTitles()
	}
	kit := &activities.Kit{
		Store:         p.parts.Store,
		Model:         activities.LeasedModel(p.model),
		Bus:           p.parts.Bus,
		Prices:        prices,
		Tools:         p.toolBox(threads),
		Agents:        workflows.AgentInfos(p.agents),
		HistoryTokens: cfg.HistoryTokens,
		RetryBudget:   cfg.RetryBudget,
		HideReasoning: cfg.HideReasoning,
		Log:           p.parts.Log,
		OnRestart:     p.counts.Restarted,
	}
	if cfg.ClockFile != "" {
		kit.Clock = clock.FromFile(cfg.ClockFile)
	}
	memory := memlimit.New(ingestMemory)
	ocr := FindOCR(ctx, cfg, p.parts.Log)
	importing := &flow.Activities{Kit: kit, Importer: importer, Bounds: importBounds(cfg), Memory: memory}
	kit.Imported = importing.Imported
	w := worker.New(p.parts.Temporal, worker.Rooms{
		Kit:    kit,
		Agents: p.agents,
		Threads: []worker.Activities{
			&activities.Activities{
				Kit: kit, Titles: p.titles, Audit: p.audit, ConcernsImports: func(message string) bool { return intent.ConcernsImports(message, importer.Places()...) },
				OnSettled: p.settled,
			},
			&documents.Activities{Kit: kit, Search: telemetry.Search(retrieval.New(p.parts.Store, p.model), p.traces), Web: search, ImportPlaces: importer.Places()},
			&assistant.Activities{Kit: kit},
			&plan.Activities{Kit: kit},
			&discovery.Activities{Kit: kit, Threshold: cfg.ChatThreshold, Temperature: float32(cfg.ChatTemperature), MaxTokens: cfg.ChatMaxTokens},
			importing,
			&prune.Activities{Kit: kit, Pruner: p.pruning()},
		},
		Documents: &ingest.Activities{Kit: kit, DocumentTypes: p.parts.Additions.Types(), IngestMemory: memory, OCR: ocr},
		Scans:     ocr != nil,
	}, p.fail, telemetry.Worker(p.traces, p.counts))
	if err := w.Start(ctx); err != nil {
		return fmt.Errorf("start the worker: %w", err)
	}
	p.worker = w
	p.schedulePrune(ctx)
	p.startEmbedding(ctx)
	p.startReindexing(ctx)
	p.startSweep()
	p.startIndexing()
	return nil
}

// FindOCR returns what reads scanned pages; nil if it is off or not installed.
func FindOCR(ctx context.Context, cfg *config.Config, log *slog.Logger) (found ingest.OCR) {
	if cfg.OCR == "off" {
		return nil
	}
	ocr, missing, err := extract.FindOCR(ctx, cfg.OCRLanguages)
	switch {
	case err != nil:
		log.Warn("tesseract cannot be used; scanned pages stay unread", "error", err)
	case ocr == nil:
		log.Info("tesseract is not installed; scanned pages stay unread")
	default:
		log.Info("scanned pages are read by tesseract", "languages", ocr.Languages())
		found = ocr
	}
	if len(missing) > 0 {
		log.Warn("languages of OCR_LANGUAGES are not installed", "missing", missing)
	}
	return found
}

// started describes a process for the audit log.
func started(cfg *config.Config, roles Roles) map[string]any {
	return map[string]any{"api": roles.API != nil, "worker": roles.Worker, "settings": cfg.Public()}
}

func callerLimits(cfg *config.Config) limits.Config {
	turns, userTurns, threads, changes := cfg.Rates()
	caller, address, everybody := cfg.Quotas()
	return limits.Config{
		Turns:          limiter.Rate{Limit: turns.N, Period: turns.Per},
		UserTurns:      limiter.Rate{Limit: userTurns.N, Period: userTurns.Per},
		LargeBodies:    limiter.Rate{Limit: limits.LargeBodiesPerMinute, Period: time.Minute},
		NewThreads:     limiter.Rate{Limit: threads.N, Period: threads.Per},
		Changes:        limiter.Rate{Limit: changes.N, Period: changes.Per},
		BusyTurns:      cfg.MaxTurns,
		Streams:        cfg.MaxStreams,
		AddressStreams: cfg.MaxAddressStreams,
		Owner:          caller,
		PerAddress:     address,
		Everybody:      everybody,
		Daily:          db.Spending{Tokens: cfg.DailyTokens, CostUSD: cfg.DailyCostUSD},
	}
}
