package imports

import (
	"context"
	"net/http"
)

// Credentials has the access tokens of people who have connected an account at a source.
type Credentials interface {
	// Token returns an access token of owner that is valid now. ok is false, without an
	// error, when owner has connected no account.
	Token(ctx context.Context, owner string) (token string, ok bool, err error)
}

type bearerKey struct{}

// withBearer returns a context whose requests bearerTransport sends with a person's own
// access token.
func withBearer(ctx context.Context, token string) context.Context {
	return context.WithValue(ctx, bearerKey{}, token)
}

// bearerTransport adds the access token of a request's context to requests to one host. It
// passes others to next, which uses the access of the deployment.
type bearerTransport struct {
	host           string
	next, personal http.RoundTripper
}

func (t bearerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	token, _ := r.Context().Value(bearerKey{}).(string)
	if token == "" || r.URL.Host != t.host {
		return t.next.RoundTrip(r)
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+token)
	return t.personal.RoundTrip(r)
}
