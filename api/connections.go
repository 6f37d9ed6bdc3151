package api

import (
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/audit"
	"github.com/palaver-chat/palaver/imports/connections"
	"github.com/palaver-chat/palaver/tools/mcp"
)

type connectionsJSON struct {
	Items []connectionJSON `json:"items"`
	// Available are the providers whose accounts can be connected: google, and mcp:<name> of an MCP
	// server that wants OAuth.
	Available []string `json:"available"`
	// Servers are the MCP servers, as workers have reported them in the last 15 minutes.
	Servers []toolServerJSON `json:"servers,omitempty"`
}

type toolServerJSON struct {
	Name  string         `json:"name"`
	State mcp.State      `json:"state"`
	Tools int            `json:"tools"`
	Notes []toolNoteJSON `json:"notes,omitempty"` // what of its tools is not used
}

type toolNoteJSON struct {
	Tool    string `json:"tool,omitempty"`
	Problem string `json:"problem"`
	LeftOut bool   `json:"left_out,omitempty"` // the tool is not offered at all
}

type connectionJSON struct {
	Provider    string    `json:"provider"`
	Account     string    `json:"account,omitempty"`
	State       string    `json:"state"` // connected; expired: it has to be connected again; narrow: a call needs a wider scope, for which connecting again asks
	Scope       string    `json:"scope"`
	ConnectedAt time.Time `json:"connected_at"`
}

type startJSON struct {
	URL string `json:"url"`
}

type disconnectedJSON struct {
	Revoked bool `json:"revoked"` // at the service, too
}

// pathOf returns the path of a provider's connection.
func pathOf(provider string) string {
	if server, is := strings.CutPrefix(provider, mcp.ProviderPrefix); is {
		return "/api/connections/mcp/" + server
	}
	return "/api/connections/" + provider
}

// reportLife is how long after its report a server is shown. Workers report every five minutes.
const reportLife = 15 * time.Minute

func (s *server) listConnections(c *gin.Context) error {
	out := connectionsJSON{Items: []connectionJSON{}, Available: []string{}}
	servers, err := s.Store.ToolServers(c.Request.Context(), time.Now().Add(-reportLife))
	if err != nil {
		return err
	}
	out.Servers = showAll(servers, showServer)
	if s.Accounts == nil {
		return respond(c, http.StatusOK, out)
	}
	accounts, err := s.Accounts.List(c.Request.Context(), identity.Of(c).ID)
	if err != nil {
		return err
	}
	for _, a := range accounts {
		state := "connected"
		switch {
		case a.Expired:
			state = "expired"
		case a.Narrow:
			state = "narrow"
		}
		out.Items = append(out.Items, connectionJSON{a.Provider, a.Name, state, a.Scope, a.ConnectedAt.UTC()})
	}
	out.Available = append(out.Available, s.Accounts.Offered(c.Request.Context())...)
	return respond(c, http.StatusOK, out)
}

func showServer(r db.ToolServer) toolServerJSON {
	return toolServerJSON{Name: r.Name, State: mcp.State(r.State), Tools: r.Tools, Notes: showAll(r.Notes, func(n db.ToolNote) toolNoteJSON { return toolNoteJSON(n) })}
}

func (s *server) startGoogle(c *gin.Context) error {
	if !s.Accounts.Available() {
		return &problem.Problem{Status: http.StatusNotFound, Code: problem.NotFound.Code, Message: messages.NoGoogle}
	}
	return s.startConnection(c, connections.Google)
}

func (s *server) startServer(c *gin.Context, server string) error {
	if s.Accounts == nil {
		return problem.NotFound
	}
	return s.startConnection(c, mcp.ProviderPrefix+server)
}

// startConnection returns the URL of the service's page as JSON, not as a redirect: only a script's
// request can have the caller's token, a navigation of the browser cannot.
func (s *server) startConnection(c *gin.Context, provider string) error {
	if s.identity.Origins.Foreign(c.Request) { // the flow needs a cookie and ends on our page
		return errOurPage
	}
	who, returnTo := identity.Of(c), c.DefaultQuery("return_to", "/")
	if !pagePath.MatchString(returnTo) {
		return problem.Invalid("return_to", "must be a path of the page, / or /chat/<id>")
	}
	if err := s.limits.AdmitProfile(c.Request.Context(), who); err != nil {
		return err
	}
	session := s.identity.Session(c.Request)
	if who.New {
		session = who.ID // the browser gets this cookie now
	}
	address, cookie, err := s.Accounts.Begin(c.Request.Context(), connections.Flow{Provider: provider, Owner: who.ID, Anonymous: who.Anonymous, Session: session,
		Redirect: s.origin(c.Request) + pathOf(provider) + "/callback", ReturnTo: returnTo})
	var said *connections.Error
	switch {
	case errors.Is(err, connections.ErrUnknownProvider):
		return problem.NotFound
	case errors.As(err, &said):
		s.Log.Warn("connecting an account could not begin", "request_id", request.ID(c), "provider", provider, "error", said.Cause)
		return &problem.Problem{Status: http.StatusNotFound, Code: problem.NotFound.Code, Message: messages.NoServerAccount.With(messages.Params{"server": strings.TrimPrefix(provider, mcp.ProviderPrefix)})}
	case err != nil:
		return err
	}
	s.setFlow(c, cookie, int(connections.FlowTime.Seconds()))
	return respond(c, http.StatusOK, startJSON{address})
}

