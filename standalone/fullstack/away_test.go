package fullstack

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/dbtest/pgtest"
	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/testkit/must"
	"github.com/palaver-chat/palaver/testkit/relay"
	"github.com/palaver-chat/palaver/workflows"
)

// severable starts a stack on Postgres whose database can become unavailable.
func severable(t *testing.T, options ...stacktest.Option) (*stacktest.Stack, *llmtest.Server, *talk, *relay.Link) {
	through, link := linked(t, pgtest.Database(t))
	s, model, c := scripted(t, append([]stacktest.Option{through}, options...)...)
	t.Cleanup(link.Restore) // before the stack stops
	return s, model, c, link
}

// linked returns a connection to a database that the test can cut.
func linked(t *testing.T, database string) (stacktest.Option, *relay.Link) {
	u := must.Have(url.Parse(database))(t)
	link := must.Have(relay.New(u.Host))(t)
	t.Cleanup(link.Close)
	u.Host = link.Address()
	return stacktest.Flag("database-url", u.String()), link
}

var assistant = object{"agent": "assistant"}

func with(more ...object) object {
	all := object{}
	for _, m := range more {
		for k, v := range m {
			all[k] = v
		}
	}
	return all
}

// read reads events until one fits and returns all of them.
func (s *stream) read(fits func(event) bool) (events []event) {
	s.t.Helper()
	s.until(func(e event) bool {
		events = append(events, e)
		return fits(e)
	})
	return events
}

// held returns an answer that waits until the page follows the turn: earlier text
// would have to come from the draft, which needs the database.
func held(t *testing.T, chunks ...string) (llmtest.Answer, *llmtest.Gate) {
	gate := llmtest.NewGate()
	t.Cleanup(gate.Release)
	answer := llmtest.Text(chunks...)
	answer.Gates = map[int]*llmtest.Gate{0: gate}
	return answer, gate
}

func saysNotSaved(e event) bool { return e.Type == "notice" && e.Code == chat.NoticeNotSaved }

func TestRunningTurnContinuesWhileTheDatabaseIsUnavailable(t *testing.T) {
	t.Parallel()
	for name, outage := range map[string]func(*relay.Link){"refusing": (*relay.Link).Cut, "silent": (*relay.Link).Silence} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, model, c, database := severable(t)
			doc := c.upload("Liquidity circular", circular)
			answer, gates := gated(t, "A bank must hold ", "a ratio of at least 100 percent [1].")
			model.On(answerCall, answer)
			page := c.send("What is the ratio?", object{"tagged_doc_ids": []string{doc}})
			seen := page.read(isType("token"))
			outage(database)
			gates[1].Release()
			told := false
			seen = append(seen, page.read(func(e event) bool {
				told = told || saysNotSaved(e)
				return strings.Contains(e.Content, "percent")
			})...)
			if !told {
				seen = append(seen, page.read(saysNotSaved)...)
			}
			database.Restore()
			end := page.read(terminal)
			require.Equal(t, "response", last(end).Type)
			require.Equal(t, "A bank must hold a ratio of at least 100 percent [1].", last(end).Response)
			seen = append(seen, end...)
			require.Equal(t, last(end).Response, text(seen))
			require.Equal(t, 1+begunAgain(seen), model.Count(answerCall), "finished work is not repeated")
			require.Equal(t, last(end).Response, c.history().Messages[1].Content)
		})
	}
}

// Rule E9.
func TestMessageIsAcceptedInADatabaseOutageAndSavedLater(t *testing.T) {
	t.Parallel()
	s, model, c, database := severable(t, stacktest.Flag("thread-idle-timeout", "3s"))
	require.Equal(t, "response", last(c.ask("Hello", assistant)).Type) // opens the thread for this user
	answer, gate := held(t, "Nobody ", "knows.")
	model.On(answerCall, answer)
	database.Cut()
	message := with(assistant, object{"client_turn_id": "once"})
	page := c.send("Who knows?", message)
	seen := page.read(isType("status"))
	gate.Release()
	seen = append(seen, page.read(func(e event) bool { return strings.Contains(e.Content, "knows.") })...)
	if !slices.ContainsFunc(seen, saysNotSaved) {
		seen = append(seen, page.read(saysNotSaved)...)
	}
	again := c.send("Who knows?", message)

	stranger := newTalk(t, c.url, c.client) // its thread is not open, so no workflow can accept a message
	stranger.do(http.StatusServiceUnavailable, http.MethodPost, "/api/chat", object{"message": "Hello", "thread_id": stranger.thread, "agent": "assistant"}, nil)
	other := newTalk(t, c.url, s.NewUser())
	other.do(http.StatusServiceUnavailable, http.MethodPost, "/api/chat", object{"message": "Hello", "thread_id": c.thread, "agent": "assistant"}, nil)

	database.Restore()
	end := page.read(terminal)
	require.Equal(t, "Nobody knows.", last(end).Response)
	require.Equal(t, "Nobody knows.", text(append(seen, end...)))
	require.Equal(t, last(end), last(again.all()), "a retry joins the turn")
	said := func() {
		t.Helper()
		h := c.history()
		require.Equal(t, []string{"user", "assistant", "user", "assistant"}, h.roles())
		require.Equal(t, "Who knows?", h.Messages[2].Content)
		require.Equal(t, "Nobody knows.", h.Messages[3].Content)
		require.Equal(t, last(end).TurnID, h.Messages[2].TurnID)
		require.Equal(t, []string{last(end).TurnID}, h.Branches[h.Messages[0].TurnID], "the turn has its parent")
	}
	said()
	calls := model.Count(answerCall)
	require.Equal(t, last(end), last(c.ask("Who knows?", message)))
	// The workflow no longer remembers the turn here.
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	require.NoError(t, s.Temporal().GetWorkflow(ctx, workflows.ThreadWorkflowID(c.thread), "").Get(ctx, nil))
	require.Equal(t, last(end), last(c.ask("Who knows?", message)))
	require.Equal(t, calls, model.Count(answerCall))
	said()
}

// The API reaches the database again before the worker that runs the turn does.
func TestRetrySavedBeforeItsTurnMakesNoSecondTurn(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	ofAPI, api := linked(t, database)
	ofWorker, worker := linked(t, database)
	s, model := apart(t, []stacktest.Option{stacktest.Flag("thread-idle-timeout", "3s")})
	s.Worker(ofWorker)
	role := s.API(ofAPI)
	c := newTalk(t, func() string { return role.URL }, s.NewUser())
	require.Equal(t, "response", last(c.ask("Hello", assistant)).Type)
	answer, gate := held(t, "Nobody knows.")
	model.On(answerCall, answer)
	api.Cut()
	worker.Cut()
	message := with(assistant, object{"client_turn_id": "once"})
	first := c.send("Who knows?", message)
	first.until(isType("status"))
	gate.Release()
	first.until(isType("token"))
	api.Restore()
	c.me() // without the database this is 503
	second := c.send("Who knows?", message)
	worker.Restore()
	end := last(first.all())
	require.Equal(t, "response", end.Type)
	require.Equal(t, end, last(second.all()))

	calls := model.Count(answerCall)
	tc := s.Servers.TemporalClient()
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	require.NoError(t, tc.GetWorkflow(ctx, workflows.ThreadWorkflowID(c.thread), "").Get(ctx, nil))
	require.Equal(t, end, last(c.ask("Who knows?", message)), "the workflow no longer remembers the turn")
	require.Equal(t, calls, model.Count(answerCall))
	require.Equal(t, []string{"user", "assistant", "user", "assistant"}, c.history().roles())
}
