package fullstack

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/boards/board"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/testkit/must"
)

// boardJSON is a board as the API shows it.
type boardJSON struct {
	ID        string           `json:"id"`
	Thread    string           `json:"thread_id"`
	Revision  int              `json:"revision"`
	Facts     []map[string]any `json:"facts"`
	Inputs    []map[string]any `json:"inputs"`
	Proposals []board.Proposal `json:"proposals"`
	History   []board.Message  `json:"chat_history"`
}

var churn = object{
	"title": "Churn", "goal": "Find out why customers leave",
	"inputs": []object{{"input_id": "I-1", "type": "text", "title": "Calls", "text": "Notes of ten calls with customers who left."}},
	"facts": []object{
		{"fact_id": "F-1", "text": "Seven of ten customers named the price.", "related_inputs": []string{"I-1"}},
		{"fact_id": "F-2", "text": "Two customers were never called back."},
	},
	"insights": []object{{"insight_id": "N-1", "text": "Price matters most.", "related_facts": []string{"F-1"}}},
}

// newBoard creates a board; from then on c talks on the board's thread.
func (c *talk) newBoard(file object) boardJSON {
	c.t.Helper()
	var b boardJSON
	c.do(http.StatusCreated, http.MethodPost, "/api/discoveries", file, &b)
	require.NotEmpty(c.t, b.Thread)
	c.thread = b.Thread
	return b
}

func (c *talk) board(id string) (b boardJSON) {
	c.t.Helper()
	c.do(http.StatusOK, http.MethodGet, "/api/discoveries/"+id, nil, &b)
	return b
}

func (c *talk) conversations() int {
	c.t.Helper()
	var list struct{ Items []object }
	c.do(http.StatusOK, http.MethodGet, "/api/conversations", nil, &list)
	return len(list.Items)
}

func addFact(text string, related ...string) llmtest.Answer {
	return llmtest.Calls(llmtest.Call(board.ToolAdd, object{"entity_type": "fact", "text": text, "related_ids": related}))
}

// Rule K6.
func TestFSChatAddItemStoresAProposalAndCompletesTheTurn(t *testing.T) {
	t.Parallel()
	_, model, c := scripted(t)
	b := c.newBoard(churn)
	require.Empty(t, c.history().Messages, "a new board starts with an empty chat")
	model.On(answerCall, addFact("Three customers moved away.", "i-1"), llmtest.Text("Here is a proposal, resting on [I-1]."))

	events := c.ask("Add a fact about moving", object{"references": []string{"I-1"}})
	end := last(events)
	require.Equal(t, "response", end.Type)
	require.Contains(t, end.Response, "[I-1]")
	require.Contains(t, model.Requests()[0].System, "Seven of ten customers named the price.")
	require.ElementsMatch(t, board.AgentTools, model.Requests()[0].Tools)
	require.Contains(t, model.Requests()[1].LastResult, "The person sees the proposal and decides")

	now := c.board(b.ID)
	require.Len(t, now.Facts, 2, "the call alone changes nothing")
	require.Len(t, now.Proposals, 1)
	p := now.Proposals[0]
	require.Equal(t, chat.CallID(end.TurnID, 1), p.ID)
	require.Equal(t, board.Pending, p.State)
	require.Equal(t, []string{"I-1"}, p.Params.RelatedIDs)
	var called event
	for _, e := range events {
		if e.Type == "tool_call" {
			called = e
		}
	}
	require.Equal(t, p.ID, called.ID, "the event names the proposal")
	require.Zero(t, c.conversations(), "the list of conversations does not have the chats of boards")

	require.Len(t, now.History, 2)
	require.Equal(t, []string{"I-1"}, now.History[0].References)
	require.Equal(t, "pending", now.History[1].ToolCalls[0].Status)
	c.do(http.StatusOK, http.MethodPost, "/api/discoveries/"+b.ID+"/actions/"+p.ID, object{"decision": "confirm"}, nil)
	now = c.board(b.ID)
	require.Len(t, now.Facts, 3)
	require.Equal(t, "applied", now.History[1].ToolCalls[0].Status)
}

