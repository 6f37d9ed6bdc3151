package docker

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestOverlayPublishesCaddyOnlyAndHasPalaverTrustItsAddress(t *testing.T) {
	p := withTLS(t, nil)
	require.Empty(t, p.Services["api"].Ports, "browsers must connect through Caddy")
	var published []string
	for _, port := range p.Services["caddy"].Ports {
		published = append(published, port.Published+"/"+port.Protocol)
	}
	require.ElementsMatch(t, []string{"80/tcp", "443/tcp", "443/udp"}, published)
	address := p.Services["caddy"].Networks["default"].Ipv4Address
	api := p.Services["api"].Environment
	require.Equal(t, address, *api["TRUSTED_PROXIES"])
	require.Equal(t, "rightmost-untrusted", *api["XFF"])
	require.Equal(t, "chat.example.com", *api["ALLOWED_HOSTS"])
	require.Equal(t, "chat.example.com", *p.Services["caddy"].Environment["PALAVER_HOST"])
	pool := p.Networks["default"].Ipam.Config[0]
	require.True(t, netip.MustParsePrefix(pool.Subnet).Contains(netip.MustParseAddr(address)))
	require.False(t, netip.MustParsePrefix(pool.IPRange).Contains(netip.MustParseAddr(address)), "no other container may get Caddy's address")
	require.Contains(t, p.Volumes, "caddy", "certificates must be kept")

	moved := withTLS(t, map[string]string{"PALAVER_NETWORK": "10.9.8", "ALLOWED_HOSTS": "*.example.com"})
	require.Equal(t, "10.9.8.10", *moved.Services["api"].Environment["TRUSTED_PROXIES"])
	require.Equal(t, "10.9.8.0/24", moved.Networks["default"].Ipam.Config[0].Subnet)
	require.Equal(t, "*.example.com", *moved.Services["api"].Environment["ALLOWED_HOSTS"])
	_, err := load(t, nil, "docker-compose.tls.yml")
	require.ErrorContains(t, err, "PALAVER_HOST")
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}

// startCaddy runs Caddy with the Caddyfile in front of an API. Caddy has a certificate for
// localhost from its own authority. It returns Caddy's URL and a client that trusts the
// authority.
func startCaddy(t *testing.T, api string) (url string, client *http.Client) {
	t.Helper()
	program, err := exec.LookPath("caddy")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("Caddy is missing: scripts/caddy installs it")
		}
		t.Skip("needs caddy (Debian: apt-get install caddy)")
	}
	file, err := filepath.Abs("caddy/Caddyfile")
	require.NoError(t, err)
	folder, https := t.TempDir(), freePort(t)
	config := filepath.Join(folder, "Caddyfile")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil,
		"{\n\tadmin off\n\thttp_port %d\n\thttps_port %d\n\tskip_install_trust\n\tstorage file_system %s\n}\nimport %s\n", freePort(t), https, folder, file), 0o600))
	host := fmt.Sprintf("localhost:%d", https)
	caddy := exec.CommandContext(t.Context(), program, "run", "--adapter", "caddyfile", "--config", config)
	caddy.Env = append(os.Environ(), "PALAVER_HOST="+host, "PALAVER_API="+strings.TrimPrefix(api, "http://"), "HOME="+folder, "XDG_CONFIG_HOME="+folder, "XDG_DATA_HOME="+folder)
	log := filepath.Join(folder, "log")
	out, err := os.Create(log)
	require.NoError(t, err)
	caddy.Stdout, caddy.Stderr = out, out
	require.NoError(t, caddy.Start())
	t.Cleanup(func() {
		_ = caddy.Process.Kill()
		_ = caddy.Wait()
		if t.Failed() {
			text, _ := os.ReadFile(log)
			t.Log(string(text))
		}
	})
	require.Eventually(t, func() bool {
		root, err := os.ReadFile(filepath.Join(folder, "pki/authorities/local/root.crt"))
		if err != nil {
			return false
		}
		known := x509.NewCertPool()
		known.AppendCertsFromPEM(root)
		client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: known}}}
		response, err := client.Get("https://" + host + "/ready")
		if err != nil {
			return false
		}
		return response.Body.Close() == nil
	}, time.Minute, 50*time.Millisecond)
	return "https://" + host, client
}

func TestCaddyTellsTheAPIWhoTheClientIsAndDoesNotBufferStreams(t *testing.T) {
	received, left, proceed := make(chan *http.Request, 1), make(chan struct{}), make(chan struct{})
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/stream" {
			return
		}
		received <- r
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte("data: one\n\n"))
		_ = http.NewResponseController(w).Flush()
		<-proceed
		_, _ = w.Write([]byte("data: two\n\n"))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(left)
	}))
	defer api.Close()
	url, client := startCaddy(t, api.URL)

	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/stream", nil)
	require.NoError(t, err)
	for name, value := range map[string]string{"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "http", "X-Forwarded-Host": "evil.example.com", "Origin": url, "Sec-Fetch-Site": "same-origin"} {
		request.Header.Set(name, value) // claimed by the client
	}
	response, err := client.Do(request)
	require.NoError(t, err)
	require.Contains(t, response.Header.Get("Strict-Transport-Security"), "max-age")
	lines := bufio.NewScanner(response.Body)
	require.True(t, lines.Scan())
	require.Equal(t, "data: one", lines.Text(), "the first event must arrive before the response continues")
	close(proceed)
	require.True(t, lines.Scan())
	require.True(t, lines.Scan())
	require.Equal(t, "data: two", lines.Text())

	r := <-received
	require.Contains(t, []string{"127.0.0.1", "::1"}, r.Header.Get("X-Forwarded-For"), "overwritten")
	require.Equal(t, "https", r.Header.Get("X-Forwarded-Proto"), "overwritten")
	require.Equal(t, strings.TrimPrefix(url, "https://"), r.Host)
	require.Equal(t, url, r.Header.Get("Origin"))
	require.Equal(t, "same-origin", r.Header.Get("Sec-Fetch-Site"))

	require.NoError(t, response.Body.Close())
	select {
	case <-left: // the API can free the stream's slot
	case <-time.After(time.Minute):
		t.Fatal("the API's stream continues after its client has disconnected")
	}
}
