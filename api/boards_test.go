package api

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// newBoard makes a board with a fact that was edited, and two proposals about it: one
// that came before the edit, and one that was dropped.
func newBoard(c *client) (path string) {
	c.t.Helper()
	made := c.call(201, "POST", "/api/discoveries", map[string]any{"title": "Churn", "inputs": []any{map[string]any{"text": "Ten calls."}}})
	path = "/api/discoveries/" + made["id"].(string)
	c.call(201, "POST", path+"/items", map[string]any{"entity_type": "fact", "text": "Five of ten left.", "related_ids": []string{"I-1"}})
	propose := func(id string) {
		c.call(201, "POST", path+"/actions", map[string]any{"id": id, "tool": "edit_item", "params": map[string]any{"item_id": "F-1", "new_text": "Nine of ten left."}})
	}
	propose("dropped")
	c.call(200, "POST", path+"/actions/dropped", map[string]any{"decision": "cancel"})
	propose("edit")
	c.call(200, "PATCH", path+"/items/F-1", map[string]any{"text": "Six of ten left."})
	return path
}

// onNewBoard makes a board and sends a request about it.
func onNewBoard(method, path string, body any, headers ...string) func(*bundle, *client) *http.Response {
	return func(_ *bundle, c *client) *http.Response { return c.send(method, newBoard(c)+path, body, headers...) }
}

// Rules B6, B7.
func TestABoardIsExportedAndImportedWithAllThatIsOnIt(t *testing.T) {
	t.Parallel()
	c := setup(t).client()
	first := c.call(200, "GET", newBoard(c), nil)
	second := c.call(201, "POST", "/api/discoveries", first)
	for _, key := range []string{"title", "goal", "inputs", "facts", "insights", "recommendations", "outputs", "chat_history"} {
		require.Equal(t, first[key], second[key], key)
	}
	require.NotEqual(t, first["id"], second["id"])
	require.Len(t, c.call(200, "GET", "/api/discoveries", nil)["items"], 2)
}

// Rule B14.
func TestAProposalIsAppliedOnceHoweverOftenItIsConfirmed(t *testing.T) {
	t.Parallel()
	c := setup(t).client()
	path := newBoard(c)
	c.call(201, "POST", path+"/actions", map[string]any{"id": "add", "tool": "add_item", "params": map[string]any{"entity_type": "fact", "text": "Support was slow."}})
	var group sync.WaitGroup
	answers := make([]map[string]any, 6)
	for i := range answers {
		group.Go(func() { answers[i] = c.call(200, "POST", path+"/actions/add", map[string]any{"decision": "confirm"}) })
	}
	group.Wait()
	for _, a := range answers {
		require.Equal(t, "applied", a["status"])
		require.Equal(t, "F-2", a["items"].([]any)[0].(map[string]any)["fact_id"])
	}
	require.Len(t, c.call(200, "GET", path, nil)["facts"], 2)
}

// Rule B12.
func TestChangesOfTwoTabsAreBothKept(t *testing.T) {
	t.Parallel()
	c := setup(t).client()
	path := newBoard(c)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			c.call(201, "POST", path+"/items", map[string]any{"entity_type": "input", "text": fmt.Sprintf("Note number %d", i)})
		})
	}
	group.Wait()
	ids := map[any]bool{}
	for _, item := range c.call(200, "GET", path, nil)["inputs"].([]any) {
		ids[item.(map[string]any)["input_id"]] = true
	}
	require.Len(t, ids, 9)
}

// Rule B16.
func TestAFailedProposalLeavesTheBoardAndSaysWhy(t *testing.T) {
	t.Parallel()
	c := setup(t).client()
	path := newBoard(c)
	before := c.call(200, "GET", path, nil)
	refused := c.call(409, "POST", path+"/actions/edit", map[string]any{"decision": "confirm"})
	require.Equal(t, "item_changed", errorCode(refused))
	after := c.call(200, "GET", path, nil)
	require.Equal(t, before["facts"], after["facts"])
	var states []any
	for _, p := range after["proposals"].([]any) {
		states = append(states, p.(map[string]any)["state"])
	}
	require.Equal(t, []any{"cancelled", "error"}, states)
	done := c.call(200, "POST", path+"/actions/edit", map[string]any{"decision": "confirm", "overwrite": true})
	require.Equal(t, "Nine of ten left.", done["items"].([]any)[0].(map[string]any)["text"])
}

// boards sends every request about boards.
func (c tourist) boards() {
	c.t.Helper()
	path := newBoard(c.client)
	c.get(200, "/api/discoveries?limit=1")
	board := c.call(200, "GET", path, nil)
	added := c.call(201, "POST", path+"/items", m{"entity_type": "insight", "text": "The first month decides.", "related_ids": []string{"F-1"}})
	c.call(200, "POST", fmt.Sprintf("%s/changes/%v/undo", path, added["change"]), nil)
	c.call(200, "POST", path+"/actions/edit", m{"decision": "confirm", "overwrite": true})
	c.call(200, "PATCH", path, m{"goal": "Why do they leave?"})
	c.call(200, "DELETE", path+"/items/F-1", nil)
	c.call(200, "PUT", path, board)
	c.call(204, "DELETE", path, nil)
	c.call(204, "POST", path+"/restore", nil)
}
