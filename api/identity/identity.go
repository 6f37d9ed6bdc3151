// Package identity finds out who sends a request.
package identity

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"log/slog"
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

// Values of Config.Mode.
const (
	Anonymous = "anonymous" // without a token, a signed cookie names the caller
	Required  = "required"  // without a token, 401
)

// Config says whom to believe.
type Config struct {
	Mode           string         // default Anonymous
	CookieSecret   []byte         // signs the anonymous cookie; at least 16 bytes unless Required
	JWTSecret      string         // HS256 secret of Supabase's tokens; empty: HS256 tokens are refused
	JWKSURL        string         // URL of the tokens' public keys; empty: tokens signed with such keys are refused
	ProxySecret    string         // proves that a proxy set the userid header; empty: the header is never trusted
	TrustedProxies []netip.Prefix // proxies whose X-Forwarded-For is trusted
	ForwardedFor   string         // Leftmost (default) or RightmostUntrusted
	TrustedOrigins []string       // other origins ("https://host") whose pages may use a caller's cookie
}

// Caller is who sends a request.
type Caller struct {
	ID        string
	Anonymous bool        // has no account: a cookie's user, or an anonymous one of Supabase
	New       bool        // was given a cookie by this request
	Address   netip.Addr  // of the client, for limits
	RequestID string      // for the log
	Header    http.Header // of the answer, in which limits are shown
}

// Identifier identifies callers.
type Identifier struct {
	Config
	tokens *tokens
	csrf   *http.CrossOriginProtection
	log    *slog.Logger
}

// New makes an Identifier, which refreshes public keys until stop is closed. An error
// names the wrong setting.
func New(cfg Config, stop <-chan struct{}, log *slog.Logger) (*Identifier, error) {
	cfg.Mode = cmp.Or(cfg.Mode, Anonymous)
	if err := cfg.check(); err != nil {
		return nil, err
	}
	i := &Identifier{Config: cfg, csrf: http.NewCrossOriginProtection(), log: log}
	for _, origin := range cfg.TrustedOrigins {
		if err := i.csrf.AddTrustedOrigin(origin); err != nil {
			return nil, err
		}
	}
	var err error
	i.tokens, err = newTokens(cfg, stop, log)
	return i, err
}

func (cfg Config) check() error {
	switch {
	case cfg.Mode != Anonymous && cfg.Mode != Required:
		return errors.New("AUTH_MODE must be anonymous or required")
	case cfg.Mode == Required && cfg.JWTSecret+cfg.JWKSURL+cfg.ProxySecret == "":
		return errors.New("AUTH_MODE=required needs SUPABASE_JWT_SECRET, SUPABASE_JWKS_URL or PROXY_SHARED_SECRET")
	case cfg.Mode == Anonymous && len(cfg.CookieSecret) < 16:
		return errors.New("COOKIE_SECRET must have at least 16 bytes")
	}
	return nil
}

// AcceptsTokens reports whether tokens can be accepted at all.
func (i *Identifier) AcceptsTokens() bool { return i.tokens.accepted() }

// CheckTokens returns an error while public keys are configured and were never fetched.
func (i *Identifier) CheckTokens() error { return i.tokens.ready() }

// Names on the wire.
const (
	CookieName        = "palaver_user"
	UserHeader        = "Userid"
	ProxySecretHeader = "X-Proxy-Secret"
)

const (
	callerKey    = "caller"
	cookieMaxAge = 400 * 24 * 3600 // as long as browsers allow
	maxUserID    = 128
)

var (
	errCrossSite = &problem.Problem{Status: http.StatusForbidden, Code: chat.CodeForbidden, Message: "Requests from other sites are refused."}
	errOtherUser = &problem.Problem{Status: http.StatusForbidden, Code: chat.CodeForbidden, Message: "The userid header does not name the caller."}
)

// Of returns the caller of an identified request.
func Of(c *gin.Context) Caller { return c.MustGet(callerKey).(Caller) }

// Identify sets the request's caller, or refuses the request.
func (i *Identifier) Identify(c *gin.Context) error {
	who, err := i.authenticate(c)
	if err != nil {
		return err
	}
	who.Address, who.RequestID, who.Header = i.clientAddress(c.Request), request.ID(c), c.Writer.Header()
	c.Set(callerKey, who)
	return nil
}

