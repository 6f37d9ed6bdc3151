package activities_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/activitytest"
)

func (b *bundle) history() []chat.Message {
	b.T.Helper()
	h, err := b.Store.History(context.Background(), owner, b.Thread, "", "", 100)
	require.NoError(b.T, err)
	return h.Messages
}

func (b *bundle) terminal(ref activities.TurnRef) chat.Event {
	b.T.Helper()
	events, err := b.Store.Events(context.Background(), owner, ref.TurnID, 0)
	require.NoError(b.T, err)
	last := events[len(events)-1]
	require.True(b.T, last.Type.Terminal())
	for i, e := range events {
		require.Equal(b.T, i+1, e.N)
	}
	return last
}

// answered begins a turn whose answer "25 days [1]." cites a new document.
func (b *bundle) answered(message string) (ref activities.TurnRef, doc string) {
	b.T.Helper()
	doc = b.Doc("Leave Policy", activitytest.Leave)
	ref = b.Say(message)
	b.Put(ref, chat.PieceKey(1), "25 days [1].")
	b.PutJSON(ref, chat.TextCitations, []chat.Citation{{N: 1, Source: "document", DocID: doc, ChunkID: doc + ".0", Title: "Leave Policy", Quote: "25 days"}})
	return ref, doc
}

// Rule N21.
func TestUnverifiedWordsOfAllPiecesAreInTheAnswerAndItsMetadata(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ref := b.Say("Is it so?")
	b.Put(ref, chat.PieceKey(1), "It is said to be so.")
	b.PutJSON(ref, chat.UnverifiedKey(1), []string{"said to be so", "of an attempt that was lost"})
	b.End(activities.Ending{TurnRef: ref, Status: chat.TurnCompleted, Log: activitytest.Written1})
	require.Equal(t, []string{"said to be so"}, b.terminal(ref).Response.Unverified)
	require.Equal(t, []any{"said to be so"}, b.history()[1].Metadata["unverified"])
}

// Rule N11.
func TestCompletedTurnIsOneUserAndOneAssistantMessage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ref, doc := b.answered("How many days of leave do staff get?")
	e := activities.Ending{
		TurnRef: ref, Status: chat.TurnCompleted, Log: activitytest.Written1,
		Outcome: activities.Outcome{Action: chat.Inquire, Inference: chat.High, Retrieval: chat.Medium}, Usage: chat.Usage{TokensIn: 100, TokensOut: 20, CostUSD: 0.25, Calls: 2},
	}
	require.Equal(t, activities.SettleResult{N: 3, Type: chat.EventResponse}, b.End(e))

	got := b.terminal(ref).Response
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
	require.Equal(t, "client-"+ref.TurnID, meta["client_turn_id"])
	require.Equal(t, "run-"+ref.TurnID, meta["stream_run_id"])
	require.Len(t, meta["citations"], 1)
	require.NotContains(t, meta, "interrupted")

	registry, err := b.Store.Registry(context.Background(), owner, b.Thread, ref.TurnID)
	require.NoError(t, err)
	require.Equal(t, []chat.DocRef{{ID: doc, Title: "Leave Policy"}}, registry, "the documents of the answer are in the registry")
	c, err := b.Store.Conversation(context.Background(), owner, b.Thread)
	require.NoError(t, err)
	require.Equal(t, "How many days of leave do staff get?", c.Title)
}

func TestSettleIsIdempotent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ref := b.Say("hi")
	first := b.End(activities.Ending{TurnRef: ref, Status: chat.TurnCancelled, Reason: chat.Superseded, Log: activitytest.Written1[:1]})
	second := b.End(activities.Ending{TurnRef: ref, Status: chat.TurnCompleted, Log: activitytest.Written1})
	require.Equal(t, first, second)
	third := b.End(activities.Ending{TurnRef: ref, Status: chat.TurnCompleted, Log: activitytest.Written1, Kept: 3})
	require.Equal(t, first, third, "also when its stored log is deleted")
	require.Equal(t, chat.Superseded, b.terminal(ref).Reason)
}

