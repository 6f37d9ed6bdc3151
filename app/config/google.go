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
// COOKIE_SECRET.
func (c *Config) TokenSecrets() ([][]byte, error) {
	cookie, err := c.CookieKey()
	if err != nil {
		return nil, err
	}
	var secrets [][]byte
	for _, key := range append(c.tokenKeys(), payload.Split(c.PayloadEncryptionKey)...) {
		if key != payload.Plain {
			secrets = append(secrets, []byte(key))
		}
	}
	return append(secrets, cookie), nil
}
