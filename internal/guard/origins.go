package guard

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Origins are the origins of other pages that may send requests with a token.
type Origins []string

// ParseOrigins reads ALLOWED_ORIGINS: origins as browsers send them, separated by commas or
// blanks.
func ParseOrigins(list string) (Origins, error) {
	var all Origins
	for _, origin := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' }) {
		if !isOrigin(origin) {
			return nil, fmt.Errorf("%q is not an origin such as https://app.example.com or http://localhost:5173 (lower case, no path, no default port, no *)", origin)
		}
		all = append(all, origin)
	}
	return all, nil
}

// isOrigin reports whether text is an origin of http or https as a browser writes it.
func isOrigin(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || text != u.Scheme+"://"+u.Host {
		return false
	}
	host, port := u.Hostname(), u.Port()
	defaultPort := u.Scheme == "http" && port == "80" || u.Scheme == "https" && port == "443"
	if defaultPort || strings.HasSuffix(u.Host, ":") || len(port) > 1 && port[0] == '0' {
		return false
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return host == ip.String() && ip.Zone() == ""
	}
	return hostName.MatchString(host) && !strings.HasPrefix(host, "*")
}

// Has reports whether origin is one of the origins.
func (o Origins) Has(origin string) bool { return slices.Contains(o, origin) }

// Foreign reports whether a page of one of the origins sent the request, and not a page of
// this server. A browser says in Sec-Fetch-Site which it was; without it the Host header tells.
func (o Origins) Foreign(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" || !o.Has(origin) {
		return false
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" {
		return site != "same-origin"
	}
	_, host, _ := strings.Cut(origin, "://")
	return host != r.Host
}
