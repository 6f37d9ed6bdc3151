package fullstack

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/palaver-chat/palaver"
	"github.com/palaver-chat/palaver/app/service"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/clerk"
	"github.com/palaver-chat/palaver/testkit/llmtest"
)

// The limit of the history is so low that the thread continues as new in the middle of the
// turn.
func TestCustomAgentContinuesAndKeepsTextsOutOfTheHistory(t *testing.T) {
	t.Parallel()
	s, model, c := scripted(t, stacktest.Additions(palaver.WithAgent(clerk.Agent)), stacktest.Flag("continue-after", "12"))
	model.On(answerCall, llmtest.Calls(llmtest.Call("list_documents", object{"title": "planted"})), llmtest.Text("Here you are."))

	asked := interrupted(t, c.ask("Find my plantedthing", object{"agent": "clerk"}))
	require.Equal(t, string(chat.TextInput), asked.Kind)
	asked = interrupted(t, c.resume(chat.TextInput, "I do not say"))
	require.Equal(t, "What is your name?", asked.Message, "the agent found no name in the answer and asks again")
	asked = interrupted(t, c.resume(chat.TextInput, "plantedname"))
	require.Equal(t, string(chat.Choice), asked.Kind)
	require.Equal(t, []chat.Option{{ID: "short", Label: "In short"}, {ID: "long", Label: "At length"}}, asked.Options)
	c.do(http.StatusBadRequest, http.MethodPost, "/api/chat/resume", object{
		"thread_id": c.thread, "resume_value": object{"type": "choice", "value": "fast"}}, nil)
	end := last(c.resume(chat.Choice, "short"))
	require.Equal(t, "response", end.Type, "%+v", end)
	require.Equal(t, "Here you are.", end.Response)

	require.Equal(t, 2, model.Count(answerCall), "no model call was repeated")
	require.Equal(t, "In short", requests(model, llmtest.Stream)[0].LastUser)
	var said []string
	for _, m := range c.history().Messages {
		said = append(said, m.Content)
	}
	require.Equal(t, []string{
		"Find my plantedthing", "What is your name?", "I do not say", "What is your name?", "plantedname",
		"How do you want it?", "In short", "It will be short.", "Here you are.",
	}, said)

	histories := historiesOf(t, s.Temporal(), threadOf(c))
	require.Greater(t, len(histories), 1, "the thread continued as new")
	for _, h := range histories {
		raw, err := proto.Marshal(h)
		require.NoError(t, err)
		require.False(t, bytes.Contains(raw, []byte("planted")))
	}
}

func TestAProgramHasItsOwnModelProviderAndDocumentType(t *testing.T) {
	t.Parallel()
	mail := palaver.DocumentType{
		Name: "letter", Label: "Letter", Extensions: []string{".letter"}, MediaTypes: []string{"text/x-letter"},
		Read: func(_ context.Context, raw []byte) (string, error) {
			_, body, found := strings.Cut(string(raw), "\n\n")
			if !found {
				return "", &palaver.Unreadable{Reason: "The e-mail has no body."}
			}
			return body, nil
		},
	}
	house := palaver.WithModel("house", func(s palaver.ModelSettings) (palaver.Model, error) {
		require.Equal(t, "manor", s.Name)
		return service.OfflineEngine(), nil
	})
	s := stacktest.Start(t, stacktest.Additions(palaver.WithDocumentType(mail), house),
		stacktest.Flag("chat-model-provider", "house"), stacktest.Flag("chat-model-name", "manor"))
	c := newTalk(t, func() string { return s.URL }, s.Client)
	var doc struct{ ID, Status, Error string }
	upload := func(name, content string) {
		c.uploadFile(name, content, &doc)
		require.Eventually(t, func() bool {
			c.do(http.StatusOK, http.MethodGet, "/api/documents/"+doc.ID, nil, &doc)
			return doc.Status != "processing"
		}, waitTimeout, 20*time.Millisecond)
	}
	upload("rules.letter", "Subject: Lamps\n\nA lamp must have a switch at its foot.")
	require.Equal(t, "ready", doc.Status, doc.Error)
	end := last(c.ask("What must a lamp have?", tags(doc.ID)))
	require.Contains(t, end.Response, "a switch at its foot")

	upload("empty.letter", "Subject: nothing")
	require.Equal(t, []string{"failed", "The e-mail has no body."}, []string{doc.Status, doc.Error})
	var config struct {
		DocumentTypes []struct{ Label string } `json:"document_types"`
	}
	c.do(http.StatusOK, http.MethodGet, "/api/config", nil, &config)
	require.Equal(t, "Letter", config.DocumentTypes[len(config.DocumentTypes)-1].Label)
}
