package identity

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/palaver-chat/palaver/api/credential"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
)

const (
	tokenLeeway   = 30 * time.Second // tolerated clock difference
	maxToken      = 16 << 10         // bytes
	tokenAudience = "authenticated"  // Supabase's audience for signed-in users

	// ownerPrefix begins the ids of users of Issuers, and no others.
	ownerPrefix = "oidc:"
)

// Each kind of key has its own algorithms, so that a public key is never used as the
// secret of HS256, whatever a token's header says.
var (
	secretAlgorithms = []string{jwt.SigningMethodHS256.Alg()}
	keyAlgorithms    = []string{
		jwt.SigningMethodES256.Alg(), jwt.SigningMethodES384.Alg(), jwt.SigningMethodES512.Alg(),
		jwt.SigningMethodRS256.Alg(), jwt.SigningMethodRS384.Alg(), jwt.SigningMethodRS512.Alg(),
		jwt.SigningMethodEdDSA.Alg(),
	}
	// tokenTypes are the values of a token's typ, if it has one. Others, such as those of
	// logout tokens and of signed events, are no credentials.
	tokenTypes = []string{"JWT", "AT+JWT", "APPLICATION/AT+JWT"}
)

// Issuer is an OpenID Connect provider whose tokens are accepted.
type Issuer struct {
	URL       string   // iss of its tokens; its keys are found by discovery
	Audiences []string // a token is for one of them
	Claims    Claims
}

// Admins says which tokens are those of administrators: tokens of Issuer that were issued to
// the page, for a person of one of Groups. The group of another issuer, and a token that
// another program got for an administrator, make none.
type Admins struct {
	Issuer   string
	ClientID string // the page's client; empty: any
	Audience string // of the page's tokens
	Groups   []string
}

// clientClaims name the client to which a token was issued. An id token has none of them, or
// azp; providers differ in the others.
var clientClaims = []string{"azp", "client_id", "cid"}

// has reports whether a valid token of issuer, for a person of groups, is an administrator's.
func (a Admins) has(issuer string, claims jwt.MapClaims, groups []string) bool {
	audience, err := claims.GetAudience()
	if err != nil || issuer != a.Issuer || !slices.Contains(audience, a.Audience) {
		return false
	}
	for _, name := range clientClaims {
		if client, has := claims[name]; has && a.ClientID != "" && client != a.ClientID {
			return false
		}
	}
	return slices.ContainsFunc(groups, func(g string) bool { return slices.Contains(a.Groups, g) })
}

// Claims names the claims of an Issuer's tokens that are read. A name that no claim has is
// a path: a.b is the member b of the claim a.
type Claims struct{ Name, Email, Groups string }

// tokens checks bearer tokens. Each issuer has keys of its own.
type tokens struct {
	issuers map[string]*issuer // by iss
	preset  *issuer            // Supabase: takes the tokens of all other issuers, unless it names its own; nil: none
	parser  *jwt.Parser
	admins  Admins
}

type issuer struct {
	secret    []byte  // empty: no secret
	keys      *keySet // nil: no public keys
	audiences []string
	claims    Claims
	provider  *provider // nil: Supabase
}

// newTokens fetches the public keys; if that fails, they are fetched later. It
// refreshes them until stop is closed.
func newTokens(cfg Config, stop <-chan struct{}, log *slog.Logger) (*tokens, error) {
	t := &tokens{issuers: map[string]*issuer{}, admins: cfg.Admins}
	if cfg.JWTSecret+cfg.JWKSURL != "" {
		t.preset = &issuer{secret: []byte(cfg.JWTSecret), audiences: []string{tokenAudience}}
		if cfg.JWKSURL != "" {
			var err error
			if t.preset.keys, err = newKeySet("SUPABASE_JWKS_URL", cfg.JWKSURL, nil, stop, log); err != nil {
				return nil, err
			}
		}
		if cfg.Issuer != "" {
			t.issuers[cfg.Issuer], t.preset = t.preset, nil
		}
	}
	for _, known := range cfg.Issuers {
		if _, twice := t.issuers[known.URL]; twice {
			return nil, fmt.Errorf("the issuer %s is configured twice", known.URL)
		}
		p := newProvider(known.URL)
		keys, err := newKeySet(known.URL, p.metadataURL(), p, stop, log)
		if err != nil {
			return nil, err
		}
		t.issuers[known.URL] = &issuer{keys: keys, audiences: known.Audiences, claims: known.Claims, provider: p}
	}
	t.parser = jwt.NewParser(jwt.WithValidMethods(slices.Concat(secretAlgorithms, keyAlgorithms)), jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithLeeway(tokenLeeway))
	return t, nil
}

// all returns the issuers in no order.
func (t *tokens) all() []*issuer {
	var all []*issuer
	if t.preset != nil {
		all = append(all, t.preset)
	}
	for _, i := range t.issuers {
		all = append(all, i)
	}
	return all
}

// accepted reports whether tokens can be accepted at all.
func (t *tokens) accepted() bool { return len(t.all()) > 0 }

