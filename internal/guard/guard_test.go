package guard

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/palaver-chat/palaver/testkit/must"
)

func prefixes(t testing.TB, list string) []netip.Prefix {
	t.Helper()
	p := must.Have(ParsePrefixes(list))(t)
	return p
}

// internalAddresses must never be reached, each for another reason.
var internalAddresses = []string{
	"127.0.0.1", "127.8.9.10", "::1", "0.0.0.0", "0.1.2.3", "::", // this host
	"10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fc00::1", "fd12:3456::1", "fec0::1", // private
	"169.254.1.1", "fe80::1", "fe80::1%eth0", // link-local
	"169.254.169.254", "fd00:ec2::254", "100.100.100.200", // metadata services
	"100.64.0.1",                              // shared between a provider's customers
	"224.0.0.1", "239.255.255.255", "ff02::1", // multicast
	"240.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1", "2001:db8::1", // reserved
	"::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", // IPv4 written as IPv6
	"64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", // through NAT64
	"2002:7f00:1::", "2001:0:7f00:1::", "::127.0.0.1", // through a tunnel, or an old spelling
}

func TestOnlyPublicAddressesAreAllowed(t *testing.T) {
	g := New(nil)
	for _, a := range internalAddresses {
		err := g.Check(netip.MustParseAddr(a))
		require.ErrorAs(t, err, new(*Refused), a)
	}
	for _, a := range []string{"1.1.1.1", "8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "::ffff:8.8.8.8"} {
		require.NoError(t, g.Check(netip.MustParseAddr(a)), a)
	}
}

func TestOnlyPrivateAddressesOfTheOperatorsListAreAllowed(t *testing.T) {
	g := New(prefixes(t, "10.1.0.0/16, 192.168.0.7 fd00::/8,64:ff9b::/96"))
	for _, a := range []string{"10.1.2.3", "::ffff:10.1.2.3", "192.168.0.7", "fd12::1", "64:ff9b::0808:0808", "64:ff9b::0a01:0203"} {
		require.NoError(t, g.Check(netip.MustParseAddr(a)), a)
	}
	for _, a := range []string{"10.2.0.1", "192.168.0.8", "127.0.0.1", "64:ff9b::7f00:1", "fe80::1"} {
		require.Error(t, g.Check(netip.MustParseAddr(a)), a)
	}
}

func TestParsePrefixesNamesTheInvalidEntry(t *testing.T) {
	require.Empty(t, prefixes(t, " , "))
	require.Equal(t, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}, prefixes(t, "10.9.9.9/8,::1"))
	for _, bad := range []string{"10.0.0.0/33", "localhost", "10.0.0", "fe80::1%eth0", "::ffff:10.0.0.0/104"} {
		_, err := ParsePrefixes("10.0.0.0/8," + bad)
		require.ErrorContains(t, err, bad)
	}
}

func TestConnectionIsRefusedWhenItIsOpened(t *testing.T) {
	asked := false
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer server.Close()
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	require.NoError(t, err)
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]"} {
		_, err := New(nil).Client().Get("http://" + net.JoinHostPort(strings.Trim(host, "[]"), port))
		var refused *Refused
		require.ErrorAs(t, err, &refused, host)
		require.ErrorContains(t, err, "ALLOW_PRIVATE_ADDRESSES")
	}
	require.False(t, asked)
	res := must.Have(New(prefixes(t, "127.0.0.0/8")).Client().Get(server.URL))(t)
	require.NoError(t, res.Body.Close())
	require.True(t, asked)
}

// A name can resolve to an allowed address first, and to an internal address later.
func TestDNSRebindingIsRefusedAtTheNextConnection(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	require.NoError(t, err)
	for _, inside := range [][4]byte{{127, 0, 0, 2}, {0, 0, 0, 0}, {169, 254, 169, 254}} {
		var address atomic.Value
		address.Store([4]byte{127, 0, 0, 1})
		g := New(prefixes(t, "127.0.0.1"))
		web := transport(&net.Dialer{Control: g.control, Resolver: &net.Resolver{PreferGo: true,
			Dial: func(context.Context, string, string) (net.Conn, error) { return names(t, &address), nil }}})
		web.DisableKeepAlives = true
		client := &http.Client{Transport: checkedTransport{web}}
		res := must.Have(client.Get("http://rebind.example:" + port))(t)
		require.NoError(t, res.Body.Close())
		address.Store(inside)
		_, err = client.Get("http://rebind.example:" + port)
		var refused *Refused
		require.ErrorAs(t, err, &refused)
		require.Equal(t, netip.AddrFrom4(inside), refused.Address)
	}
}

