package activities

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
)

func (b *testBundle) history() []chat.Message {
	b.t.Helper()
	h, err := b.store.History(context.Background(), owner, b.thread, "", "", 100)
	require.NoError(b.t, err)
	return h.Messages
}

func (b *testBundle) terminal(ref TurnRef) chat.Event {
	b.t.Helper()
	events, err := b.store.Events(context.Background(), owner, ref.TurnID, 0)
	require.NoError(b.t, err)
	last := events[len(events)-1]
	require.True(b.t, last.Type.Terminal())
	for i, e := range events {
		require.Equal(b.t, i+1, e.N)
	}
	return last
}

var written1 = []chat.Entry{{N: 1, Type: chat.EventTurnStarted}, {N: 2, Type: chat.EventText, Piece: 1, Ref: chat.PieceKey(1)}}

func TestCompletedTurnIsOneUserAndOneAssistantMessage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.question("How many days of leave do staff get?", leave)
	b.model.stream = streamText("25 days [1].")
	must[Written](b, b.Write, r)
	e := Ending{
		TurnRef: r.TurnRef, Status: chat.TurnCompleted, Log: written1, Action: chat.Inquire,
		Inference: chat.High, Retrieval: chat.Medium, Usage: chat.Usage{TokensIn: 100, TokensOut: 20, CostUSD: 0.25, Calls: 2},
	}
	require.Equal(t, Settled{N: 3, Type: chat.EventResponse}, must[Settled](b, b.Settle, e))

	got := b.terminal(r.TurnRef).Response
	require.Equal(t, "25 days [1].", got.Text)
	require.Len(t, got.Citations, 1)
	require.Equal(t, e.Usage, got.Usage)
	messages := b.history()
	require.Len(t, messages, 2)
	meta := messages[1].Metadata
	require.EqualValues(t, "inquire", meta["action"])
	require.EqualValues(t, "high", meta["inference_confidence"])
	require.EqualValues(t, "medium", meta["retrieval_confidence"])
	require.EqualValues(t, 120, meta["tokens_used"])
	require.EqualValues(t, 0.25, meta["cost_usd"])
	require.Equal(t, "stop", meta["finished_reason"])
	require.Equal(t, "client-"+r.TurnID, meta["client_turn_id"])
	require.Equal(t, "run-"+r.TurnID, meta["stream_run_id"])
	require.Len(t, meta["citations"], 1)
	require.NotContains(t, meta, "interrupted")

	registry, err := b.store.Registry(context.Background(), owner, b.thread, r.TurnID)
	require.NoError(t, err)
	require.Equal(t, []chat.DocRef{{ID: r.DocIDs[0], Title: "Leave Policy"}}, registry, "the documents of the answer are in the registry")
	c, err := b.store.Conversation(context.Background(), owner, b.thread)
	require.NoError(t, err)
	require.Equal(t, "How many days of leave do staff get?", c.Title)
}

func TestSettleIsIdempotent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ref := b.say("hi")
	first := must[Settled](b, b.Settle, Ending{TurnRef: ref, Status: chat.TurnCancelled, Reason: chat.Superseded, Log: written1[:1]})
	second := must[Settled](b, b.Settle, Ending{TurnRef: ref, Status: chat.TurnCompleted, Log: written1})
	require.Equal(t, first, second)
	third := must[Settled](b, b.Settle, Ending{TurnRef: ref, Status: chat.TurnCompleted, Log: written1, Kept: 3})
	require.Equal(t, first, third, "also when its stored log is deleted")
	require.Equal(t, chat.Superseded, b.terminal(ref).Reason)
}

func TestRegistryIsMergedAndNeverCleared(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d1, d2 := b.doc("One", "1."), b.doc("Two", "2.")
	b.exchange("first", "answer", d1)
	b.exchange("second", "answer", d2)
	failed := b.say("third")
	must[Settled](b, b.Settle, Ending{TurnRef: failed, Status: chat.TurnFailed, Code: chat.CodeInternal, DocIDs: []string{b.doc("Three", "3.")}})
	registry, err := b.store.Registry(context.Background(), owner, b.thread, failed.TurnID)
	require.NoError(t, err)
	require.ElementsMatch(t, []chat.DocRef{{ID: d1, Title: "One"}, {ID: d2, Title: "Two"}}, registry)
}

