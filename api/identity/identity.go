// Package identity finds out who sends a request.
package identity

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/accesskey"
	"github.com/palaver-chat/palaver/api/credential"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/internal/guard"
)

// Values of Config.Mode.
const (
	Anonymous = "anonymous" // without a token, a signed cookie names the caller
	Required  = "required"  // without a token, 401
)

// Config says which credentials are accepted.
type Config struct {
	Mode           string         // default Anonymous
	CookieSecret   []byte         // signs the anonymous cookie; at least 32 bytes unless Required
	JWTSecret      string         // HS256 secret of Supabase's tokens; empty: HS256 tokens are refused
	JWKSURL        string         // URL of the tokens' public keys; empty: tokens signed with such keys are refused
	Issuer         string         // of Supabase's tokens; empty: any that is not one of Issuers
	Issuers        []Issuer       // OpenID Connect providers
	Admins         Admins         // whose tokens are those of administrators
	ProxySecret    string         // proves that a proxy set the userid header; empty: the header is never trusted
	TrustedProxies []netip.Prefix // proxies whose X-Forwarded-For is trusted
	ForwardedFor   string         // RightmostUntrusted (default) or Leftmost
	Keys           Keys           // personal keys; nil: none are accepted
	Sessions       Sessions       // which cookies were revoked; nil: none
	WatchEvery     time.Duration  // how often the credentials of open streams are checked; default 20 s
	Origins        guard.Origins  // other origins whose pages may send tokens and personal keys
}

// Caller is who sends a request.
type Caller struct {
	ID        string
	By        credential.Kinds // how the caller was identified
	Anonymous bool             // has no account: a cookie's user, or an anonymous one of Supabase
	New       bool             // was given a cookie by this request
	Expires   time.Time        // when the token or personal key expires; zero: never, or there is none
	Name      string           // of an Issuer's token; empty: not said
	Email     string           // the same; nobody may have checked it
	Groups    []string         // the same
	Admin     bool             // an administrator of the installation: Admins
	Key       string           // id of the personal key in the request; empty: none
	Space     string           // to which that key is bound; empty: to none
	Channel   chat.Channel
	Frame     string      // origin of the page in whose frame ours is; empty: none, or another program sent the request
	Address   netip.Addr  // of the client, for limits
	RequestID string      // for the log
	Header    http.Header // of the response, for the RateLimit headers

	generation int64  // of the cookie
	keyDigest  string // of the personal key
}

// Expiry returns a channel that fires when the caller's token or personal key expires; nil
// if it has no expiry. Call stop when done.
func (c Caller) Expiry() (expired <-chan time.Time, stop func()) {
	if c.Expires.IsZero() {
		return nil, func() {}
	}
	timer := time.NewTimer(time.Until(c.Expires))
	return timer.C, func() { timer.Stop() }
}

// Identifier identifies callers.
type Identifier struct {
	Config
	tokens      *tokens
	csrf        *http.CrossOriginProtection
	revoked     revocations
	personal    personalKeys
	proxyLogged sync.Once
	log         *slog.Logger
}

// New makes an Identifier, which refreshes public keys until stop is closed. An error
// names the wrong setting.
func New(cfg Config, stop <-chan struct{}, log *slog.Logger) (*Identifier, error) {
	cfg.Mode, cfg.WatchEvery = cmp.Or(cfg.Mode, Anonymous), cmp.Or(cfg.WatchEvery, watchEvery)
	if err := cfg.check(); err != nil {
		return nil, err
	}
	i := &Identifier{Config: cfg, csrf: http.NewCrossOriginProtection(), log: log}
	i.revoked.sessions, i.personal.store = cfg.Sessions, cfg.Keys
	var err error
	i.tokens, err = newTokens(cfg, stop, log)
	return i, err
}

const minCookieSecret = 32

func (cfg Config) check() error {
	switch {
	case cfg.Mode != Anonymous && cfg.Mode != Required:
		return errors.New("AUTH_MODE must be anonymous or required")
	case cfg.Mode == Required && cfg.JWTSecret+cfg.JWKSURL+cfg.ProxySecret == "" && len(cfg.Issuers) == 0:
		return errors.New("AUTH_MODE=required needs OIDC_ISSUER, SUPABASE_JWT_SECRET, SUPABASE_JWKS_URL or PROXY_SHARED_SECRET")
	case cfg.Mode == Anonymous && len(cfg.CookieSecret) < minCookieSecret:
		return errors.New("COOKIE_SECRET must have at least 32 bytes")
	}
	return nil
}

// AcceptsTokens reports whether tokens can be accepted at all.
func (i *Identifier) AcceptsTokens() bool { return i.tokens.accepted() }

// Endpoints returns what an Issuer says about itself; nil while it cannot be reached.
func (i *Identifier) Endpoints(issuer string) *Endpoints {
	if known := i.tokens.issuers[issuer]; known != nil && known.provider != nil {
		return known.provider.endpoints()
	}
	return nil
}

// CheckTokens returns an error while public keys are configured and were never fetched.
func (i *Identifier) CheckTokens() error { return i.tokens.ready() }

// Names on the wire.
const (
	UserHeader        = "Userid"
	ProxySecretHeader = "X-Proxy-Secret"
)

