package api

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/time/rate"
)

const (
	keysRefresh = 10 * time.Minute // a key that was taken back is refused after this
	keysTimeout = 5 * time.Second  // of one fetch; a start waits for the first one
	keysPause   = 10 * time.Second // between two fetches for the sake of unknown keys
)

var errKeysAway = errors.New("the keys of SUPABASE_JWKS_URL could not be fetched yet")

// keySet is the public keys of one JWKS endpoint. It is fetched at times, and
// when a token names a key that is not in it.
type keySet struct {
	find  jwt.Keyfunc
	store *keyStore
}

// keyStore notes whether a set ever came.
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

// newKeySet tries to fetch the set; an endpoint that is away is no error. It
// ends when stop is closed; a nil stop never does.
func newKeySet(url string, stop <-chan struct{}, log *slog.Logger) (*keySet, error) {
	// Not a request's context: its client could break off the fetch for all.
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-stop
		cancel()
	}()
	k := &keySet{store: &keyStore{Storage: jwkset.NewMemoryStorage()}}
	remote, err := jwkset.NewStorageFromHTTP(url, jwkset.HTTPClientStorageOptions{
		Ctx:                       ctx,
		HTTPTimeout:               keysTimeout,
		NoErrorReturnFirstHTTPReq: true,
		RefreshInterval:           keysRefresh,
		RefreshErrorHandler: func(_ context.Context, err error) {
			log.Warn("keys of tokens not fetched (SUPABASE_JWKS_URL)", "error", err)
		},
		Storage: k.store,
	})
	if err != nil {
		cancel()
		return nil, fmt.Errorf("SUPABASE_JWKS_URL: %w", err)
	}
	client, err := jwkset.NewHTTPClient(jwkset.HTTPClientOptions{
		HTTPURLs:          map[string]jwkset.Storage{url: remote},
		RefreshUnknownKID: rate.NewLimiter(rate.Every(keysPause), 1),
		RateLimitWaitMax:  keysTimeout, // bounds the fetch too
	})
	if err != nil {
		cancel()
		return nil, fmt.Errorf("SUPABASE_JWKS_URL: %w", err)
	}
	found, err := keyfunc.New(keyfunc.Options{Ctx: ctx, Storage: client, UseWhitelist: []jwkset.USE{jwkset.UseSig, ""}})
	if err != nil {
		cancel()
		return nil, fmt.Errorf("SUPABASE_JWKS_URL: %w", err)
	}
	k.find = found.Keyfunc
	return k, nil
}

func (k *keySet) fetched() bool { return k.store.filled.Load() }

// key is the public key that a token names. A set may hold secrets by mistake;
// they are everybody's and prove nothing.
func (k *keySet) key(token *jwt.Token) (any, error) {
	if _, named := token.Header["kid"].(string); !named {
		return nil, errors.New("the token names no key")
	}
	key, err := k.find(token)
	if err != nil {
		if !k.fetched() {
			return nil, errKeysAway
		}
		return nil, err
	}
	switch key.(type) {
	case *ecdsa.PublicKey, *rsa.PublicKey, ed25519.PublicKey:
		return key, nil
	}
	return nil, errors.New("the token names a key that is not a public one")
}
