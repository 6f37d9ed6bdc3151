package api

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/api/request"
)

// access logs and counts a request. It never logs the query or body, which hold what
// people write.
func (s *server) access(c *gin.Context) {
	start := time.Now()
	c.Next()
	route := c.FullPath()
	route = cmp.Or(route, "other")
	took := time.Since(start)
	s.metrics.observe(c.Request.Method, route, c.Writer.Status(), took)
	if probes[route] && c.Writer.Status() < http.StatusInternalServerError {
		return // probes come every few seconds and would fill the log
	}
	log := s.Log.With("request_id", request.ID(c))
	if thread := threadOfRequest(c); thread != "" {
		log = log.With("thread", thread)
	}
	if turn := c.Writer.Header().Get("X-Turn-Id"); turn != "" {
		log = log.With("turn", turn)
	}
	if who, known := identity.Known(c); known && who.Key != "" { // a leaked key's use can be found
		log = log.With("key", who.Key)
	}
	log.Info("request", "method", c.Request.Method, "route", route,
		"status", c.Writer.Status(), "bytes", max(c.Writer.Size(), 0), "took", took.Round(time.Microsecond))
}

// probes are the routes that monitoring requests every few seconds.
var probes = map[string]bool{"/healthz": true, "/readyz": true, "/metrics": true}

// threadOfRequest returns the id of the thread that the route or the response names, cut to
// maxLoggedID bytes; "" for none.
func threadOfRequest(c *gin.Context) string {
	id := cmp.Or(c.Writer.Header().Get("X-Thread-Id"), c.Param("thread_id"))
	if id == "" && (strings.HasPrefix(c.FullPath(), "/api/conversations/") || strings.HasPrefix(c.FullPath(), "/api/ui/chat/")) {
		id = c.Param("id")
	}
	if len(id) > maxLoggedID { // the client may have made it up
		id = id[:maxLoggedID]
	}
	return id
}

const maxLoggedID = 64

// recovery turns a panic into a 500 that reveals no internals.
func (s *server) recovery(c *gin.Context) {
	r := c.Request // the handler's request has a context that the panic has cancelled
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		if v == http.ErrAbortHandler {
			panic(v)
		}
		s.Log.Error("panic in a handler", "request_id", request.ID(c), "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
		if c.Writer.Written() {
			panic(http.ErrAbortHandler) // the client must see an aborted stream, not a complete one
		}
		c.Request = r
		s.fail(c, errors.New("panic"))
	}()
	c.Next()
}

// checkHost refuses requests that are addressed to another host, such as those of a page
// whose DNS name was rebound to this machine's address.
func (s *server) checkHost(c *gin.Context) {
	if !s.Config.Hosts.Allow(c.Request.Host) {
		s.fail(c, problem.Host)
	}
}

const contentSecurityPolicy = "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
	"connect-src 'self'; font-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// policyWith returns the policy that also lets the page send requests to the hosts of
// addresses, where people sign in.
func policyWith(addresses ...string) string {
	policy := contentSecurityPolicy
	for _, address := range addresses {
		if u, err := url.Parse(address); err == nil && u.Host != "" {
			policy = strings.Replace(policy, "connect-src 'self'", "connect-src 'self' "+u.Scheme+"://"+u.Host, 1)
		}
	}
	return policy
}

func (s *server) securityHeaders() gin.HandlerFunc {
	policy := policyWith(s.Config.SignIn.URL)
	return func(c *gin.Context) {
		policy := policy
		if token := s.Config.OIDC.Issuer; token != "" { // until the provider has said where its tokens come from
			if e := s.identity.Endpoints(token); e != nil {
				token = e.Token
			}
			policy = policyWith(s.Config.SignIn.URL, token)
		}
		securityHeaders(c.Writer.Header(), policy)
		s.allowFrame(c)
	}
}

// Paths of the chat on other pages: the page in the frame, and the script that makes the frame.
const (
	framePath       = "/embed"
	frameScriptPath = "/embed.js"
)

// allowFrame lets a page of ALLOWED_ORIGINS have our page in a frame, if the address names its
// origin. The browser checks that the name is true, for each page around the frame.
func (s *server) allowFrame(c *gin.Context) {
	h := c.Writer.Header()
	switch c.Request.URL.Path {
	case frameScriptPath:
		h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	case framePath:
		origin := c.Query("origin")
		if !s.Config.Identity.Origins.Has(origin) {
			return
		}
		h.Set("Content-Security-Policy", strings.Replace(h.Get("Content-Security-Policy"), "frame-ancestors 'none'", "frame-ancestors "+origin, 1))
		h.Del("X-Frame-Options")
		h.Set("Cross-Origin-Resource-Policy", "cross-origin") // for a page with Cross-Origin-Embedder-Policy
	}
}

func securityHeaders(h http.Header, policy string) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
}