// authenticate returns the user that a trusted proxy names, else the subject of the
// token, else the user of the anonymous cookie; new clients get a cookie. A bad token
// is refused, never anonymous. Credentials that a browser sends by itself, to us or to
// the proxy, count for same-origin requests only. From other clients a userid header
// must equal the authenticated user.
func (i *Identifier) authenticate(c *gin.Context) (Caller, error) {
	token, withToken := bearer(c.Request)
	var caller Caller
	if withToken {
		id, anonymous, err := i.tokens.subject(token)
		if err != nil {
			i.log.Info("token refused", "request_id", request.ID(c), "error", err)
			return Caller{}, tokenProblem(err)
		}
		caller = Caller{ID: id, Anonymous: anonymous}
	}
	named, vouched, err := i.namedUser(c.Request)
	if err != nil {
		return Caller{}, err
	}
	if !withToken {
		if !vouched && i.Mode == Required {
			return Caller{}, problem.Unauthenticated
		}
		if i.csrf.Check(c.Request) != nil {
			return Caller{}, errCrossSite
		}
	}
	switch {
	case vouched:
		return Caller{ID: named}, nil
	case !withToken:
		caller = Caller{ID: i.cookieUser(c.Request), Anonymous: true}
	}
	switch {
	case named != "" && named != caller.ID:
		return Caller{}, errOtherUser
	case caller.ID == "":
		caller.ID, caller.New = i.newAnonymousUser(c), true
	}
	return caller, nil
}

func bearer(r *http.Request) (token string, sent bool) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.TrimSpace(token), strings.EqualFold(scheme, "Bearer")
}

// namedUser returns the user in the userid header, "" without one, and whether a proxy
// with our secret sent it.
func (i *Identifier) namedUser(r *http.Request) (id string, vouched bool, _ error) {
	sent := r.Header.Values(UserHeader)
	if len(sent) == 0 || len(sent) == 1 && sent[0] == "" {
		return "", false, nil
	}
	if len(sent) > 1 || !userID(sent[0]) { // a second header may come from the proxy's client
		return "", false, errOtherUser
	}
	return sent[0], i.isProxy(r), nil
}

// isProxy compares digests, so that the time taken reveals nothing about the secret,
// not even its length.
func (i *Identifier) isProxy(r *http.Request) bool {
	if i.ProxySecret == "" {
		return false
	}
	sent := sha256.Sum256([]byte(r.Header.Get(ProxySecretHeader)))
	want := sha256.Sum256([]byte(i.ProxySecret))
	return subtle.ConstantTimeCompare(sent[:], want[:]) == 1
}

// userID reports whether id is a valid user id: 1 to 128 printable characters, and not
// the name of the public owner.
func userID(id string) bool {
	return id != "" && id != chat.PublicOwner && utf8.ValidString(id) && utf8.RuneCountInString(id) <= maxUserID &&
		!strings.ContainsFunc(id, func(r rune) bool { return !unicode.IsPrint(r) })
}

// SetCookie gives a client without an anonymous user's cookie a new one.
func (i *Identifier) SetCookie(c *gin.Context) {
	if i.cookieUser(c.Request) == "" {
		i.newAnonymousUser(c)
	}
}

// cookieUser returns the user of the request's cookie, "" without a valid one.
func (i *Identifier) cookieUser(r *http.Request) string {
	if cookie, err := r.Cookie(CookieName); err == nil {
		if id, ok := i.verify(cookie.Value); ok {
			return id
		}
	}
	return ""
}

// newAnonymousUser makes a user id and sets its cookie.
func (i *Identifier) newAnonymousUser(c *gin.Context) string {
	id := uuid.NewString()
	http.SetCookie(c.Writer, &http.Cookie{
		Name: CookieName, Value: i.CookieValue(id), Path: "/", MaxAge: cookieMaxAge,
		HttpOnly: true, SameSite: http.SameSiteLaxMode,
		// Any client can send the header; a false one harms only its sender.
		Secure: c.Request.TLS != nil || c.GetHeader("X-Forwarded-Proto") == "https",
	})
	return id
}

// CookieValue returns the signed value of a user's cookie.
func (i *Identifier) CookieValue(id string) string { return id + "." + i.sign(id) }

func (i *Identifier) sign(id string) string {
	mac := hmac.New(sha256.New, i.CookieSecret)
	mac.Write([]byte("palaver user\n" + id))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func (i *Identifier) verify(value string) (id string, ok bool) {
	id, sum, found := strings.Cut(value, ".")
	if !found || len(id) != 36 || uuid.Validate(id) != nil {
		return "", false
	}
	return id, hmac.Equal([]byte(sum), []byte(i.sign(id)))
}