func TestRegistryIsMergedAndNeverCleared(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d1, d2 := b.Doc("One", "1."), b.Doc("Two", "2.")
	b.Exchange("first", "answer", d1)
	b.Exchange("second", "answer", d2)
	failed := b.Say("third")
	b.End(activities.Ending{TurnRef: failed, Status: chat.TurnFailed, Code: chat.CodeInternal, Outcome: activities.Outcome{DocIDs: []string{b.Doc("Three", "3.")}}})
	registry, err := b.Store.Registry(context.Background(), owner, b.Thread, failed.TurnID)
	require.NoError(t, err)
	require.ElementsMatch(t, []chat.DocRef{{ID: d1, Title: "One"}, {ID: d2, Title: "Two"}}, registry)
}

// Rule N11.
func TestCancelledTurnKeepsItsPartialAndSaysWhyItEnded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ref := b.Say("Tell me")
	require.NoError(t, b.Store.SaveDraft(context.Background(), owner, db.Draft{TurnID: ref.TurnID, Piece: 1, Attempt: 1, Text: "A beginning"}))
	b.End(activities.Ending{TurnRef: ref, Status: chat.TurnCancelled, Reason: chat.UserCancelled, Log: activitytest.Written1[:1]})
	got := b.terminal(ref)
	require.Equal(t, chat.EventCancelled, got.Type)
	require.Equal(t, chat.UserCancelled, got.Reason)
	require.Equal(t, "A beginning", got.Partial)
	meta := b.history()[1].Metadata
	require.Equal(t, true, meta["interrupted"])
	require.Equal(t, "user_cancelled", meta["interrupted_reason"])
	require.Equal(t, "cancelled", meta["finished_reason"])
	require.EqualValues(t, 3, meta["token_estimate"])

	empty := b.Say("Again")
	b.End(activities.Ending{TurnRef: empty, Status: chat.TurnCancelled, Reason: chat.UserCancelled})
	said := b.history()
	require.Len(t, said, 4)
	require.Empty(t, said[3].Content)
	require.Equal(t, "assistant", said[3].Role)
	require.Equal(t, "user_cancelled", said[3].Metadata["interrupted_reason"])
	require.NotContains(t, said[3].Metadata, "error")
}

// Rule N11.
func TestFailedTurnSaysWhyInTheHistory(t *testing.T) {
	b := setup(t)
	ref := b.Say("Tell me")
	require.NoError(t, b.Store.PutText(context.Background(), owner, ref.TurnID, chat.TextFailureHint, "Check it."))
	b.End(activities.Ending{TurnRef: ref, Status: chat.TurnFailed, Code: chat.CodeModelRejected})
	said := b.history()
	require.Len(t, said, 2)
	plain, _ := chat.FailureMessage(chat.CodeModelRejected)
	require.Equal(t, map[string]any{"code": "model_rejected", "message": plain.Text + " Check it.", "retryable": false}, said[1].Metadata["error"])
}

func TestPartialKeepsItsCitations(t *testing.T) {
	for status, want := range map[chat.TurnStatus]chat.EventType{chat.TurnCancelled: chat.EventCancelled, chat.TurnFailed: chat.EventFailed} {
		b := setup(t)
		ref := b.Say("Tell me")
		require.NoError(t, b.Store.SaveDraft(context.Background(), owner, db.Draft{TurnID: ref.TurnID, Piece: 1, Attempt: 1, Text: "Gifts are bounded [1]. And"}))
		require.NoError(t, b.Store.PutText(context.Background(), owner, ref.TurnID, chat.TextCitations, `[{"n":1,"source":"document","doc_id":"d","title":"Gifts","quote":"bounded"}]`))
		b.End(activities.Ending{TurnRef: ref, Status: status, Reason: chat.UserCancelled, Code: chat.CodeInternal, Log: activitytest.Written1[:1]})
		got := b.terminal(ref)
		require.Equal(t, want, got.Type)
		require.Equal(t, []chat.Citation{{N: 1, Source: "document", DocID: "d", Title: "Gifts", Quote: "bounded"}}, got.Citations)
		require.Len(t, b.history()[1].Metadata["citations"], 1)
	}
}

