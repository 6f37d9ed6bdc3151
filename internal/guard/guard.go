// Package guard makes HTTP clients for requests whose target a person, a document or a model
// can choose (SSRF protection). They connect only to public addresses and to those that the
// operator allows.
//
// The address is checked when a connection is opened, after the name was resolved. So the
// check also covers names that resolve differently later (DNS rebinding) and redirects to
// internal addresses.
package guard

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

// Refused is the error of a connection that the guard did not allow. HTTP clients wrap it.
type Refused struct{ Address netip.Addr }

func (r *Refused) Error() string {
	return "the address " + r.Address.String() + " is not a public one; ALLOW_PRIVATE_ADDRESSES can allow it"
}

// ErrRedirect is the error of a redirect that is not followed.
var ErrRedirect = errors.New("the redirect is not followed")

// Guard decides which addresses are allowed. Safe for concurrent use.
type Guard struct {
	guardian *ssrf.Guardian
	allowed  []netip.Prefix // the operator's own networks
}

// New makes a guard that allows public addresses and the given prefixes.
func New(allowed []netip.Prefix) *Guard {
	var v4, v6 []netip.Prefix
	for _, p := range allowed {
		if p.Addr().Is4() {
			v4 = append(v4, p.Masked())
		} else {
			v6 = append(v6, p.Masked())
		}
	}
	return &Guard{ssrf.New(ssrf.WithAnyPort(), ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...)), allowed}
}

// ParsePrefixes reads ALLOW_PRIVATE_ADDRESSES: addresses and networks, separated by commas or
// blanks.
func ParsePrefixes(list string) ([]netip.Prefix, error) {
	var all []netip.Prefix
	for _, word := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' }) {
		p, err := netip.ParsePrefix(word)
		if err != nil {
			a, failed := netip.ParseAddr(word)
			if failed != nil || a.Zone() != "" {
				return nil, fmt.Errorf("%q is neither an address nor a network such as 10.0.0.0/8", word)
			}
			p = netip.PrefixFrom(a, a.BitLen())
		}
		if p.Addr().Is4In6() {
			return nil, fmt.Errorf("%q must be written as an IPv4 network", word)
		}
		all = append(all, p.Masked())
	}
	return all, nil
}

// Check returns a *Refused for an address that is not allowed.
func (g *Guard) Check(a netip.Addr) error {
	a = a.Unmap().WithZone("")
	if g.guardian.SafeAddr(a) != nil {
		return &Refused{a}
	}
	if ssrf.IPv6NAT64Prefix.Contains(a) { // the library allows the network, but the embedded IPv4 address counts
		b := a.As16()
		return g.Check(netip.AddrFrom4([4]byte(b[12:])))
	}
	return nil
}

// control is called with the resolved address before a connection is opened.
func (g *Guard) control(network, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || network != "tcp4" && network != "tcp6" {
		return fmt.Errorf("guard: %s %q cannot be checked", network, address)
	}
	return g.Check(to.Addr())
}

// CheckURL returns an error for a URL that is not http or https with a host, or that holds a
// password, which would end up in logs.
func CheckURL(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("only http and https addresses can be used")
	case u.Hostname() == "":
		return errors.New("the address has no host")
	case u.User != nil:
		return errors.New("the address must not hold a user name or password")
	}
	return nil
}

const (
	dialTimeout  = 10 * time.Second
	maxRedirects = 5
)

// Transport connects to allowed addresses. It ignores proxies from the environment, because
// the guard could not check their connections. Callers limit time and body sizes.
func (g *Guard) Transport() *http.Transport { return transport(&net.Dialer{Control: g.control}) }

func transport(d *net.Dialer) *http.Transport {
	d.Timeout, d.KeepAlive = dialTimeout, 30*time.Second
	return &http.Transport{
		DialContext:            d.DialContext,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    dialTimeout,
		IdleConnTimeout:        90 * time.Second,
		MaxIdleConns:           100,
		MaxIdleConnsPerHost:    10,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// Client returns a client with its own Transport. It follows a few redirects, never from https
// to http.
func (g *Guard) Client() *http.Client {
	return &http.Client{Transport: checkedTransport{g.Transport()}, CheckRedirect: redirect}
}

// checked refuses URLs that CheckURL refuses, including those of redirects.
type checkedTransport struct{ http.RoundTripper }

func (c checkedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := CheckURL(r.URL); err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, err
	}
	return c.RoundTripper.RoundTrip(r)
}

// CloseIdleConnections lets http.Client close idle connections.
func (c checkedTransport) CloseIdleConnections() {
	if t, ok := c.RoundTripper.(*http.Transport); ok {
		t.CloseIdleConnections()
	}
}

func redirect(r *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects || via[len(via)-1].URL.Scheme == "https" && r.URL.Scheme != "https" {
		return ErrRedirect
	}
	r.Header.Del("Referer") // it would tell the address, with its query, to another host
	return nil
}
