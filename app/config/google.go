package config

import "github.com/palaver-chat/palaver/internal/payload"

const shortestTokenKey = 32

func (c *Config) checkGoogle() error {
	if (c.GoogleClientID == "") != (c.GoogleClientSecret == "") {
		return refuse("GOOGLE_CLIENT_SECRET", "it and GOOGLE_CLIENT_ID are needed together")
	}
	for _, key := range c.tokenKeys() {
		if len(key) < shortestTokenKey {
			return refuse("TOKEN_ENCRYPTION_KEY", "too short; use at least %d characters", shortestTokenKey)
		}
	}
	return nil
}

func (c *Config) tokenKeys() []string { return payload.Split(c.TokenEncryptionKey) }

// TokenSecrets returns the secrets of the keys that encrypt tokens of connected accounts, the
// current one first: those of TOKEN_ENCRYPTION_KEY, of PAYLOAD_ENCRYPTION_KEY, then
// COOKIE_SECRET. A worker with one of the others needs no COOKIE_SECRET.
func (c *Config) TokenSecrets() (secrets [][]byte, err error) {
	for _, key := range append(c.tokenKeys(), payload.Split(c.PayloadEncryptionKey)...) {
		if key != payload.Plain {
			secrets = append(secrets, []byte(key))
		}
	}
	if len(secrets) > 0 && !c.hasCookieSecret() {
		return secrets, nil
	}
	cookie, err := c.CookieKey()
	return append(secrets, cookie), err
}