// ready returns errKeysUnavailable while public keys are configured and were never
// fetched.
func (t *tokens) ready() error {
	for _, i := range t.all() {
		if i.keys != nil && !i.keys.fetched() {
			return errKeysUnavailable
		}
	}
	return nil
}

// caller returns the caller of a valid token. The error is errKeysUnavailable when the token
// cannot be checked yet.
func (t *tokens) caller(token string) (Caller, error) {
	if len(token) > maxToken {
		return Caller{}, errors.New("the token is too long")
	}
	claims, from := jwt.MapClaims{}, (*issuer)(nil)
	_, err := t.parser.ParseWithClaims(token, claims, func(parsed *jwt.Token) (any, error) {
		name, err := claims.GetIssuer()
		if err != nil {
			return nil, err
		}
		if from = t.issuers[name]; from == nil {
			from = t.preset
		}
		if from == nil {
			return nil, errors.New("the token's issuer is not accepted")
		}
		return from.key(parsed)
	})
	if err != nil {
		return Caller{}, err
	}
	if err := from.check(claims); err != nil {
		return Caller{}, err
	}
	who, err := from.read(claims)
	if err == nil && from.provider != nil {
		who.Admin = t.admins.has(from.provider.issuer, claims, who.Groups)
	}
	return who, err
}

// key returns the key for a token's signature.
func (i *issuer) key(token *jwt.Token) (any, error) {
	if kind, has := token.Header["typ"]; has {
		if name, text := kind.(string); !text || !slices.Contains(tokenTypes, strings.ToUpper(name)) {
			return nil, errors.New("the token is of another type")
		}
	}
	if _, has := token.Header["crit"]; has { // RFC 7515, section 4.1.11
		return nil, errors.New("the token needs an extension that is not known")
	}
	switch {
	case slices.Contains(secretAlgorithms, token.Method.Alg()) && len(i.secret) > 0:
		return i.secret, nil
	case slices.Contains(keyAlgorithms, token.Method.Alg()) && i.keys != nil:
		return i.keys.key(token)
	}
	return nil, errors.New("the token's issuer does not use this algorithm")
}

// check checks the audience. Supabase's tokens need none.
func (i *issuer) check(claims jwt.MapClaims) error {
	audience, err := claims.GetAudience()
	if err != nil {
		return err
	}
	if len(audience) == 0 && i.provider == nil {
		return nil
	}
	if !slices.ContainsFunc(audience, func(a string) bool { return slices.Contains(i.audiences, a) }) {
		return errors.New("the token is for another audience")
	}
	return nil
}

// read returns the caller that the claims of a valid token name.
func (i *issuer) read(claims jwt.MapClaims) (Caller, error) {
	subject, err := claims.GetSubject()
	if err != nil {
		return Caller{}, err
	}
	end, err := claims.GetExpirationTime()
	if err != nil {
		return Caller{}, err
	}
	who := Caller{ID: subject, By: credential.Token, Expires: end.Add(tokenLeeway)}
	if i.provider != nil {
		if subject == "" {
			return Caller{}, errors.New("the token has no subject")
		}
		who.ID = ownerOf(i.provider.issuer, subject)
		who.Name, _ = claimAt(claims, i.claims.Name).(string)
		who.Email, _ = claimAt(claims, i.claims.Email).(string)
		who.Groups = texts(claimAt(claims, i.claims.Groups))
		return who, nil
	}
	if !IsUserID(subject) || strings.HasPrefix(subject, ownerPrefix) {
		return Caller{}, errors.New("the token's subject is not a user id")
	}
	if anonymous, has := claims["is_anonymous"]; has {
		var isBool bool
		if who.Anonymous, isBool = anonymous.(bool); !isBool && anonymous != nil {
			return Caller{}, errors.New("the token's is_anonymous is neither true nor false")
		}
	}
	return who, nil
}

// ownerOf returns the id of an issuer's user. No two issuers have the same, and none is an
// id of Supabase or of a cookie.
func ownerOf(issuer, subject string) string {
	sum := sha256.Sum256([]byte(issuer + "\n" + subject)) // an issuer has no line break
	return ownerPrefix + base64.RawURLEncoding.EncodeToString(sum[:])
}

// claimAt returns the claim with this name or path; nil if there is none.
func claimAt(claims map[string]any, name string) any {
	if value, has := claims[name]; has {
		return value
	}
	first, rest, path := strings.Cut(name, ".")
	if !path {
		return nil
	}
	inner, _ := claims[first].(map[string]any)
	return claimAt(inner, rest)
}

// texts reads a text or a list of texts. It skips other values.
func texts(value any) []string {
	if one, is := value.(string); is {
		return []string{one}
	}
	list, _ := value.([]any)
	var all []string
	for _, v := range list {
		if text, is := v.(string); is {
			all = append(all, text)
		}
	}
	return all
}

// tokenProblem returns the response to a refused token.
func tokenProblem(err error) error {
	if !errors.Is(err, errKeysUnavailable) {
		return problem.Unauthenticated
	}
	return &problem.Problem{Status: http.StatusServiceUnavailable, Code: chat.CodeInternal, Cause: err,
		Message: messages.TokensDown}
}
