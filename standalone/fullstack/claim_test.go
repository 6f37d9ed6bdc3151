package fullstack

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/standalone/stacktest"
)

const supabaseSecret = "a secret that only tests have"

// accountToken returns a token of an account, signed as Supabase does.
func accountToken(user string) string {
	encode := base64.RawURLEncoding.EncodeToString
	head := encode([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." +
		encode(fmt.Appendf(nil, `{"sub":%q,"aud":"authenticated","exp":%d}`, user, time.Now().Add(time.Hour).Unix()))
	mac := hmac.New(sha256.New, []byte(supabaseSecret))
	mac.Write([]byte(head))
	return head + "." + encode(mac.Sum(nil))
}

type withToken struct {
	http.RoundTripper
	token string
}

func (w withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+w.token)
	return w.RoundTripper.RoundTrip(r)
}

// signedIn returns the same conversation in the same browser after a sign-in: its requests
// also have the account's token.
func (c *talk) signedIn(user string) *talk {
	other, browser := *c, *c.client
	transport := browser.Transport
	if transport == nil {
		transport = http.DefaultTransport
	}
	browser.Transport = withToken{transport, accountToken(user)}
	other.client = &browser
	return &other
}

type claimed struct{ Conversations, Documents, Left int }

// claimAll claims until nothing is left, and returns the sums.
func (c *talk) claimAll() (sum claimed) {
	c.t.Helper()
	require.Eventually(c.t, func() bool {
		var now claimed
		c.do(http.StatusOK, http.MethodPost, "/api/me/claim", nil, &now)
		sum.Conversations, sum.Documents = sum.Conversations+now.Conversations, sum.Documents+now.Documents
		return now.Left == 0
	}, waitTimeout, 50*time.Millisecond)
	return sum
}

// claimedWay is a way of a thread that changes its owner while a question is open; the new
// owner answers the question.
func claimedWay(t *testing.T) (client.Client, []string) {
	s, model, c := scripted(t, stacktest.Flag("supabase-jwt-secret", supabaseSecret))
	doc := c.upload("Liquidity circular", circular)
	answered(t, c.ask("What is the ratio?", tags(doc)))
	model.On(intentCall, unsure)
	interrupted(t, c.ask("The circular", tags(doc)))
	ann := c.signedIn("ann")
	require.Equal(t, claimed{Conversations: 1, Documents: 1}, ann.claimAll())
	c.do(http.StatusNotFound, http.MethodGet, "/api/conversations/"+c.thread, nil, nil)
	answered(t, ann.resume(chat.ActionChoice, "summarize"))
	answered(t, ann.ask("What is the ratio?", with(tags(doc), object{"action": "inquire"})))
	require.Len(t, ann.history().Messages, 8, "three questions, three answers, and a choice with its prompt")
	return s.Temporal(), []string{threadOf(c)}
}