// Rule K7.
func TestWrongProposalGoesBackToTheModelOnceAndThenToThePerson(t *testing.T) {
	t.Parallel()
	_, model, c := scripted(t)
	b := c.newBoard(churn)
	model.On(answerCall, addFact("One.", "I-9"), addFact("One.", "N-1"), llmtest.Text("Never reached."))
	events := c.ask("Add it", nil)
	require.Equal(t, "response", last(events).Type)
	require.Equal(t, 2, model.Count(answerCall))
	require.Contains(t, model.Requests()[1].LastResult, "which is not on the board")
	now := c.board(b.ID)
	require.Len(t, now.Proposals, 1)
	require.Equal(t, board.Failed, now.Proposals[0].State)
	require.Contains(t, now.Proposals[0].Reason, "a fact builds on inputs")
	var told []string
	for _, e := range events {
		if e.Type == "notice" {
			told = append(told, e.Code)
		}
	}
	require.Equal(t, []string{chat.NoticeWrongProposal}, told)
	require.Equal(t, "error", now.History[1].ToolCalls[0].Status)
}

// Rule S4.
func TestTemperatureAndLengthOfAnswersAboutBoardsAreSettings(t *testing.T) {
	t.Parallel()
	_, model, c := scripted(t, stacktest.Flag("llm-temp-chat", "1.5"), stacktest.Flag("llm-chat-max-tokens", "777"))
	c.newBoard(churn)
	model.On(answerCall, llmtest.Text("Fine."))
	c.ask("How is it going?", nil)
	var sent struct {
		Temperature float64
		Max         int `json:"max_completion_tokens"`
		MaxTokens   int `json:"max_tokens"`
	}
	require.NoError(t, json.Unmarshal(model.Requests()[0].Body, &sent))
	require.InDelta(t, 1.5, sent.Temperature, 1e-6)
	require.Equal(t, 777, max(sent.Max, sent.MaxTokens))
}

// Rules K2, K5.
func TestFSChatFullContextBelowThresholdAndSummarizedAbove(t *testing.T) {
	t.Parallel()
	_, model, c := scripted(t, stacktest.Flag("chat-context-threshold", "4"))
	c.newBoard(churn)
	model.On(answerCall, llmtest.Text("Fine."))
	c.ask("How is it going?", nil)
	system := model.Requests()[0].System
	require.Contains(t, system, "<board>")
	require.Contains(t, system, "Two customers were never called back.")

	long := "Two customers were never called back. " + strings.Repeat("More words. ", 50) + "The end of it."
	bigger := object{}
	for k, v := range churn {
		bigger[k] = v
	}
	bigger["recommendations"] = []object{{"recommendation_id": "R-1", "text": long}}
	c.newBoard(bigger)
	c.ask("How is it going?", nil)
	system = model.Requests()[1].System
	require.Contains(t, system, "<board_summary>")
	require.NotContains(t, system, "The end of it.")
	require.Contains(t, system, `"facts":2`)
	require.Contains(t, system, `"items_that_rest_on_nothing":2`)
	require.Contains(t, system, `"items_by_depth_of_their_chain":{"1":3,"2":1,"3":1}`)
	c.ask("What about r-1?", nil)
	require.Contains(t, model.Requests()[2].System, "The end of it.", "an item that the message names is in the prompt in full")
	c.ask("What about that one?", object{"references": []string{"R-1"}})
	require.Contains(t, model.Requests()[3].System, "The end of it.", "so is one that the person references")
}

