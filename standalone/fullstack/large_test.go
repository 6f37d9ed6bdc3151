package fullstack

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/llmtest"
)

// The process stops while it stores the passages of a large document. After the next start
// the ingest runs again, and each passage is stored once.
func TestProcessStopsInTheMiddleOfALargeIngest(t *testing.T) {
	t.Parallel()
	processStopsInALargeIngest(t)
}

func processStopsInALargeIngest(t *testing.T, options ...stacktest.Option) {
	p := stacktest.StartProcess(t, options...)
	c := newTalk(t, func() string { return p.URL }, p.Client)
	var text strings.Builder
	for n := 0; text.Len() < 3<<20; n++ {
		fmt.Fprintf(&text, "Rule %d of the harbour says that ship %d waits at berth %d.\n", n, n*7919%100_003, n*104_729%100_019)
	}
	var doc struct {
		ID, Status       string
		Progress, Chunks int
	}
	c.do(http.StatusAccepted, http.MethodPost, "/api/documents", object{"title": "Harbour rules", "text": text.String()}, &doc)
	read := func() string {
		c.do(http.StatusOK, http.MethodGet, "/api/documents/"+doc.ID, nil, &doc)
		return doc.Status
	}
	require.Eventually(t, func() bool { return read() == "processing" && doc.Progress >= 40 }, waitTimeout, 5*time.Millisecond)
	require.Zero(t, p.Stop())
	p.Start()
	require.Eventually(t, func() bool { return read() == "ready" }, waitTimeout, 50*time.Millisecond)
	require.Greater(t, doc.Chunks, 1000)
	var found struct {
		Hits []struct {
			Text    string
			ChunkID string `json:"chunk_id"`
		}
	}
	c.do(http.StatusOK, http.MethodGet, "/api/search?k=10&q=rule+4242+of+the+harbour", nil, &found)
	var with []string
	for _, h := range found.Hits {
		if strings.Contains(h.Text, "Rule 4242 of") {
			with = append(with, h.ChunkID)
		}
	}
	require.Len(t, with, 1)
}

// All messages wait when a worker starts and runs them in one workflow task: the
// validator of the second does not see the first.
// Rule T11.
func TestOneOfSimultaneousRejectMessagesIsAccepted(t *testing.T) {
	t.Parallel()
	s, model := apart(t, nil)
	worker, api := s.Worker(), s.API()
	c := newTalk(t, func() string { return api.URL }, s.NewUser())
	answered(t, c.ask("Hello", assistant))
	worker.Stop()
	const sends = 6
	codes := make(chan int, sends)
	var wg sync.WaitGroup
	for range sends {
		wg.Go(func() {
			resp := c.request(t.Context(), http.MethodPost, "/api/chat", with(assistant, object{"message": "Me first", "thread_id": c.thread, "on_busy": "reject"}))
			resp.Body.Close()
			codes <- resp.StatusCode
		})
	}
	worker.Start()
	wg.Wait()
	count := map[int]int{}
	for range sends {
		count[<-codes]++
	}
	require.Equal(t, map[int]int{http.StatusOK: 1, http.StatusConflict: sends - 1}, count)

	// A rejected message is accepted when it is sent again while no turn runs.
	once := with(assistant, object{"message": "Again", "thread_id": c.thread, "on_busy": "reject", "client_turn_id": "once"})
	require.Eventually(t, func() bool { return c.history().Active == nil }, waitTimeout, 20*time.Millisecond)
	model.On(answerCall, llmtest.Silent("A bank must "), llmtest.Default())
	running := c.send("What is the ratio?", assistant)
	running.until(isType("token"))
	c.do(http.StatusConflict, http.MethodPost, "/api/chat", once, nil)
	c.stop(nil)
	running.until(terminal)
	answered(t, c.open(http.MethodPost, "/api/chat", once).all())
}
