package fullstack

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/temporalproto"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver"
	"github.com/palaver-chat/palaver/boards/board"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/documents/ingest"
	"github.com/palaver-chat/palaver/imports"
	"github.com/palaver-chat/palaver/imports/flow"
	"github.com/palaver-chat/palaver/imports/links"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/clerk"
	"github.com/palaver-chat/palaver/testkit/drivetest"
	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/testkit/must"
	"github.com/palaver-chat/palaver/workflows"
)

// way is one path through the workflows: it runs a conversation and returns the
// ids of the workflows that took it.
type way func(t *testing.T) (client.Client, []string)

// ways are all paths, by name. A new workflow command needs a way that reaches it.
var ways = map[string]way{
	"plain": func(t *testing.T) (client.Client, []string) {
		s, _, c := scripted(t)
		doc := c.upload("Liquidity circular", circular)
		answered(t, c.ask("What is the ratio?", tags(doc)))
		answered(t, c.ask("What is the ratio?", with(tags(doc), object{"action": "inquire"})))
		answered(t, c.ask("Summarize it", with(tags(doc), object{"action": "summarize"})))
		return s.Temporal(), []string{threadOf(c), workflows.IngestWorkflowID(doc)}
	},
	"claimed": claimedWay,
	"idle": func(t *testing.T) (client.Client, []string) {
		s, _, c := scripted(t, stacktest.Flag("thread-idle-timeout", "1s"))
		answered(t, c.ask("Hello", assistant))
		awaitClosed(t, s.Temporal(), c)
		return s.Temporal(), []string{threadOf(c)}
	},
	"import": func(t *testing.T) (client.Client, []string) {
		drive := drivetest.New(t)
		drive.Put(driveID(1), circularFile)
		s, _, c := scripted(t, withDrive(drive)[1:]...)
		answered(t, c.ask("Please import "+driveLink(driveID(1)), nil))
		answered(t, c.ask("Import "+driveLink(driveID(1))+" and "+driveLink(driveID(2)), assistant))
		answered(t, c.ask(driveLink(driveID(1))+" What is the ratio?", object{"action": "inquire"}))
		answered(t, c.ask("What have I imported?", nil))
		link := must.Have(links.Parse(driveLink(driveID(1))))(t)
		id := workflows.ImportWorkflowID(imports.Key(c.me(), link))
		awaitNotRunning(t, s.Temporal(), id)
		return s.Temporal(), []string{threadOf(c), id, workflows.IngestWorkflowID(c.imports()[0].DocumentID)}
	},
	"import-in-the-background": func(t *testing.T) (client.Client, []string) {
		drive := drivetest.New(t)
		drive.Put(driveID(1), circularFile)
		release := drive.Hold("download " + driveID(1))
		defer release()
		s, _, c := scripted(t, append(withDrive(drive)[1:], stacktest.Flag("import-wait", "1s"))...)
		answered(t, c.ask(driveLink(driveID(1)), nil))
		answered(t, c.ask("What does the document say?", nil))
		release()
		c.waitForImport("ready")
		answered(t, c.ask("What is the ratio?", object{"action": "inquire"}))
		return s.Temporal(), []string{threadOf(c)}
	},
	"ingest-failed": func(t *testing.T) (client.Client, []string) {
		s, _, c := scripted(t)
		var doc struct{ ID, Status string }
		c.uploadFile("broken.pdf", "%PDF-1.7 and nothing else", &doc)
		require.Eventually(t, func() bool {
			c.do(http.StatusOK, http.MethodGet, "/api/documents/"+doc.ID, nil, &doc)
			return doc.Status == "failed"
		}, waitTimeout, 20*time.Millisecond)
		return s.Temporal(), []string{workflows.IngestWorkflowID(doc.ID)}
	},
	"ingest-cancelled": func(t *testing.T) (client.Client, []string) {
		s, model, c := scripted(t, stacktest.Flag("embedding-model-name", "hashed"))
		embedding := llmtest.Match{Kind: llmtest.Embeddings, Contains: "a text of its own"} // not in the samples
		model.On(embedding, llmtest.Answer{Delay: time.Hour})
		var doc struct{ ID, Status string }
		c.do(http.StatusAccepted, http.MethodPost, "/api/documents", object{"title": "Held", "text": "This is a text of its own."}, &doc)
		require.Eventually(t, func() bool { return model.Count(embedding) > 0 }, waitTimeout, 20*time.Millisecond)
		require.NoError(t, s.Temporal().CancelWorkflow(t.Context(), workflows.IngestWorkflowID(doc.ID), ""))
		require.Eventually(t, func() bool {
			c.do(http.StatusOK, http.MethodGet, "/api/documents/"+doc.ID, nil, &doc)
			return doc.Status == "failed"
		}, waitTimeout, 20*time.Millisecond)
		return s.Temporal(), []string{workflows.IngestWorkflowID(doc.ID)}
	},
	"asked": func(t *testing.T) (client.Client, []string) {
		s, model, c := scripted(t)
		doc := c.upload("Liquidity circular", circular)
		model.On(intentCall, unsure)
		interrupted(t, c.ask("The circular", tags(doc)))
		answered(t, c.resume(chat.ActionChoice, "summarize"))
		interrupted(t, c.ask("Compare this", with(tags(doc), object{"action": "compare"})))
		answered(t, c.open(http.MethodPost, "/api/chat/resume", object{"thread_id": c.thread,
			"resume_value": object{"type": "text_input", "value": "with", "tagged_doc_ids": []string{c.upload("Second circular", circular)}}}).all())
		interrupted(t, c.ask("The circular, please", tags(doc)))
		require.Equal(t, "cancelled", last(c.resume(chat.CancelResume, "")).Type)
		return s.Temporal(), []string{threadOf(c)}
	},
	"asked-which-document": func(t *testing.T) (client.Client, []string) {
		s, model, c := scripted(t)
		one, two := c.upload("Leave policy 2024", circular), c.upload("Leave policy 2025", circular)
		model.On(docsCall, llmtest.JSON(object{"resolved_uuids": []string{one, two}, "unresolved_names": []string{},
			"inference_confidence": "medium", "has_implicit_refs": false, "reasoning": ""}))
		asked := last(c.ask("Summarize the leave policy", object{"action": "summarize"}))
		require.Equal(t, string(chat.DocChoice), asked.Kind, "%+v", asked)
		answered(t, c.resume(chat.DocChoice, two))
		return s.Temporal(), []string{threadOf(c)}
	},
	"resolved-again": func(t *testing.T) (client.Client, []string) {
		s, model, c := scripted(t)
		one, two := c.upload("Leave policy 2024", circular), c.upload("Leave policy 2025", circular)
		model.On(intentCall, llmtest.JSON(object{"action": "compare", "confidence": "high", "enable_web_search": false,
			"multi_action_detected": false, "actions": []string{"compare"}, "reasoning": ""}))
		found := func(ids ...string) llmtest.Answer {
			return llmtest.JSON(object{"resolved_uuids": ids, "unresolved_names": []string{},
				"inference_confidence": "high", "has_implicit_refs": false, "reasoning": ""})
		}
		model.On(docsCall, found(one), found(one, two))
		answered(t, c.ask("Compare the liquidity coverage ratio of the leave policy", nil))
		require.Equal(t, 2, model.Count(docsCall))
		return s.Temporal(), []string{threadOf(c)}
	},
	"asked-unknown-name": func(t *testing.T) (client.Client, []string) {
		s, model, c := scripted(t)
		doc := c.upload("Liquidity circular", circular)
		model.On(docsCall, llmtest.JSON(object{"resolved_uuids": []string{}, "unresolved_names": []string{"Zebra code"},
			"inference_confidence": "low", "has_implicit_refs": false, "reasoning": ""}))
		interrupted(t, c.ask("Summarize the Zebra code", object{"action": "summarize"}))
		interrupted(t, c.resume(chat.TextInput, "the zebras"))
		answered(t, c.resume(chat.TextInput, doc))
		return s.Temporal(), []string{threadOf(c)}
	},
	"asked-audit-text": func(t *testing.T) (client.Client, []string) {
		s, _, c := scripted(t)
		doc := c.upload("Liquidity circular", circular)
		interrupted(t, c.ask("Audit", with(tags(doc), object{"action": "audit"})))
		answered(t, c.resume(chat.TextInput, "We hold a ratio of 80 percent and test once a year, which the board knows."))
		return s.Temporal(), []string{threadOf(c)}
	},
	"retrieval-low": func(t *testing.T) (client.Client, []string) {
		url, _ := tavily(t)
		s, model, c := scripted(t, stacktest.Flag("tavily-api-key", "key"), stacktest.Flag("tavily-base-url", url)) // without a model nothing is asked
		model.On(llmtest.Match{Schema: "web_query"}, llmtest.JSON(object{"query": "football champion of Brazil"}))
		doc := c.upload("Liquidity circular", circular)
		question := "Who won the football championship of Brazil?"
		interrupted(t, c.ask(question, object{"action": "inquire"}))
		answered(t, c.open(http.MethodPost, "/api/chat/resume", object{"thread_id": c.thread,
			"resume_value": object{"type": "retrieval_low", "value": "tag_docs", "tagged_doc_ids": []string{doc}}}).all())
		interrupted(t, c.ask(question, object{"action": "inquire"}))
		answered(t, c.resume(chat.RetrievalLow, chat.OptionWebSearch))
		interrupted(t, c.ask(question, object{"action": "inquire"}))
		answered(t, c.resume(chat.RetrievalLow, chat.OptionContinue))
		return s.Temporal(), []string{threadOf(c)}
	},
	"web": func(t *testing.T) (client.Client, []string) {
		url, _ := tavily(t)
		s, model, c := scripted(t, stacktest.Flag("tavily-api-key", "key"), stacktest.Flag("tavily-base-url", url))
		doc := c.upload("Liquidity circular", circular)
		model.On(llmtest.Match{Schema: "web_query"}, llmtest.JSON(object{"query": "harbour toll 2026"}))
		answered(t, c.ask("What is the latest harbour toll for ships?", object{"action": "inquire"}))
		answered(t, c.ask("What is the liquidity coverage ratio a bank must hold at the end of every business day?",
			with(tags(doc), object{"action": "inquire", "enable_web_search": true})))
		answered(t, c.ask("Compare them", object{"action": "compare", "enable_web_search": true, "tagged_doc_ids": []string{doc, c.upload("Second circular", circular)}}))
		return s.Temporal(), []string{threadOf(c)}
	},
	"small-talk": func(t *testing.T) (client.Client, []string) {
		s, model, c := scripted(t)
		c.upload("Liquidity circular", circular)
		answered(t, c.ask("Hello!", nil))
		require.Zero(t, model.Count(intentCall), "a greeting needs no model call")
		model.On(intentCall, llmtest.JSON(object{"action": "talk", "confidence": "high", "enable_web_search": false,
			"multi_action_detected": false, "actions": []string{}, "reasoning": ""}))
		answered(t, c.ask("I am new here and a bit lost", nil))
		return s.Temporal(), []string{threadOf(c)}
	},
	"web-off": func(t *testing.T) (client.Client, []string) {
		s, _, c := scripted(t)
		doc := c.upload("Liquidity circular", circular)
		answered(t, c.ask("What is the latest rule on the stress test of funding?", with(tags(doc), object{"action": "inquire", "enable_web_search": true})))
		return s.Temporal(), []string{threadOf(c)}
	},
	"superseded": func(t *testing.T) (client.Client, []string) {
		s, model, c := scripted(t)
		doc := c.upload("Liquidity circular", circular)
		model.On(intentCall, unsure)
		interrupted(t, c.ask("The circular", tags(doc)))
		model.On(answerCall, llmtest.Silent("A bank must "), llmtest.Default())
		page := c.send("What is the ratio?", with(tags(doc), object{"action": "inquire"}))
		page.until(isType("token"))
		answered(t, c.ask("What is the ratio, then?", with(tags(doc), object{"action": "inquire"})))
		return s.Temporal(), []string{threadOf(c)}
	},
	"steered": func(t *testing.T) (client.Client, []string) {
		s, _, c, running, _, gate := steered(t)
		gate.Release()
		answered(t, running.all())
		return s.Temporal(), []string{threadOf(c)}
	},
	"rolled-back": func(t *testing.T) (client.Client, []string) {
		s, model, c := scripted(t)
		model.On(answerCall, llmtest.Silent("A bank must "), llmtest.Default())
		page := c.send("What is the ratio?", assistant)
		page.until(isType("token"))
		answered(t, c.ask("What is the ratio, then?", with(assistant, object{"on_busy": "rollback"})))
		return s.Temporal(), []string{threadOf(c)}
	},
	"rejected": func(t *testing.T) (client.Client, []string) {
		s, model, c := scripted(t)
		model.On(answerCall, llmtest.Silent("A bank must "))
		page := c.send("What is the ratio?", assistant)
		page.until(isType("token"))
		c.do(http.StatusConflict, http.MethodPost, "/api/chat", with(assistant, object{"message": "Me too", "thread_id": c.thread, "on_busy": "reject"}), nil)
		c.stop(nil)
		page.until(terminal)
		return s.Temporal(), []string{threadOf(c)}
	},
	"stopped": func(t *testing.T) (client.Client, []string) {
		s, model, c := scripted(t)
		doc := c.upload("Liquidity circular", circular)
		gate := llmtest.NewGate()
		t.Cleanup(gate.Release)
		model.On(intentCall, llmtest.Answer{Chunks: []string{`{"action":"inquire",`, `"confidence":"high"}`}, Gates: map[int]*llmtest.Gate{0: gate}}, llmtest.Default())
		page := c.send("What is the ratio?", tags(doc))
		within(t, gate.Reached(), "the intent call")
		c.stop(nil)
		require.Equal(t, "cancelled", page.until(terminal).Type)
		model.On(answerCall, llmtest.Silent("A bank must "))
		page = c.send("What is the ratio?", tags(doc))
		page.until(isType("token"))
		c.stop(nil)
		require.Equal(t, "cancelled", page.until(terminal).Type)
		c.stop(object{"client_turn_id": "early"}) // before its message
		require.Equal(t, "cancelled", last(c.ask("Too late", with(tags(doc), object{"client_turn_id": "early"}))).Type)
		return s.Temporal(), []string{threadOf(c)}
	},
	"stopped-in-the-queue": func(t *testing.T) (client.Client, []string) {
		s, model, c := scripted(t)
		model.On(answerCall, llmtest.Silent("A bank must "), llmtest.Default())
		page := c.send("What is the ratio?", assistant)
		page.until(isType("token"))
		queued := c.send("And then?", with(assistant, object{"on_busy": "enqueue", "client_turn_id": "second"}))
		third := c.send("And after that?", with(assistant, object{"on_busy": "enqueue", "client_turn_id": "third"}))
		require.Equal(t, "cancelling", c.stop(object{"client_turn_id": "second"}))
		require.Equal(t, "cancelled", queued.until(terminal).Type)
		c.stop(nil)
		require.Equal(t, "cancelled", page.until(terminal).Type)
		require.Equal(t, "response", third.until(terminal).Type)
		return s.Temporal(), []string{threadOf(c)}
	},
	"restored": func(t *testing.T) (client.Client, []string) {
		s, model, c := scripted(t)
		doc := c.upload("Liquidity circular", circular)
		model.On(intentCall, unsure)
		startThread(t, s.Temporal(), c.me(), c.thread, 30)
		interrupted(t, c.ask("The circular", tags(doc)))
		awaitNextRun(t, s.Temporal(), c)
		answered(t, c.resume(chat.ActionChoice, "inquire"))
		return s.Temporal(), []string{threadOf(c)}
	},
	"tools": func(t *testing.T) (client.Client, []string) {
		s, model, c := scripted(t)
		c.upload("Liquidity circular", circular)
		model.On(answerCall,
			llmtest.Answer{Chunks: []string{"Let me look."}, Calls: calls("search_documents", object{"query": "ratio"}, "list_documents", object{})},
			llmtest.Answer{Calls: calls("generate_image", object{"prompt": "a tree"}, "generate_image", object{"prompt": "a bush"}, "no_such_tool", object{})},
			llmtest.Answer{Calls: calls("generate_image", object{"prompt": "a wood"})},
			llmtest.Text("There."))
		asked := interrupted(t, c.ask("Draw me a wood", assistant))
		answered(t, c.decide(
			object{"id": chat.CallID(asked.TurnID, 3), "decision": "approved", "remember": true, "arguments": object{"prompt": "an oak"}},
			object{"id": chat.CallID(asked.TurnID, 4), "decision": "rejected", "reason": "one will do"}).all())
		return s.Temporal(), []string{threadOf(c)}
	},
	"many-rounds": func(t *testing.T) (client.Client, []string) {
		s, model, c := scripted(t, stacktest.Flag("turn-max-steps", "200"), stacktest.Flag("turn-max-tokens", "100000000"))
		const rounds = 70
		model.On(answerCall, append(slices.Repeat([]llmtest.Answer{llmtest.Calls(llmtest.Call("list_documents", object{}))}, rounds), llmtest.Text("There."))...)
		startThread(t, s.Temporal(), c.me(), c.thread, 300)
		answered(t, c.ask("List them, again and again", assistant))
		require.Equal(t, rounds+1, model.Count(answerCall))
		require.Greater(t, len(historiesOf(t, s.Temporal(), threadOf(c))), 1, "the turn continues as new")
		return s.Temporal(), []string{threadOf(c)}
	},
	"decided-from-a-shell": func(t *testing.T) (client.Client, []string) {
		s, model, c := scripted(t)
		model.On(answerCall, llmtest.Calls(llmtest.Call("generate_image", object{"prompt": "a tree"})), llmtest.Text("There."))
		asked := interrupted(t, c.ask("Draw me a tree", assistant))
		page := c.attach("follow=turn")
		for _, v := range []any{
			"not an answer",
			chat.ResumeValue{Type: chat.ToolApproval, Decisions: []chat.Decision{{ID: chat.CallID(asked.TurnID, 1), Decision: chat.Approved, Arguments: []byte(`{"wrong":1}`)}}},
			chat.ResumeValue{Type: chat.ToolApproval, Decisions: []chat.Decision{{ID: chat.CallID(asked.TurnID, 1), Decision: chat.Approved, Arguments: []byte(`{"prompt":"an oak"}`)}}},
		} {
			require.NoError(t, s.Temporal().SignalWorkflow(t.Context(), threadOf(c), "", workflows.SignalResume, v))
		}
		require.Equal(t, "response", page.until(terminal).Type)
		return s.Temporal(), []string{threadOf(c)}
	},
	"approval-with-timer": func(t *testing.T) (client.Client, []string) {
		s, model, c := scripted(t, stacktest.Flag("approval-timeout", "3s"))
		model.On(answerCall, llmtest.Calls(llmtest.Call("generate_image", object{"prompt": "a tree"})), llmtest.Text("There."),
			llmtest.Calls(llmtest.Call("generate_image", object{"prompt": "a tree"})), llmtest.Text("No tree."))
		asked := interrupted(t, c.ask("Draw me a tree", assistant))
		answered(t, c.decide(approve(chat.CallID(asked.TurnID, 1))).all())
		interrupted(t, c.ask("Draw me a tree", assistant))
		require.Equal(t, "response", c.attach("follow=turn").until(terminal).Type, "the question timed out")
		return s.Temporal(), []string{threadOf(c)}
	},
	"unknown-outcome": func(t *testing.T) (client.Client, []string) {
		model := llmtest.New(t)
		p := stacktest.StartProcess(t, stacktest.Model(model.URL))
		c := newTalk(t, func() string { return p.URL }, p.Client)
		model.On(answerCall, llmtest.Calls(llmtest.Call("generate_image", object{"prompt": "a cat"})), llmtest.Text("Here it is."))
		gate := llmtest.NewGate()
		t.Cleanup(gate.Release)
		model.On(paintCall, llmtest.Answer{Gates: map[int]*llmtest.Gate{0: gate}}, llmtest.Default())
		asked := interrupted(t, c.ask("Draw a cat", assistant))
		call := chat.CallID(asked.TurnID, 1)
		page := c.decide(approve(call))
		within(t, gate.Reached(), "the image model call")
		p.Kill()
		page.close()
		gate.Release()
		p.Start()
		require.Eventually(t, func() bool {
			h := c.history()
			return h.Pending != nil && h.Pending.Interrupt != asked.Interrupt
		}, waitTimeout, 50*time.Millisecond)
		answered(t, c.decide(approve(call)).all())
		return p.TemporalClient(), []string{threadOf(c)}
	},
	"unsaved": func(t *testing.T) (client.Client, []string) {
		s, model, c, database := severable(t)
		answered(t, c.ask("Hello", assistant))
		answer, gate := held(t, "Nobody knows.")
		model.On(answerCall, answer)
		database.Cut()
		page := c.send("Who knows?", assistant)
		page.until(isType("status"))
		gate.Release()
		page.until(isType("token"))
		database.Restore()
		require.Equal(t, "response", page.until(terminal).Type)
		return s.Temporal(), []string{threadOf(c)}
	},
	"settled-late": func(t *testing.T) (client.Client, []string) {
		s, model, c, database := severable(t)
		answered(t, c.ask("Hello", assistant))
		model.On(answerCall, llmtest.Silent("Once upon ", "a time"))
		page := c.send("Tell me a story", assistant)
		page.until(func(e event) bool { return strings.Contains(e.Content, "time") })
		database.Cut()
		c.stop(nil)
		aborted(t, model, 1)
		database.Restore()
		require.Equal(t, "cancelled", page.until(terminal).Type)
		return s.Temporal(), []string{threadOf(c)}
	},
	"failed": func(t *testing.T) (client.Client, []string) {
		s, model, c := scripted(t, stacktest.Flag("turn-max-steps", "2"))
		model.On(answerCall, llmtest.Status(http.StatusServiceUnavailable, ""), llmtest.Status(http.StatusBadRequest, ""),
			llmtest.Calls(llmtest.Call("list_documents", object{})), llmtest.Text("There are none."))
		require.Equal(t, "error", last(c.ask("Hello", assistant)).Type)
		require.Equal(t, "response", last(c.ask("Hello again", assistant)).Type) // its steps are used up
		return s.Temporal(), []string{threadOf(c)}
	},
	"failed-answer": func(t *testing.T) (client.Client, []string) {
		s, model, c := scripted(t)
		doc := c.upload("Liquidity circular", circular)
		model.On(answerCall, llmtest.Status(http.StatusBadRequest, ""))
		require.Equal(t, chat.CodeModelRejected, last(c.ask("What is the ratio?", tags(doc))).Code)
		return s.Temporal(), []string{threadOf(c)}
	},
	"own-agent": func(t *testing.T) (client.Client, []string) {
		s, model, c := scripted(t, stacktest.Additions(palaver.WithAgent(clerk.Agent)), stacktest.Flag("continue-after", "12"))
		model.On(answerCall, llmtest.Answer{Calls: calls("list_documents", object{})}, llmtest.Text("Here you are."))
		interrupted(t, c.ask("Find my lamp", object{"agent": "clerk"}))
		interrupted(t, c.resume(chat.TextInput, "I do not say"))
		interrupted(t, c.resume(chat.TextInput, "plantedname"))
		answered(t, c.resume(chat.Choice, "short"))
		return s.Temporal(), []string{threadOf(c)}
	},
	"board": func(t *testing.T) (client.Client, []string) {
		s, model, c := scripted(t)
		doc := c.upload("Retention policy", retention)
		c.newBoard(churn)
		model.On(answerCall,
			addFact("Three moved away.", "I-9"), addFact("Three moved away.", "N-1"), // the second time the person gets to know it
			llmtest.Calls(llmtest.Call(board.ToolAddDocument, object{"document": doc}), llmtest.Call(board.ToolRead, object{"document": doc})),
			llmtest.Calls(citedFact("Invoices are kept for ten years.", doc, "Invoices are kept for ten years"), citedFact("Records go.", doc, "is deleted within 30 days")),
			llmtest.Text("Please confirm."), llmtest.Text("The price [F-1]."))
		answered(t, c.ask("Add it", nil))
		answered(t, c.ask("Add the facts of the policy as facts", tags(doc)))
		answered(t, c.ask("Why do they leave?", object{"references": []string{"F-1"}}))
		return s.Temporal(), []string{threadOf(c)}
	},
	"cancelled-from-a-shell": func(t *testing.T) (client.Client, []string) {
		s, model, c := scripted(t)
		model.On(answerCall, llmtest.Silent("A bank must "))
		page := c.send("What is the ratio?", assistant)
		page.until(isType("token"))
		queued := c.send("And then?", with(assistant, object{"on_busy": "enqueue"}))
		require.NoError(t, s.Temporal().CancelWorkflow(t.Context(), threadOf(c), ""))
		require.Equal(t, "cancelled", page.until(terminal).Type)
		require.Equal(t, "cancelled", queued.until(terminal).Type)
		awaitClosed(t, s.Temporal(), c)
		return s.Temporal(), []string{threadOf(c)}
	},
}

