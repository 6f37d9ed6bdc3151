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
	Leftmost           = "leftmost"            // S1: the proxy must overwrite the header
	RightmostUntrusted = "rightmost-untrusted" // the last one that is not a trusted proxy's own
)

// clientAddress is where a request really comes from: its peer, or whom a
// trusted proxy names. Anybody else's X-Forwarded-For is a claim and counts for
// nothing; so does one that cannot be read.
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

// parseAddress reads an address with or without a port; the zero Addr when it is
// none.
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

// household is what an address counts as: an IPv6 client has a /64 of its own.
func household(a netip.Addr) string {
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.String()
		}
	}
	return a.String()
}
