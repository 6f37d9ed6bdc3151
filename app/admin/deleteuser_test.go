package admin_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/palaver-chat/palaver/app/admin"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/testkit/dbtest/litetest"
	"github.com/palaver-chat/palaver/testkit/must"
	"github.com/palaver-chat/palaver/workflows"
)

// Full-stack tests cover the deletion itself.
func TestUserIsNotDeletedWhileTheirWorkflowsCannotBeEnded(t *testing.T) {
	store := litetest.Store(t)
	require.NoError(t, store.PutProfile(t.Context(), "user-1", chat.Profile{Industry: "banking"}))
	temporal, err := client.NewLazyClient(client.Options{HostPort: "127.0.0.1:1"}) // no server listens there
	require.NoError(t, err)
	defer temporal.Close()
	users := admin.UserDeletion{Store: store, Threads: &workflows.Client{Temporal: temporal}}

	var out bytes.Buffer
	require.ErrorContains(t, users.Delete(t.Context(), "user-1", true, &out), "nothing was deleted")
	assert.Empty(t, out.String())
	require.NoError(t, users.Delete(t.Context(), "user-1", false, &out), "a dry run needs no Temporal")
	assert.Contains(t, out.String(), "1 profiles")
	kept := must.Have(store.Profile(t.Context(), "user-1"))(t)
	assert.Equal(t, "banking", kept.Industry)
	for _, nobody := range []string{"", chat.PublicOwner} {
		require.Error(t, users.Delete(t.Context(), nobody, true, &out))
	}
}
