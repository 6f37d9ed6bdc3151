package fullstack

import (
	"encoding/json"
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

// Rules D18, C15: lists, candidates in questions, other names, spelling and tags.
func TestMessagesElsewhereLearnNothingOfASpace(t *testing.T) {
	t.Parallel()
	s := stacktest.Start(t, stacktest.Flag("supabase-jwt-secret", supabaseSecret))
	c := newTalk(t, func() string { return s.URL }, s.Client)
	ann, bob, eve := c.signedIn("ann"), c.signedIn("bob"), c.signedIn("eve")
	var space, other struct{ ID string }
	ann.do(http.StatusCreated, http.MethodPost, "/api/spaces", object{"name": "Team"}, &space)
	ann.do(http.StatusNoContent, http.MethodPut, "/api/spaces/"+space.ID+"/members", object{"kind": "person", "id": "bob", "role": "reader"}, nil)
	eve.do(http.StatusCreated, http.MethodPost, "/api/spaces", object{"name": "Other"}, &other)
	in := ann.in(space.ID)
	in.upload("Zephyr lease TEAMCANARY", "# Zephyr lease TEAMCANARY\n\nThe tenant of the Zephyr pays 900 euros to TEAMCANARY each month.")
	in.upload("Zephyr table TEAMCANARY", "# Zephyr table TEAMCANARY\n\n| Month | TEAMCANARY |\n| --- | --- |\n| May | 12 |\n| June | 14 |")
	messages := []string{
		"Which documents are there?", "Summarize the Zephyr lease.", "Summarize the Zephir leese.", "Compare the Zephyr lease with the Zephyr table.",
		"What does the tenant of the Zephyr pay?", "What is the sum of the months in the Zephyr table?", "Summarize the Zephyr.", "Summarize and audit the Zephyr lease.",
	}
	shown := 0
	for _, message := range messages {
		body := func() object { return object{"message": message, "thread_id": uuid.NewString()} }
		if _, answer := bob.in(space.ID).asks("/api/chat", body()); strings.Contains(answer, "TEAMCANARY") {
			shown++
		}
		for who, person := range map[string]*talk{"a reader elsewhere": bob, "a stranger": eve, "a stranger in a space of their own": eve.in(other.ID)} {
			status, answer := person.asks("/api/chat", body())
			require.Equal(t, http.StatusOK, status, answer)
			require.NotContains(t, answer, "TEAMCANARY", "%s: %s", who, message)
		}
	}
	require.GreaterOrEqual(t, shown, len(messages)-2, "what the readers of the space see")
	for _, path := range []string{"/api/documents", "/api/search?q=Zephyr", "/api/search?q=TEAMCANARY", "/api/conversations?q=Zephyr", "/api/spaces"} {
		for who, person := range map[string]*talk{"a stranger": eve, "a stranger in a space of their own": eve.in(other.ID)} {
			_, _, answer := person.post(path, "")
			require.NotContains(t, answer, "TEAMCANARY", "%s: %s", who, path)
		}
	}
	_, _, shared := bob.post("/api/documents", "")
	require.NotContains(t, shared, "TEAMCANARY", "a reader elsewhere")
}

// spaceAsks asks the same in every dialect. Each body names the space, or none.
var spaceAsks = []struct {
	dialect, path string
	body          func(thread, space string) object
}{
	{"native", "/api/chat", func(thread, space string) object {
		return inSpace(object{"thread_id": thread, "message": spaceQuestion, "agent": "documents"}, space)
	}},
	{"agent v2", "/api/agent/v2/stream", func(thread, space string) object {
		return inSpace(object{"session_id": thread, "client_turn_id": thread, "stream_run_id": thread, "message": spaceQuestion, "agent": "documents"}, space)
	}},
	{"AI SDK", "/api/ui/chat", func(thread, space string) object {
		parts := []object{{"type": "text", "text": spaceQuestion}}
		return inSpace(object{"id": thread, "messages": []object{{"id": "m", "role": "user", "parts": parts}}, "agent": "documents"}, space)
	}},
	{"LangGraph", "/api/v1/chat/stream", func(thread, space string) object {
		return inSpace(object{"thread_id": thread, "message": object{"role": "human", "content": spaceQuestion}, "agent": "documents"}, space)
	}},
	{"AG-UI", "/api/agui", func(thread, space string) object {
		return object{"threadId": thread, "runId": thread, "messages": []object{{"id": "m", "role": "user", "content": spaceQuestion}}, "tools": []any{}, "context": []any{},
			"forwardedProps": object{"palaver": inSpace(object{"agent": "documents"}, space)}}
	}},
	{"OpenAI", "/v1/chat/completions", func(thread, space string) object {
		return object{"model": "palaver-documents", "messages": []object{{"role": "user", "content": spaceQuestion}}, "metadata": inSpace(object{"thread_id": thread}, space)}
	}},
	{"MCP", "/mcp", mcpAsk},
	{"MCP over RPC", "/mcp/rpc", mcpAsk},
}

const spaceQuestion = "What must the liquidity ratio be?"

func inSpace(body object, space string) object {
	if space != "" {
		body["space_id"] = space
	}
	return body
}

func mcpAsk(thread, space string) object {
	return object{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": object{"name": "ask", "arguments": inSpace(object{"thread_id": thread, "message": spaceQuestion}, space)}}
}

// asks posts a body and returns the status and all that comes back.
func (c *talk) asks(path string, body object) (int, string) {
	c.t.Helper()
	b, err := json.Marshal(body)
	require.NoError(c.t, err)
	status, _, got := c.post(path, string(b), "Accept", "application/json, text/event-stream")
	return status, got
}

// Rules C14, C15, D18.
func TestEveryDialectAnswersFromASpaceForItsReadersOnly(t *testing.T) {
	t.Parallel()
	s := stacktest.Start(t, stacktest.Flag("supabase-jwt-secret", supabaseSecret))
	c := newTalk(t, func() string { return s.URL }, s.Client)
	ann, bob, eve := c.signedIn("ann"), c.signedIn("bob"), c.signedIn("eve")
	var space struct{ ID string }
	ann.do(http.StatusCreated, http.MethodPost, "/api/spaces", object{"name": "Team"}, &space)
	ann.do(http.StatusNoContent, http.MethodPut, "/api/spaces/"+space.ID+"/members", object{"kind": "person", "id": "bob", "role": "reader"}, nil)
	ann.in(space.ID).upload("Liquidity circular", "The liquidity ratio of TEAMCANARY must be at least 100 %.")
	require.GreaterOrEqual(t, len(spaceAsks), 8)
	for _, ask := range spaceAsks {
		t.Run(ask.dialect, func(t *testing.T) {
			for _, named := range []struct {
				by           string
				header, body string
			}{{"the body", "", space.ID}, {"the header", space.ID, ""}} {
				as := func(person *talk) (int, string) {
					if named.header != "" {
						person = person.in(named.header)
					}
					return person.asks(ask.path, ask.body(uuid.NewString(), named.body))
				}
				status, answer := as(bob)
				require.Equal(t, http.StatusOK, status, "a reader, by %s: %s", named.by, answer)
				require.Contains(t, answer, "TEAMCANARY", "a reader, by %s", named.by)
				for who, stranger := range map[string]*talk{"a stranger": eve, "somebody without an account": c} {
					status, answer = as(stranger)
					require.NotContains(t, answer, "TEAMCANARY", "%s, by %s", who, named.by)
					if strings.HasPrefix(ask.path, "/mcp") && named.body != "" { // an error of the call
						require.Contains(t, answer, "There is nothing here by that id", "%s, by %s", who, named.by)
						continue
					}
					require.Equal(t, http.StatusNotFound, status, "%s, by %s: %s", who, named.by, answer)
				}
			}
			status, answer := bob.asks(ask.path, ask.body(uuid.NewString(), ""))
			require.Equal(t, http.StatusOK, status, answer)
			require.NotContains(t, answer, "TEAMCANARY", "a reader elsewhere")
		})
	}
}

// Rule C20: a conversation in no space reads the spaces that a message names, besides its person's
// own documents, until the person is removed, also in the middle of a turn.
func TestPrivateConversationReadsSpacesInItsScope(t *testing.T) {
	t.Parallel()
	_, model, c := scripted(t, stacktest.Flag("supabase-jwt-secret", supabaseSecret))
	ann, bob, eve := c.signedIn("ann"), c.signedIn("bob"), c.signedIn("eve")
	bob.upload("Bob's own notes on the liquidity ratio", "The liquidity ratio of PRIVATECANARY must be at least 90 %.")
	var space struct{ ID string }
	ann.do(http.StatusCreated, http.MethodPost, "/api/spaces", object{"name": "Team", "public_links": true}, &space)
	members := "/api/spaces/" + space.ID + "/members"
	join := func() {
		ann.do(http.StatusNoContent, http.MethodPut, members, object{"kind": "person", "id": "bob", "role": "reader"}, nil)
	}
	join()
	circular := ann.in(space.ID).upload("Liquidity circular", "The liquidity ratio of TEAMCANARY must be at least 100 %.")
	prompts := func(from int) string {
		var all strings.Builder
		for _, r := range model.Requests()[from:] {
			all.Write(r.Body)
		}
		return all.String()
	}
	for _, ask := range spaceAsks {
		seen := len(model.Requests())
		status, answer := bob.asks(ask.path, inScope(ask.body(uuid.NewString(), ""), space.ID))
		require.Equal(t, http.StatusOK, status, "%s: %s", ask.dialect, answer)
		require.Contains(t, prompts(seen), "TEAMCANARY", ask.dialect)
		require.Contains(t, prompts(seen), "PRIVATECANARY", ask.dialect)
		for who, stranger := range map[string]*talk{"a stranger": eve, "somebody without an account": c} {
			seen := len(model.Requests())
			_, answer := stranger.asks(ask.path, inScope(ask.body(uuid.NewString(), ""), space.ID))
			require.Contains(t, answer, "names a space that does not exist", "%s, %s", ask.dialect, who)
			require.NotContains(t, prompts(seen), "TEAMCANARY", "%s, %s", ask.dialect, who)
		}
	}

	gate := llmtest.NewGate()
	model.On(answerCall, llmtest.Answer{Chunks: []string{"It must be 100 %, says TEAMCANARY [1]."}, Gates: map[int]*llmtest.Gate{0: gate}})
	bob.thread = uuid.NewString()
	running := bob.send("What must the liquidity ratio be?", object{"space_ids": []string{space.ID}})
	<-gate.Reached()
	ann.do(http.StatusNoContent, http.MethodDelete, members+"?kind=person&id=bob", nil, nil)
	gate.Release()
	rest, err := io.ReadAll(running.resp.Body)
	require.NoError(t, err)
	require.Contains(t, string(rest), `"message_code":"space.left"`)
	require.NotContains(t, string(rest), "TEAMCANARY", "no answer after the removal")
	for _, m := range bob.history().Messages {
		require.NotContains(t, m.Content, "TEAMCANARY")
	}
	seen := len(model.Requests())
	model.On(answerCall, llmtest.Answer{Chunks: []string{"It must be 90 % [1]."}})
	answered(t, bob.ask("What must the liquidity ratio be?", nil))
	require.Contains(t, prompts(seen), "PRIVATECANARY", "the conversation goes on without the space")
	require.NotContains(t, prompts(seen), "TEAMCANARY")

	join()
	shared := (&talk{t, bob.url, bob.client, uuid.NewString()})
	shared.ask("What must the liquidity ratio be?", object{"space_ids": []string{space.ID}})
	shared.do(http.StatusForbidden, http.MethodPost, "/api/conversations/"+shared.thread+"/shares", object{}, nil)
	seen = len(model.Requests())
	answered(t, shared.ask("What does it say?", object{"tagged_doc_ids": []string{circular}}))
	require.Contains(t, prompts(seen), "TEAMCANARY", "a later message names a document of the scope")
	var v struct {
		Title  string
		Spaces []string `json:"space_ids"`
	}
	shared.do(http.StatusOK, http.MethodGet, "/api/conversations/"+shared.thread, nil, &v)
	require.Equal(t, []string{space.ID}, v.Spaces)
	require.NotContains(t, v.Title, "circular", "a title outlasts the right to read the document")
}

// inScope adds a space to the scope of a message of any dialect.
func inScope(body object, space string) object {
	fields := body
	if forwarded, is := body["forwardedProps"].(object); is {
		fields = forwarded["palaver"].(object)
	} else if metadata, is := body["metadata"].(object); is {
		metadata["space_ids"] = space
		return body
	} else if params, is := body["params"].(object); is {
		fields = params["arguments"].(object)
	}
	fields["space_ids"] = []string{space}
	return body
}
