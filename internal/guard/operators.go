package guard

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Operators decides who may read data about the whole process, such as its metrics:
// programs on the same host, and whoever has the token.
type Operators struct{ token string }

// NewOperators takes METRICS_TOKEN. If it is empty, only programs on the same host are
// allowed.
func NewOperators(token string) *Operators { return &Operators{token} }

// Allow reports whether a request comes from an operator.
func (o *Operators) Allow(r *http.Request) bool { return Local(r) || o.hasToken(r) }

// hasToken compares digests, so that the time taken reveals nothing about the token.
func (o *Operators) hasToken(r *http.Request) bool {
	scheme, sent, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	got, want := sha256.Sum256([]byte(strings.TrimSpace(sent))), sha256.Sum256([]byte(o.token))
	return o.token != "" && strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// Handler answers other requests with 403.
func (o *Operators) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !o.Allow(r) {
			http.Error(w, "This is for operators: send METRICS_TOKEN as a bearer token, or ask from the same host.", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Local reports whether a request comes from a program on this host. A request with a
// proxy's headers does not: the proxy may be local, but its client need not be.
func Local(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback() && !Forwarded(r)
}

// Forwarded reports whether the headers say that a proxy has forwarded a request.
func Forwarded(r *http.Request) bool {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Via"} {
		if _, is := r.Header[name]; is {
			return true
		}
	}
	return false
}