var errOurPage = &problem.Problem{Status: http.StatusForbidden, Code: chat.CodeForbidden, Message: messages.CrossSite}

// pagePath matches the paths that a browser may be sent back to.
var pagePath = regexp.MustCompile(`^/(chat/[A-Za-z0-9-]{1,64})?$`)

func (s *server) finishGoogle(c *gin.Context) error { return s.finishConnection(c, connections.Google) }

func (s *server) finishServer(c *gin.Context, server string) error {
	return s.finishConnection(c, mcp.ProviderPrefix+server)
}

// finishConnection answers a navigation of the browser: it always redirects to the page, even
// after an error. The flow's cookie says whose account it is, and proves that this browser
// began the flow.
func (s *server) finishConnection(c *gin.Context, provider string) error {
	sealed, _ := c.Cookie(s.flowCookie(c.Request))
	s.setFlow(c, "", -1)
	if s.Accounts == nil {
		return backToPage(c, "/", provider, connections.Failed)
	}
	f, err := s.Accounts.Open(sealed)
	if err != nil {
		return backToPage(c, "/", provider, connections.Expired)
	}
	who := identity.Caller{ID: f.Owner, Channel: identity.ChannelOf(c.Request), Address: s.identity.AddressOf(c.Request), RequestID: request.ID(c)}
	err = s.Accounts.Finish(c.Request.Context(), f, provider, s.identity.Session(c.Request), c.Request.URL.Query())
	var said *connections.Error
	switch {
	case err == nil:
		s.Audit.Record(entry(who, audit.Connected, map[string]any{"provider": provider}))
		return backToPage(c, f.ReturnTo, provider, "")
	case errors.As(err, &said):
		s.Log.Info("account not connected", "request_id", who.RequestID, "provider", provider, "code", said.Code, "error", said.Cause)
		return backToPage(c, f.ReturnTo, provider, said.Code)
	}
	s.Log.Warn("connecting an account failed", "request_id", who.RequestID, "provider", provider, "error", err)
	return backToPage(c, f.ReturnTo, provider, connections.Failed)
}

func backToPage(c *gin.Context, path, provider string, code connections.Code) error {
	said := url.Values{"connect": {provider}}
	if code != "" {
		said.Set("connect_error", string(code))
	}
	c.Redirect(http.StatusSeeOther, path+"?"+said.Encode())
	return nil
}

func (s *server) deleteGoogle(c *gin.Context) error { return s.disconnect(c, connections.Google) }

func (s *server) deleteServer(c *gin.Context, server string) error {
	return s.disconnect(c, mcp.ProviderPrefix+server)
}

func (s *server) disconnect(c *gin.Context, provider string) error {
	if s.Accounts == nil {
		return problem.NotFound
	}
	who := identity.Of(c)
	revoked, err := s.Accounts.Disconnect(c.Request.Context(), who.ID, provider)
	if err != nil {
		return err
	}
	s.Audit.Record(entry(who, audit.Disconnected, map[string]any{"provider": provider, "revoked": revoked}))
	return respond(c, http.StatusOK, disconnectedJSON{revoked})
}

// origin returns the scheme and host with which the browser addresses this server.
func (s *server) origin(r *http.Request) string {
	if s.identity.HTTPS(r) {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// flowCookie returns the name of the flow's cookie. It is protected like the cookie of
// anonymous callers.
func (s *server) flowCookie(r *http.Request) string {
	if s.identity.HTTPS(r) {
		return "__Host-palaver_connect"
	}
	return "palaver_connect"
}

// setFlow sets the flow's cookie; a negative maxAge deletes it. It is SameSite=Lax, so that
// the browser sends it when the service redirects back.
func (s *server) setFlow(c *gin.Context, value string, maxAge int) {
	if s.identity.Origins.Foreign(c.Request) {
		return
	}
	http.SetCookie(c.Writer, &http.Cookie{Name: s.flowCookie(c.Request), Value: value, Path: "/", MaxAge: maxAge,
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: s.identity.HTTPS(c.Request)})
}
