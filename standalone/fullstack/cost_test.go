package fullstack

import (
	"io"
	"net/http"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
)

// progressQueries is how often followers asked workflows so far.
func progressQueries(t *testing.T, c *talk) int {
	t.Helper()
	resp := c.request(t.Context(), http.MethodGet, "/metrics", nil)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	found := regexp.MustCompile(`(?m)^palaver_progress_queries_total (\d+)$`).FindSubmatch(body)
	require.NotNil(t, found)
	n, err := strconv.Atoi(string(found[1]))
	require.NoError(t, err)
	return n
}

// TestAPlainTurnCostsThreeWorkflowTasksAndAtMostOneQuery counts what a turn costs
// Temporal: of the documents agent with a tagged document, first with an action
// that a model finds out, then with an explicit one.
func TestAPlainTurnCostsThreeWorkflowTasksAndAtMostOneQuery(t *testing.T) {
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
		before, queries := len(historiesOf(t, s.Temporal(), threadOf(c))[0].Events), progressQueries(t, c)
		answered(t, c.ask("What is the ratio?", turn.extra))
		var tasks, activities int
		history := historiesOf(t, s.Temporal(), threadOf(c))[0]
		for _, e := range history.Events[before:] {
			switch e.EventType {
			case enums.EVENT_TYPE_WORKFLOW_TASK_STARTED:
				tasks++
			case enums.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
				activities++
			case enums.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES:
				require.Fail(t, "a search attribute is written")
			}
		}
		require.LessOrEqual(t, tasks, turn.tasks)
		require.Equal(t, turn.activities, activities)
		require.LessOrEqual(t, progressQueries(t, c)-queries, 1)
	}
}
