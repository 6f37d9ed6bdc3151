package program

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// banner returns the text that the program prints when it is ready.
func (s *Stack) banner(took time.Duration) string {
	var b strings.Builder
	line := func(what, where string) {
		if where != "" {
			fmt.Fprintf(&b, "  %-17s %s\n", what, where)
		}
	}
	fmt.Fprintf(&b, "\nPalaver is ready (%.1f s)\n", took.Seconds())
	line("page and API", s.URL())
	line("Temporal Web UI", "http://"+s.Servers.UIAddress())
	line("Temporal (gRPC)", s.Servers.TemporalAddress())
	line("NATS", s.Servers.NATSURL())
	line("data", dataDir(s.settings.DataDir))
	line("model", s.model())
	b.WriteString("Ctrl-C stops it.\n\n")
	return b.String()
}

func (s *Stack) model() string {
	if s.settings.OnlyInfra {
		return ""
	}
	info := s.Parts.Model.Info()
	switch {
	case info.Offline:
		return "the offline engine, which quotes your documents; for a language model set OPENAI_API_KEY, GEMINI_API_KEY, ANTHROPIC_API_KEY or LLM_BASE_URL"
	case info.Name == "":
		return "none (CHAT_MODEL_PROVIDER=none)"
	case info.NameStrong != "" && info.NameStrong != info.Name:
		return fmt.Sprintf("%s and %s (%s)", info.Name, info.NameStrong, info.Provider)
	}
	return fmt.Sprintf("%s (%s)", info.Name, info.Provider)
}

func dataDir(dir string) string {
	if absolute, err := filepath.Abs(dir); err == nil {
		return absolute
	}
	return dir
}
