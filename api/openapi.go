package api

import (
	"maps"
	"slices"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/mcpserver"
	"github.com/palaver-chat/palaver/api/openapi"
)

// newDocument makes the OpenAPI document.
func (s *server) newDocument(mode string) (openapi.Document, error) {
	a := openapi.API{
		Version:    mcpserver.Version,
		Anonymous:  mode == identity.Anonymous,
		Cookie:     identity.CookieName,
		Proxy:      identity.ProxySecretHeader,
		Error:      errorJSON{},
		Operations: s.operations(),
		Nested:     slices.Clone(dialect.Nested),
		Events:     map[string][]openapi.Shape{},
		Schemas:    map[string]any{mcpMessages: openapi.AnyOf{mcpserver.RPCResponse{}, openapi.Read{Value: mcpserver.RPCRequest{}}}},
		Words:      maps.Clone(words),
		Prefixes:   map[string]string{},
		Renamed: map[string]string{
			openapi.TypeName(repoJSON{}):                    "Repo",
			openapi.TypeName(repoPutJSON{}):                 "RepoVersion",
			openapi.TypeName(dialect.Cancelled{}):           "Cancel",
			openapi.TypeName(mcpserver.RPCResponse{}.Error): "RPCError",
		},
	}
	for _, d := range s.dialects() {
		if d.Data != nil {
			a.Schemas[d.Prefix+"Data"] = d.Data
		} else {
			a.Events[d.Prefix+"Event"] = d.Events
		}
		a.Nested = append(a.Nested, d.Nested...)
		a.Prefixes[d.Package] = d.Prefix
		maps.Copy(a.Words, d.Words)
		for name, schema := range d.Renamed {
			a.Renamed[d.Package+"."+name] = schema
		}
	}
	agent := a.Words["agent"]
	agent.Enum = openapi.Values(append(s.Agents.Chosen().Names(), "")...)
	a.Words["agent"] = agent
	return a.Document()
}
