package api

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/identity"
)

// What pages of ALLOWED_ORIGINS may send and read.
const (
	corsMethods = "GET, HEAD, POST, PUT, PATCH, DELETE"
	corsMaxAge  = "7200" // seconds; no browser keeps the answer longer
)

// exposedHeaders are the headers of responses that scripts may read, in addition to those
// that they always may.
var exposedHeaders = strings.Join([]string{"X-Thread-Id", "X-Turn-Id", "X-Stream-Run-Id", "X-Request-Id", "Last-Event-ID", "Retry-After",
	"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "ETag", "Location", "Content-Disposition", "Content-Length", "WWW-Authenticate",
	"X-Should-Retry", "X-Vercel-AI-UI-Message-Stream", "Mcp-Session-Id"}, ", ")

// otherOrigins lets pages of ALLOWED_ORIGINS send requests and read the responses
// (CORS). It does not let browsers send credentials by themselves, and removes a cookie
// that came nevertheless.
func (s *server) otherOrigins(c *gin.Context) {
	origins := s.Config.Identity.Origins
	if len(origins) == 0 {
		return
	}
	h := c.Writer.Header()
	h.Add("Vary", "Origin")
	if !origins.Foreign(c.Request) {
		return
	}
	c.Request.Header.Del("Cookie")
	h.Set("Access-Control-Allow-Origin", c.GetHeader("Origin"))
	if c.Request.Method != http.MethodOptions || c.GetHeader("Access-Control-Request-Method") == "" {
		h.Set("Access-Control-Expose-Headers", exposedHeaders)
		return
	}
	h.Set("Access-Control-Allow-Methods", corsMethods)
	h.Set("Access-Control-Allow-Headers", allowedHeaders(c.GetHeader("Access-Control-Request-Headers")))
	h.Set("Access-Control-Max-Age", corsMaxAge)
	c.AbortWithStatus(http.StatusNoContent)
}

// allowedHeaders returns the headers that a page wants to send, without those that only our
// own page has.
func allowedHeaders(wanted string) string {
	var allowed []string
	for name := range strings.SplitSeq(wanted, ",") {
		if name = strings.TrimSpace(name); name != "" && !strings.EqualFold(name, identity.PageHeader) && !strings.EqualFold(name, identity.FrameHeader) {
			allowed = append(allowed, name)
		}
	}
	return strings.Join(allowed, ", ")
}
