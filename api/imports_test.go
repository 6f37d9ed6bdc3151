package api

import (
	"context"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

const aDriveFile = "https://drive.google.com/file/d/1AbC-dEf_GhIjKlMnOpQrStUvWxYz/view"

// Rules M1, M3.
func TestImportIsRecordedStartedAndListed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	conversation := c.call(201, "POST", "/api/conversations", map[string]any{"title": "Notes"})["id"].(string)
	made := c.call(202, "POST", "/api/imports", map[string]any{"url": aDriveFile + "?usp=sharing", "conversation_id": conversation})
	require.Equal(t, "looking", made["state"])
	require.Equal(t, "google_drive", made["source_type"])
	require.Equal(t, aDriveFile, made["url"])
	require.Equal(t, "Checking access to the file...", made["message"])

	list := func(query string) []any { return c.call(200, "GET", "/api/imports"+query, nil)["imports"].([]any) }
	require.Equal(t, made["id"], list("?conversation_id=" + conversation)[0].(map[string]any)["id"])
	require.Empty(t, list("?conversation_id="+uuid.NewString()))
	require.Empty(t, b.client().call(200, "GET", "/api/imports", nil)["imports"], "somebody else's")

	i := must.Have(b.store.ImportByID(t.Context(), c.id(), made["id"].(string)))(t)
	require.True(t, i.Announce, "its end is announced in the conversation")
	require.NoError(t, b.store.AdvanceImports(t.Context(), c.id(), i.Key, chat.ImportStep{State: chat.ImportFailed, Code: "not_shared", Message: "No."}, i.CreatedAt))
	ended := list("")[0].(map[string]any)
	require.Equal(t, []any{"failed", "not_shared", "No."}, []any{ended["state"], ended["code"], ended["message"]})
}

// Rule M2.
func TestImportThatCannotBeginNamesTheField(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	for _, refused := range []struct {
		field string
		body  map[string]any
	}{
		{"url", map[string]any{}},
		{"url", map[string]any{"url": "https://drive.google.com/drive/my-drive"}},
		{"url", map[string]any{"url": "http://example.com/"}},
		{"url", map[string]any{"url": "https://example.com/" + strings.Repeat("a", 3_000)}},
		{"conversation_id", map[string]any{"url": aDriveFile, "conversation_id": "x"}},
		{"conversation_id", map[string]any{"url": aDriveFile, "conversation_id": uuid.NewString()}},
	} {
		details := c.call(400, "POST", "/api/imports", refused.body)["error"].(map[string]any)["details"].([]any)
		require.Contains(t, details[0].(map[string]any)["field"], refused.field, "%v", refused.body)
	}
	uploaded := b.addDocument("ann", "Travel policy", "Flights need approval.")
	ann := []string{"Authorization", bearerOf(t, "ann")}
	c.call(400, "POST", "/api/documents/"+uploaded+"/reimport", nil, ann...)
	c.call(404, "POST", "/api/documents/"+uuid.NewString()+"/reimport", nil, ann...)
	c.call(404, "POST", "/api/documents/"+uploaded+"/reimport", nil)
}

// Rule M2.
func TestOpenImportsOfACallerAreBounded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	for range db.MaxOpenImports {
		c.call(202, "POST", "/api/imports", map[string]any{"url": aDriveFile})
	}
	c.call(429, "POST", "/api/imports", map[string]any{"url": aDriveFile})
}

func TestImportWhoseWorkflowCannotStartIsNotLeftOpen(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	b.engine.set(func() { b.engine.unavailable = context.DeadlineExceeded })
	c.call(503, "POST", "/api/imports", map[string]any{"url": aDriveFile})
	list := c.call(200, "GET", "/api/imports", nil)["imports"].([]any)
	require.Equal(t, "failed", list[0].(map[string]any)["state"])
}

// The first one may be downloading.
func TestImportWhoseWorkflowCannotStartFailsNoOtherOfItsDocument(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	first := c.call(202, "POST", "/api/imports", map[string]any{"url": aDriveFile})
	b.engine.set(func() { b.engine.unavailable = context.DeadlineExceeded })
	c.call(503, "POST", "/api/imports", map[string]any{"url": aDriveFile})
	states := map[bool]any{}
	for _, i := range c.call(200, "GET", "/api/imports", nil)["imports"].([]any) {
		one := i.(map[string]any)
		states[one["id"] == first["id"]] = one["state"]
	}
	require.Equal(t, map[bool]any{true: "looking", false: "failed"}, states)
}
