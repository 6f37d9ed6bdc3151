package fullstack

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/dbtest/pgtest"
	"github.com/palaver-chat/palaver/testkit/freeport"
	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/testkit/must"
)

// onPostgres returns the options for a new database.
func onPostgres(t *testing.T) []stacktest.Option {
	return []stacktest.Option{stacktest.Flag("database-url", pgtest.Database(t))}
}

// apart starts Palaver as in production: API and worker processes on one database,
// Temporal and NATS, with a scripted model.
func apart(t *testing.T, options []stacktest.Option) (*stacktest.Apart, *llmtest.Server) {
	model := llmtest.New(t)
	return stacktest.StartApart(t, append([]stacktest.Option{stacktest.Model(model.URL)}, options...)...), model
}

// at returns c for another process.
func (c *talk) at(r *stacktest.Role) *talk {
	other := *c
	other.url = func() string { return r.URL }
	return &other
}

func TestTurnCanBeFollowedAnsweredAndStoppedAtAnotherProcess(t *testing.T) {
	t.Parallel()
	s, model := apart(t, onPostgres(t))
	s.Worker()
	s.Worker()
	first, second := s.API(), s.API()
	a := newTalk(t, func() string { return first.URL }, s.NewUser())
	b := a.at(second)
	doc := a.upload("Liquidity circular", circular)
	tags := object{"tagged_doc_ids": []string{doc}}

	gate := llmtest.NewGate()
	t.Cleanup(gate.Release)
	model.On(answerCall, llmtest.Answer{Chunks: []string{"The ratio is ", "at least 100 percent [1]."}, Gates: map[int]*llmtest.Gate{1: gate}}, llmtest.Default())
	sent := a.send("What is the ratio?", tags)
	sent.until(isType("token"))
	watched := b.attach("follow=turn")
	seen := watched.until(isType("token"))
	again := a.attach("last_event_id=" + seen.EventID)
	gate.Release()
	end := sent.until(terminal)
	require.Equal(t, "response", end.Type)
	require.Equal(t, end.Response, watched.until(terminal).Response)
	rest := again.all()
	require.Equal(t, end.Response, seen.Content+text(rest), "event ids are valid at every process")
	require.Equal(t, end.Response, b.history().Messages[1].Content)

	model.On(intentCall, unsure)
	asked := last(a.ask("The circular", tags))
	require.Equal(t, "interrupt", asked.Type)
	require.Equal(t, asked.Interrupt, b.history().Pending.Interrupt)
	require.Equal(t, "response", last(b.resume(chat.ActionChoice, "inquire")).Type)

	held := llmtest.NewGate()
	t.Cleanup(held.Release)
	model.On(answerCall, llmtest.Answer{Chunks: []string{"A bank ", "must"}, Gates: map[int]*llmtest.Gate{1: held}})
	page := a.send("What must a bank do?", object{"tagged_doc_ids": []string{doc}, "action": "inquire"})
	page.until(isType("token"))
	b.do(http.StatusAccepted, http.MethodPost, "/api/chat/cancel", object{"thread_id": b.thread}, nil)
	stopped := page.until(terminal)
	require.Equal(t, "cancelled", stopped.Type)
	require.Equal(t, "user_cancelled", stopped.Reason)
}

func TestDuplicateSendsAtTwoProcessesMakeOneTurn(t *testing.T) {
	t.Parallel()
	s, model := apart(t, onPostgres(t))
	s.Worker()
	s.Worker()
	apis := []*stacktest.Role{s.API(), s.API()}
	c := newTalk(t, func() string { return apis[0].URL }, s.NewUser())
	doc := c.upload("Liquidity circular", circular)
	answers := make([]event, 6)
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() {
			answers[i] = last(c.at(apis[i%2]).ask("What is the ratio?", object{"tagged_doc_ids": []string{doc}, "client_turn_id": "once"}))
		})
	}
	wg.Wait()
	for _, a := range answers {
		require.Equal(t, "response", a.Type)
		require.Equal(t, answers[0].TurnID, a.TurnID)
	}
	require.Equal(t, 1, model.Count(answerCall))
	require.Equal(t, []string{"user", "assistant"}, c.at(apis[1]).history().roles())
}

