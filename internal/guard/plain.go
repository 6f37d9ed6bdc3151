package guard

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
)

// NotEncrypted is the error of a plain HTTP connection to an address outside the operator's
// networks.
type NotEncrypted struct{ Address netip.Addr }

func (n *NotEncrypted) Error() string {
	return "the address " + n.Address.String() + " is not in ALLOW_PRIVATE_ADDRESSES; it can be reached by https only"
}

// EncryptedTransport is Transport for requests that carry secrets: outside the operator's networks
// it uses https only.
func (g *Guard) EncryptedTransport() *Encrypted {
	return &Encrypted{tls: g.Transport(), plain: transport(&net.Dialer{Control: g.controlPlain})}
}

// Encrypted is a RoundTripper of EncryptedTransport.
type Encrypted struct{ tls, plain *http.Transport }

func (e *Encrypted) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme == "https" {
		return e.tls.RoundTrip(r)
	}
	return e.plain.RoundTrip(r)
}

// CloseIdleConnections closes connections that no request uses.
func (e *Encrypted) CloseIdleConnections() {
	e.tls.CloseIdleConnections()
	e.plain.CloseIdleConnections()
}

// controlPlain is control for connections without encryption.
func (g *Guard) controlPlain(network, address string, c syscall.RawConn) error {
	if err := g.control(network, address, c); err != nil {
		return err
	}
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("guard: %q cannot be checked", address)
	}
	a := to.Addr().Unmap().WithZone("")
	for _, p := range g.allowed {
		if p.Contains(a) {
			return nil
		}
	}
	return &NotEncrypted{a}
}