// Rule K4.
func TestFSChatHistorySavedWithDiscoveryIsExportedAndImported(t *testing.T) {
	t.Parallel()
	_, model, c := scripted(t)
	b := c.newBoard(churn)
	model.On(answerCall, llmtest.Text("Because of the price [F-1]."))
	c.ask("Why do they leave?", nil)
	var file object
	c.do(http.StatusOK, http.MethodGet, "/api/discoveries/"+b.ID, nil, &file)
	first := c.board(b.ID)
	require.Len(t, first.History, 2)

	var again boardJSON
	c.do(http.StatusOK, http.MethodPut, "/api/discoveries/"+b.ID, file, &again)
	require.Equal(t, first.History, again.History, "importing the board's own export must not repeat the chat")

	second := c.newBoard(file)
	require.NotEqual(t, b.Thread, second.Thread)
	require.Equal(t, first.History, second.History)
	model.On(answerCall, llmtest.Text("As I said."))
	c.ask("And then?", nil)
	seen := model.Requests()
	require.Contains(t, string(seen[len(seen)-1].Body), "Why do they leave?", "the imported chat is context")
	require.Len(t, c.board(second.ID).History, 4)

	fresh := c.newBoard(churn)
	require.Empty(t, fresh.History, "FS-ChatHistoryClearedOnNewDiscovery")
}

// Rules B8, K3.
func TestDeletedBoardTakesNoMessagesAndARestoredOneKeepsItsChat(t *testing.T) {
	t.Parallel()
	_, model, c := scripted(t)
	b := c.newBoard(churn)
	gate := llmtest.NewGate()
	t.Cleanup(gate.Release)
	model.On(answerCall, llmtest.Answer{Chunks: []string{"Because ", "of…"}, Gates: map[int]*llmtest.Gate{1: gate}}, llmtest.Text("The price."))
	running := c.send("Why?", nil)
	running.until(isType("token"))
	c.do(http.StatusNoContent, http.MethodDelete, "/api/discoveries/"+b.ID, nil, nil)
	require.Equal(t, "cancelled", last(running.all()).Type, "the deletion stops the running turn")
	c.do(http.StatusNotFound, http.MethodPost, "/api/chat", object{"message": "Why?", "thread_id": b.Thread}, nil)

	c.do(http.StatusNoContent, http.MethodPost, "/api/discoveries/"+b.ID+"/restore", nil, nil)
	require.Len(t, c.board(b.ID).History, 2)
	require.Equal(t, "The price.", last(c.ask("Why?", nil)).Response)
}

// stackUser returns a client without a cookie, for a new user.
func stackUser(c *talk) *http.Client {
	client := *c.client
	client.Jar = nil
	client.Timeout = time.Minute
	return &client
}

// named reads a stream of the discovery dialect to its end. It returns the names of the
// events, and their data joined.
func (c *talk) named(body object) (names []string, data string, resp *http.Response) {
	c.t.Helper()
	s := c.open(http.MethodPost, "/chat/message", body)
	for s.lines.Scan() {
		if name, is := strings.CutPrefix(s.lines.Text(), "event: "); is {
			names = append(names, name)
		} else {
			data += s.lines.Text()
		}
	}
	return names, data, s.resp
}

// Rule K10.
func TestFSChatDialectWithTheBoardOfTheRequest(t *testing.T) {
	t.Parallel()
	_, model, c := scripted(t)
	model.On(answerCall, addFact("Three customers moved away.", "I-9"), addFact("Three customers moved away.", "i-1"), llmtest.Text("Please confirm."))
	names, data, resp := c.named(object{"message": "Add it", "discovery_context": churn,
		"chat_history": []object{{"role": "assistant", "content": "Hello, analyst."}}})
	require.Equal(t, "tool_call", names[0], "a call that does not fit the board must not be sent")
	require.Equal(t, "done", names[len(names)-1])
	require.Contains(t, data, `"related_ids":["I-1"],"related_inputs":["I-1"]`)
	require.Contains(t, data, `{"text":"Please`)
	require.Contains(t, string(model.Requests()[0].Body), "Hello, analyst.")
	require.Zero(t, c.conversations())
	c.thread = resp.Header.Get("X-Thread-Id")
	require.Eventually(t, func() bool {
		gone := c.request(t.Context(), http.MethodGet, "/api/chat/history/"+c.thread, nil)
		defer gone.Body.Close()
		return gone.StatusCode == http.StatusNotFound
	}, waitTimeout, 20*time.Millisecond, "nothing of the chat is stored")
}

