package identity

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/api/credential"
)

// Names of the anonymous user's cookie. Over HTTPS only HostCookieName is read, whose prefix
// browsers protect: a subdomain or an unencrypted page can set CookieName, with a session
// of the attacker's own.
const (
	CookieName     = "palaver_user"
	HostCookieName = "__Host-palaver_user"

	// Those of a frame in a page of another origin. Browsers keep them apart for each site
	// with such a page.
	frameCookieName     = "palaver_frame"
	hostFrameCookieName = "__Host-palaver_frame"
)

const cookieMaxAge = 400 * 24 * 3600 // as long as browsers allow

// session is the content of a cookie. A cookie of an earlier generation than the user's is
// refused.
type session struct {
	user       string
	generation int64
}

// SetCookie gives a client without an anonymous user's cookie a new one.
func (i *Identifier) SetCookie(c *gin.Context) {
	if i.session(c.Request).user == "" {
		i.newAnonymousUser(c)
	}
}

// session returns the first valid session of the request's cookies; one without a user if
// there is none.
func (i *Identifier) session(r *http.Request) session {
	names := []string{HostCookieName, CookieName}
	if r.Header.Get(FrameHeader) != "" {
		names = []string{hostFrameCookieName, frameCookieName}
	}
	if i.byHTTPS(r) {
		names = names[:1]
	}
	for _, name := range names {
		for _, cookie := range r.CookiesNamed(name) {
			if s, ok := i.verify(cookie.Value); ok && i.revoked.valid(r.Context(), s) {
				return s
			}
		}
	}
	return session{}
}

// newAnonymousUser makes a user id and sets its cookie.
func (i *Identifier) newAnonymousUser(c *gin.Context) string {
	id := uuid.NewString()
	i.setCookie(c, session{user: id})
	return id
}

// setCookie sets no cookie for pages of other origins.
func (i *Identifier) setCookie(c *gin.Context, s session) {
	if i.Origins.Foreign(c.Request) {
		return
	}
	cookie := cookieFor(c.Request, i.byHTTPS(c.Request))
	cookie.Value, cookie.MaxAge = i.value(s), cookieMaxAge
	http.SetCookie(c.Writer, cookie)
}

// cookieFor returns the empty cookie for a request. In a frame it is Partitioned, which
// browsers accept by HTTPS and from loopback addresses only.
func cookieFor(r *http.Request, https bool) *http.Cookie {
	if r.Header.Get(FrameHeader) != "" {
		cookie := &http.Cookie{Name: frameCookieName, Path: "/", HttpOnly: true, Secure: true, Partitioned: true, SameSite: http.SameSiteNoneMode}
		if https {
			cookie.Name = hostFrameCookieName
		}
		return cookie
	}
	cookie := &http.Cookie{Name: CookieName, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode}
	if https {
		cookie.Name, cookie.Secure = HostCookieName, true
	}
	return cookie
}

// SignOut deletes the anonymous user's cookies in this client. A cookie that the same
// response sets afterwards stays.
func (i *Identifier) SignOut(c *gin.Context) {
	if i.Origins.Foreign(c.Request) {
		return
	}
	c.Writer.Header().Del("Set-Cookie") // a cookie that this response was about to set
	for _, https := range []bool{true, false} {
		cookie := cookieFor(c.Request, https)
		cookie.MaxAge = -1
		http.SetCookie(c.Writer, cookie)
	}
}

// EndSessions revokes all cookies that the caller's user has received so far. A caller with
// a cookie loses it or, with keep, gets a new one. Nobody else gets a cookie: it would
// outlive their credential.
func (i *Identifier) EndSessions(c *gin.Context, who Caller, keep bool) error {
	generation, err := i.revoked.end(c.Request.Context(), who.ID)
	if err != nil || who.By != credential.Cookie {
		return err
	}
	i.SignOut(c)
	if keep {
		i.setCookie(c, session{who.ID, generation})
	}
	return nil
}

// CookieValue returns the signed value of a user's first cookie.
func (i *Identifier) CookieValue(id string) string { return i.value(session{user: id}) }

// value is "user.signature" or, of a later generation, "user.generation.signature".
func (i *Identifier) value(s session) string {
	name := s.user
	if s.generation > 0 {
		name += "." + strconv.FormatInt(s.generation, 10)
	}
	return name + "." + i.sign(name)
}

func (i *Identifier) sign(name string) string {
	mac := hmac.New(sha256.New, i.CookieSecret)
	mac.Write([]byte("palaver user\n" + name))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func (i *Identifier) verify(value string) (s session, ok bool) {
	end := strings.LastIndexByte(value, '.')
	if end < 0 || !hmac.Equal([]byte(value[end+1:]), []byte(i.sign(value[:end]))) {
		return session{}, false
	}
	user, generation, later := strings.Cut(value[:end], ".")
	if later {
		n, err := strconv.ParseInt(generation, 10, 64)
		if err != nil || n < 1 {
			return session{}, false
		}
		s.generation = n
	}
	s.user = user
	return s, isCookieUser(user)
}

// isCookieUser reports whether user has the form of ids of cookies.
func isCookieUser(user string) bool { return len(user) == 36 && uuid.Validate(user) == nil }
