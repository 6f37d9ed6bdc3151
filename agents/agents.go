// Package agents lists the built-in agents. To add one, add a package and name it here.
package agents

import (
	"github.com/palaver-chat/palaver/agents/assistant"
	"github.com/palaver-chat/palaver/agents/discovery"
	"github.com/palaver-chat/palaver/agents/documents"
	"github.com/palaver-chat/palaver/workflows"
)

// BuiltIn returns the built-in agents. The first one also runs turns whose agent no longer
// exists.
func BuiltIn() []workflows.Agent {
	return []workflows.Agent{documents.Agent, assistant.Agent, discovery.Agent}
}
