package service_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/service"
)

// Full-stack tests cover the deletion itself.
func TestUserIsNotDeletedWhileTheirWorkflowsCannotBeEnded(t *testing.T) {
	cfg := settings(t)
	cfg.TemporalAddress = "127.0.0.1:1" // no server listens there
	store, err := service.OpenStore(t.Context(), cfg)
	require.NoError(t, err)
	defer func() { _ = store.Close() }()
	require.NoError(t, store.PutProfile(t.Context(), "user-1", chat.Profile{Industry: "banking"}))
	temporal, namespace, err := service.DialTemporal(cfg, silent)
	require.NoError(t, err)
	defer temporal.Close()
	parts := service.Parts{Config: cfg, Log: silent, Store: store, Temporal: temporal, Namespace: namespace}

	var out bytes.Buffer
	require.ErrorContains(t, service.DeleteUser(t.Context(), parts, "user-1", true, &out), "nothing was deleted")
	assert.Empty(t, out.String())
	require.NoError(t, service.DeleteUser(t.Context(), parts, "user-1", false, &out), "to look needs no Temporal")
	assert.Contains(t, out.String(), "1 profiles")
	kept, err := store.Profile(t.Context(), "user-1")
	require.NoError(t, err)
	assert.Equal(t, "banking", kept.Industry)
	for _, nobody := range []string{"", chat.PublicOwner} {
		require.Error(t, service.DeleteUser(t.Context(), parts, nobody, true, &out))
	}
}
