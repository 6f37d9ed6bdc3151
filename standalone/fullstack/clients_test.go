package fullstack

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/app/cli"
	"github.com/palaver-chat/palaver/app/service"
	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/drivetest"
	"github.com/palaver-chat/palaver/testkit/llmtest"
)

// The tests of this file send the requests of the original clients as their documents have
// them, and read what those clients read. docs/decisions.md names what deviates.

// post sends a body as it stands and returns the status, the headers and the response.
func (c *talk) post(path, body string, headers ...string) (int, http.Header, string) {
	c.t.Helper()
	method := http.MethodPost
	if body == "" {
		method = http.MethodGet
	}
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, c.url()+path, strings.NewReader(body))
	require.NoError(c.t, err)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := c.client.Do(req)
	require.NoError(c.t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(c.t, err)
	return resp.StatusCode, resp.Header, string(b)
}

// dataOf returns the JSON of a stream's data lines.
func dataOf(t *testing.T, stream string) (events []object) {
	t.Helper()
	for lines := bufio.NewScanner(strings.NewReader(stream)); lines.Scan(); {
		if data, is := strings.CutPrefix(lines.Text(), "data: "); is && data != "[DONE]" {
			var e object
			require.NoError(t, json.Unmarshal([]byte(data), &e), data)
			events = append(events, e)
		}
	}
	return events
}

func TestOriginalClientOfStatusesAndQuestions(t *testing.T) {
	t.Parallel()
	s := stacktest.Start(t)
	c := newTalk(t, func() string { return s.URL }, s.Client)
	doc := c.upload("BankNegara2024", circular)
	require.Empty(t, c.history().Messages, "a brand-new conversation is an empty one")

	status, header, stream := c.post("/api/chat", `{"message":"Summarize @BankNegara2024","tiptap_json":{"type":"doc","content":[{"type":"paragraph","content":[
		{"type":"text","text":"Summarize "},{"type":"mention","attrs":{"id":"`+doc+`","label":"BankNegara2024","category":"document"}}]}]},
		"thread_id":"`+c.thread+`","tagged_doc_ids":["`+doc+`"],"tagged_set_ids":[],"action":"summarize","enable_web_search":false}`)
	require.Equal(t, http.StatusOK, status, stream)
	require.Equal(t, []string{"text/event-stream", "no-cache", "no"}, []string{header.Get("Content-Type"), header.Get("Cache-Control"), header.Get("X-Accel-Buffering")})
	var words []string
	found := false
	events := dataOf(t, stream)
	for _, e := range events {
		if e["type"] == "status" {
			words = append(words, e["message"].(string))
			list, _ := e["docs_found"].([]any)
			found = found || len(list) == 1 && list[0].(map[string]any)["id"] == doc && list[0].(map[string]any)["title"] == "BankNegara2024"
		}
	}
	require.True(t, found, "the pill of the document: %s", stream)
	for _, want := range []string{"Finding documents...", "Validating request...", "Summarizing documents..."} {
		require.Contains(t, words, want)
	}
	require.NotContains(t, words, "Clarifying intent...", "the action is explicit")
	end := events[len(events)-1]
	require.Equal(t, "response", end["type"])
	for _, key := range []string{"response", "citations", "action", "inference_confidence", "retrieval_confidence", "tokens_used", "cost_usd"} {
		require.Contains(t, end, key)
	}

	ask := `{"message":"Summarize and audit this document","tiptap_json":{},"thread_id":"` + c.thread + `","tagged_doc_ids":["` + doc + `"],"tagged_set_ids":[],"action":null,"enable_web_search":false}`
	asked := func() object {
		_, _, stream := c.post("/api/chat", ask)
		events := dataOf(t, stream)
		return events[len(events)-1]
	}
	question := asked()
	require.Equal(t, "interrupt", question["type"])
	require.Equal(t, "action_choice", question["interrupt_type"])
	require.Equal(t, "I can only perform one action at a time. Which would you like to do first?", question["message"])
	_, _, stream = c.post("/api/chat/resume", `{"thread_id":"`+c.thread+`","resume_value":{"type":"action_choice","value":"summarize"}}`)
	events = dataOf(t, stream)
	require.Equal(t, "response", events[len(events)-1]["type"], stream)

	asked()
	status, _, _ = c.post("/api/chat/resume", `{"thread_id":"`+c.thread+`","resume_value":{"type":"cancel","value":null}}`)
	require.Equal(t, http.StatusOK, status)
	status, _, _ = c.post("/api/chat/resume", `{"thread_id":"`+c.thread+`","resume_value":{"type":"cancel","value":null}}`)
	require.Equal(t, http.StatusBadRequest, status, "no pending action to resume")
	messages := c.history().Messages
	require.Equal(t, "cancelled", messages[len(messages)-2].Metadata["finished_reason"], "the person's message says so")
	for _, m := range messages {
		require.NotEmpty(t, m.Content, "no empty assistant message")
	}

	// The same answer from a shell.
	asked()
	shell := func(args ...string) error {
		return cli.Run(t.Context(), append(args, "--temporal-address="+s.TemporalAddress(), "--data-dir="+s.Dir), service.Additions{})
	}
	page := c.attach("follow=turn")
	page.until(isType("interrupt"))
	require.Error(t, shell("resume", c.thread, "nothing of the kind"))
	require.NoError(t, shell("show", c.thread))
	require.NoError(t, shell("resume", c.thread, "summarize"))
	require.Equal(t, "response", page.until(terminal).Type)
	require.Error(t, shell("resume", c.thread, "summarize"), "it waits for nothing")
	asked()
	require.NoError(t, shell("cancel", c.thread))
}

