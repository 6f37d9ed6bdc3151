package desk_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"example.com/supportdesk/desk"
	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/llmtest"
)

// tickets records the tickets that were created.
type tickets struct {
	mu      sync.Mutex
	created []string
}

func (t *tickets) Create(_ context.Context, _ string, ticket json.RawMessage) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.created = append(t.created, string(ticket))
	return "T-1", nil
}

type object map[string]any

// event has the fields of an event that the tests read.
type event struct {
	Type     string
	Text     string // of the widget's events
	Message  string
	Response string
	Kind     string `json:"interrupt_type"`
	Calls    []struct {
		ID        string
		Name      string
		Arguments json.RawMessage
	} `json:"tool_calls"`
}

// talk is one person's conversation.
type talk struct {
	t      *testing.T
	stack  *stacktest.Stack
	thread string
}

func (c *talk) ask(message string) []event {
	c.t.Helper()
	return c.post("/api/chat", object{"thread_id": c.thread, "message": message, "agent": "support"})
}

func (c *talk) resume(value object) []event {
	c.t.Helper()
	return c.post("/api/chat/resume", object{"thread_id": c.thread, "resume_value": value})
}

// post sends a request and reads the stream of events to its end.
func (c *talk) post(path string, body object) (events []event) {
	c.t.Helper()
	encoded, err := json.Marshal(body)
	require.NoError(c.t, err)
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.stack.URL+path, bytes.NewReader(encoded))
	require.NoError(c.t, err)
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.stack.Client.Do(req)
	require.NoError(c.t, err)
	defer func() { _ = resp.Body.Close() }()
	require.Equal(c.t, http.StatusOK, resp.StatusCode)
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if data, is := strings.CutPrefix(lines.Text(), "data: "); is {
			var e event
			require.NoError(c.t, json.Unmarshal([]byte(data), &e), data)
			events = append(events, e)
		}
	}
	require.NotEmpty(c.t, events)
	return events
}

// get reads a JSON resource.
func (c *talk) get(path string, out any) {
	c.t.Helper()
	resp, err := c.stack.Client.Get(c.stack.URL + path)
	require.NoError(c.t, err)
	defer func() { _ = resp.Body.Close() }()
	require.Equal(c.t, http.StatusOK, resp.StatusCode)
	require.NoError(c.t, json.NewDecoder(resp.Body).Decode(out))
}

func last(events []event) event { return events[len(events)-1] }

func messages(events []event) (all []string) {
	for _, e := range events {
		all = append(all, e.Message)
	}
	return all
}

func TestDeskAsksForTheOrderAndCreatesOneApprovedTicket(t *testing.T) {
	reportBrokenLamp(t, func(*stacktest.Stack) {})
}

// reportBrokenLamp is a conversation with two questions. It calls meanwhile while each is open.
func reportBrokenLamp(t *testing.T, meanwhile func(*stacktest.Stack)) {
	model, created := llmtest.New(t), &tickets{}
	stack := stacktest.Start(t, stacktest.Model(model.URL), stacktest.Additions(desk.Options(created)...))
	model.On(llmtest.Match{Kind: llmtest.Stream},
		llmtest.Calls(llmtest.Call("create_ticket", object{"order": "A-12345", "problem": "The lamp is broken."})),
		llmtest.Text("I created the ticket T-1."), llmtest.Text("In two days."))
	c := &talk{t, stack, uuid.NewString()}

	asked := last(c.ask("My lamp arrived broken."))
	require.Equal(t, "text_input", asked.Kind, "%+v", asked)
	require.Equal(t, "What is the number of your order? It looks like A-12345.", asked.Message)
	require.Zero(t, model.Count(llmtest.Match{}), "no model was called")

	meanwhile(stack)
	answered := c.resume(object{"type": "text_input", "value": "It is A-12345"})
	require.Contains(t, messages(answered), "Looking into your order...")
	approval := last(answered)
	require.Equal(t, "tool_approval", approval.Kind, "%+v", approval)
	require.Equal(t, "create_ticket", approval.Calls[0].Name)
	require.Empty(t, created.created, "no ticket before the person has approved")

	meanwhile(stack)
	end := last(c.resume(object{"type": "tool_approval", "decisions": []object{{"id": approval.Calls[0].ID, "decision": "approved"}}}))
	require.Equal(t, "response", end.Type, "%+v", end)
	require.Equal(t, "I created the ticket T-1.", end.Response)
	require.Len(t, created.created, 1)
	require.JSONEq(t, `{"order":"A-12345","problem":"The lamp is broken."}`, created.created[0])

	calls := model.Requests()
	require.Len(t, calls, 2, "nothing is repeated")
	require.Contains(t, calls[0].System, "support desk of a shop that sells lamps")
	require.Equal(t, "It is A-12345", calls[0].LastUser)
	require.ElementsMatch(t, []string{"create_ticket", "search_documents"}, calls[0].Tools)
	require.Contains(t, calls[1].LastResult, "The ticket T-1 was created.")

	require.Equal(t, "In two days.", last(c.ask("When will the new one come?")).Response, "the order number of the earlier turn is known")
}

