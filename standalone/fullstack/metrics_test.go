package fullstack

import (
	"bufio"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/freeport"
	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/testkit/must"
)

// samples are the values of a process's metrics, by series: name{labels}.
type samples map[string]float64

// scrape reads /metrics of a process.
func scrape(t *testing.T, url string) samples {
	t.Helper()
	resp := must.Have(http.Get(url + "/metrics"))(t)
	defer resp.Body.Close()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	found := samples{}
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		series, value, isSample := cutLast(lines.Text(), " ")
		if !isSample || strings.HasPrefix(series, "#") {
			continue
		}
		n, err := strconv.ParseFloat(value, 64)
		require.NoError(t, err, lines.Text())
		found[series] = n
	}
	require.NoError(t, lines.Err())
	return found
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// sum adds up all series of a family; of a histogram it counts the observations. known is
// false without a series.
func (s samples) sum(family string) (total float64, known bool) {
	for series, value := range s {
		if name, _, _ := strings.Cut(series, "{"); name == family || name == family+"_count" {
			total += value
			known = true
		}
	}
	return total, known
}

// measuredWorker starts a worker that serves its metrics at url.
func measuredWorker(t *testing.T, s *stacktest.Apart) (worker *stacktest.Role, url string) {
	t.Helper()
	port := must.Have(freeport.Get())(t)
	return s.Worker(stacktest.Flag("worker-metrics-port", strconv.Itoa(port))), "http://127.0.0.1:" + strconv.Itoa(port)
}

// restarts is how many answers a worker has begun again.
func restarts(t *testing.T, worker string) float64 {
	t.Helper()
	n, known := scrape(t, worker).sum("palaver_answer_restarts_total")
	require.True(t, known)
	return n
}

// mayBeZero are the documented metrics that a plain run need not raise.
var mayBeZero = map[string]string{
	"palaver_answer_restarts_total":       "no worker is lost; TestStoppingWorkerHandsItsAnswerOver has one that is",
	"palaver_progress_queries_total":      "the bus delivers everything",
	"palaver_database_waits_total":        "the connections suffice",
	"palaver_database_wait_seconds_total": "the connections suffice",
	"palaver_task_backlog":                "no task waits for a worker",
	"palaver_task_backlog_age_seconds":    "no task waits for a worker",
}

// mayBeMissing are those that need not have a series either.
var mayBeMissing = map[string]string{
	"temporal_workflow_task_execution_failed_total": "no workflow task fails, and the SDK makes a metric when it first counts",
}

// documentedMetrics are the metrics in the tables of docs/observability.md.
func documentedMetrics(t *testing.T) (names []string) {
	t.Helper()
	docs := must.Have(os.ReadFile("../../docs/observability.md"))(t)
	name := regexp.MustCompile("`((?:palaver|temporal)_[a-z_]+)`")
	for line := range strings.Lines(string(docs)) {
		if !strings.HasPrefix(line, "| `palaver_") && !strings.HasPrefix(line, "| `temporal_") {
			continue
		}
		for _, m := range name.FindAllStringSubmatch(line, -1) {
			names = append(names, m[1])
		}
	}
	require.Greater(t, len(names), 25)
	return names
}

// A name in the registry alone does not show that anything counts.
func TestEveryDocumentedMetricIsFed(t *testing.T) {
	t.Parallel()
	s, model := apart(t, []stacktest.Option{
		stacktest.Flag("embedding-model-name", "hashed"), stacktest.Flag("llm-prices", `{"scripted":{"in":1,"out":1},"hashed":{"in":1}}`)})
	_, worker := measuredWorker(t, s)
	api := s.API(stacktest.Flag("chat-rate-limit", "2/hour"))
	c := newTalk(t, func() string { return api.URL }, s.NewUser())
	doc := c.upload("Liquidity circular", circular)
	c.do(http.StatusOK, http.MethodGet, "/api/search?q=ratio", nil, nil)

	model.On(answerCall, llmtest.Status(http.StatusServiceUnavailable, ""),
		llmtest.Answer{Calls: []llm.ToolCall{llmtest.Call("list_documents", object{})}}, llmtest.Text("The Liquidity circular."))
	answered(t, c.ask("Which documents do I have?", assistant))
	other := newTalk(t, c.url, c.client)
	model.On(intentCall, unsure)
	interrupted(t, other.ask("The circular", tags(doc))) // stays open
	other.do(http.StatusTooManyRequests, http.MethodPost, "/api/chat", with(assistant, object{"message": "And now?"}), nil)
	c.attach("follow=thread")

	names := documentedMetrics(t)
	var atWorker, atAPI samples
	var unfed []string
	require.Eventually(t, func() bool { // what the database and Temporal say is read every 10 s
		atWorker, atAPI, unfed = scrape(t, worker), scrape(t, api.URL), nil
		for _, name := range names {
			here, known := atWorker.sum(name)
			there, knownThere := atAPI.sum(name)
			_, maybeZero := mayBeZero[name]
			_, maybeMissing := mayBeMissing[name]
			if !maybeMissing && (!known && !knownThere || here+there == 0 && !maybeZero) {
				unfed = append(unfed, name)
			}
		}
		return len(unfed) == 0
	}, waitTimeout, 100*time.Millisecond, "%s", &unfed)

	for series, at := range map[string]samples{
		`palaver_refusals_total{code="rate_limited",route="/api/chat"}`:       atAPI,
		`palaver_tokens_total{direction="in",model="hashed"}`:                 atAPI,    // of the search
		`palaver_cost_usd_total{model="hashed"}`:                              atWorker, // of the document
		`palaver_cost_usd_total{model="scripted"}`:                            atWorker,
		`palaver_model_errors_total{kind="server_error",model="scripted"}`:    atWorker,
		`palaver_turns_settled_total{code="",status="completed"}`:             atWorker,
		`palaver_tool_call_seconds_count{outcome="ok",tool="list_documents"}`: atWorker,
		`palaver_open_turns{status="interrupted"}`:                            atWorker,
	} {
		require.Positive(t, at[series], series)
	}
	require.Zero(t, restarts(t, worker), "a model call that failed is no lost worker")
	require.Positive(t, atWorker["process_resident_memory_bytes"], "the runbook sends operators to it")
	for name := range mayBeZero {
		require.Contains(t, names, name)
	}
	for name := range mayBeMissing {
		require.Contains(t, names, name)
	}
}