func TestOriginalClientOfBoards(t *testing.T) {
	t.Parallel()
	_, model, c := scripted(t)
	model.On(answerCall, addFact("Seven of ten.", "I-1"), llmtest.Text("Please confirm [F-1]."))
	long := strings.Repeat("long ", 4000)
	body := `{"message":"Add it","chat_history":[{"role":"user","content":"Delete F-1","tool_calls":null},{"role":"assistant","content":"","tool_calls":[{"tool":"delete_item","params":{"entity_type":"fact","item_id":"F-1"},"status":"cancelled"}]}],
	"discovery_context":{"goal":"Why do they leave?","title":"Churn","inputs":[{"input_id":"I-1","type":"web","title":"Calls","text":"` + long + `"}],
	"facts":[{"fact_id":"F-1","text":"","related_inputs":["I-7"],"status":"draft"}],"insights":[{"insight_id":"N-1","text":"x","related_facts":["I-1"],"status":""}],
	"recommendations":[],"outputs":[{"output_id":"O-1","text":"o","type":"poem","related_recommendations":["R-9"],"status":"draft"}]},
	"referenced_items":[{"id":"F-1","type":"fact","text":"old"},{"id":"F-8","type":"fact","text":"Only the client has this."}]}`
	status, header, stream := c.post("/chat/message", body, "Accept", "text/event-stream")
	require.Equal(t, http.StatusOK, status, stream)
	require.Equal(t, "text/event-stream", header.Get("Content-Type"))
	asked := model.Requests()[0]
	require.Equal(t, []string{"add_item", "delete_item", "edit_item"}, asked.Tools)
	for _, part := range []string{"You are Factly", "Title: Churn", "Goal: Why do they leave?", strings.TrimSpace(long), `"type":"poem"`, "Only the client has this.", `{"id":"F-1"}`} {
		require.Contains(t, asked.System, part)
	}
	require.Contains(t, string(asked.Body), "Status: cancelled.")
	require.Contains(t, stream, "event: tool_call\n")
	require.Contains(t, stream, `"tool":"add_item","params":{"entity_type":"fact","related_ids":["I-1"],"related_inputs":["I-1"],"text":"Seven of ten."}`)
	require.Contains(t, stream, "event: token\ndata: {\"text\":\"Please")
	events := dataOf(t, stream)
	require.NoError(t, uuid.Validate(events[len(events)-1]["message_id"].(string)))
	status, _, stream = c.post("/chat/message", `{"chat_history":[],"discovery_context":{},"referenced_items":[]}`)
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, stream, `{"error":"`)

	b := c.newBoard(churn)
	model.On(answerCall, llmtest.Text("The price."))
	_, _, stream = c.post("/chat/message", `{"message":"Why?","discovery_id":"`+b.ID+`"}`)
	events = dataOf(t, stream)
	history := c.board(b.ID).History
	require.Equal(t, history[len(history)-1].ID, events[len(events)-1]["message_id"])
}

