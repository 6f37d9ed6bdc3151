package fullstack

import (
	"io"
	"net/http"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"

	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/testkit/must"
)

// progressQueries returns how often followers have queried workflows.
func progressQueries(t *testing.T, c *talk) int {
	return metric(t, c, "palaver_progress_queries_total")
}

// metric returns a metric of an API process that has a whole number.
func metric(t *testing.T, c *talk, name string) int {
	t.Helper()
	resp := c.request(t.Context(), http.MethodGet, "/metrics", nil)
	defer resp.Body.Close()
	body := must.Have(io.ReadAll(resp.Body))(t)
	found := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` (\d+)$`).FindSubmatch(body)
	require.NotNil(t, found)
	n := must.Have(strconv.Atoi(string(found[1])))(t)
	return n
}

// turnCost counts a turn's workflow tasks and activities.
func turnCost(t *testing.T, s *stacktest.Stack, c *talk, message string, extra object) (tasks, activities int) {
	t.Helper()
	before := len(historiesOf(t, s.Temporal(), threadOf(c))[0].Events)
	answered(t, c.ask(message, extra))
	events := historiesOf(t, s.Temporal(), threadOf(c))[0].Events[before:]
	for _, e := range events {
		switch e.EventType {
		case enums.EVENT_TYPE_WORKFLOW_TASK_STARTED:
			tasks++
		case enums.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
			activities++
		case enums.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES:
			require.Fail(t, "a search attribute is written")
		}
	}
	t.Logf("%q: %d events, %d workflow tasks, %d activities", message, len(events), tasks, activities)
	return tasks, activities
}

// Both turns are of the documents agent, with a tagged document. A model chooses the
// action of the first turn, which is a step of its own; the message of the second names it.
func TestPlainTurnCostsOneTaskAStepAndAtMostOneQuery(t *testing.T) {
	s, _, c := scripted(t)
	doc := c.upload("Liquidity circular", circular)
	answered(t, c.ask("What is the ratio?", tags(doc)))
	for _, turn := range []struct {
		extra             object
		tasks, activities int
	}{
		{tags(doc), 3, 2},
		{with(tags(doc), object{"action": "inquire"}), 2, 1},
	} {
		queries := progressQueries(t, c)
		tasks, activities := turnCost(t, s, c, "What is the ratio?", turn.extra)
		require.LessOrEqual(t, tasks, turn.tasks)
		require.Equal(t, turn.activities, activities)
		require.LessOrEqual(t, progressQueries(t, c)-queries, 1)
	}
}

// Two model calls at once come before the one that answers.
func TestActionAndDocumentsAreInferredAtOnce(t *testing.T) {
	s, model, c := scripted(t)
	doc := c.upload("Liquidity circular", circular)
	late := llmtest.JSON(object{"resolved_uuids": []string{doc, c.upload("Leave policy", circular)}, "unresolved_names": []string{},
		"inference_confidence": "high", "has_implicit_refs": false, "reasoning": ""})
	late.Delay = 200 * time.Millisecond // so that the two calls end at different times
	model.On(docsCall, late)
	answered(t, c.ask("What is the ratio?", tags(doc)))
	for message, extra := range map[string]object{
		"What is the ratio?": nil,
		"What is the ratio, and what does the Leave policy say?": tags(doc),
	} {
		before := model.Count(intentCall) + model.Count(docsCall)
		tasks, activities := turnCost(t, s, c, message, extra)
		require.Equal(t, 2, model.Count(intentCall)+model.Count(docsCall)-before, message)
		require.LessOrEqual(t, tasks, 4, message)
		require.Equal(t, 3, activities, message)
	}
}
