package config

import "os"

func (c *Config) checkTraces() error {
	if err := oneOf("TRACE_CONTENT", c.TraceContent, "on", "off"); err != nil {
		return err
	}
	if err := address("LANGSMITH_ENDPOINT", c.LangSmithEndpoint, "http", "https"); err != nil {
		return err
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
