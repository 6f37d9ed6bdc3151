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
)

// Names of the anonymous user's cookie. Over HTTPS it is HostCookieName, whose prefix
// browsers protect: no other host, no subdomain and no unencrypted page can set such a
// cookie. CookieName is still read over HTTPS, so that its users keep their conversations.
const (
	CookieName     = "palaver_user"
	HostCookieName = "__Host-palaver_user"
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
	if i.cookieUser(c) == "" {
		i.newAnonymousUser(c)
	}
}

// cookieUser returns the user of the request's cookie, "" without a valid one. A client
// that sends only CookieName over HTTPS gets HostCookieName for the same user.
func (i *Identifier) cookieUser(c *gin.Context) string {
	s, name := i.session(c.Request)
	if name == CookieName && i.byHTTPS(c.Request) {
		i.setCookie(c, s)
	}
	return s.user
}

// session returns the first valid session of the request's cookies, and its cookie's
// name.
func (i *Identifier) session(r *http.Request) (_ session, name string) {
	for _, name := range []string{HostCookieName, CookieName} {
		for _, cookie := range r.CookiesNamed(name) {
			if s, ok := i.verify(cookie.Value); ok && i.revoked.valid(r.Context(), s) {
				return s, name
			}
		}
	}
	return session{}, ""
}

// newAnonymousUser makes a user id and sets its cookie.
func (i *Identifier) newAnonymousUser(c *gin.Context) string {
	id := uuid.NewString()
	i.setCookie(c, session{user: id})
	return id
}

func (i *Identifier) setCookie(c *gin.Context, s session) {
	cookie := cookieFor(i.byHTTPS(c.Request))
	cookie.Value, cookie.MaxAge = i.value(s), cookieMaxAge
	http.SetCookie(c.Writer, cookie)
}

func cookieFor(https bool) *http.Cookie {
	cookie := &http.Cookie{Name: CookieName, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode}
	if https {
		cookie.Name, cookie.Secure = HostCookieName, true
	}
	return cookie
}

// SignOut deletes the anonymous user's cookies in this client. A cookie that the same
// response sets afterwards stays.
func (i *Identifier) SignOut(c *gin.Context) {
	c.Writer.Header().Del("Set-Cookie") // a cookie that this response was about to set
	for _, https := range []bool{true, false} {
		cookie := cookieFor(https)
		cookie.MaxAge = -1
		http.SetCookie(c.Writer, cookie)
	}
}

// EndSessions revokes all cookies that the user has received so far. With keep, this
// client gets a new one.
func (i *Identifier) EndSessions(c *gin.Context, user string, keep bool) error {
	generation, err := i.revoked.end(c.Request.Context(), user)
	if err != nil {
		return err
	}
	i.SignOut(c)
	if keep {
		i.setCookie(c, session{user, generation})
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
	return s, len(user) == 36 && uuid.Validate(user) == nil
}