// TestTheShopsManualIsImportedByItsLink sends a link of the shop's own source in a message.
func TestTheShopsManualIsImportedByItsLink(t *testing.T) {
	stack := stacktest.Start(t, stacktest.Additions(desk.Options(&tickets{})...))
	c := &talk{t, stack, uuid.NewString()}
	end := last(c.post("/api/chat", object{"thread_id": c.thread, "message": "https://manuals.example.com/aurora"}))
	require.Contains(t, end.Response, "I've imported 'aurora.md' into your knowledge base.", "%+v", end)
	type document struct {
		Title  string
		Source string `json:"source_type"`
	}
	var library struct{ Items []document }
	c.get("/api/documents", &library)
	require.Contains(t, library.Items, document{"aurora", "manuals"})

	missing := last(c.post("/api/chat", object{"thread_id": c.thread, "message": "https://manuals.example.com/unknown"}))
	require.Contains(t, missing.Response, "I couldn't access that document.")
}

// TestTheWidgetAsksAndAnswers uses the protocol of the shop's chat widget.
func TestTheWidgetAsksAndAnswers(t *testing.T) {
	model := llmtest.New(t)
	stack := stacktest.Start(t, stacktest.Model(model.URL), stacktest.Additions(desk.Options(&tickets{})...))
	model.On(llmtest.Match{Kind: llmtest.Stream}, llmtest.Text("It arrives in two days."))
	c := &talk{t, stack, ""}
	question := last(c.post("/api/widget/messages", object{"chat": "visitor-7", "text": "Where is my lamp?"}))
	require.Equal(t, event{Type: "question", Text: "What is the number of your order? It looks like A-12345."}, question)
	answer := last(c.post("/api/widget/answers", object{"chat": "visitor-7", "text": "A-12345"}))
	require.Equal(t, event{Type: "answer", Text: "It arrives in two days."}, answer)

	var document struct{ Paths map[string]any }
	c.get("/openapi.json", &document)
	require.Contains(t, document.Paths, "/api/widget/messages")
}

func TestTheDeskIsOffered(t *testing.T) {
	stack := stacktest.Start(t, stacktest.Additions(desk.Options(&tickets{})...))
	var config struct {
		Agents []struct{ Name, Label, Description string }
	}
	(&talk{t, stack, ""}).get("/api/config", &config)
	require.Contains(t, config.Agents, struct{ Name, Label, Description string }{"support", "Support desk", "Helps with an order, and creates tickets"})
}

func TestFilesKeepOneTicketForAKey(t *testing.T) {
	files := desk.Files{Dir: filepath.Join(t.TempDir(), "tickets")}
	for range 2 {
		number, err := files.Create(t.Context(), "c1", json.RawMessage(`{}`))
		require.NoError(t, err)
		require.Equal(t, "c1", number)
	}
	list, err := os.ReadDir(files.Dir)
	require.NoError(t, err)
	require.Len(t, list, 1)
}

// TestTheGuideShowsThisExample compares the code of docs/extending.md with the files here.
func TestTheGuideShowsThisExample(t *testing.T) {
	guide, err := os.ReadFile("../../../docs/extending.md")
	require.NoError(t, err)
	var all strings.Builder
	for _, file := range []string{"desk.go", "agent.go", "tool.go", "manuals.go", "widget.go", "../main.go", "../cmd/desk/main.go", "../go.mod"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		all.Write(text)
	}
	blocks := strings.Split(string(guide), "```")
	shown := 0
	for i := 1; i < len(blocks); i += 2 {
		if code, is := strings.CutPrefix(blocks[i], "go\n"); is {
			require.Contains(t, all.String(), strings.TrimSpace(code))
			shown++
		}
	}
	require.Greater(t, shown, 3)
}