func TestCancelledTurnKeepsItsPartialAndSaysWhyItEnded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ref := b.say("Tell me")
	require.NoError(t, b.store.SaveDraft(context.Background(), owner, db.Draft{TurnID: ref.TurnID, Piece: 1, Attempt: 1, Text: "A beginning"}))
	must[Settled](b, b.Settle, Ending{TurnRef: ref, Status: chat.TurnCancelled, Reason: chat.UserCancelled, Log: written1[:1]})
	got := b.terminal(ref)
	require.Equal(t, chat.EventCancelled, got.Type)
	require.Equal(t, chat.UserCancelled, got.Reason)
	require.Equal(t, "A beginning", got.Partial)
	meta := b.history()[1].Metadata
	require.Equal(t, true, meta["interrupted"])
	require.Equal(t, "user_cancelled", meta["interrupted_reason"])
	require.Equal(t, "cancelled", meta["finished_reason"])
	require.EqualValues(t, 3, meta["token_estimate"])

	empty := b.say("Again")
	must[Settled](b, b.Settle, Ending{TurnRef: empty, Status: chat.TurnCancelled, Reason: chat.UserCancelled})
	said := b.history()
	require.Len(t, said, 4)
	require.Empty(t, said[3].Content)
	require.Equal(t, "assistant", said[3].Role)
	require.Equal(t, "user_cancelled", said[3].Metadata["interrupted_reason"])
	require.NotContains(t, said[3].Metadata, "error")
}

func TestFailedTurnSaysWhyInTheHistory(t *testing.T) {
	b := setup(t)
	ref := b.say("Tell me")
	require.NoError(t, b.store.PutText(context.Background(), owner, ref.TurnID, chat.TextFailureHint, "Check it."))
	must[Settled](b, b.Settle, Ending{TurnRef: ref, Status: chat.TurnFailed, Code: chat.CodeModelRejected})
	said := b.history()
	require.Len(t, said, 2)
	plain, _ := chat.FailureMessage(chat.CodeModelRejected)
	require.Equal(t, map[string]any{"code": "model_rejected", "message": plain.Text + " Check it.", "retryable": false}, said[1].Metadata["error"])
}

func TestPartialKeepsItsCitations(t *testing.T) {
	for status, want := range map[chat.TurnStatus]chat.EventType{chat.TurnCancelled: chat.EventCancelled, chat.TurnFailed: chat.EventFailed} {
		b := setup(t)
		ref := b.say("Tell me")
		require.NoError(t, b.store.SaveDraft(context.Background(), owner, db.Draft{TurnID: ref.TurnID, Piece: 1, Attempt: 1, Text: "Gifts are bounded [1]. And"}))
		require.NoError(t, b.store.PutText(context.Background(), owner, ref.TurnID, chat.TextCitations, `[{"n":1,"source":"document","doc_id":"d","title":"Gifts","quote":"bounded"}]`))
		must[Settled](b, b.Settle, Ending{TurnRef: ref, Status: status, Reason: chat.UserCancelled, Code: chat.CodeInternal, Log: written1[:1]})
		got := b.terminal(ref)
		require.Equal(t, want, got.Type)
		require.Equal(t, []chat.Citation{{N: 1, Source: "document", DocID: "d", Title: "Gifts", Quote: "bounded"}}, got.Citations)
		require.Len(t, b.history()[1].Metadata["citations"], 1)
	}
}

func TestPieceFinishedDuringAStopIsThePartial(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ref := b.say("Tell me")
	require.NoError(t, b.store.SaveDraft(context.Background(), owner, db.Draft{TurnID: ref.TurnID, Piece: 1, Attempt: 1, Text: "Old"}))
	require.NoError(t, b.store.PutText(context.Background(), owner, ref.TurnID, chat.PieceKey(1), "Whole"))
	must[Settled](b, b.Settle, Ending{TurnRef: ref, Status: chat.TurnCancelled, Reason: chat.UserCancelled, Log: written1[:1]})
	require.Equal(t, "Whole", b.terminal(ref).Partial)
}

func TestFailureMessageSaysWhatToDo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ref := b.say("Tell me")
	require.NoError(t, b.store.PutText(context.Background(), owner, ref.TurnID, chat.TextFailureHint, "Check CHAT_MODEL_NAME."))
	must[Settled](b, b.Settle, Ending{TurnRef: ref, Status: chat.TurnFailed, Code: chat.CodeModelRejected, Log: written1[:1]})
	got := b.terminal(ref)
	require.Equal(t, chat.EventFailed, got.Type)
	require.Equal(t, chat.CodeModelRejected, got.Code)
	plain, _ := chat.FailureMessage(chat.CodeModelRejected)
	require.Equal(t, plain.Text+" Check CHAT_MODEL_NAME.", got.Message)
	require.False(t, got.Retryable)
}