func TestPieceFinishedDuringAStopIsThePartial(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ref := b.Say("Tell me")
	require.NoError(t, b.Store.SaveDraft(context.Background(), owner, db.Draft{TurnID: ref.TurnID, Piece: 1, Attempt: 1, Text: "Old"}))
	require.NoError(t, b.Store.PutText(context.Background(), owner, ref.TurnID, chat.PieceKey(1), "Whole"))
	b.End(activities.Ending{TurnRef: ref, Status: chat.TurnCancelled, Reason: chat.UserCancelled, Log: activitytest.Written1[:1]})
	require.Equal(t, "Whole", b.terminal(ref).Partial)
}

func TestFailureMessageSaysWhatToDo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ref := b.Say("Tell me")
	require.NoError(t, b.Store.PutText(context.Background(), owner, ref.TurnID, chat.TextFailureHint, "Check CHAT_MODEL_NAME."))
	b.End(activities.Ending{TurnRef: ref, Status: chat.TurnFailed, Code: chat.CodeModelRejected, Log: activitytest.Written1[:1]})
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
	ref := b.Say("Tell me")
	require.NoError(t, b.Store.PutText(context.Background(), owner, ref.TurnID, chat.TextOperatorHint, "Check LLM_API_KEY."))
	b.End(activities.Ending{TurnRef: ref, Status: chat.TurnFailed, Code: chat.CodeModelRejected, Log: activitytest.Written1[:1]})
	got := b.terminal(ref)
	require.Equal(t, messages.ModelNotAvailable.Text, got.Message)
	require.NotContains(t, got.Message, "LLM_API_KEY")
}

// Rule N12.
func TestQuestionsAndAnswersBecomeMessages(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d1, d2 := b.Doc("Circular", "1."), b.Doc("Policy", "2.")
	ref := b.Say("Do something")
	require.NoError(t, b.Store.PutText(context.Background(), owner, ref.TurnID, chat.TextUnresolved, `"XYZ"`))
	at := time.Date(2031, 5, 6, 7, 0, 0, 0, time.UTC)
	entry := func(n int, q chat.Question) chat.Entry {
		return chat.Entry{N: n, Type: chat.EventInterrupt, At: at, Question: &q, Ref: q.Ref}
	}
	answer := func(n int, id string, v chat.ResumeValue) chat.Entry {
		return chat.Entry{N: n, Type: chat.EventResumed, At: at.Add(time.Duration(n) * time.Minute), Answers: id, Resume: &v}
	}
	b.End(activities.Ending{TurnRef: ref, Status: chat.TurnCancelled, Reason: chat.UserCancelled, Log: []chat.Entry{
		{N: 1, Type: chat.EventTurnStarted},
		entry(2, chat.Question{ID: "q1", Type: chat.ActionChoice, Prompt: chat.PromptWhichAction, OptionIDs: []string{"audit", "inquire"}}),
		answer(3, "q1", chat.ResumeValue{Type: chat.ActionChoice, Value: new("audit")}),
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
		b.End(activities.Ending{TurnRef: b.Say("Do something"), Status: chat.TurnCancelled, Reason: reason, Log: []chat.Entry{
			{N: 1, Type: chat.EventTurnStarted},
			{N: 2, Type: chat.EventInterrupt, Question: &chat.Question{ID: "q1", Type: chat.TextInput, Prompt: chat.PromptUnknownDoc}},
		}})
		require.Equal(t, want, b.history()[1].Metadata["outcome"])
	}
}

func TestTurnThatNeverBeganGetsItsPlaceWhenSettled(t *testing.T) {
	t.Parallel()
	b := setup(t)
	before := b.Exchange("one", "1")
	ref := b.Insert(chat.Content{Message: "two"})
	b.End(activities.Ending{TurnRef: ref, Status: chat.TurnCancelled, Reason: chat.UserCancelled})
	turn, err := b.Store.Turn(context.Background(), owner, ref.TurnID)
	require.NoError(t, err)
	require.Equal(t, before.TurnID, turn.Parent)
}

func TestToolResultsAreStoredWithTheMessageAndAMissingOneSaysSo(t *testing.T) {
	for name, tc := range map[string]struct {
		end     activities.Ending
		partial string
		reason  any
	}{
		"stopped":                      {activities.Ending{Status: chat.TurnCancelled, Reason: chat.UserCancelled}, "So far", "user_cancelled"},
		"stopped without a word":       {activities.Ending{Status: chat.TurnCancelled, Reason: chat.Superseded}, "", "superseded"},
		"failed":                       {activities.Ending{Status: chat.TurnFailed, Code: chat.CodeStepLimit}, "So far", "step_limit"},
		"completed, which leaves none": {activities.Ending{Status: chat.TurnCompleted}, "Done.", nil},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			ref := b.Say("Do it")
			done, edited, dangling := chat.CallID(ref.TurnID, 1), chat.CallID(ref.TurnID, 2), chat.CallID(ref.TurnID, 3)
			for key, text := range map[string]string{
				chat.CallKey(done): `{"n":1}`, chat.ResultKey(done): "Made.",
				chat.CallKey(edited): `{"n":2}`, chat.EditedKey(edited): `{"n":20}`, chat.ResultKey(edited): "Refused.",
				chat.CallKey(dangling): `{"n":3}`,
			} {
				require.NoError(t, b.Store.PutText(context.Background(), owner, ref.TurnID, key, text))
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
				require.NoError(t, b.Store.PutText(context.Background(), owner, ref.TurnID, chat.PieceKey(1), tc.partial))
				log = append(log, chat.Entry{Type: chat.EventText, Piece: 1, Ref: chat.PieceKey(1)})
			}
			for i := range log {
				log[i].N = i + 1
			}
			tc.end.TurnRef, tc.end.Log = ref, log
			b.End(tc.end)

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
			events, err := b.Store.Events(context.Background(), owner, ref.TurnID, 0)
			require.NoError(t, err)
			for _, e := range events {
				require.Equal(t, "run-"+ref.TurnID, e.StreamRunID, "%s", e.Type)
			}
		})
	}
}

