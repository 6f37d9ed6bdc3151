package api

import (
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db/audit"
	"github.com/palaver-chat/palaver/imports/connections"
)

type connectionsJSON struct {
	Items []connectionJSON `json:"items"`
	// Available are the providers whose accounts can be connected.
	Available []string `json:"available"`
}

type connectionJSON struct {
	Provider    string    `json:"provider"`
	Account     string    `json:"account,omitempty"`
	State       string    `json:"state"` // connected, or expired: it has to be connected again
	Scope       string    `json:"scope"`
	ConnectedAt time.Time `json:"connected_at"`
}

type startJSON struct {
	URL string `json:"url"`
}

type disconnectedJSON struct {
	Revoked bool `json:"revoked"` // at Google, too
}

const callbackPath = "/api/connections/google/callback"

func (s *server) listConnections(c *gin.Context) error {
	out := connectionsJSON{Items: []connectionJSON{}, Available: []string{}}
	if s.Accounts == nil {
		return respond(c, http.StatusOK, out)
	}
	accounts, err := s.Accounts.List(c.Request.Context(), identity.Of(c).ID)
	if err != nil {
		return err
	}
	for _, a := range accounts {
		state := "connected"
		if a.Expired {
			state = "expired"
		}
		out.Items = append(out.Items, connectionJSON{a.Provider, a.Name, state, a.Scope, a.ConnectedAt.UTC()})
	}
	if s.Accounts.Available() {
		out.Available = append(out.Available, connections.Google)
	}
	return respond(c, http.StatusOK, out)
}

// startGoogle returns the URL of Google's page as JSON, not as a redirect: only a script's
// request can have the caller's token, a navigation of the browser cannot.
func (s *server) startGoogle(c *gin.Context) error {
	who, returnTo := identity.Of(c), c.DefaultQuery("return_to", "/")
	switch {
	case !s.Accounts.Available():
		return &problem.Problem{Status: http.StatusNotFound, Code: problem.NotFound.Code, Message: messages.NoGoogle}
	case !pagePath.MatchString(returnTo):
		return problem.Invalid("return_to", "must be a path of the page, / or /chat/<id>")
	}
	if err := s.limits.AdmitProfile(c.Request.Context(), who); err != nil {
		return err
	}
	session := s.identity.Session(c.Request)
	if who.New {
		session = who.ID // the browser gets this cookie now
	}
	address, cookie, err := s.Accounts.Begin(connections.Flow{Owner: who.ID, Anonymous: who.Anonymous, Session: session,
		Redirect: s.origin(c.Request) + callbackPath, ReturnTo: returnTo})
	if err != nil {
		return err
	}
	s.setFlow(c, cookie, int(connections.FlowTime.Seconds()))
	return respond(c, http.StatusOK, startJSON{address})
}

// pagePath matches the paths that a browser may be sent back to.
var pagePath = regexp.MustCompile(`^/(chat/[A-Za-z0-9-]{1,64})?$`)

// finishGoogle answers a navigation of the browser: it always redirects to the page, even
// after an error. The flow's cookie says whose account it is, and proves that this browser
// began the flow.
func (s *server) finishGoogle(c *gin.Context) error {
	sealed, _ := c.Cookie(s.flowCookie(c.Request))
	s.setFlow(c, "", -1)
	if s.Accounts == nil {
		return backToPage(c, "/", connections.Failed)
	}
	f, err := s.Accounts.Open(sealed)
	if err != nil {
		return backToPage(c, "/", connections.Expired)
	}
	who := identity.Caller{ID: f.Owner, Channel: identity.ChannelOf(c.Request), Address: s.identity.AddressOf(c.Request), RequestID: request.ID(c)}
	err = s.Accounts.Finish(c.Request.Context(), f, s.identity.Session(c.Request), c.Request.URL.Query())
	var said *connections.Error
	switch {
	case err == nil:
		s.Audit.Record(entry(who, audit.Connected, map[string]any{"provider": connections.Google}))
		return backToPage(c, f.ReturnTo, "")
	case errors.As(err, &said):
		s.Log.Info("Google account not connected", "request_id", who.RequestID, "code", said.Code, "error", said.Cause)
		return backToPage(c, f.ReturnTo, said.Code)
	}
	s.Log.Warn("connecting a Google account failed", "request_id", who.RequestID, "error", err)
	return backToPage(c, f.ReturnTo, connections.Failed)
}

func backToPage(c *gin.Context, path string, code connections.Code) error {
	said := url.Values{"connect": {connections.Google}}
	if code != "" {
		said.Set("connect_error", string(code))
	}
	c.Redirect(http.StatusSeeOther, path+"?"+said.Encode())
	return nil
}

func (s *server) deleteGoogle(c *gin.Context) error {
	if s.Accounts == nil {
		return problem.NotFound
	}
	who := identity.Of(c)
	revoked, err := s.Accounts.Disconnect(c.Request.Context(), who.ID)
	if err != nil {
		return err
	}
	s.Audit.Record(entry(who, audit.Disconnected, map[string]any{"provider": connections.Google, "revoked": revoked}))
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
// the browser sends it when Google redirects back.
func (s *server) setFlow(c *gin.Context, value string, maxAge int) {
	http.SetCookie(c.Writer, &http.Cookie{Name: s.flowCookie(c.Request), Value: value, Path: "/", MaxAge: maxAge,
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: s.identity.HTTPS(c.Request)})
}
