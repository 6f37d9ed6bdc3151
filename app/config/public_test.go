package config

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPublicSettingsHoldNoSecret(t *testing.T) {
	c := &Config{Port: 8080, AuthMode: "required"}
	var secrets []string
	for _, v := range variables(c) {
		if text, ok := v.value.(*string); ok && !slices.Contains(shown, v.env) {
			*text = "secret-of-" + v.env
			secrets = append(secrets, v.env)
		}
	}
	for _, name := range []string{"COOKIE_SECRET", "DATABASE_URL", "MCP_SERVERS", "MCP_JWT_SECRET", "OPENAI_API_KEY", "PROXY_SHARED_SECRET", "SUPABASE_JWT_SECRET", "NATS_URL", "NATS_CREDENTIALS", "LLM_BASE_URL",
		"GOOGLE_CLIENT_SECRET", "TOKEN_ENCRYPTION_KEY"} {
		require.Contains(t, secrets, name)
	}
	public := c.Public()
	for name, value := range public {
		require.NotContains(t, value, "secret-of-", name)
	}
	require.Equal(t, Set, public["COOKIE_SECRET"])
	require.Equal(t, "8080", public["PORT"])
	require.Equal(t, "required", public["AUTH_MODE"])
	require.NotContains(t, public, "HOST", "settings without a value are left out")
}
