package service

import (
	assistant "github.com/palaver-chat/palaver/agents/assistant/offline"
	discovery "github.com/palaver-chat/palaver/agents/discovery/offline"
	documents "github.com/palaver-chat/palaver/agents/documents/offline"
	"github.com/palaver-chat/palaver/llm/offline"
)

// OfflineEngine returns the engine without a model, with the rules of the built-in agents.
func OfflineEngine() *offline.Engine {
	return offline.New(documents.Rules(), assistant.Rules(), discovery.Rules())
}
