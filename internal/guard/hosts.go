package guard

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// Hosts are the names by which clients may address a server. A page whose name was
// rebound to this machine's address (DNS rebinding) sends its own name in the Host
// header, so a check of the name refuses its requests.
type Hosts struct {
	names     []string // lower case, without port
	domains   []string // ".example.com" for every name below it
	any       bool
	addresses bool // every IP address; a name cannot be rebound to one
}

var hostName = regexp.MustCompile(`^(\*\.)?[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$`)

// NewHosts allows localhost, the loopback addresses, the address that the server listens
// on and the names of ALLOWED_HOSTS: names separated by commas or blanks, *.example.com
// for all names below example.com, * for every name. A server that listens on other
// addresses than loopback ones can be addressed by every IP address.
func NewHosts(listen, allowed string) (*Hosts, error) {
	h := &Hosts{names: []string{"localhost"}}
	if ip, err := netip.ParseAddr(listen); err == nil {
		h.addresses = !ip.IsLoopback()
	} else if listen != "" && !strings.EqualFold(listen, "localhost") {
		h.names, h.addresses = append(h.names, strings.ToLower(listen)), true
	}
	for _, name := range strings.FieldsFunc(strings.ToLower(allowed), func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' }) {
		ip, err := netip.ParseAddr(name)
		switch {
		case name == "*":
			h.any = true
		case err == nil:
			h.names = append(h.names, ip.String())
		case !hostName.MatchString(name):
			return nil, fmt.Errorf("%q is not a host name such as chat.example.com or *.example.com (no scheme, no port)", name)
		case strings.HasPrefix(name, "*."):
			h.domains = append(h.domains, name[1:])
		default:
			h.names = append(h.names, name)
		}
	}
	return h, nil
}

// Named reports whether other names than localhost are allowed.
func (h *Hosts) Named() bool { return h.any || len(h.domains) > 0 || len(h.names) > 1 }

// Allow reports whether a request with this Host header may be answered. Without a host
// (HTTP/1.0) the request is not from a browser, so it may.
func (h *Hosts) Allow(host string) bool {
	if host == "" || h.any {
		return true
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
	if ip, err := netip.ParseAddr(host); err == nil {
		return h.addresses || ip.Unmap().IsLoopback() || slices.Contains(h.names, ip.String())
	}
	return slices.Contains(h.names, host) ||
		slices.ContainsFunc(h.domains, func(domain string) bool { return strings.HasSuffix(host, domain) })
}

// Handler answers requests for other hosts with 421 (RFC 9110, section 15.5.20).
func (h *Hosts) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !h.Allow(r.Host) {
			http.Error(w, "This server does not answer for this host. ALLOWED_HOSTS can allow it.", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}
