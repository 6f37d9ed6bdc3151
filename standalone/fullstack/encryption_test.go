package fullstack

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/proxy"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/payload"
	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/testkit/must"
	"github.com/palaver-chat/palaver/workflows"
)

var (
	firstKey  = strings.Repeat("1", 32)
	secondKey = strings.Repeat("2", 32)
)

func encryptWith(keys string) stacktest.Option { return stacktest.Flag("payload-encryption-key", keys) }

// stored returns the payloads of a conversation's histories as the server stores them.
func stored(t *testing.T, s *stacktest.Stack, c *talk) (encrypted, plain []*commonpb.Payload) {
	t.Helper()
	for _, h := range historiesOf(t, s.PlainTemporal(), threadOf(c)) {
		require.NoError(t, proxy.VisitPayloads(context.Background(), h, proxy.VisitPayloadsOptions{
			SkipSearchAttributes: true,
			Visitor: func(_ *proxy.VisitPayloadsContext, payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
				for _, p := range payloads {
					if string(p.GetMetadata()["encoding"]) == "binary/encrypted" {
						encrypted = append(encrypted, p)
					} else {
						plain = append(plain, p)
					}
				}
				return payloads, nil
			},
		}))
	}
	return encrypted, plain
}

// Rule S15.
func TestNothingThatWasSaidIsReadableInAnEncryptedHistory(t *testing.T) {
	t.Parallel()
	s, model, c := scripted(t, encryptWith(firstKey))
	const word = "heliotrope"
	doc := c.upload("The "+word+" circular", circular)
	model.On(intentCall, unsure)
	interrupted(t, c.ask("A "+word, tags(doc)))
	value := "summarize"
	shell := s.PlainTemporal() // it has no key, as an operator's shell
	require.NoError(t, shell.SignalWorkflow(context.Background(), threadOf(c), "", workflows.SignalResume, chat.ResumeValue{Type: chat.ActionChoice, Value: &value}))
	require.Equal(t, chat.Summarize, c.attach("turn_id="+c.history().Messages[0].TurnID).until(terminal).Action)
	model.On(llmtest.Match{}, llmtest.Status(http.StatusUnauthorized, "no "+word+" here"))
	require.Equal(t, "error", last(c.ask("Another "+word, nil)).Type)

	hidden, open := stored(t, s, c)
	require.Len(t, open, 1, "only the signal from the shell is not encrypted")
	for _, h := range historiesOf(t, shell, threadOf(c)) {
		raw := must.Have(protojson.Marshal(h))(t)
		require.NotContains(t, string(raw), word)
		require.NotContains(t, string(raw), "LLM_API_KEY", "error messages must be encrypted")
	}

	body := must.Have(protojson.Marshal(&commonpb.Payloads{Payloads: hidden}))(t)
	res := must.Have(http.Post(s.URL+payload.Path+"/decode", "application/json", bytes.NewReader(body)))(t)
	defer res.Body.Close()
	require.Equal(t, http.StatusOK, res.StatusCode)
	var got commonpb.Payloads
	var raw json.RawMessage
	require.NoError(t, json.NewDecoder(res.Body).Decode(&raw))
	require.NoError(t, protojson.Unmarshal(raw, &got))
	require.Len(t, got.Payloads, len(hidden))
	require.Equal(t, "json/plain", string(got.Payloads[0].GetMetadata()["encoding"]))
}

// A worker without the key must not act on payloads that it cannot read.
func TestMissingKeyStopsItsConversationsUntilItIsSetAgain(t *testing.T) {
	t.Parallel()
	s, model, c := scripted(t, encryptWith(firstKey))
	doc := c.upload("Liquidity circular", circular)
	model.On(intentCall, unsure)
	interrupted(t, c.ask("The circular", tags(doc)))
	s.Restart(encryptWith(secondKey))
	value := "inquire"
	require.NoError(t, s.Temporal().SignalWorkflow(context.Background(), threadOf(c), "", workflows.SignalResume, chat.ResumeValue{Type: chat.ActionChoice, Value: &value}))
	require.Eventually(t, func() bool { return strings.Contains(s.Logged(), "check PAYLOAD_ENCRYPTION_KEY") }, time.Minute, 20*time.Millisecond)
	other := newTalk(t, c.url, c.client)
	answered(t, other.ask("What is the ratio?", with(tags(doc), object{"action": "inquire"})))
	s.Restart(encryptWith(secondKey + "," + firstKey))
	end := c.attach("turn_id=" + c.history().Messages[0].TurnID).until(func(e event) bool { return e.Type == "response" || e.Type == "error" })
	require.Equal(t, "response", end.Type, "%+v", end)
}
