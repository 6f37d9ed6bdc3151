package identity

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/internal/guard"
)

// Values of Config.ForwardedFor: which address of X-Forwarded-For is the client's
// when a trusted proxy sent the header.
const (
	RightmostUntrusted = "rightmost-untrusted" // the last one that is not a trusted proxy's own
	Leftmost           = "leftmost"            // the proxy must overwrite the header
)

// clientAddress returns the client's address: the peer's, or the one that a trusted
// proxy names in X-Forwarded-For. It ignores the header of other peers, and a header
// that cannot be parsed.
func (cfg Config) clientAddress(r *http.Request) netip.Addr {
	peer := parseAddress(r.RemoteAddr)
	if !cfg.trusted(peer) {
		return peer
	}
	var named []string
	for _, header := range r.Header.Values("X-Forwarded-For") {
		named = append(named, strings.Split(header, ",")...)
	}
	if len(named) == 0 {
		return peer
	}
	if cfg.ForwardedFor != Leftmost {
		return cfg.rightmostUntrusted(peer, named)
	}
	if client := parseAddress(named[0]); client.IsValid() {
		return client
	}
	return peer
}

func (cfg Config) rightmostUntrusted(client netip.Addr, named []string) netip.Addr {
	for i := len(named) - 1; i >= 0 && cfg.trusted(client); i-- {
		before := parseAddress(named[i])
		if !before.IsValid() {
			break
		}
		client = before
	}
	return client
}

// byHTTPS reports whether the client's connection is encrypted: the connection to us or,
// if a trusted proxy says so in X-Forwarded-Proto, the connection to the proxy. Of several
// proxies the first one counts.
func (cfg Config) byHTTPS(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	scheme, _, _ := strings.Cut(r.Header.Get("X-Forwarded-Proto"), ",")
	return strings.EqualFold(strings.TrimSpace(scheme), "https") && cfg.trusted(parseAddress(r.RemoteAddr))
}

// HTTPS reports whether the client reaches Palaver by an encrypted connection.
func (i *Identifier) HTTPS(r *http.Request) bool { return i.byHTTPS(r) }

// logUntrustedProxy logs the first request with a proxy's headers whose sender is not
// in TRUSTED_PROXIES. Behind such a proxy all clients would share one address, and its
// limits.
func (i *Identifier) logUntrustedProxy(r *http.Request) {
	if !guard.Forwarded(r) || i.trusted(parseAddress(r.RemoteAddr)) {
		return
	}
	i.proxyLogged.Do(func() {
		i.log.Warn("proxy headers ignored: the sender is not in TRUSTED_PROXIES; all clients of this proxy count as one address",
			"peer", parseAddress(r.RemoteAddr).String())
	})
}

func (cfg Config) trusted(a netip.Addr) bool {
	return slices.ContainsFunc(cfg.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(a) })
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
