package tools

import (
	"context"
	"log/slog"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
)

// Box merges the tools of all sources. Safe for concurrent use.
type Box struct {
	sources []Source
	log     *slog.Logger
}

// NewBox merges sources. If two tools have the same name, that of the first source is used.
func NewBox(log *slog.Logger, sources ...Source) *Box {
	return &Box{sources: sources, log: log}
}

// Tools returns the tools that an agent may call for an owner now, in a stable order, with
// defaults filled in. It leaves out tools with an invalid name or schema. A nil box has none.
func (b *Box) Tools(ctx context.Context, owner string, agent chat.AgentInfo) []Tool {
	if b == nil {
		return nil
	}
	var out []Tool
	seen := map[string]bool{}
	for _, source := range b.sources {
		for _, t := range source.Tools(ctx, owner) {
			if !agent.MayCall(t.Name) || t.Only != "" && t.Only != agent.Name || seen[t.Name] {
				continue
			}
			if err := t.Validate(); err != nil {
				b.log.Warn("tool ignored: invalid declaration", "tool", language.Truncate(t.Name, 64), "error", err)
				continue
			}
			seen[t.Name] = true
			if t.Timeout <= 0 {
				t.Timeout = DefaultTimeout
			}
			if t.Approval != Never && t.Approval != Edit {
				t.Approval = Ask
			}
			out = append(out, t)
		}
	}
	return out
}