func TestFailureThatOnlyAnOperatorCanRemoveNamesNoSetting(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ref := b.say("Tell me")
	require.NoError(t, b.store.PutText(context.Background(), owner, ref.TurnID, chat.TextOperatorHint, "Check LLM_API_KEY."))
	must[Settled](b, b.Settle, Ending{TurnRef: ref, Status: chat.TurnFailed, Code: chat.CodeModelRejected, Log: written1[:1]})
	got := b.terminal(ref)
	require.Equal(t, messages.ModelNotAvailable.Text, got.Message)
	require.Equal(t, "Check LLM_API_KEY.", got.Hint)
}

func TestQuestionsAndAnswersBecomeMessages(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d1, d2 := b.doc("Circular", "1."), b.doc("Policy", "2.")
	ref := b.say("Do something")
	require.NoError(t, b.store.PutText(context.Background(), owner, ref.TurnID, chat.TextUnresolved, `"XYZ"`))
	at := time.Date(2031, 5, 6, 7, 0, 0, 0, time.UTC)
	entry := func(n int, q chat.Question) chat.Entry {
		return chat.Entry{N: n, Type: chat.EventInterrupt, At: at, Question: &q, Ref: q.Ref}
	}
	answer := func(n int, id string, v chat.ResumeValue) chat.Entry {
		return chat.Entry{N: n, Type: chat.EventResumed, At: at.Add(time.Duration(n) * time.Minute), Answers: id, Resume: &v}
	}
	must[Settled](b, b.Settle, Ending{TurnRef: ref, Status: chat.TurnCancelled, Reason: chat.UserCancelled, Log: []chat.Entry{
		{N: 1, Type: chat.EventTurnStarted},
		entry(2, chat.Question{ID: "q1", Type: chat.ActionChoice, Prompt: chat.PromptWhichAction, OptionIDs: []string{"audit", "inquire"}}),
		answer(3, "q1", chat.ResumeValue{Type: chat.ActionChoice, Value: ptr("audit")}),
		entry(4, chat.Question{ID: "q2", Type: chat.DocChoice, Prompt: chat.PromptWhichDoc, Action: chat.Audit, OptionIDs: []string{d1, d2, chat.AllDocs}}),
		answer(5, "q2", chat.ResumeValue{Type: chat.DocChoice, Value: &d2}),
		entry(6, chat.Question{ID: "q3", Type: chat.TextInput, Prompt: chat.PromptUnknownDoc, Ref: chat.TextUnresolved}),
		answer(7, "q3", chat.ResumeValue{Type: chat.TextInput, TaggedDocs: []string{d1}}),
		entry(8, chat.Question{ID: "q4", Type: chat.RetrievalLow, Prompt: chat.PromptRetrievalLow, OptionIDs: []string{chat.OptionTagDocs, chat.OptionContinue}}),
	}, Channel: chat.ByPage})
	var said []string
	for _, m := range b.history() {
		said = append(said, m.Role+": "+m.Content)
	}
	require.Equal(t, []string{
		"user: Do something",
		"system: I'm not sure what action you'd like. Please choose:", "user: Audit",
		"system: Which document would you like to audit against?", "user: Policy",
		`system: I could not find "XYZ". Please tag the document you'd like to reference, or type its name.`, "user: Circular",
		"system: I found little in your documents about this. What would you like to do?",
		"assistant: ", // it says why there is no answer
	}, said)
	history := b.history()
	require.Equal(t, at, history[1].CreatedAt)
	require.Equal(t, at.Add(3*time.Minute), history[2].CreatedAt, "an answer has its own time")
	require.Equal(t, "q1", history[2].Metadata["interrupt_id"])
	require.Equal(t, map[string]any{"kind": "question", "interrupt_id": "q3", "interrupt_type": "text_input", "outcome": "answered", "message_code": "question.not_found",
		"message_params": map[string]any{"names": `"XYZ"`, "question": map[string]any{"message_code": "question.tag_document"}}}, history[5].Metadata)
	require.Equal(t, "cancelled", history[7].Metadata["outcome"], "the person ended the turn instead of answering")
	require.Equal(t, "page", history[7].Metadata["channel"])
	require.NotEmpty(t, history[7].Metadata["outcome_at"])
}

