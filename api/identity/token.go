package identity

import (
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
)

const (
	tokenLeeway   = 30 * time.Second // tolerated clock difference
	tokenAudience = "authenticated"  // Supabase's audience for signed-in users
)

// Each kind of key has its own algorithms, so that a public key is never used as the
// secret of HS256, whatever a token's header says.
var (
	secretAlgorithms = []string{jwt.SigningMethodHS256.Alg()}
	keyAlgorithms    = []string{jwt.SigningMethodES256.Alg(), jwt.SigningMethodRS256.Alg(), jwt.SigningMethodEdDSA.Alg()}
)

// tokens checks Supabase's bearer tokens with a shared secret, public keys, or both.
type tokens struct {
	secret []byte  // empty: no secret
	keys   *keySet // nil: no public keys
	parser *jwt.Parser
}

// newTokens fetches the public keys; if that fails, they are fetched later. It
// refreshes them until stop is closed.
func newTokens(cfg Config, stop <-chan struct{}, log *slog.Logger) (*tokens, error) {
	t := &tokens{secret: []byte(cfg.JWTSecret)}
	var algorithms []string
	if len(t.secret) > 0 {
		algorithms = append(algorithms, secretAlgorithms...)
	}
	if cfg.JWKSURL != "" {
		var err error
		if t.keys, err = newKeySet(cfg.JWKSURL, stop, log); err != nil {
			return nil, err
		}
		algorithms = append(algorithms, keyAlgorithms...)
	}
	options := []jwt.ParserOption{jwt.WithValidMethods(algorithms), jwt.WithExpirationRequired(), jwt.WithLeeway(tokenLeeway)}
	if cfg.Issuer != "" {
		options = append(options, jwt.WithIssuer(cfg.Issuer))
	}
	t.parser = jwt.NewParser(options...)
	return t, nil
}

// accepted reports whether tokens can be accepted at all.
func (t *tokens) accepted() bool { return len(t.secret) > 0 || t.keys != nil }

// ready returns errKeysUnavailable while public keys are configured and were never
// fetched.
func (t *tokens) ready() error {
	if t.keys != nil && !t.keys.fetched() {
		return errKeysUnavailable
	}
	return nil
}

// subject returns the user id of a valid token, whether its user has no account, and when
// the token expires. The error is errKeysUnavailable when the token cannot be checked yet.
func (t *tokens) subject(token string) (id string, anonymous bool, expires time.Time, _ error) {
	if !t.accepted() { // with an empty list of algorithms the parser would accept all of them
		return "", false, expires, errors.New("no token is accepted: neither SUPABASE_JWT_SECRET nor SUPABASE_JWKS_URL is set")
	}
	var claims supabaseClaims
	parsed, err := t.parser.ParseWithClaims(token, &claims, t.key)
	if err != nil {
		return "", false, expires, err
	}
	audience, err := parsed.Claims.GetAudience()
	if err != nil {
		return "", false, expires, err
	}
	if len(audience) > 0 && !slices.Contains(audience, tokenAudience) {
		return "", false, expires, errors.New("the token is for another audience")
	}
	id, err = parsed.Claims.GetSubject()
	if err != nil {
		return "", false, expires, err
	}
	if !IsUserID(id) {
		return "", false, expires, errors.New("the token's subject is not a user id")
	}
	end, err := parsed.Claims.GetExpirationTime()
	if err != nil {
		return "", false, expires, err
	}
	return id, claims.IsAnonymous, end.Add(tokenLeeway), nil
}

// supabaseClaims are the claims of a token.
type supabaseClaims struct {
	jwt.RegisteredClaims
	IsAnonymous bool `json:"is_anonymous"`
}

// key returns the key for a token's signature. The parser has checked that the
// algorithm is accepted.
func (t *tokens) key(token *jwt.Token) (any, error) {
	if slices.Contains(secretAlgorithms, token.Method.Alg()) {
		return t.secret, nil
	}
	return t.keys.key(token)
}

// tokenProblem returns the response to a refused token.
func tokenProblem(err error) error {
	if !errors.Is(err, errKeysUnavailable) {
		return problem.Unauthenticated
	}
	return &problem.Problem{Status: http.StatusServiceUnavailable, Code: chat.CodeInternal, Cause: err,
		Message: messages.TokensDown}
}