// Rule K12.
func TestFSChatStreamingInterruptionByClosingStopsTheTurn(t *testing.T) {
	t.Parallel()
	_, model, c := scripted(t)
	b := c.newBoard(churn)
	gate := llmtest.NewGate()
	t.Cleanup(gate.Release)
	model.On(answerCall, llmtest.Answer{Chunks: []string{"Because of the ", "price."}, Gates: map[int]*llmtest.Gate{1: gate}})
	s := c.open(http.MethodPost, "/chat/message", object{"message": "Why?", "discovery_id": b.ID})
	require.True(t, s.lines.Scan())
	s.close()
	require.Eventually(t, func() bool { return c.history().Active == nil }, waitTimeout, 50*time.Millisecond)
	h := c.history()
	require.Equal(t, "disconnect", h.Messages[1].Metadata["interrupted_reason"])
	require.Equal(t, "Because of the", strings.TrimSpace(h.Messages[1].Content))
	require.Len(t, c.board(b.ID).History, 2)
}

const retention = `# Retention

Invoices are kept for ten years after the end of the year.

Every customer record is deleted within 30 days of a request.`

// citedFact is a call for a fact with words of a document.
func citedFact(text, document, quote string) llm.ToolCall {
	return llmtest.Call(board.ToolAdd, object{"entity_type": "fact", "text": text, "document": document, "quote": quote})
}

// Rule K6.
func TestFactsOfADocumentAreProposedAtOnceEachWithItsCitation(t *testing.T) {
	t.Parallel()
	_, model, c := scripted(t)
	doc := c.upload("Retention policy", retention)
	b := c.newBoard(churn)
	model.On(answerCall,
		llmtest.Calls(llmtest.Call(board.ToolAddDocument, object{"document": "retention policy"}), llmtest.Call(board.ToolRead, object{"document": doc})),
		llmtest.Calls(
			citedFact("Invoices are kept for ten years.", "Retention policy", "invoices are  kept for ten years"),
			citedFact("Customer records are deleted within 30 days of a request.", doc, "Every customer record is deleted within 30 days of a request."),
			citedFact("Nobody reads it.", doc, "Nobody reads this."),
		),
		llmtest.Calls(citedFact("Nobody reads it.", "another document", "Nobody")),
		llmtest.Text("Never reached."))
	end := last(c.ask("Add the facts of the retention policy as facts", object{"tagged_doc_ids": []string{doc}}))
	require.Equal(t, "response", end.Type)
	seen := model.Requests()
	require.Contains(t, seen[1].LastResult, "<passage id=\"1\"", "the model reads numbered passages")
	require.Contains(t, seen[1].LastResult, "Every customer record is deleted")
	require.Contains(t, string(seen[2].Body), "is not in the document: quote it word for word")

	now := c.board(b.ID)
	require.Len(t, now.Facts, 2, "nothing is added before a person confirms")
	require.Len(t, now.Proposals, 4)
	slices.SortFunc(now.Proposals, func(a, b board.Proposal) int { return strings.Compare(a.ID, b.ID) }) // the calls ran concurrently
	input, first, second, failed := now.Proposals[0], now.Proposals[1], now.Proposals[2], now.Proposals[3]
	require.Equal(t, board.Input, input.Params.EntityType)
	require.Equal(t, doc, input.Params.DocumentID)
	require.Contains(t, input.Params.Text, "Invoices are kept")
	require.Equal(t, &board.Citation{DocumentID: doc, Title: "Retention policy", ChunkID: doc + ".0", Quote: "Invoices are kept for ten years", Start: 13, End: 44}, first.Params.Citation)
	require.Equal(t, board.Failed, failed.State)
	require.Nil(t, failed.Params.Citation, "a quote that is not in the document must not become a citation")
	require.Contains(t, failed.Reason, "names no document of the library")

	confirm := func(p board.Proposal, more object) {
		body := object{"decision": "confirm"}
		for k, v := range more {
			body[k] = v
		}
		c.do(http.StatusOK, http.MethodPost, "/api/discoveries/"+b.ID+"/actions/"+p.ID, body, nil)
	}
	confirm(input, nil)
	confirm(first, nil)
	forged := object{"document_id": "x", "quote": "forged"}
	confirm(second, object{"params": object{"entity_type": "fact", "text": "Records go after 30 days.", "citation": forged}})
	now = c.board(b.ID)
	require.Len(t, now.Inputs, 2)
	require.Equal(t, doc, now.Inputs[1]["document_id"])
	require.Equal(t, "Retention policy", now.Inputs[1]["title"])
	require.Equal(t, []any{"I-2"}, now.Facts[2]["related_inputs"], "a fact builds on the input of the document that it cites")
	require.Equal(t, "Invoices are kept for ten years", now.Facts[2]["citation"].(map[string]any)["quote"])
	require.Equal(t, "Every customer record is deleted within 30 days of a request", now.Facts[3]["citation"].(map[string]any)["quote"], "an edit keeps the citation")

	var file object
	c.do(http.StatusOK, http.MethodGet, "/api/discoveries/"+b.ID, nil, &file)
	again := c.newBoard(file)
	require.Equal(t, now.Facts, again.Facts)
	require.Equal(t, now.Inputs, again.Inputs)
}