func TestQuestionOfATurnThatEndedOtherwiseIsUnanswered(t *testing.T) {
	for reason, want := range map[chat.CancelReason]string{chat.Superseded: "unanswered", chat.UserCancelled: "cancelled"} {
		b := setup(t)
		must[Settled](b, b.Settle, Ending{TurnRef: b.say("Do something"), Status: chat.TurnCancelled, Reason: reason, Log: []chat.Entry{
			{N: 1, Type: chat.EventTurnStarted},
			{N: 2, Type: chat.EventInterrupt, Question: &chat.Question{ID: "q1", Type: chat.TextInput, Prompt: chat.PromptUnknownDoc}},
		}})
		require.Equal(t, want, b.history()[1].Metadata["outcome"])
	}
}

func TestTurnThatNeverBeganGetsItsPlaceWhenSettled(t *testing.T) {
	t.Parallel()
	b := setup(t)
	before := b.exchange("one", "1")
	ref := b.insert(chat.Content{Message: "two"})
	must[Settled](b, b.Settle, Ending{TurnRef: ref, Status: chat.TurnCancelled, Reason: chat.UserCancelled})
	turn, err := b.store.Turn(context.Background(), owner, ref.TurnID)
	require.NoError(t, err)
	require.Equal(t, before.TurnID, turn.Parent)
}

func TestToolResultsAreStoredWithTheMessageAndAMissingOneSaysSo(t *testing.T) {
	for name, tc := range map[string]struct {
		end     Ending
		partial string
		reason  any
	}{
		"stopped":                      {Ending{Status: chat.TurnCancelled, Reason: chat.UserCancelled}, "So far", "user_cancelled"},
		"stopped without a word":       {Ending{Status: chat.TurnCancelled, Reason: chat.Superseded}, "", "superseded"},
		"failed":                       {Ending{Status: chat.TurnFailed, Code: chat.CodeStepLimit}, "So far", "step_limit"},
		"completed, which leaves none": {Ending{Status: chat.TurnCompleted}, "Done.", nil},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			ref := b.say("Do it")
			done, edited, dangling := chat.CallID(ref.TurnID, 1), chat.CallID(ref.TurnID, 2), chat.CallID(ref.TurnID, 3)
			for key, text := range map[string]string{
				chat.CallKey(done): `{"n":1}`, chat.ResultKey(done): "Made.",
				chat.CallKey(edited): `{"n":2}`, chat.EditedKey(edited): `{"n":20}`, chat.ResultKey(edited): "Refused.",
				chat.CallKey(dangling): `{"n":3}`,
			} {
				require.NoError(t, b.store.PutText(context.Background(), owner, ref.TurnID, key, text))
			}
			call := func(kind chat.EventType, id string, isError bool) chat.Entry {
				return chat.Entry{Type: kind, Call: &chat.CallRef{ID: id, Name: "make"}, IsError: isError}
			}
			log := []chat.Entry{
				{Type: chat.EventTurnStarted},
				call(chat.EventToolCall, done, false), call(chat.EventToolCall, edited, false), call(chat.EventToolCall, dangling, false),
				call(chat.EventToolResult, done, false), call(chat.EventToolResult, edited, true),
			}
			if tc.partial != "" {
				require.NoError(t, b.store.PutText(context.Background(), owner, ref.TurnID, chat.PieceKey(1), tc.partial))
				log = append(log, chat.Entry{Type: chat.EventText, Piece: 1, Ref: chat.PieceKey(1)})
			}
			for i := range log {
				log[i].N = i + 1
			}
			tc.end.TurnRef, tc.end.Log = ref, log
			must[Settled](b, b.Settle, tc.end)

			history := b.history()
			require.Len(t, history, 2)
			require.Equal(t, tc.partial, history[1].Content)
			meta := history[1].Metadata
			require.Equal(t, []chat.ToolResult{
				{ToolCallID: done, Name: "make", Arguments: []byte(`{"n":1}`), Content: "Made."},
				{ToolCallID: edited, Name: "make", Arguments: []byte(`{"n":20}`), Content: "Refused.", IsError: true},
				{ToolCallID: dangling, Name: "make", Arguments: []byte(`{"n":3}`), Content: messages.ToolStopped.Text, IsError: true},
			}, chat.ToolResults(meta))
			require.Equal(t, tc.reason, meta["interrupted_reason"])
			require.Equal(t, "run-"+ref.TurnID, meta["stream_run_id"])
			require.Equal(t, "client-"+ref.TurnID, meta["client_turn_id"])
			events, err := b.store.Events(context.Background(), owner, ref.TurnID, 0)
			require.NoError(t, err)
			for _, e := range events {
				require.Equal(t, "run-"+ref.TurnID, e.StreamRunID, "%s", e.Type)
			}
		})
	}
}
