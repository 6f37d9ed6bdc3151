package identity

import "net/http"

// CookieOwner returns the anonymous user of the request's cookie, even if the request also
// has a token; "" without a valid cookie, and for a request from another site.
func (i *Identifier) CookieOwner(r *http.Request) string {
	if len(i.CookieSecret) < minCookieSecret || i.csrf.Check(r) != nil {
		return ""
	}
	return i.session(r).user
}
