package stack

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// answers is a server that gives the same answers, the last one again and again.
type answers struct {
	list []answer
	sent []time.Time
}

type answer struct {
	status int
	body   string
}

func (a *answers) RoundTrip(*http.Request) (*http.Response, error) {
	now := a.list[min(len(a.sent), len(a.list)-1)]
	a.sent = append(a.sent, time.Now())
	return &http.Response{StatusCode: now.status, Status: http.StatusText(now.status), Body: io.NopCloser(strings.NewReader(now.body))}, nil
}

// A benchmark waited for ever, and did not say why.
func TestTurnThatIsNeverAcceptedEndsWithTheReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := &answers{list: []answer{{http.StatusServiceUnavailable, `{"error":{"request_id":"r1"}}`}}}
		u := &User{url: "http://palaver", client: &http.Client{Transport: down}}
		began := time.Now()
		_, err := u.Turn(t.Context(), "th", Message{"message": "hello", "client_turn_id": "c1"}, nil)
		require.ErrorContains(t, err, "message c1 of thread th")
		require.ErrorContains(t, err, `"request_id":"r1"`)
		require.InDelta(t, maxUnavailable, time.Since(began), float64(time.Minute))
	})
}

func TestTurnIsRetriedWhileTheServerIsUnavailable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := answer{http.StatusServiceUnavailable, ""}
		later := &answers{list: []answer{busy, busy, {http.StatusOK, `data: {"type":"response"}` + "\n"}}}
		u := &User{url: "http://palaver", client: &http.Client{Transport: later}}
		_, err := u.Turn(t.Context(), "th", Message{"message": "hello"}, nil)
		require.NoError(t, err)
		require.Len(t, later.sent, 3)
		require.Positive(t, later.sent[1].Sub(later.sent[0]), "a pause between two tries")
	})
}