// names returns a connection to a name server that answers every name with the address.
func names(t *testing.T, address *atomic.Value) net.Conn {
	near, far := net.Pipe() // a stream: each message has its length before it
	go func() {
		defer far.Close()
		for {
			var size [2]byte
			if _, err := io.ReadFull(far, size[:]); err != nil {
				return
			}
			raw := make([]byte, binary.BigEndian.Uint16(size[:]))
			if _, err := io.ReadFull(far, raw); err != nil {
				return
			}
			var m dnsmessage.Message
			if err := m.Unpack(raw); err != nil {
				t.Error(err)
				return
			}
			m.Response, m.Additionals = true, nil
			if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
				m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}, Body: &dnsmessage.AResource{A: address.Load().([4]byte)}}}
			}
			out, err := m.AppendPack(make([]byte, 2))
			if err != nil {
				t.Error(err)
				return
			}
			binary.BigEndian.PutUint16(out, uint16(len(out)-2))
			if _, err := far.Write(out); err != nil {
				return
			}
		}
	}()
	return near
}

func TestRedirectsAreChecked(t *testing.T) {
	var to string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, to, http.StatusFound)
	}))
	defer server.Close()
	client := New(prefixes(t, "127.0.0.1")).Client()
	for _, to = range []string{"http://127.0.0.2:9/", "http://169.254.169.254/latest/meta-data", "http://[::ffff:10.0.0.1]/"} {
		_, err := client.Get(server.URL)
		require.ErrorAs(t, err, new(*Refused), to)
	}
	for _, to = range []string{"file:///etc/passwd", "ftp://1.1.1.1/", "http://user:word@127.0.0.1/", server.URL} {
		_, err := client.Get(server.URL)
		require.Error(t, err, to)
	}
	to = server.URL
	_, err := client.Get(server.URL)
	require.ErrorIs(t, err, ErrRedirect, "without end")
}

func TestRedirectNeverDowngradesToHTTP(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("asked in plain text") }))
	defer plain.Close()
	secure := httptest.NewTLSServer(http.RedirectHandler(plain.URL, http.StatusFound))
	defer secure.Close()
	g := New(prefixes(t, "127.0.0.1"))
	client := g.Client()
	internalAddresses := g.Transport()
	internalAddresses.TLSClientConfig = secure.Client().Transport.(*http.Transport).TLSClientConfig
	client.Transport = checkedTransport{internalAddresses}
	require.ErrorIs(t, must.ErrOf(client.Get(secure.URL)), ErrRedirect)
}

// A redirect must not learn the address that led to it: it may hold a secret.
func TestRedirectDoesNotTellWhereItCameFrom(t *testing.T) {
	var told []string
	target := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { told = r.Header.Values("Referer") }))
	defer target.Close()
	from := httptest.NewServer(http.RedirectHandler(target.URL, http.StatusFound))
	defer from.Close()
	res, err := New(prefixes(t, "127.0.0.1")).Client().Get(from.URL + "/file?key=secret")
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Empty(t, told)
}

func TestTheEnvironmentsProxyIsNotUsed(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	require.Nil(t, New(nil).Transport().Proxy)
}

// errDialled replaces a connection that the guard would have opened.
var errDialled = errors.New("dialled")

func FuzzNoURLReachesAnInternalAddress(f *testing.F) {
	for _, a := range internalAddresses {
		if !strings.Contains(a, "%") {
			f.Add("http://" + net.JoinHostPort(a, "80") + "/")
		}
	}
	for _, u := range []string{"http://2130706433/", "http://0x7f.1/", "http://127.1/", "http://0177.0.0.1", "https://1.1.1.1", "http://[fe80::1%25lo]/",
		"http://user:pw@127.0.0.1", "file:///etc/passwd", "http://", "http://127.0.0.1.", "http://①②⑦.⓪.⓪.①/", "http://[::]:80"} {
		f.Add(u)
	}
	g := New(nil)
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := url.Parse(raw)
		if err != nil {
			return
		}
		var reached string
		offline := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no names here") }}
		client := &http.Client{CheckRedirect: redirect, Transport: checkedTransport{transport(&net.Dialer{Resolver: offline,
			Control: func(network, address string, c syscall.RawConn) error {
				if err := g.control(network, address, c); err != nil {
					return err
				}
				reached = address
				return errDialled
			}})}}
		res, err := client.Get(u.String())
		if err == nil {
			_ = res.Body.Close()
			t.Fatal("nothing can answer here")
		}
		if reached == "" {
			return
		}
		a := netip.MustParseAddrPort(reached).Addr().Unmap()
		if a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast() || a.IsMulticast() || a.IsUnspecified() || !a.IsGlobalUnicast() {
			t.Fatalf("%q leads to %s", raw, reached)
		}
	})
}
