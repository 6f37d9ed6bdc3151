package api

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat"
)

// caller is who sends a request.
type caller struct {
	ID        string
	Anonymous bool
	Address   netip.Addr // of the client, for limits
	Request   string     // the request's id, for the log
	rate      rateHeaders
}

const (
	callerKey         = "caller"
	cookieName        = "palaver_user"
	cookieMaxAge      = 400 * 24 * 3600 // as long as browsers allow
	userHeader        = "Userid"
	proxySecretHeader = "X-Proxy-Secret"
	maxUserID         = 128
)

var (
	errCrossSite = &problem.Problem{Status: http.StatusForbidden, Code: chat.CodeForbidden, Message: "Requests from other sites are refused."}
	errOtherUser = &problem.Problem{Status: http.StatusForbidden, Code: chat.CodeForbidden, Message: "The userid header does not name the caller."}
)

func callerOf(c *gin.Context) caller { return c.MustGet(callerKey).(caller) }

// identify sets the request's caller, or refuses the request.
func (s *server) identify(c *gin.Context) {
	who, err := s.authenticate(c)
	if err != nil {
		s.fail(c, err)
		return
	}
	who.Address, who.Request, who.rate = s.clientAddress(c.Request), request.ID(c), rateHeaders{c.Writer.Header()}
	c.Set(callerKey, who)
}

// authenticate returns the user that a trusted proxy names, else the subject of the
// token, else the user of the anonymous cookie; new clients get a cookie. A bad token
// is refused, never anonymous. Credentials that a browser sends by itself, to us or to
// the proxy, count for same-origin requests only. From other clients a userid header
// must equal the authenticated user.
func (s *server) authenticate(c *gin.Context) (caller, error) {
	token, withToken := bearer(c.Request)
	fromToken := caller{Anonymous: true}
	if withToken {
		id, err := s.tokens.subject(token)
		if err != nil {
			s.Log.Info("token refused", "request_id", request.ID(c), "error", err)
			return caller{}, tokenProblem(err)
		}
		fromToken = caller{ID: id}
	}
	named, vouched, err := s.namedUser(c.Request)
	if err != nil {
		return caller{}, err
	}
	if !withToken {
		if !vouched && s.Config.AuthMode == AuthRequired {
			return caller{}, problem.Unauthenticated
		}
		if s.csrf.Check(c.Request) != nil {
			return caller{}, errCrossSite
		}
	}
	switch {
	case vouched:
		return caller{ID: named}, nil
	case fromToken.Anonymous:
		fromToken.ID = s.cookieUser(c.Request)
	}
	switch {
	case named != "" && named != fromToken.ID:
		return caller{}, errOtherUser
	case fromToken.ID == "":
		fromToken.ID = s.newAnonymousUser(c)
	}
	return fromToken, nil
}

func bearer(r *http.Request) (token string, sent bool) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.TrimSpace(token), strings.EqualFold(scheme, "Bearer")
}

// namedUser returns the user in the userid header, "" without one, and whether a proxy
// with our secret sent it.
func (s *server) namedUser(r *http.Request) (id string, vouched bool, _ error) {
	sent := r.Header.Values(userHeader)
	if len(sent) == 0 || len(sent) == 1 && sent[0] == "" {
		return "", false, nil
	}
	if len(sent) > 1 || !userID(sent[0]) { // a second header may come from the proxy's client
		return "", false, errOtherUser
	}
	return sent[0], s.isProxy(r), nil
}

// isProxy compares digests, so that the time taken reveals nothing about the secret,
// not even its length.
func (s *server) isProxy(r *http.Request) bool {
	if s.Config.ProxySharedSecret == "" {
		return false
	}
	sent := sha256.Sum256([]byte(r.Header.Get(proxySecretHeader)))
	want := sha256.Sum256([]byte(s.Config.ProxySharedSecret))
	return subtle.ConstantTimeCompare(sent[:], want[:]) == 1
}

// userID reports whether id is a valid user id: 1 to 128 printable characters, and not
// the name of the public owner.
func userID(id string) bool {
	return id != "" && id != chat.PublicOwner && utf8.ValidString(id) && utf8.RuneCountInString(id) <= maxUserID &&
		!strings.ContainsFunc(id, func(r rune) bool { return !unicode.IsPrint(r) })
}

// anonymous returns the user of the cookie, or sets a new cookie.
func (s *server) anonymous(c *gin.Context) string {
	if id := s.cookieUser(c.Request); id != "" {
		return id
	}
	return s.newAnonymousUser(c)
}

// cookieUser returns the user of the request's cookie, "" without a valid one.
func (s *server) cookieUser(r *http.Request) string {
	if cookie, err := r.Cookie(cookieName); err == nil {
		if id, ok := s.verify(cookie.Value); ok {
			return id
		}
	}
	return ""
}

// newAnonymousUser makes a user id and sets its cookie.
func (s *server) newAnonymousUser(c *gin.Context) string {
	id := uuid.NewString()
	http.SetCookie(c.Writer, &http.Cookie{
		Name: cookieName, Value: id + "." + s.sign(id), Path: "/", MaxAge: cookieMaxAge,
		HttpOnly: true, SameSite: http.SameSiteLaxMode,
		// Any client can send the header; a false one harms only its sender.
		Secure: c.Request.TLS != nil || c.GetHeader("X-Forwarded-Proto") == "https",
	})
	return id
}

func (s *server) sign(id string) string {
	mac := hmac.New(sha256.New, s.Config.CookieSecret)
	mac.Write([]byte("palaver user\n" + id))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func (s *server) verify(value string) (id string, ok bool) {
	id, sum, found := strings.Cut(value, ".")
	if !found || len(id) != 36 || uuid.Validate(id) != nil {
		return "", false
	}
	return id, hmac.Equal([]byte(sum), []byte(s.sign(id)))
}
