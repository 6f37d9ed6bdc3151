package identity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"golang.org/x/time/rate"
)

// maxMetadata limits a provider's documents, in bytes.
const maxMetadata = 1 << 20

// Endpoints are what a provider says about itself (OpenID Connect Discovery).
type Endpoints struct {
	Issuer        string `json:"issuer"`
	Authorization string `json:"authorization_endpoint"`
	Token         string `json:"token_endpoint"`
	EndSession    string `json:"end_session_endpoint"` // empty: none
	Keys          string `json:"jwks_uri"`
}

// provider is an OpenID Connect provider. As a transport it answers each request for keys
// with those that its newest metadata name.
type provider struct {
	issuer string
	client *http.Client
	found  atomic.Pointer[Endpoints] // newest
	again  *rate.Limiter             // of tries to find it that no token caused
}

func newProvider(issuer string) *provider {
	return &provider{issuer: issuer, client: &http.Client{Timeout: KeysTimeout}, again: rate.NewLimiter(rate.Every(keysRefetchInterval), 1)}
}

func (p *provider) metadataURL() string {
	return strings.TrimRight(p.issuer, "/") + "/.well-known/openid-configuration"
}

// endpoints returns the newest metadata; nil while there are none. Then it tries to read
// them, without waiting.
func (p *provider) endpoints() *Endpoints {
	found := p.found.Load()
	if found == nil && p.again.Allow() {
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), KeysTimeout)
			defer cancel()
			_, _ = p.discover(ctx) // the error is logged with the next fetch of the keys
		}()
	}
	return found
}

func (p *provider) discover(ctx context.Context) (*Endpoints, error) {
	res, err := p.get(ctx, p.metadataURL())
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the provider's metadata: %s", res.Status)
	}
	var e Endpoints
	if err := json.NewDecoder(res.Body).Decode(&e); err != nil {
		return nil, fmt.Errorf("the provider's metadata: %w", err)
	}
	if e.Issuer != p.issuer {
		return nil, fmt.Errorf("the provider calls itself %q", e.Issuer)
	}
	for _, address := range []string{e.Authorization, e.Token, e.Keys} {
		if err := p.checkEndpoint(address); err != nil {
			return nil, err
		}
	}
	if e.EndSession != "" && p.checkEndpoint(e.EndSession) != nil {
		e.EndSession = ""
	}
	p.found.Store(&e)
	return &e, nil
}

// checkEndpoint refuses an address without encryption, unless the issuer has none.
func (p *provider) checkEndpoint(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || strings.ContainsAny(address, " ;,'\"") || u.Scheme != "https" && (u.Scheme != "http" || strings.HasPrefix(p.issuer, "https:")) {
		return errors.New("the provider's metadata lack an endpoint, or it does not use https")
	}
	return nil
}

func (p *provider) get(ctx context.Context, address string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	res, err := p.client.Do(r)
	if err == nil {
		res.Body = limitedBody{io.LimitReader(res.Body, maxMetadata), res.Body}
	}
	return res, err
}

type limitedBody struct {
	io.Reader
	io.Closer
}

// RoundTrip fetches the provider's keys.
func (p *provider) RoundTrip(r *http.Request) (*http.Response, error) {
	e, err := p.discover(r.Context())
	if err != nil {
		return nil, err
	}
	return p.get(r.Context(), e.Keys)
}
