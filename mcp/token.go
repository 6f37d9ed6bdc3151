package mcp

import (
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
)

const (
	tokenLife = 5 * time.Minute
	issuer    = "palaver"
	// serviceSubject is the subject of tokens for requests without an owner: lists of tools.
	serviceSubject = "palaver:service"
)

// signer makes the tokens that identify a request's owner to servers. The zero value makes none.
type signer struct{ secret []byte }

func (s signer) signs() bool { return len(s.secret) > 0 }

// token returns a short-lived token for one server that proves the owner; "" stands for the service
// itself.
func (s signer) token(owner, server string) (string, error) {
	if owner == "" {
		owner = serviceSubject
	}
	now := time.Now()
	return jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.RegisteredClaims{
		Issuer:    issuer,
		Subject:   owner,
		Audience:  jwt.ClaimStrings{server},
		IssuedAt:  jwt.NewNumericDate(now),
		ExpiresAt: jwt.NewNumericDate(now.Add(tokenLife)),
		ID:        uuid.NewString(),
	}).SignedString(s.secret)
}
