package api

import (
	"slices"
	"sync"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/dialect/agentv2"
	"github.com/palaver-chat/palaver/api/dialect/aisdk"
	"github.com/palaver-chat/palaver/api/dialect/langgraph"
	"github.com/palaver-chat/palaver/api/dialect/native"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/mcpserver"
	"github.com/palaver-chat/palaver/api/openapi"
)

// documents makes the OpenAPI document for each AUTH_MODE, once.
var documents = map[string]func() (openapi.Document, error){
	identity.Anonymous: sync.OnceValues(func() (openapi.Document, error) { return newDocument(identity.Anonymous) }),
	identity.Required:  sync.OnceValues(func() (openapi.Document, error) { return newDocument(identity.Required) }),
}

func newDocument(mode string) (openapi.Document, error) {
	return openapi.API{
		Version:    mcpserver.Version,
		Anonymous:  mode == identity.Anonymous,
		Cookie:     identity.CookieName,
		Proxy:      identity.ProxySecretHeader,
		Error:      errorJSON{},
		Operations: (&server{}).operations(), // whose handlers are not run
		Nested:     slices.Concat(dialect.Nested, aisdk.Nested, langgraph.Nested),
		Events: map[string][]openapi.Shape{
			nativeEvents: native.Events, uiEvents: aisdk.Events, langGraphEvents: langgraph.Events, agentV2Events: agentv2.Events,
		},
		Schemas:  map[string]any{mcpMessages: openapi.AnyOf{mcpserver.RPCResponse{}, openapi.Read{Value: mcpserver.RPCRequest{}}}},
		Words:    words,
		Prefixes: map[string]string{"native": "Native", "aisdk": "UI", "langgraph": "LangGraph", "agentv2": "AgentV2"},
		Renamed: map[string]string{
			"aisdk.body":         "UIChatBody",
			"api.interruptJSON":  "LangGraphPending",
			"api.repoJSON":       "Repo",
			"api.repoPutJSON":    "RepoVersion",
			"api.uiThreadJSON":   "UIThread",
			"jsonrpc2.WireError": "RPCError",
		},
	}.Document()
}