// uploadFile uploads a file as a browser does.
func (c *talk) uploadFile(name, content string, out any) {
	c.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", name)
	require.NoError(c.t, err)
	_, err = part.Write([]byte(content))
	require.NoError(c.t, err)
	require.NoError(c.t, form.Close())
	resp, err := c.client.Post(c.url()+"/api/documents", form.FormDataContentType(), &body)
	require.NoError(c.t, err)
	defer resp.Body.Close()
	require.Equal(c.t, http.StatusAccepted, resp.StatusCode)
	require.NoError(c.t, json.NewDecoder(resp.Body).Decode(out))
}

func tags(doc string) object { return object{"tagged_doc_ids": []string{doc}} }

func calls(namesAndArguments ...any) (out []llm.ToolCall) {
	for i := 0; i < len(namesAndArguments); i += 2 {
		out = append(out, llmtest.Call(namesAndArguments[i].(string), namesAndArguments[i+1]))
	}
	return out
}

func answered(t *testing.T, events []event) {
	t.Helper()
	require.Equal(t, "response", last(events).Type, "%+v", last(events))
}

func interrupted(t *testing.T, events []event) event {
	t.Helper()
	require.Equal(t, "interrupt", last(events).Type, "%+v", last(events))
	return last(events)
}

func threadOf(c *talk) string { return workflows.ThreadWorkflowID(c.thread) }

