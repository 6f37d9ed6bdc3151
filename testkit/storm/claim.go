package storm

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/palaver-chat/palaver/db"
)

const jwtSecret = "shared with the identity provider of the storm"

// claiming signs a user in while their threads talk, and kills the API process that may be
// moving them. The user claims until everything has moved.
func claiming(ctx context.Context, f *fleet, n int) (func(context.Context) error, error) {
	for i := range f.users {
		u := f.users[(n+i)%len(f.users)]
		if u.claimed() {
			continue
		}
		account := fmt.Sprintf("account-%d", (n+i)%len(f.users))
		token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"sub": account, "exp": time.Now().Add(24 * time.Hour).Unix()}).SignedString([]byte(jwtSecret))
		if err != nil {
			return nil, err
		}
		u.switchOwner("")
		f.afterwards(ctx, claimTimeout, "claim", func(ctx context.Context) error { return u.claim(ctx, token) })
		break
	}
	pause(ctx, rand.N(time.Second))
	pickAPI(f, n).kill()
	return f.restart, nil
}

// claimTimeout is longer than a lost import waits for its repair, and than a message counts as
// being sent whose API process died: until then, nothing moves.
const claimTimeout = db.UnsentAfter + importTimeout

// claim gives the account of the token all that the cookie's user has stored.
func (u *user) claim(ctx context.Context, token string) error {
	for {
		resp, err := u.onceAs(ctx, token, http.MethodPost, "/api/me/claim", nil, "")
		if err != nil {
			return fmt.Errorf("claim: %w", err)
		}
		if resp != nil {
			var moved struct{ Left int }
			err := json.NewDecoder(resp.Body).Decode(&moved)
			_ = resp.Body.Close()
			if err == nil && moved.Left == 0 {
				u.switchOwner(token)
				return nil
			}
		}
		if pause(ctx, retryInterval); ctx.Err() != nil {
			return fmt.Errorf("a claim is not complete: %w", ctx.Err())
		}
	}
}

// switchOwner begins a claim, or ends it with the token of the account.
func (u *user) switchOwner(token string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.claims++
	u.token = token
}

// claimed reports whether the user has begun to claim, or has an account.
func (u *user) claimed() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.claims > 0
}

// waitForClaim waits until no claim is made: nobody signs in for minutes while they talk in
// four conversations.
func (u *user) waitForClaim(ctx context.Context) {
	for ctx.Err() == nil {
		u.mu.Lock()
		claims := u.claims
		u.mu.Unlock()
		if claims%2 == 0 {
			return
		}
		pause(ctx, retryInterval)
	}
}
