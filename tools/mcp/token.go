package mcp

import (
	"cmp"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
)

const (
	tokenLife = 5 * time.Minute
	issuer    = "palaver"
	// serviceSubject is the subject of tokens for requests without an owner: lists of tools.
	serviceSubject = "palaver:service"

	keyBytes   = 32
	keyPurpose = "palaver/mcp/token/" // and the server's name
)

// Key returns the key that signs the tokens for one server. It is derived from MCP_JWT_SECRET and
// the server's name, so a server that knows its own key cannot make tokens for another server. The
// text itself is the HMAC key; servers do not decode it.
func Key(secret, server string) (string, error) {
	key, err := hkdf.Key(sha256.New, []byte(secret), nil, keyPurpose+server, keyBytes)
	return base64.RawURLEncoding.EncodeToString(key), err
}

// signer makes the tokens that identify a request's owner to servers. The zero value makes none.
type signer struct{ secret string }

func (s signer) signs() bool { return s.secret != "" }

// token returns a short-lived token that proves to one server who the owner is; owner "" stands for
// the service itself.
func (s signer) token(owner, server string) (string, error) {
	owner = cmp.Or(owner, serviceSubject)
	key, err := Key(s.secret, server)
	if err != nil {
		return "", err
	}
	now := time.Now()
	return jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.RegisteredClaims{
		Issuer:    issuer,
		Subject:   owner,
		Audience:  jwt.ClaimStrings{server},
		IssuedAt:  jwt.NewNumericDate(now),
		ExpiresAt: jwt.NewNumericDate(now.Add(tokenLife)),
		ID:        uuid.NewString(),
	}).SignedString([]byte(key))
}
