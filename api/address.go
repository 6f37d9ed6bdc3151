package api

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Values of Config.ForwardedFor: which address of X-Forwarded-For is the client's
// when a trusted proxy sent the header.
const (
	Leftmost           = "leftmost"            // the proxy must overwrite the header
	RightmostUntrusted = "rightmost-untrusted" // the last one that is not a trusted proxy's own
)

// clientAddress returns the client's address: the peer's, or the one that a trusted
// proxy names in X-Forwarded-For. It ignores the header of other peers, and a header
// that cannot be parsed.
func (s *server) clientAddress(r *http.Request) netip.Addr {
	peer := parseAddress(r.RemoteAddr)
	if !s.trusted(peer) {
		return peer
	}
	var named []string
	for _, header := range r.Header.Values("X-Forwarded-For") {
		named = append(named, strings.Split(header, ",")...)
	}
	if len(named) == 0 {
		return peer
	}
	if s.Config.ForwardedFor == RightmostUntrusted {
		return s.rightmostUntrusted(peer, named)
	}
	if client := parseAddress(named[0]); client.IsValid() {
		return client
	}
	return peer
}

func (s *server) rightmostUntrusted(client netip.Addr, named []string) netip.Addr {
	for i := len(named) - 1; i >= 0 && s.trusted(client); i-- {
		before := parseAddress(named[i])
		if !before.IsValid() {
			break
		}
		client = before
	}
	return client
}

func (s *server) trusted(a netip.Addr) bool {
	for _, p := range s.Config.TrustedProxies {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// parseAddress reads an address with or without a port. It returns the zero Addr for
// other text.
func parseAddress(text string) netip.Addr {
	text = strings.TrimSpace(text)
	if host, _, err := net.SplitHostPort(text); err == nil {
		text = host
	}
	a, err := netip.ParseAddr(strings.Trim(text, "[]"))
	if err != nil {
		return netip.Addr{}
	}
	return a.Unmap().WithZone("")
}

// rateLimitPrefix returns the network that is limited as one client: the /64 of an
// IPv6 address, because one client has all of it; else the address.
func rateLimitPrefix(a netip.Addr) string {
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.String()
		}
	}
	return a.String()
}