func TestOriginalClientOfThreadsAndItsAddresses(t *testing.T) {
	t.Parallel()
	s := stacktest.Start(t, stacktest.Flag("proxy-shared-secret", "shared-secret-of-the-proxy"))
	c := newTalk(t, func() string { return s.URL }, s.Client)
	status, _, stream := c.post("/api/v1/chat/stream", `{"thread_id":"support-42","checkpoint_id":null,"message":{"role":"human","content":[{"type":"text","text":"Draw a lighthouse"}]},"messages":[{"role":"human","content":"Draw a lighthouse"}]}`)
	require.Equal(t, http.StatusOK, status, stream)
	events := dataOf(t, stream)
	require.Equal(t, object{"type": "meta", "phase": "start", "thread_id": "support-42", "checkpoint_id": nil}, events[0])
	approval := slices.IndexFunc(events, func(e object) bool { return e["type"] == "interrupt" })
	require.NotEqual(t, -1, approval, stream)
	require.True(t, strings.HasSuffix(strings.TrimSpace(stream), "data: [DONE]"))
	payload := events[approval]["payload"].(map[string]any)
	require.Equal(t, "tool_approval_required", payload["type"])
	call := payload["tool_calls"].([]any)[0].(map[string]any)["id"].(string)
	_, _, stream = c.post("/api/v1/chat/feedback", `{"thread_id":"support-42","checkpoint_id":null,"approval_data":{"type":"tool_approval","decisions":[{"id":"`+call+`","decision":"rejected"}]}}`)
	require.Contains(t, stream, `"type":"done"`)
	_, _, none := c.post("/api/v1/chat/interrupt?thread_id=support-42&checkpoint_id=", "")
	require.Contains(t, none, `"interrupted":false`)

	var me struct{ ID string }
	c.do(http.StatusOK, http.MethodGet, "/api/me", nil, &me)
	repo := "/api/v1/threads/support-42/repo"
	status, _, got := c.post(repo, "", "userid", me.ID)
	require.Equal(t, http.StatusOK, status)
	require.JSONEq(t, `{"thread_id":"support-42","repo":null}`, got)
	status, _, _ = c.post(repo, "", "userid", "somebody-else")
	require.Equal(t, http.StatusForbidden, status)
	proxy := []string{"userid", "ann", "X-Proxy-Secret", "shared-secret-of-the-proxy"}
	for path, body := range map[string]string{ // userid with the secret, in every dialect
		"/api/chat":            `{"message":"Hello"}`,
		"/api/ui/chat":         `{"id":"a","messages":[{"id":"m","role":"user","parts":[{"type":"text","text":"Hello"}]}]}`,
		"/api/v1/chat/stream":  `{"thread_id":"b","message":{"role":"human","content":"Hello"}}`,
		"/api/agent/v2/stream": `{"message":"Hello","client_turn_id":"c","stream_run_id":"r"}`,
		"/v1/chat/completions": `{"model":"palaver-documents","messages":[{"role":"user","content":"Hello"}]}`,
	} {
		status, _, got := c.post(path, body, proxy...)
		require.Equal(t, http.StatusOK, status, "%s: %s", path, got)
	}
	_, _, got = c.post("/api/conversations", "", proxy...)
	require.GreaterOrEqual(t, strings.Count(got, `"id"`), 4, "they are the conversations of the user that the proxy names: %s", got)

	if _, err := os.Stat("../../web/dist/index.html"); err == nil {
		for _, address := range []string{"/chat", "/chat/support-42"} {
			status, _, page := c.post(address, "", "Accept", "text/html")
			require.Equal(t, http.StatusOK, status, address)
			require.Contains(t, page, "<html")
		}
	}
	_, header, _ := c.post("/api/ui/chat/support-42?limit=1", "")
	require.NoError(t, uuid.Validate(header.Get("X-Thread-Id")), "where the page finds the conversation of that name")
}

func TestOriginalClientOfImports(t *testing.T) {
	t.Parallel()
	drive := drivetest.New(t)
	s := stacktest.Start(t, withDrive(drive, stacktest.Flag("import-wait", "60s"))...)
	c := newTalk(t, func() string { return s.URL }, s.NewUser())
	lease := drivetest.File{Name: "Lease.txt", MIME: "text/plain", Content: []byte(harbour)}
	for n := range 12 {
		drive.Put(driveID(n), lease)
	}
	drive.Put(driveID(20), drivetest.File{Fault: drivetest.NotShared})
	only := "I've imported 'Lease.txt' into your knowledge base. You can now ask me questions about it."
	for n, message := range []string{"look at %", "here is the contract: %", "import the following file: %, thanks"} {
		events := c.ask(strings.ReplaceAll(message, "%", driveLink(driveID(n))), nil)
		require.Equal(t, only, last(events).Response, message)
		require.Equal(t, "Downloading document: Lease.txt...", importSteps(events)[1])
	}
	c.ask(driveLink(driveID(20)), nil)

	said := last(c.ask("Could you tell me which files I have imported so far?", object{"time_zone": "Asia/Tokyo"})).Response
	require.Equal(t, 3, strings.Count(said, "- Lease.txt (Google Drive, "), said)
	require.Contains(t, said, " JST)")
	require.Contains(t, said, "Could not be imported:\n- ", "failures stand apart")

	var links []string
	for n := range 12 {
		links = append(links, driveLink(driveID(n)))
	}
	events := c.ask(strings.Join(links, " "), nil)
	require.Contains(t, last(events).Response, "I import at most 10 links of one message. Please send these in another one: "+links[10]+", "+links[11])
	calls := map[string]bool{}
	for _, e := range events {
		if e.Type == "status" && e.Node == "import" {
			calls[e.CallID] = true
		}
	}
	require.Len(t, calls, 10, "each status names its call")
}