func TestStoppingWorkerHandsItsAnswerOver(t *testing.T) {
	s, model := apart(t, onPostgres(t))
	first, firstURL := measuredWorker(t, s)
	api := s.API()
	c := newTalk(t, func() string { return api.URL }, s.NewUser())
	doc := c.upload("Liquidity circular", circular)
	model.On(answerCall, llmtest.Silent("Once upon ", "a time"))
	stopped := newTalk(t, c.url, s.NewUser())
	story := stopped.send("Tell me a story", assistant)
	story.until(isType("token"))
	stopped.stop(nil)
	require.Equal(t, "cancelled", story.until(terminal).Type)
	require.Zero(t, restarts(t, firstURL), "a person's stop is no restart")

	gate := llmtest.NewGate()
	t.Cleanup(gate.Release)
	model.On(answerCall,
		llmtest.Answer{Chunks: []string{"A bank must hold ", "nothing."}, Gates: map[int]*llmtest.Gate{1: gate}},
		llmtest.Text("The ratio is ", "at least 100 percent [1]."))
	page := c.send("What is the ratio?", object{"tagged_doc_ids": []string{doc}})
	page.until(isType("token"))
	_, secondURL := measuredWorker(t, s)
	require.Zero(t, first.Stop())
	require.Equal(t, chat.NoticeRestarted, page.until(isType("notice")).Code)
	end := page.until(terminal)
	require.Equal(t, "The ratio is at least 100 percent [1].", end.Response)
	handedOver := 0
	for _, e := range historiesOf(t, s.Servers.TemporalClient(), threadOf(c))[0].Events {
		if last := e.GetActivityTaskStartedEventAttributes().GetLastFailure(); last != nil {
			handedOver++
			require.Nil(t, last.GetTimeoutFailureInfo(), "the worker hands the answer over; no timeout has to pass")
		}
	}
	require.Equal(t, 1, handedOver)
	require.Equal(t, 1, model.Count(intentCall), "a finished call is not repeated")
	require.Equal(t, 3, model.Count(answerCall))
	require.Equal(t, []string{"user", "assistant"}, c.history().roles())
	require.InDelta(t, 1, restarts(t, secondURL), 0)
}

func TestHealthCheckSeesAtOnceThatAWorkerWithAPortIsDead(t *testing.T) {
	t.Parallel()
	s := stacktest.StartApart(t)
	port := must.Have(freeport.Get())(t)
	worker := s.Worker(stacktest.Flag("worker-metrics-port", strconv.Itoa(port)))
	url := "http://127.0.0.1:" + strconv.Itoa(port)
	require.Eventually(t, func() bool { return len(partsDown(t, url)) == 0 }, waitTimeout, 100*time.Millisecond)
	require.Zero(t, worker.Health("worker"))
	worker.Freeze()
	require.NotZero(t, worker.Health("worker"), "it does not answer")
	worker.Thaw()
	worker.Kill()
	require.NotZero(t, worker.Health("worker"), "Temporal still lists its polls")
}

// partsDown returns the parts that /readyz reports as down.
func partsDown(t *testing.T, url string) []string {
	t.Helper()
	resp := must.Have(http.Get(url + "/readyz"))(t)
	defer func() { _ = resp.Body.Close() }()
	var said struct{ Down []string }
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&said))
	return said.Down
}

// Rule T2.
func TestThreadOrderDoesNotDependOnTheClocksOfAPIProcesses(t *testing.T) {
	t.Parallel()
	s, _ := apart(t, onPostgres(t))
	s.Worker()
	s.Worker()
	apis := []*stacktest.Role{s.API(stacktest.Flag("clock-offset", "5s")), s.API(stacktest.Flag("clock-offset", "-5s"))}
	c := newTalk(t, func() string { return apis[0].URL }, s.NewUser())
	first := last(c.ask("Hello", assistant))
	watching := map[string]*stream{
		"ahead": c.at(apis[0]).attach("follow=thread"), "behind": c.at(apis[1]).attach("follow=thread"),
		"back": c.at(apis[1]).attach("follow=thread&last_event_id=" + first.EventID),
	}
	const turns = 8
	var wg sync.WaitGroup
	for i := range turns { // a burst of messages; they run one after another
		wg.Go(func() { c.at(apis[i%2]).ask("And now?", with(assistant, object{"on_busy": "enqueue"})) })
	}
	wg.Wait()
	var ran []string
	for _, m := range c.history().Messages {
		if m.Role == "user" {
			ran = append(ran, m.TurnID)
		}
	}
	require.Len(t, ran, turns+1)
	require.False(t, slices.IsSorted(ran), "the clocks differ")
	for who, w := range watching {
		var seen []string
		for range turns {
			seen = append(seen, w.until(terminal).TurnID)
		}
		require.Equal(t, ran[1:], seen, who)
		w.close()
	}
	for i, id := range ran {
		back := c.attach("follow=thread&last_event_id=" + id + ".1")
		for _, want := range ran[i:] {
			require.Equal(t, want, back.until(terminal).TurnID)
		}
		back.close()
	}
}