func awaitClosed(t *testing.T, tc client.Client, c *talk) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	err := tc.GetWorkflow(ctx, threadOf(c), "").Get(ctx, nil)
	require.NoError(t, ctx.Err(), "%v", err)
}

// awaitNextRun makes the thread's history grow until it continues as new.
func awaitNextRun(t *testing.T, tc client.Client, c *talk) {
	t.Helper()
	first := run(t, tc, c.thread)
	require.Eventually(t, func() bool {
		err := tc.SignalWorkflow(context.Background(), threadOf(c), "", workflows.SignalCancel, chat.Cancel{TurnID: uuid.NewString()})
		require.NoError(t, err)
		return run(t, tc, c.thread) != first
	}, waitTimeout, 10*time.Millisecond)
}

// historiesOf returns the histories of a workflow's runs, newest first.
func historiesOf(t *testing.T, tc client.Client, id string) (all []*historypb.History) {
	t.Helper()
	for run := ""; ; {
		h := &historypb.History{}
		events := tc.GetWorkflowHistory(context.Background(), id, run, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for events.HasNext() {
			e := must.Have(events.Next())(t)
			h.Events = append(h.Events, e)
		}
		all = append(all, h)
		run = h.Events[0].GetWorkflowExecutionStartedEventAttributes().GetContinuedExecutionRunId()
		if run == "" {
			return all
		}
	}
}

// TestEveryWayOfAThreadReplays runs every way and replays the histories. With
// RECORD_HISTORIES=<release> it saves them for
// workflows.TestRecordedHistoriesReplay; docs/upgrades.md says when.
func TestEveryWayOfAThreadReplays(t *testing.T) {
	t.Parallel()
	release := os.Getenv("RECORD_HISTORIES")
	agents := must.Have(clerk.Agents())(t)
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc, ids := way(t)
			for i, id := range ids {
				awaitWorkflowTasks(t, tc, id)
				for k, h := range historiesOf(t, tc, id) {
					replayer, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{DisableDeadlockDetection: true}) // a busy machine would trigger it
					require.NoError(t, err)
					replayer.RegisterWorkflowWithOptions((&workflows.Threads{Agents: agents, Prepare: flow.First}).Thread, workflow.RegisterOptions{Name: workflows.ThreadType})
					replayer.RegisterWorkflowWithOptions(ingest.Workflow, workflow.RegisterOptions{Name: workflows.IngestType})
					replayer.RegisterWorkflowWithOptions(flow.Workflow, workflow.RegisterOptions{Name: workflows.ImportType})
					require.NoError(t, replayer.ReplayWorkflowHistory(nil, h))
					if release != "" {
						keepHistory(t, filepath.Join("../../workflows/testdata/histories", release), fmt.Sprintf("%s-%d-%d.json.gz", name, i+1, k+1), h)
					}
				}
			}
		})
	}
}

