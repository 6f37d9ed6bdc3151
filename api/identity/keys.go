package identity

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/time/rate"
)

// KeysTimeout limits one fetch of the keys; startup waits for the first one.
const KeysTimeout = 5 * time.Second

const (
	keysRefreshInterval = 10 * time.Minute // a revoked key is refused after this
	keysRefetchInterval = 10 * time.Second // between two fetches for unknown keys
)

var errKeysUnavailable = errors.New("the public keys of tokens could not be fetched yet")

// keySet holds the public keys of one JWKS endpoint. They are fetched periodically, and
// when a token names an unknown key.
type keySet struct {
	find  jwt.Keyfunc
	store *keyStore
}

// keyStore records whether the keys were ever fetched.
type keyStore struct {
	jwkset.Storage
	filled atomic.Bool
}

func (s *keyStore) KeyReplaceAll(ctx context.Context, keys []jwkset.JWK) error {
	err := s.Storage.KeyReplaceAll(ctx, keys)
	if err == nil {
		s.filled.Store(true)
	}
	return err
}

// newKeySet tries to fetch the keys; an unavailable endpoint is not an error. name says in
// the log whose keys they are. It stops refreshing when stop is closed; a nil stop is never
// closed.
func newKeySet(name, url string, through http.RoundTripper, stop <-chan struct{}, log *slog.Logger) (*keySet, error) {
	// Not a request's context: a disconnecting client would cancel the fetch for all.
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-stop
		cancel()
	}()
	k := &keySet{store: &keyStore{Storage: jwkset.NewMemoryStorage()}}
	remote, err := jwkset.NewStorageFromHTTP(url, jwkset.HTTPClientStorageOptions{
		Ctx:                       ctx,
		Client:                    &http.Client{Transport: through},
		HTTPTimeout:               KeysTimeout,
		NoErrorReturnFirstHTTPReq: true,
		RefreshInterval:           keysRefreshInterval,
		RefreshErrorHandler: func(_ context.Context, err error) {
			log.Warn("fetching the public keys of tokens failed", "of", name, "error", err)
		},
		Storage: k.store,
	})
	if err != nil {
		cancel()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	client, err := jwkset.NewHTTPClient(jwkset.HTTPClientOptions{
		HTTPURLs:          map[string]jwkset.Storage{url: remote},
		RefreshUnknownKID: rate.NewLimiter(rate.Every(keysRefetchInterval), 1),
		RateLimitWaitMax:  KeysTimeout, // also limits the fetch
	})
	if err != nil {
		cancel()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	found, err := keyfunc.New(keyfunc.Options{Ctx: ctx, Storage: client, UseWhitelist: []jwkset.USE{jwkset.UseSig, ""}})
	if err != nil {
		cancel()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	k.find = found.Keyfunc
	return k, nil
}

func (k *keySet) fetched() bool { return k.store.filled.Load() }

// key returns the public key that a token names. A published set may contain secrets by
// mistake; key refuses them.
func (k *keySet) key(token *jwt.Token) (any, error) {
	if _, named := token.Header["kid"].(string); !named {
		return nil, errors.New("the token names no key")
	}
	key, err := k.find(token)
	if err != nil {
		if !k.fetched() {
			return nil, errKeysUnavailable
		}
		return nil, err
	}
	switch key.(type) {
	case *ecdsa.PublicKey, *rsa.PublicKey, ed25519.PublicKey:
		return key, nil
	}
	return nil, errors.New("the token names a key that is not a public one")
}