// Rule K8.
func TestDocumentIsAnInputAndItsFactsAreProposedWithoutAModel(t *testing.T) {
	t.Parallel()
	s := stacktest.Start(t)
	c := newTalk(t, func() string { return s.URL }, s.Client)
	doc := c.upload("Retention policy", retention)
	b := c.newBoard(churn)
	end := last(c.ask("Add the facts of @Retention policy as facts", object{"tagged_doc_ids": []string{doc}}))
	require.Contains(t, end.Response, "I propose the document as an input.\nI propose 2 facts, with the words of the document that say so.")
	now := c.board(b.ID)
	require.Len(t, now.Proposals, 3)
	slices.SortFunc(now.Proposals, func(a, b board.Proposal) int { return strings.Compare(a.ID, b.ID) })
	for _, p := range now.Proposals {
		c.do(http.StatusOK, http.MethodPost, "/api/discoveries/"+b.ID+"/actions/"+p.ID, object{"decision": "confirm"}, nil)
	}
	now = c.board(b.ID)
	require.Len(t, now.Facts, 4)
	for _, fact := range now.Facts[2:] {
		require.Equal(t, []any{"I-2"}, fact["related_inputs"])
		c := fact["citation"].(map[string]any)
		require.Equal(t, doc, c["document_id"])
		require.Equal(t, fact["text"], c["quote"].(string)+".")
	}
	require.Contains(t, last(c.ask("Add the facts of I-2 as facts", nil)).Response, "no whole sentence", "facts that are on the board must not be proposed again")
	require.Contains(t, last(c.ask("Add the facts of the moon as facts", nil)).Response, "No document is called the moon.")
	require.Empty(t, c.board(b.ID).Proposals[3:])
}

// Rule B13.
func TestInputsByHandAreDocumentsOfTheirOwnersLibraryOnly(t *testing.T) {
	t.Parallel()
	s := stacktest.Start(t)
	c := newTalk(t, func() string { return s.URL }, s.Client)
	doc := c.upload("Retention policy", retention)
	b := c.newBoard(churn)
	items := "/api/discoveries/" + b.ID + "/items"
	c.do(http.StatusCreated, http.MethodPost, items, object{"entity_type": "input", "text": "Only its beginning", "document_id": doc}, nil)
	require.Equal(t, "Retention policy", c.board(b.ID).Inputs[1]["title"])
	c.do(http.StatusBadRequest, http.MethodPost, items, object{"entity_type": "fact", "text": "Something", "document_id": doc}, nil)
	c.do(http.StatusBadRequest, http.MethodPost, items, object{"entity_type": "fact", "text": "Something", "citation": object{"document_id": doc, "quote": "not in it"}}, nil)

	jar := must.Have(cookiejar.New(nil))(t)
	client := stackUser(c)
	client.Jar = jar
	other := newTalk(t, c.url, client)
	theirs := other.newBoard(churn)
	other.do(http.StatusBadRequest, http.MethodPost, "/api/discoveries/"+theirs.ID+"/items", object{"entity_type": "input", "text": "x", "document_id": doc}, nil)
	other.do(http.StatusBadRequest, http.MethodPost, "/api/discoveries/"+theirs.ID+"/actions",
		object{"id": "p", "tool": "add_item", "params": object{"entity_type": "fact", "text": "x", "citation": object{"document_id": doc, "quote": "ten years"}}}, nil)
}

