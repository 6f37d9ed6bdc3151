package config

import (
	"os"
	"strings"
)

func (c *Config) checkTraces() error {
	// The exporter's own variables: it silently ignores values that it cannot use.
	for _, name := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"} {
		if err := address(name, strings.TrimSpace(os.Getenv(name)), "http", "https"); err != nil {
			return err
		}
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"} {
		if v := os.Getenv(name); v != "" {
			if err := oneOf(name, v, "http/protobuf"); err != nil {
				return err
			}
		}
	}
	return nil
}
