package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"time"
)

// issuer is an identity provider, whose tokens say in which groups people are.
type issuer struct {
	*httptest.Server
	key *ecdsa.PrivateKey
}

const audience = "palaver"

func newIssuer() (*issuer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	point, err := key.PublicKey.Bytes() // 4, x, y
	if err != nil {
		return nil, err
	}
	i := &issuer{key: key}
	jwk := object{"kty": "EC", "crv": "P-256", "kid": "leak", "alg": "ES256", "use": "sig", "x": encode(point[1:33]), "y": encode(point[33:])}
	i.Server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		var body any = object{"issuer": i.URL, "authorization_endpoint": i.URL + "/auth", "token_endpoint": i.URL + "/token", "jwks_uri": i.URL + "/keys"}
		if r.URL.Path == "/keys" {
			body = object{"keys": []any{jwk}}
		}
		_ = json.NewEncoder(out).Encode(body)
	}))
	return i, nil
}

var encode = base64.RawURLEncoding.EncodeToString

// token returns a token of a person who is in the groups.
func (i *issuer) token(subject string, groups []string) string {
	claims, _ := json.Marshal(object{"iss": i.URL, "aud": audience, "sub": subject, "groups": groups, "exp": time.Now().Add(time.Hour).Unix()}) // texts and numbers
	signed := encode([]byte(`{"alg":"ES256","typ":"JWT","kid":"leak"}`)) + "." + encode(claims)
	sum := sha256.Sum256([]byte(signed))
	r, s, err := ecdsa.Sign(rand.Reader, i.key, sum[:])
	if err != nil {
		panic(err) // the key is of this program
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return signed + "." + encode(signature)
}
