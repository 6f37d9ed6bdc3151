package fullstack

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm/llmtest"
)

// The workflow's log once contained the answers. With twenty of 200 kB each, a
// late viewer hung and the thread's workflow task failed on every retry.
func TestLargeAnswersBlockNeitherViewersNorTheThread(t *testing.T) {
	t.Parallel()
	_, _, c := scripted(t)
	interrupted(t, c.ask("Summarize", object{"action": "summarize"}))
	large := object{"type": "doc", "content": []object{{"type": "paragraph", "content": []object{{"type": "text", "text": strings.Repeat("no document at all ", 10_000)}}}}}
	for range 20 {
		interrupted(t, c.open(http.MethodPost, "/api/chat/resume", object{"thread_id": c.thread,
			"resume_value": object{"type": chat.TextInput, "value": "nothing of that name", "tiptap_json": large}}).all())
	}
	late := c.attach("follow=turn")
	for range 21 {
		late.until(isType("interrupt"))
	}
	doc := c.upload("Liquidity circular", circular)
	answered(t, c.open(http.MethodPost, "/api/chat/resume", object{"thread_id": c.thread,
		"resume_value": object{"type": chat.TextInput, "value": doc}}).all())
	require.Equal(t, "response", late.until(terminal).Type)
}

// All messages wait when a worker starts and runs them in one workflow task: the
// validator of the second does not see the first.
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

	// A rejected message is accepted when the thread is free and it is sent again.
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