func TestSettlementUsesTheTextsThatThisProcessWroteUnlessThereAreNewerOnes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		order int64 // of what another process writes; 0: nothing
		want  string
		reads int
	}{
		"nothing else was written":                            {0, "From here.", 0},
		"a later attempt elsewhere has written another piece": {1 << 40, "From elsewhere.", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.Model.OnStream = activitytest.StreamText("From here.")
			s := b.Ask("How many?")
			b.think(s)
			if c.order != 0 {
				require.NoError(t, b.Store.PutTexts(context.Background(), owner, s.TurnID, []db.Text{{Key: chat.PieceKey(1), Text: c.want, Order: c.order}}))
			}
			reads := 0
			b.Store.OnTexts = func() { reads++ }
			b.End(activities.Ending{TurnRef: s.TurnRef, Status: chat.TurnCompleted, Log: activitytest.Written1})
			require.Equal(t, c.want, b.terminal(s.TurnRef).Response.Text)
			require.Equal(t, c.reads, reads)
		})
	}
}

func TestSettlementReadsTextsOfPeople(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Model.OnStream = activitytest.StreamText("Yes.")
	s := b.Ask("Is it so?")
	b.think(s)
	require.NoError(t, b.Store.PutText(context.Background(), owner, s.TurnID, "steer:1", "And why?")) // by an API process
	log := append(activitytest.Written1[:len(activitytest.Written1):len(activitytest.Written1)], chat.Entry{N: 3, Type: chat.EventNotice, Code: "steered", Ref: "steer:1"})
	b.End(activities.Ending{TurnRef: s.TurnRef, Status: chat.TurnCompleted, Log: log})
	events, err := b.Store.Events(context.Background(), owner, s.TurnID, 0)
	require.NoError(t, err)
	require.Equal(t, "And why?", events[2].Message)
}

// A worker that dies while it settles must not leave the thread waiting for the whole attempt.
func TestSettlementSendsHeartbeats(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.Ask("How many?")
	b.Info.Heartbeat, b.Info.Ago = 4*time.Second, time.Hour // the first one is sent at once
	sent := false
	b.Env.SetOnActivityHeartbeatListener(func(*activity.Info, converter.EncodedValues) { sent = true })
	b.End(activities.Ending{TurnRef: s.TurnRef, Status: chat.TurnCancelled})
	require.True(t, sent)
}
