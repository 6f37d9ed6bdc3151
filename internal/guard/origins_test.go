package guard

import (
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOnlyOriginsAsBrowsersWriteThemAreAccepted(t *testing.T) {
	for _, good := range []string{"https://app.example.com", "http://localhost:5173", "http://127.0.0.1:8080", "https://[::1]:8443", "https://app.example.com:8443", "https://xn--bcher-kva.example"} {
		o, err := ParseOrigins(" " + good + ", ")
		require.NoError(t, err)
		require.Equal(t, Origins{good}, o)
	}
	for _, bad := range []string{
		"*", "null", "https://*", "https://*.example.com", "app.example.com", "ftp://app.example.com", "file://", "https://",
		"https://app.example.com/", "https://app.example.com/path", "https://app.example.com?q", "https://app.example.com#f", "https://user@app.example.com",
		"https://App.example.com", "HTTPS://app.example.com", "https://app.example.com:443", "http://app.example.com:80", "https://app.example.com:", "https://app.example.com:08443",
		"https://app.example.com:x", "https://bücher.example", "https://[::1%25eth0]", "https://[0:0:0:0:0:0:0:1]", "https://exa mple.com/x",
	} {
		_, err := ParseOrigins("https://good.example," + bad)
		require.Error(t, err, bad)
	}
}

func TestPagesOfThisServerAreNotForeign(t *testing.T) {
	o := Origins{"https://app.example.com", "https://chat.example.com"}
	for _, c := range []struct {
		origin, site string
		want         bool
	}{
		{"", "", false},
		{"https://other.example", "cross-site", false}, // not listed: the rules for other sites hold
		{"https://app.example.com", "", true},
		{"https://app.example.com", "same-site", true},
		{"https://app.example.com", "cross-site", true},
		{"https://chat.example.com", "", false},
		{"https://chat.example.com", "same-origin", false},
		{"https://chat.example.com", "same-site", true}, // another port of a proxy that drops it from Host
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = "chat.example.com"
		r.Header.Set("Sec-Fetch-Site", c.site)
		r.Header.Set("Origin", c.origin)
		require.Equal(t, c.want, o.Foreign(r), "%+v", c)
	}
}
