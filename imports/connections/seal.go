package connections

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strings"
)

// Keys encrypt what is stored or given to a browser, with AES-256-GCM. The first key
// encrypts; all decrypt, so that a key can be replaced.
type Keys struct{ list []sealKey }

type sealKey struct {
	id   string // the prefix of texts that the key has encrypted
	aead cipher.AEAD
}

var errSealed = errors.New("encrypted with a key that is not set, or for another purpose")

// NewKeys derives a key from each secret.
func NewKeys(secrets ...[]byte) (*Keys, error) {
	if len(secrets) == 0 {
		return nil, errors.New("a secret is needed")
	}
	k := &Keys{}
	for _, secret := range secrets {
		id, err := hkdf.Key(sha256.New, secret, nil, "palaver connections: id of the key", 4)
		if err != nil {
			return nil, err
		}
		derived, err := hkdf.Key(sha256.New, secret, nil, "palaver connections: key", 32)
		if err != nil {
			return nil, err
		}
		block, err := aes.NewCipher(derived)
		if err != nil {
			return nil, err
		}
		aead, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return nil, err
		}
		k.list = append(k.list, sealKey{hex.EncodeToString(id), aead})
	}
	return k, nil
}

// Seal encrypts text for a purpose, without which it cannot be opened.
func (k *Keys) Seal(text []byte, purpose string) string {
	first := k.list[0]
	return first.id + "." + base64.RawURLEncoding.EncodeToString(first.aead.Seal(nil, nil, text, []byte(purpose)))
}

// Current reports whether the first key has sealed a text.
func (k *Keys) Current(sealed string) bool { return strings.HasPrefix(sealed, k.list[0].id+".") }

// Open decrypts what Seal has encrypted for the same purpose.
func (k *Keys) Open(sealed, purpose string) ([]byte, error) {
	id, text, _ := strings.Cut(sealed, ".")
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil, errSealed
	}
	for _, key := range k.list {
		if key.id != id {
			continue
		}
		if opened, err := key.aead.Open(nil, nil, raw, []byte(purpose)); err == nil {
			return opened, nil
		}
	}
	return nil, errSealed
}

func randomState() string { return rand.Text() }
