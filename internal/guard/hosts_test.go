package guard_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/internal/guard"
	"github.com/palaver-chat/palaver/testkit/must"
)

func TestOnlyNamesOfThisServerAreAnswered(t *testing.T) {
	always := map[string]bool{
		"localhost": true, "localhost:8080": true, "LOCALHOST.:8080": true, "127.0.0.1": true, "127.8.9.10:80": true,
		"[::1]:8080": true, "[::1]": true, "[::ffff:127.0.0.1]:8080": true, "": true,
		"evil.example": false, "evil.example:8080": false, "localhost.evil.example": false, "evil-localhost": false,
		"127.0.0.1.evil.example:8080": false, "a@localhost": false, "localhost:8080:80": false,
	}
	for name, c := range map[string]struct {
		listen, allowed string
		hosts           map[string]bool
	}{
		"on loopback":           {listen: "127.0.0.1", hosts: map[string]bool{"192.0.2.7:8080": false, "0.0.0.0:8080": false}},
		"by name":               {listen: "Chat.internal", hosts: map[string]bool{"chat.internal:8080": true, "192.0.2.7": true, "internal": false}},
		"on all interfaces":     {listen: "0.0.0.0", hosts: map[string]bool{"192.0.2.7:8080": true, "[2001:db8::1]:8080": true, "chat.example.com": false}},
		"with names":            {listen: "::", allowed: "chat.example.com, B.example.com", hosts: map[string]bool{"chat.example.com": true, "CHAT.example.com.:443": true, "b.example.com": true, "x.chat.example.com": false, "example.com": false}},
		"with a domain":         {listen: "127.0.0.1", allowed: "*.example.com", hosts: map[string]bool{"a.example.com": true, "a.b.example.com:1": true, "example.com": false, "aexample.com": false}},
		"with an address":       {listen: "127.0.0.1", allowed: "192.0.2.7", hosts: map[string]bool{"192.0.2.7:8080": true, "192.0.2.8:8080": false}},
		"an unset address":      {hosts: map[string]bool{"192.0.2.7:8080": false}},
		"the name of loopback":  {listen: "localhost", hosts: map[string]bool{"192.0.2.7:8080": false}},
		"an empty list of name": {listen: "127.0.0.1", allowed: " , ", hosts: nil},
	} {
		t.Run(name, func(t *testing.T) {
			h := must.Have(guard.NewHosts(c.listen, c.allowed))(t)
			for _, hosts := range []map[string]bool{always, c.hosts} {
				for host, want := range hosts {
					require.Equal(t, want, h.Allow(host), host)
				}
			}
		})
	}
	h := must.Have(guard.NewHosts("127.0.0.1", "*"))(t)
	require.True(t, h.Allow("evil.example"))
}

func TestNamedReportsWhetherOtherNamesThanLocalhostAreAllowed(t *testing.T) {
	for _, c := range []struct {
		listen, allowed string
		named           bool
	}{
		{"127.0.0.1", "", false}, {"localhost", "", false}, {"0.0.0.0", "", false}, {"", " , ", false},
		{"chat.internal", "", true}, {"127.0.0.1", "chat.example.com", true}, {"127.0.0.1", "*.example.com", true}, {"127.0.0.1", "*", true},
	} {
		h := must.Have(guard.NewHosts(c.listen, c.allowed))(t)
		require.Equal(t, c.named, h.Named(), "%q %q", c.listen, c.allowed)
	}
}

func TestAllowedHostsAreNames(t *testing.T) {
	for _, allowed := range []string{"https://chat.example.com", "chat.example.com:443", "*.", "a/b", "chat.*.com", "-a", "é.example"} {
		_, err := guard.NewHosts("127.0.0.1", allowed)
		require.ErrorContains(t, err, "is not a host name", allowed)
	}
}

func TestRequestForAnotherHostIsMisdirected(t *testing.T) {
	h := must.Have(guard.NewHosts("127.0.0.1", ""))(t)
	handler := h.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	for url, want := range map[string]int{"http://localhost/": http.StatusNoContent, "http://evil.example/": http.StatusMisdirectedRequest} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, url, nil))
		require.Equal(t, want, w.Code)
	}
}

func FuzzHost(f *testing.F) {
	for _, s := range []string{"localhost:80", "[::1]", "a.example.com", ":::", "[", "127.0.0.1."} {
		f.Add(s)
	}
	h, err := guard.NewHosts("127.0.0.1", "*.example.com")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(_ *testing.T, host string) { h.Allow(host) })
}
