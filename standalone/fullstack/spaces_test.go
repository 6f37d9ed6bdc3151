package fullstack

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/llmtest"
)

// withSpace names a space in every request.
type withSpace struct {
	http.RoundTripper
	space string
}

func (w withSpace) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-Space-Id", w.space)
	return w.RoundTripper.RoundTrip(r)
}

// in returns a new conversation of the same person in a space.
func (c *talk) in(space string) *talk {
	other, browser := *c, *c.client
	browser.Transport = withSpace{browser.Transport, space}
	other.client, other.thread = &browser, uuid.NewString()
	return &other
}

// Rules C15, C18.
func TestTurnsInASpaceReadItsDocumentsUntilTheirAuthorIsRemoved(t *testing.T) {
	t.Parallel()
	_, model, c := scripted(t, stacktest.Flag("supabase-jwt-secret", supabaseSecret))
	ann, bob := c.signedIn("ann"), c.signedIn("bob")
	bob.upload("Bob's own notes on the liquidity ratio", "The liquidity ratio of PRIVATECANARY must be at least 90 %.")
	var space struct{ ID string }
	ann.do(http.StatusCreated, http.MethodPost, "/api/spaces", object{"name": "Team", "instructions": "Answer like TEAMRULE."}, &space)
	members := "/api/spaces/" + space.ID + "/members"
	ann.do(http.StatusNoContent, http.MethodPut, members, object{"kind": "person", "id": "bob", "role": "reader"}, nil)
	ann.in(space.ID).upload("Liquidity circular", "The liquidity ratio of TEAMCANARY must be at least 100 %.")
	prompts := func() string {
		var all strings.Builder
		for _, r := range model.Requests() {
			all.Write(r.Body)
		}
		return all.String()
	}

	team := bob.in(space.ID)
	answered(t, team.ask("What must the liquidity ratio be?", nil))
	require.Contains(t, prompts(), "TEAMCANARY")
	require.Contains(t, prompts(), "TEAMRULE")
	require.NotContains(t, prompts(), "PRIVATECANARY", "a person's own documents stay out of a space")

	seen := len(prompts())
	answered(t, (&talk{t, bob.url, bob.client, uuid.NewString()}).ask("What must the liquidity ratio be?", nil))
	require.Contains(t, prompts()[seen:], "PRIVATECANARY")
	require.NotContains(t, prompts()[seen:], "TEAMCANARY", "a conversation elsewhere")
	require.NotContains(t, prompts()[seen:], "TEAMRULE")

	gate := llmtest.NewGate()
	model.On(answerCall, llmtest.Answer{Chunks: []string{"It must be 100 %, says TEAMCANARY [1]."}, Gates: map[int]*llmtest.Gate{0: gate}})
	running := team.send("What must the liquidity ratio be?", nil)
	<-gate.Reached()
	ann.do(http.StatusNoContent, http.MethodDelete, members+"?kind=person&id=bob", nil, nil)
	gate.Release()
	rest, err := io.ReadAll(running.resp.Body)
	require.NoError(t, err)
	require.Contains(t, string(rest), `"message_code":"space.left"`)
	require.NotContains(t, string(rest), "TEAMCANARY", "no answer after the removal")
	team.do(http.StatusNotFound, http.MethodGet, "/api/chat/history/"+team.thread, nil, nil)
	own := *bob
	own.thread = team.thread
	for _, m := range own.history().Messages {
		require.NotContains(t, m.Content, "TEAMCANARY")
	}
}