const (
	callerKey = "caller"
	maxUserID = 128
)

var (
	errCrossSite = &problem.Problem{Status: http.StatusForbidden, Code: chat.CodeForbidden, Message: messages.CrossSite}
	errOtherUser = &problem.Problem{Status: http.StatusForbidden, Code: chat.CodeForbidden, Message: messages.OtherUser}
)

// Of returns the caller of an identified request.
func Of(c *gin.Context) Caller { return c.MustGet(callerKey).(Caller) }

// Identify sets the request's caller, or refuses the request.
func (i *Identifier) Identify(c *gin.Context) error {
	i.logUntrustedProxy(c.Request)
	frame, err := i.frameOf(c.Request)
	if err != nil {
		return err
	}
	who, err := i.authenticate(c)
	if err != nil {
		return err
	}
	who.Frame = frame
	who.Address, who.RequestID, who.Header = i.clientAddress(c.Request), request.ID(c), c.Writer.Header()
	who.Channel = ChannelOf(c.Request)
	c.Set(callerKey, who)
	return nil
}

// PageHeader is sent by our page. A page of another origin cannot send it.
const PageHeader = "X-Palaver-Page"

// FrameHeader is sent by our page in a frame of another origin, with that origin. A page of
// another origin cannot send it.
const FrameHeader = "X-Palaver-Frame"

// frameOf returns the origin in whose frame the page is that sent the request; empty if it is in none.
func (i *Identifier) frameOf(r *http.Request) (string, error) {
	origin := r.Header.Get(FrameHeader)
	if origin != "" && (!i.Origins.Has(origin) || i.Origins.Foreign(r) || len(r.Header.Values(FrameHeader)) > 1) {
		return "", errCrossSite
	}
	return origin, nil
}

// ChannelOf reports whether our page or another program sent the request. A browser says
// in Sec-Fetch-Site whether a page of ours sent it, but only over TLS; without TLS the
// page's own header says so. Other programs can send both headers, so this proves nothing.
func ChannelOf(r *http.Request) chat.Channel {
	site := r.Header.Get("Sec-Fetch-Site")
	if site == "same-origin" || site == "" && r.Header.Get(PageHeader) != "" {
		return chat.ByPage
	}
	return chat.ByAPI
}

// authenticate returns the user that a trusted proxy names, else the subject of the
// token, else the user of the anonymous cookie; new clients get a cookie. A bad token
// is refused, never anonymous. Credentials that a browser attaches by itself, to us or to
// the proxy, count for same-origin requests only; without a token, a page of another
// origin is nobody. A userid header that no trusted proxy sent must equal the
// authenticated user.
func (i *Identifier) authenticate(c *gin.Context) (Caller, error) {
	token, withToken := bearer(c.Request)
	var caller Caller
	switch {
	case withToken && accesskey.Is(token):
		var err error
		if caller, err = i.personal.caller(c.Request.Context(), token); err != nil {
			return Caller{}, err
		}
	case withToken:
		var err error
		if caller, err = i.tokens.caller(token); err != nil {
			i.log.Info("token refused", "request_id", request.ID(c), "error", err)
			return Caller{}, tokenProblem(err)
		}
	}
	named, fromProxy, err := i.namedUser(c.Request)
	if err != nil {
		return Caller{}, err
	}
	if !withToken {
		if !fromProxy && i.Mode == Required || i.Origins.Foreign(c.Request) {
			return Caller{}, problem.Unauthenticated
		}
		if i.csrf.Check(c.Request) != nil {
			return Caller{}, errCrossSite
		}
	}
	switch {
	case fromProxy:
		i.revoked.refuseCookies(named)
		return Caller{ID: named, By: credential.Proxy}, nil
	case !withToken:
		s := i.session(c.Request)
		caller = Caller{ID: s.user, By: credential.Cookie, Anonymous: true, generation: s.generation}
	case caller.By == credential.Token && !caller.Anonymous:
		i.revoked.refuseCookies(caller.ID)
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

// namedUser returns the user in the userid header, "" without one. fromProxy means that a
// proxy with our secret sent it.
func (i *Identifier) namedUser(r *http.Request) (id string, fromProxy bool, _ error) {
	sent := r.Header.Values(UserHeader)
	if len(sent) == 0 || len(sent) == 1 && sent[0] == "" {
		return "", false, nil
	}
	if len(sent) > 1 || !IsUserID(sent[0]) { // a second header may come from the proxy's client
		return "", false, errOtherUser
	}
	return sent[0], i.isProxy(r), nil
}

// Session returns the user of a browser's navigation, which carries no token: the user
// that a trusted proxy names, or that of our cookie; "" without either.
func (i *Identifier) Session(r *http.Request) string {
	if named, fromProxy, err := i.namedUser(r); err == nil && fromProxy {
		return named
	}
	return i.session(r).user
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

// IsUserID reports whether id is a valid user id: 1 to 128 printable characters, and not
// the name of the public owner.
func IsUserID(id string) bool {
	return id != "" && id != chat.PublicOwner && !chat.IsSpaceOwner(id) && utf8.ValidString(id) && utf8.RuneCountInString(id) <= maxUserID &&
		!strings.ContainsFunc(id, func(r rune) bool { return !unicode.IsPrint(r) })
}
