package config

// checkLater validates settings of features that do not exist yet, so that an invalid
// value is reported now and not after an upgrade.
func (c *Config) checkLater() error {
	if c.TempChat < 0 || c.TempChat > 2 {
		return refuse("LLM_TEMP_CHAT", "%v is not allowed; use a number from 0 to 2", c.TempChat)
	}
	for _, n := range []struct {
		name  string
		value int
	}{{"LLM_CHAT_MAX_TOKENS", c.ChatMaxTokens}, {"CHAT_CONTEXT_THRESHOLD", c.ContextThreshold}} {
		if n.value < 1 || n.value > 1_000_000 {
			return refuse(n.name, "%d is not allowed; use a number from 1", n.value)
		}
	}
	return address("GOOGLE_DRIVE_BASE_URL", c.GoogleDriveURL, "http", "https")
}
