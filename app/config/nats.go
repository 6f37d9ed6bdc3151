package config

import (
	"os"

	"github.com/palaver-chat/palaver/internal/bus"
)

// checkNATSCredentials reads the file once, so that a wrong path fails the start. The NATS
// client would only retry.
func (c *Config) checkNATSCredentials() error {
	if c.NATSCredentials == "" || bus.IsCredentials(c.NATSCredentials) {
		return nil
	}
	text, err := os.ReadFile(c.NATSCredentials)
	if err != nil || !bus.IsCredentials(string(text)) {
		return refuse("NATS_CREDENTIALS", "neither the content of a .creds file nor the path of one that can be read")
	}
	return nil
}
