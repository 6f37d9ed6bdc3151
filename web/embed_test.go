package web

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func of(files fstest.MapFS) handler { return handler{files, &sync.Map{}} }

func built() handler {
	return of(fstest.MapFS{
		".gitkeep":               {},
		"index.html":             {Data: []byte("<!doctype html><title>page</title>")},
		"favicon.svg":            {Data: []byte("<svg/>")},
		"assets/index-abc123.js": {Data: []byte("export {}")},
		"diagram/frame.html":     {Data: []byte("<!doctype html>")},
	})
}

func get(h http.Handler, method, target string) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest(method, target, nil))
	return rec
}

func TestPathsAndTheirCaching(t *testing.T) {
	tests := []struct {
		name, method, target string
		status               int
		contentType, cache   string
	}{
		{"the page", "GET", "/", 200, "text/html; charset=utf-8", "no-cache"},
		{"the page by head", "HEAD", "/", 200, "text/html; charset=utf-8", "no-cache"},
		{"a conversation", "GET", "/chat/6f1c2a34-0000-4000-8000-000000000001", 200, "text/html; charset=utf-8", "no-cache"},
		{"a conversation to print", "GET", "/print/6f1c2a34-0000-4000-8000-000000000001", 200, "text/html; charset=utf-8", "no-cache"},
		{"a shared copy", "GET", "/s/ABCDEFGH234567", 200, "text/html; charset=utf-8", "no-cache"},
		{"below a shared copy", "GET", "/s/a/b", 404, "", ""},
		{"the list of boards", "GET", "/discovery", 200, "text/html; charset=utf-8", "no-cache"},
		{"a board", "GET", "/discovery/6f1c2a34-0000-4000-8000-000000000001", 200, "text/html; charset=utf-8", "no-cache"},
		{"a hashed file", "GET", "/assets/index-abc123.js", 200, "text/javascript; charset=utf-8", "public, max-age=31536000, immutable"},
		{"a plain file", "GET", "/favicon.svg", 200, "image/svg+xml", "public, max-age=3600"},
		{"an unknown file", "GET", "/assets/index-old.js", 404, "", ""},
		{"an unknown address", "GET", "/api/nothing", 404, "", ""},
		{"below a conversation", "GET", "/chat/a/b", 404, "", ""},
		{"no conversation", "GET", "/chat", 200, "text/html; charset=utf-8", "no-cache"},
		{"a conversation by its client's name", "GET", "/chat/support-42", 200, "text/html; charset=utf-8", "no-cache"},
		{"the page of administrators", "GET", "/admin", 200, "text/html; charset=utf-8", "no-cache"},
		{"below a board", "GET", "/discovery/a/b", 404, "", ""},
		{"a hidden file", "GET", "/.gitkeep", 404, "", ""},
		{"a way out", "GET", "/assets/../../etc/passwd", 404, "", ""},
		{"another method", "POST", "/", 405, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := get(built(), tt.method, tt.target)
			require.EqualValues(t, tt.status, res.Code, "status %d, want %d", res.Code, tt.status)
			if tt.status != 200 {
				return
			}
			assert.EqualValues(t, tt.contentType, res.Header().Get("Content-Type"), "content type")
			assert.EqualValues(t, tt.cache, res.Header().Get("Cache-Control"), "cache control")
		})
	}
}

func TestTheFrameOfDiagramsHasNoOriginAndOnlyThePageMayShowIt(t *testing.T) {
	header := get(built(), "GET", "/diagram/frame.html").Header()
	policy := header.Get("Content-Security-Policy")
	for _, rule := range []string{"default-src 'none'", "sandbox allow-scripts", "frame-ancestors 'self'"} {
		assert.Contains(t, policy, rule)
	}
	assert.Equal(t, "SAMEORIGIN", header.Get("X-Frame-Options"))
	assert.Empty(t, get(built(), "GET", "/").Header().Get("Content-Security-Policy"), "the page keeps the server's policy")
}

