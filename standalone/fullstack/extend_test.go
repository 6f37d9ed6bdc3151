package fullstack

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver"
	"github.com/palaver-chat/palaver/app/service"
	"github.com/palaver-chat/palaver/standalone/stacktest"
)

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
