// Package web holds the page: a React application, built into dist and
// embedded into the binary.
package web

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http/httpguts"
)

//go:embed all:dist
var dist embed.FS

// Handler serves the page at /, /embed, /chat, /chat/<id or name>, /print/<id>, /s/<token>, /discovery, /discovery/<id> and /admin, and its files below them. Files
// under /assets have a content hash in their names and are cached without a limit;
// the page itself is revalidated each time. Anything else is 404; a browser that was
// sent to such an address gets the page with it, which says so, but never for a path of
// the API. A binary built without the page answers / with
// 503. Responses are compressed for clients that accept it: with Brotli, as the build
// has done it, or gzip.
func Handler() http.Handler {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // only an invalid path can do this, and it is a constant
	}
	return handler{files, &sync.Map{}}
}

type handler struct {
	files  fs.FS
	packed *sync.Map // name → func() []byte
}

// pack compresses a file as well as it can be, once, when it is first asked for.
func (h handler) pack(name string, body []byte) []byte {
	packed, _ := h.packed.LoadOrStore(name, sync.OnceValue(func() []byte {
		var out bytes.Buffer
		w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
		if err != nil {
			panic(err) // only an invalid level can do this, and it is a constant
		}
		_, _ = w.Write(body) // a buffer takes everything
		_ = w.Close()
		return out.Bytes()
	}))
	return packed.(func() []byte)()
}

const (
	forGood   = "public, max-age=31536000, immutable"
	eachTime  = "no-cache"
	shortTime = "public, max-age=3600"
)

// diagramPolicy is that of the frame in which the page has diagrams drawn. The library
// writes styles, which the page's own policy forbids. The frame belongs to no origin and
// sends no requests.
const diagramPolicy = "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts"

// types are set by us: the system's table of MIME types differs between machines.
var types = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	name := strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/")
	isPage := name == "" || name == "index.html" || name == "chat" || name == "embed" || name == "discovery" || name == "admin" || below("chat/", name) || below("s/", name) || below("print/", name) || below("discovery/", name)
	_, unknown := fs.Stat(h.files, name)
	astray := !isPage && unknown != nil && asksForPage(r, name)
	if below("s/", name) { // a copy that somebody shares is for those who have the link
		w.Header().Set("X-Robots-Tag", "noindex, nofollow")
	}
	if isPage || astray {
		name = "index.html"
	}
	body, err := fs.ReadFile(h.files, name)
	switch {
	case err != nil && isPage:
		notBuilt(w)
		return
	case err != nil || strings.HasPrefix(path.Base(name), ".") || path.Ext(name) == ".br":
		http.NotFound(w, r)
		return
	case isPage || astray:
		w.Header().Set("Cache-Control", eachTime)
	case strings.HasPrefix(name, "assets/"):
		w.Header().Set("Cache-Control", forGood)
	default:
		w.Header().Set("Cache-Control", shortTime)
	}
	if t := types[path.Ext(name)]; t != "" {
		w.Header().Set("Content-Type", t)
		w.Header().Add("Vary", "Accept-Encoding")
		body = h.compressed(w, r, name, body)
	}
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if strings.HasPrefix(name, "diagram/") {
		w.Header().Set("Content-Security-Policy", diagramPolicy)
		w.Header().Set("X-Frame-Options", "SAMEORIGIN")
		w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin") // the frame has an origin of its own
	}
	if astray {
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write(body) // a disconnected client needs no answer
		return
	}
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(body))
}

// compressed returns a file as the client accepts it, and names the encoding.
func (h handler) compressed(w http.ResponseWriter, r *http.Request, name string, body []byte) []byte {
	accepts := func(encoding string) bool {
		return httpguts.HeaderValuesContainsToken(r.Header["Accept-Encoding"], encoding)
	}
	if accepts("br") {
		if packed, err := fs.ReadFile(h.files, name+".br"); err == nil {
			w.Header().Set("Content-Encoding", "br")
			return packed
		}
	}
	if !accepts("gzip") {
		return body
	}
	w.Header().Set("Content-Encoding", "gzip")
	return h.pack(name, body)
}

// asksForPage reports whether a person has opened the address: their browser asks for
// HTML, and the name is neither a file's nor one of the API.
func asksForPage(r *http.Request, name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return strings.Contains(r.Header.Get("Accept"), "text/html") && path.Ext(name) == "" && first != "api" && first != "assets"
}

// below reports whether name is an id in a folder.
func below(folder, name string) bool {
	id, ok := strings.CutPrefix(name, folder)
	return ok && id != "" && !strings.Contains(id, "/")
}

const notBuiltPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Palaver</title>
<h1>The page has not been built</h1>
<p>This binary was made without its page. The API works. To build the page, run <code>npm ci &amp;&amp; npm run build</code> in <code>web/</code> and build again, or use <code>make run</code>.</p>
`

func notBuilt(w http.ResponseWriter) {
	w.Header().Set("Content-Type", types[".html"])
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = w.Write([]byte(notBuiltPage)) // a disconnected client needs no answer
}
