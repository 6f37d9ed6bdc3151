// Package payload encrypts the payloads that enter Temporal's history, and decrypts them for
// Palaver's own processes and for Temporal's Web UI.
package payload

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
)

const (
	// Plain, as the first entry of a list of keys, turns encryption off.
	Plain = "plain"
	// ShortestKey is the minimum length of a key in characters.
	ShortestKey = 32

	encoding   = "binary/encrypted"
	encodingID = "encryption-key-id"
	saltSize   = 16
)

// ErrKey is the error for a payload whose key is not set, or that was changed.
var ErrKey = errors.New("payload cannot be decrypted")

// Keys is a codec of Temporal's payloads, with AES-256-GCM. The first key encrypts; all
// decrypt, so that a key can be replaced. Payloads that are not encrypted are read as they
// are. Each payload has its own key, derived with a salt: with one key for all payloads,
// a random nonce could repeat within a week of 10,000 turns a minute.
type Keys struct {
	list  []key
	plain bool // nothing is encrypted
}

type key struct {
	id     string
	secret []byte // pseudorandom
}

var _ converter.PayloadCodec = (*Keys)(nil)

// NewKeys reads a list of secrets, separated by commas. With Plain first, or without a
// secret, nothing is encrypted.
func NewKeys(list string) (*Keys, error) {
	k := &Keys{}
	for i, secret := range Split(list) {
		if secret == Plain && i == 0 {
			k.plain = true
			continue
		}
		if len(secret) < ShortestKey {
			return nil, fmt.Errorf("too short; use at least %d characters", ShortestKey)
		}
		derived, err := hkdf.Extract(sha256.New, []byte(secret), []byte("palaver payloads"))
		if err != nil {
			return nil, err
		}
		id, err := hkdf.Expand(sha256.New, derived, "id", 4)
		if err != nil {
			return nil, err
		}
		k.list = append(k.list, key{hex.EncodeToString(id), derived})
	}
	k.plain = k.plain || len(k.list) == 0
	return k, nil
}

// Split separates the entries of a list of keys.
func Split(list string) []string {
	if list == "" {
		return nil
	}
	keys := strings.Split(list, ",")
	for i := range keys {
		keys[i] = strings.TrimSpace(keys[i])
	}
	return keys
}

// Any reports whether any key is set, even one that only decrypts.
func (k *Keys) Any() bool { return len(k.list) > 0 }

func (k key) aead(salt []byte) (cipher.AEAD, error) {
	derived, err := hkdf.Expand(sha256.New, k.secret, "payload"+string(salt), 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// Encode encrypts payloads. It leaves encrypted payloads unchanged, because a call that is
// retried passes here twice.
func (k *Keys) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	if k.plain {
		return payloads, nil
	}
	out := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		if encrypted(p) {
			out[i] = p
			continue
		}
		text, err := proto.Marshal(p)
		if err != nil {
			return nil, err
		}
		salt := make([]byte, saltSize)
		rand.Read(salt)
		aead, err := k.list[0].aead(salt)
		if err != nil {
			return nil, err
		}
		out[i] = &commonpb.Payload{
			Metadata: map[string][]byte{converter.MetadataEncoding: []byte(encoding), encodingID: []byte(k.list[0].id)},
			Data:     aead.Seal(salt, nil, text, []byte(encoding)),
		}
	}
	return out, nil
}

// Decode decrypts payloads.
func (k *Keys) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		if !encrypted(p) {
			out[i] = p
			continue
		}
		text, err := k.open(string(p.GetMetadata()[encodingID]), p.GetData())
		if err != nil {
			return nil, err
		}
		out[i] = &commonpb.Payload{}
		if err := proto.Unmarshal(text, out[i]); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrKey, err)
		}
	}
	return out, nil
}

func (k *Keys) open(id string, data []byte) ([]byte, error) {
	for _, key := range k.list {
		if key.id != id || len(data) < saltSize {
			continue
		}
		aead, err := key.aead(data[:saltSize])
		if err != nil {
			return nil, err
		}
		text, err := aead.Open(nil, nil, data[saltSize:], []byte(encoding))
		if err != nil {
			return nil, fmt.Errorf("%w: it was changed", ErrKey)
		}
		return text, nil
	}
	return nil, fmt.Errorf("%w: key %.16q is not in PAYLOAD_ENCRYPTION_KEY", ErrKey, id)
}

func encrypted(p *commonpb.Payload) bool {
	return string(p.GetMetadata()[converter.MetadataEncoding]) == encoding
}
