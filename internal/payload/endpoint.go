package payload

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/converter"

	"github.com/palaver-chat/palaver/internal/guard"
)

// Path is the path of the endpoint. Temporal's Web UI and command line append /decode and
// /encode.
const Path = "/codec"

// maxBody is more than a page of the Web UI sends: a server accepts payloads of up to 2 MB.
const maxBody = 8 << 20

// writeTimeout limits a whole response.
const writeTimeout = 30 * time.Second

// Endpoint is Temporal's remote codec: it decrypts payloads for operators.
type Endpoint struct {
	Keys    *Keys
	Token   string   // empty: programs on the same host need none, and others get nothing
	Exposed bool     // clients of other hosts reach the endpoint, so that nobody is served without a Token
	Origins []string // of Temporal's Web UI, as browsers send them
}

// Handler serves the endpoint below Path.
func (e Endpoint) Handler() http.Handler {
	codec := converter.NewPayloadCodecHTTPHandler(e.Keys)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout)) // writers in tests have none
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Vary", "Origin")
		if origin := r.Header.Get("Origin"); origin != "" {
			if !slices.Contains(e.Origins, origin) {
				http.Error(w, "Only Temporal's Web UI may ask from a browser: name it in TEMPORAL_UI_ORIGIN.", http.StatusForbidden)
				return
			}
			w.Header().Set("Access-Control-Allow-Origin", origin)
			w.Header().Set("Access-Control-Allow-Credentials", "true")
			if r.Method == http.MethodOptions { // a preflight, which carries no credentials
				w.Header().Set("Access-Control-Allow-Methods", http.MethodPost)
				w.Header().Set("Access-Control-Allow-Headers", "authorization, content-type, x-namespace")
				w.Header().Set("Access-Control-Max-Age", "600")
				w.WriteHeader(http.StatusNoContent)
				return
			}
		}
		if !e.allow(r) {
			// A browser that opens Path asks for the password; the Web UI's requests carry it
			// from then on. Requests of the Web UI itself get no challenge: the password prompt
			// would block the whole Web UI.
			if e.Token != "" && r.Header.Get("Origin") == "" {
				w.Header().Set("WWW-Authenticate", `Basic realm="Palaver's payloads", charset="UTF-8"`)
			}
			http.Error(w, "This is for operators: send CODEC_TOKEN as a bearer token or as the password.", http.StatusUnauthorized)
			return
		}
		if r.Method == http.MethodGet && r.URL.Path == Path {
			_, _ = w.Write([]byte("You are signed in. Temporal's Web UI can decrypt payloads in this browser now.\n"))
			return
		}
		if r.URL.Path != Path+"/decode" && r.URL.Path != Path+"/encode" {
			http.NotFound(w, r)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		codec.ServeHTTP(w, r)
	})
}

func (e Endpoint) allow(r *http.Request) bool {
	if e.Token == "" {
		return !e.Exposed && guard.Local(r) // a proxy on this host may forward requests without a header
	}
	scheme, sent, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	sent = strings.TrimSpace(sent)
	if _, password, basic := r.BasicAuth(); basic {
		scheme, sent = "Bearer", password
	}
	got, want := sha256.Sum256([]byte(sent)), sha256.Sum256([]byte(e.Token)) // digests: the time taken reveals nothing
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(got[:], want[:]) == 1
}