// The process is killed while it handles several confirmations: some are stored, and no
// response has been read.
func TestConfirmationsAreAppliedOnceAcrossCrashes(t *testing.T) {
	t.Parallel()
	p := stacktest.StartProcess(t)
	c := newTalk(t, func() string { return p.URL }, p.Client)
	b := c.newBoard(churn)
	for _, text := range []string{"Three customers moved away", "Four found it slow", "Nobody read the manual"} {
		c.ask("add fact: "+text+", from I-1", nil)
	}
	proposals := c.board(b.ID).Proposals
	require.Len(t, proposals, 3)
	at := must.Have(url.Parse(p.URL))(t)
	body := `{"decision":"confirm"}`
	for _, proposal := range proposals {
		conn, err := net.Dial("tcp", at.Host) // the response is never read
		require.NoError(t, err)
		defer conn.Close()
		request := must.Have(http.NewRequest(http.MethodPost, p.URL+"/api/discoveries/"+b.ID+"/actions/"+proposal.ID, strings.NewReader(body)))(t)
		request.Header.Set("Content-Type", "application/json")
		for _, cookie := range p.Client.Jar.Cookies(at) {
			request.AddCookie(cookie)
		}
		require.NoError(t, request.Write(conn))
	}
	require.Eventually(t, func() bool { return len(c.board(b.ID).Facts) > 2 }, waitTimeout, time.Millisecond)
	p.Kill()
	p.Start()
	for range 2 {
		for _, proposal := range proposals {
			var done struct{ Items []map[string]any }
			c.do(http.StatusOK, http.MethodPost, "/api/discoveries/"+b.ID+"/actions/"+proposal.ID, object{"decision": "confirm"}, &done)
			require.Equal(t, proposal.Params.Text, done.Items[0]["text"], "a repeated click gets the response of the first one")
		}
	}
	now := c.board(b.ID)
	require.Len(t, now.Facts, 5, "each fact is added once")
	for _, proposal := range now.Proposals {
		require.Equal(t, board.Applied, proposal.State)
	}
}

func TestFSQuestionsAboutADiscoveryWithoutAModel(t *testing.T) {
	t.Parallel()
	s := stacktest.Start(t)
	c := newTalk(t, func() string { return s.URL }, s.Client)
	b := c.newBoard(churn)
	for _, x := range []struct {
		name, message string
		want          []string
	}{
		{"FS-AskQuestionAboutDiscovery", "What about N-1?", []string{"[N-1] (insight): Price matters most.", "It rests on [F-1]."}},
		{"FS-AskForSummary", "Please summarize the discovery", []string{"**Churn**", "Goal: Find out why customers leave", "1 input, 2 facts, 1 insight, 0 recommendations, 0 outputs"}},
		{"FS-AskForGapAnalysis", "What is missing?", []string{"There are no recommendations yet.", "[F-2]"}},
		{"FS-ChatProactiveSuggestions", "What do you suggest as next steps?", []string{"There are no recommendations yet.", "These items rest on nothing:"}},
		{"FS-ChatSuggestMissingConnections", "Suggest missing connections", []string{"[F-2] could rest on [I-1]"}},
	} {
		for _, dialect := range []string{"native", "discovery"} {
			t.Run(x.name+" "+dialect, func(t *testing.T) {
				said := ""
				if dialect == "native" {
					said = last(c.ask(x.message, nil)).Response
				} else {
					var names []string
					names, said, _ = c.named(object{"message": x.message, "discovery_id": b.ID})
					said = strings.ReplaceAll(said, `"}data: {"text":"`, "")
					require.Equal(t, "done", names[len(names)-1])
				}
				for _, part := range x.want {
					require.Contains(t, said, part)
				}
			})
		}
	}
	require.Empty(t, c.board(b.ID).Proposals, "a question proposes nothing")
}