// awaitWorkflowTasks waits until a workflow has no open workflow task. A replay does not compare
// the commands of a task that is not completed.
func awaitWorkflowTasks(t *testing.T, tc client.Client, id string) {
	t.Helper()
	require.Eventually(t, func() bool {
		newest := historiesOf(t, tc, id)[0]
		last := newest.Events[len(newest.Events)-1].EventType
		return last != enums.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED && last != enums.EVENT_TYPE_WORKFLOW_TASK_STARTED
	}, waitTimeout, 20*time.Millisecond)
}

// awaitNotRunning waits until a workflow has ended; its history may also have been deleted.
func awaitNotRunning(t *testing.T, tc client.Client, id string) {
	t.Helper()
	require.Eventually(t, func() bool {
		d, err := tc.DescribeWorkflowExecution(context.Background(), id, "")
		return errors.As(err, new(*serviceerror.NotFound)) || err == nil && d.WorkflowExecutionInfo.Status != enums.WORKFLOW_EXECUTION_STATUS_RUNNING
	}, waitTimeout, 20*time.Millisecond)
}

func keepHistory(t *testing.T, dir, name string, h *historypb.History) {
	t.Helper()
	b := must.Have(temporalproto.CustomJSONMarshalOptions{Indent: " "}.Marshal(h))(t)
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	must.Have(zip.Write(b))(t)
	require.NoError(t, zip.Close())
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), packed.Bytes(), 0o644))
}
