package config

import (
	"fmt"
	"slices"
	"time"
)

// shown are the text settings whose values operators may see. All other texts may be or
// hold a secret, such as keys and addresses with passwords.
var shown = []string{
	"HOST", "ALLOWED_HOSTS", "ALLOWED_ORIGINS", "CHAT_STREAM_MODE", "FOLLOW_UPS", "SHARED_LINKS", "ATTACHMENTS", "TITLES", "CHAT_MODEL_PROVIDER", "CHAT_MODEL_NAME", "CHAT_MODEL_NAME_STRONG",
	"CHAT_MODEL_VISION", "LLM_PRICES", "EMBEDDING_MODEL_NAME", "IMAGE_MODEL_NAME", "CHAT_MEMORY_BACKEND", "TEMPORAL_NAMESPACE", "TEMPORAL_UI_ORIGIN", "WORKFLOW_VERSION",
	"ALLOW_PRIVATE_ADDRESSES", "CHAT_RATE_LIMIT", "USER_RATE_LIMIT", "CHANGE_RATE_LIMIT", "MAX_NEW_THREADS_PER_ADDRESS",
	"QUOTA_PER_CALLER", "QUOTA_PER_ADDRESS", "QUOTA_ANONYMOUS", "TRUSTED_PROXIES", "XFF", "AUTH_MODE", "OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_AUDIENCE", "OIDC_SCOPES", "OIDC_NAME_CLAIM", "OIDC_EMAIL_CLAIM", "OIDC_GROUPS_CLAIM", "OIDC_ISSUERS", "ADMIN_GROUPS", "SUPABASE_URL", "SUPABASE_SIGN_IN",
	"LOG_LEVEL", "LOG_FORMAT", "TRACE_CONTENT", "GOOGLE_CLIENT_ID",
}

// Set stands for the value of a setting that is not shown.
const Set = "(set)"

// Public returns the settings that have a value, by variable: numbers, durations, switches
// and texts that are not secret as they are, others as Set.
func (c *Config) Public() map[string]string {
	out := map[string]string{}
	for _, v := range variables(c) {
		switch value := v.value.(type) {
		case *string:
			if *value == "" {
				continue
			}
			out[v.env] = Set
			if slices.Contains(shown, v.env) {
				out[v.env] = *value
			}
		case *time.Duration:
			out[v.env] = value.String()
		case *int:
			out[v.env] = fmt.Sprint(*value)
		case *int64:
			out[v.env] = fmt.Sprint(*value)
		case *float64:
			out[v.env] = fmt.Sprint(*value)
		case *bool:
			out[v.env] = fmt.Sprint(*value)
		default:
			out[v.env] = Set
		}
	}
	return out
}