func TestABrowserAtAnUnknownAddressGetsThePageWithStatus404(t *testing.T) {
	for target, page := range map[string]bool{
		"/nothing": true, "/chat/a/b": true,
		"/api/nothing": false, "/api": false, "/assets/old": false, "/old.js": false, "/.gitkeep": false,
	} {
		req := httptest.NewRequest("GET", target, nil)
		req.Header.Set("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
		res := httptest.NewRecorder()
		built().ServeHTTP(res, req)
		assert.EqualValues(t, 404, res.Code, "%s: status %d", target, res.Code)
		assert.EqualValues(t, page, strings.HasPrefix(res.Header().Get("Content-Type"), "text/html"), target)
	}
}

func TestScriptsAreSentCompressed(t *testing.T) {
	script := strings.Repeat("export const answer = 42;\n", 1000)
	h := of(fstest.MapFS{"assets/index-abc123.js": {Data: []byte(script)}})
	for accepts, want := range map[string]string{"gzip, deflate, br, zstd": "gzip", "": "", "gzip;q=0, br": ""} {
		req := httptest.NewRequest("GET", "/assets/index-abc123.js", nil)
		req.Header.Set("Accept-Encoding", accepts)
		res := httptest.NewRecorder()
		h.ServeHTTP(res, req)
		if got := res.Header().Get("Content-Encoding"); res.Code != 200 || got != want || res.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("%q: %d, %v", accepts, res.Code, res.Header())
		}
		var body io.Reader = res.Body
		if want != "" {
			assert.True(t, res.Body.Len() <= len(script)/10, "%q: %d bytes", accepts, res.Body.Len())
			packed, err := gzip.NewReader(res.Body)
			require.NoError(t, err)
			body = packed
		}
		if got, err := io.ReadAll(body); err != nil || string(got) != script {
			t.Errorf("%q: %d bytes, %v", accepts, len(got), err)
		}
		assert.EqualValues(t, forGood, res.Header().Get("Cache-Control"), accepts)
	}
}

func TestWhatTheBuildHasCompressedIsSentToThoseWhoAcceptIt(t *testing.T) {
	h := of(fstest.MapFS{"assets/a.js": {Data: []byte("plain")}, "assets/a.js.br": {Data: []byte("brotli")}})
	get := func(path, accepts string) *httptest.ResponseRecorder {
		req := httptest.NewRequest("GET", path, nil)
		req.Header.Set("Accept-Encoding", accepts)
		res := httptest.NewRecorder()
		h.ServeHTTP(res, req)
		return res
	}
	res := get("/assets/a.js", "gzip, deflate, br")
	assert.True(t, res.Body.String() == "brotli" && res.Header().Get("Content-Encoding") == "br" && res.Header().Get("Content-Type") == "text/javascript; charset=utf-8", "%q, %v", res.Body, res.Header())
	assert.EqualValues(t, "gzip", get("/assets/a.js", "gzip").Header().Get("Content-Encoding"), "encoding")
	assert.EqualValues(t, "plain", get("/assets/a.js", "").Body.String())
	assert.EqualValues(t, 404, get("/assets/a.js.br", "br").Code, "status")
}

func TestABinaryWithoutThePageSaysSo(t *testing.T) {
	res := get(of(fstest.MapFS{".gitkeep": {}}), "GET", "/")
	require.True(t, res.Code == http.StatusServiceUnavailable && strings.Contains(res.Body.String(), "has not been built"), "got %d %q", res.Code, res.Body.String())
}

func TestTheEmbeddedDirectoryIsServed(t *testing.T) {
	res := get(Handler(), "GET", "/")
	require.False(t, res.Code != http.StatusOK && res.Code != http.StatusServiceUnavailable, "status %d, want the page or the note that it is not built", res.Code)
	require.True(t, strings.Contains(res.Body.String(), "Palaver"), "body %q names no Palaver", res.Body.String())
}
