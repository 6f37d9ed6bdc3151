package palaver_test

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver"
	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/openapi"
	"github.com/palaver-chat/palaver/llm"
)

func tool(name string) palaver.Tool {
	return palaver.Tool{
		Name: name, Description: "d", Schema: json.RawMessage(`{"type":"object"}`),
		Run: func(context.Context, palaver.Call) (palaver.Result, error) { return palaver.Result{}, nil },
	}
}

func agent(name string) palaver.Agent { return palaver.Agent{Name: name, Label: "Label"} }

func documents(name, extension string) palaver.DocumentType {
	return palaver.DocumentType{
		Name: name, Label: "Mail", Extensions: []string{extension},
		Read: func(context.Context, []byte) (string, error) { return "", nil },
	}
}

func source(change func(*palaver.ImportSource)) palaver.Option {
	s := palaver.ImportSource{
		Type: "wiki", Label: "Wiki", Links: []string{"wiki.example.com/"},
		Look: func(context.Context, string, palaver.ImportLink) (r palaver.ImportRemote, _ error) { return r, nil },
		Fetch: func(context.Context, string, palaver.ImportRemote, int64) (c palaver.ImportContent, _ error) {
			return c, nil
		},
	}
	change(&s)
	return palaver.WithImportSource(s)
}

type textJSON struct {
	Text string `json:"text"`
}

func operation(route string) openapi.Operation {
	return openapi.Operation{Route: route, Handle: func(*gin.Context) error { return nil }, Group: "Desk", About: "Answers.", Answers: openapi.OK(textJSON{})}
}

// speaks is a dialect with one route.
func speaks(prefix, route string, change ...func(*palaver.Dialect)) palaver.Option {
	d := palaver.Dialect{
		Prefix: prefix, Package: reflect.TypeFor[textJSON]().PkgPath(),
		Operations: func(dialect.Server) []openapi.Operation { return []openapi.Operation{operation(route)} },
	}
	for _, f := range change {
		f(&d)
	}
	return palaver.WithDialect(d)
}

func noModel(palaver.ModelSettings) (palaver.Model, error) { return nil, llm.ErrNoImages }

func TestProgramWithAnAdditionThatCannotBeUsedDoesNotStart(t *testing.T) {
	broken, silent, unreadable := tool("broken"), tool("silent"), documents("letter", ".letter")
	broken.Schema = json.RawMessage(`{"type":7}`)
	silent.Run = nil
	unreadable.Read = nil
	binary := documents("msg", ".msg")
	binary.Binary = true
	unchecked := agent("desk")
	unchecked.Checks = map[string]palaver.Check{"order": nil}
	ended, end := context.WithCancel(t.Context()) // so that a program that starts returns
	end()
	for name, c := range map[string]struct {
		options []palaver.Option
		says    string
	}{
		"a tool's name is taken by Palaver": {[]palaver.Option{palaver.WithTool(tool("search_documents"))}, `tool "search_documents": the name is taken`},
		"a board tool has the name":         {[]palaver.Option{palaver.WithTool(tool("add_document"))}, `tool "add_document": the name is taken`},
		"two tools have one name":           {[]palaver.Option{palaver.WithTool(tool("a")), palaver.WithTool(tool("a"))}, `tool "a": the name is taken`},
		"a tool's name has a space":         {[]palaver.Option{palaver.WithTool(tool("a b"))}, `tool "a b": the name needs`},
		"a tool's schema is broken":         {[]palaver.Option{palaver.WithTool(broken)}, `tool "broken": the schema cannot be used`},
		"a tool does nothing":               {[]palaver.Option{palaver.WithTool(silent)}, `tool "silent": no function runs it`},
		"an agent's name is taken":          {[]palaver.Option{palaver.WithAgent(agent("assistant"))}, `agent "assistant": the name is taken`},
		"an agent has no label":             {[]palaver.Option{palaver.WithAgent(palaver.Agent{Name: "desk"})}, `agent "desk": the label needs`},
		"an agent has no name":              {[]palaver.Option{palaver.WithAgent(agent(""))}, `agent "": the name needs`},
		"a check has no function":           {[]palaver.Option{palaver.WithAgent(unchecked)}, `agent "desk": the check "order" needs a function`},
		"an extension is taken":             {[]palaver.Option{palaver.WithDocumentType(documents("letter", ".pdf"))}, `document type "letter": the type "pdf" has its name, an extension or a media type`},
		"an extension has no dot":           {[]palaver.Option{palaver.WithDocumentType(documents("letter", "letter"))}, `document type "letter": the extension "letter" needs a dot`},
		"a type cannot be read":             {[]palaver.Option{palaver.WithDocumentType(unreadable)}, `document type "letter": no function reads it`},
		"a binary type cannot be detected":  {[]palaver.Option{palaver.WithDocumentType(binary)}, `document type "msg": a binary type needs Is`},
		"a provider's name is taken":        {[]palaver.Option{palaver.WithModel("openai", noModel)}, `model provider "openai": the name is taken`},
		"a provider has no function":        {[]palaver.Option{palaver.WithModel("house", nil)}, `model provider "house": it needs a function`},

		"a source's type is taken":       {[]palaver.Option{source(func(s *palaver.ImportSource) { s.Type = "google_drive" })}, `import source "google_drive": the type is taken`},
		"two sources have one type":      {[]palaver.Option{source(func(*palaver.ImportSource) {}), source(func(s *palaver.ImportSource) { s.Links = []string{"x.example/"} })}, `import source "wiki": the type is taken`},
		"two sources have the same link": {[]palaver.Option{source(func(*palaver.ImportSource) {}), source(func(s *palaver.ImportSource) { s.Type, s.Links = "a", []string{"wiki.example.com/a/"} })}, `import source "a": the link prefix "wiki.example.com/a/" overlaps "wiki.example.com/"`},
		"a source has Drive's links":     {[]palaver.Option{source(func(s *palaver.ImportSource) { s.Links = []string{"docs.google.com/"} })}, `import source "wiki": the link prefix docs.google.com/ belongs to Google Drive`},
		"a link has a scheme":            {[]palaver.Option{source(func(s *palaver.ImportSource) { s.Links = []string{"https://wiki.example.com/"} })}, `import source "wiki": the link prefix "https://wiki.example.com/" must be`},
		"a source has no links":          {[]palaver.Option{source(func(s *palaver.ImportSource) { s.Links = nil })}, `import source "wiki": it needs the prefixes of its links`},
		"a source has no label":          {[]palaver.Option{source(func(s *palaver.ImportSource) { s.Label = "" })}, `import source "wiki": the label needs`},
		"a source does nothing":          {[]palaver.Option{source(func(s *palaver.ImportSource) { s.Fetch = nil })}, `import source "wiki": it needs the functions Look and Fetch`},

		"a dialect's prefix is taken":           {[]palaver.Option{speaks("Native", "POST /api/desk")}, `dialect "Native": the prefix is taken by the schema Native`},
		"two dialects have one prefix":          {[]palaver.Option{speaks("Desk", "POST /api/desk"), speaks("Desk", "POST /api/other")}, `dialect "Desk": the prefix is taken by the schema Desk`},
		"a route is taken":                      {[]palaver.Option{speaks("Desk", "POST /api/chat")}, `dialect "Desk": the route "POST /api/chat" is taken`},
		"a route conflicts with another":        {[]palaver.Option{speaks("Desk", "GET /api/documents/:doc")}, `dialect "Desk": its routes or types cannot be used`},
		"two dialects have one route":           {[]palaver.Option{speaks("Desk", "POST /api/desk"), speaks("Shop", "POST /api/desk")}, `dialect "Shop": the route "POST /api/desk" is taken`},
		"a route belongs to the page":           {[]palaver.Option{speaks("Desk", "GET /chat/:id")}, `dialect "Desk": the route "GET /chat/:id" must be below /api/`},
		"a dialect owns the page's path":        {[]palaver.Option{speaks("Desk", "GET /chat/x", func(d *palaver.Dialect) { d.Below = "/chat/" })}, `dialect "Desk": the path "/chat/" is taken by /chat/`},
		"a dialect owns another dialect's path": {[]palaver.Option{speaks("Desk", "GET /v1/x", func(d *palaver.Dialect) { d.Below = "/v1/" })}, `dialect "Desk": the path "/v1/" is taken by /v1/`},
		"a route has no method":                 {[]palaver.Option{speaks("Desk", "/api/desk")}, `dialect "Desk": the route "/api/desk" needs a method and a path`},
		"a dialect has no routes' function":     {[]palaver.Option{speaks("Desk", "", func(d *palaver.Dialect) { d.Operations = nil })}, `dialect "Desk": it needs a package and operations`},
		"a description changes a field of all": {[]palaver.Option{speaks("Desk", "POST /api/desk", func(d *palaver.Dialect) {
			d.Words = map[string]openapi.Word{"agent": {About: "x"}}
		})}, `dialect "Desk": "agent" must begin with the prefix`},
	} {
		t.Run(name, func(t *testing.T) {
			require.ErrorContains(t, palaver.Run(ended, []string{"serve"}, c.options...), c.says)
		})
	}
}

func TestProvidersOfTheProgramAreSettings(t *testing.T) {
	t.Setenv("PALAVER_DATA_DIR", t.TempDir())
	err := palaver.Run(t.Context(), []string{"serve", "--chat-model-provider=house"}, palaver.WithModel("house", noModel))
	require.ErrorIs(t, err, llm.ErrNoImages, "the program's function was called")
	err = palaver.Run(t.Context(), []string{"serve", "--chat-model-provider=house"})
	require.ErrorContains(t, err, `CHAT_MODEL_PROVIDER: "house" is not allowed`)
}

func TestSourceAndDialectThatCanBeUsedAreAccepted(t *testing.T) {
	err := palaver.Run(t.Context(), []string{"serve", "--chat-model-provider=house"}, // refused after the options
		source(func(*palaver.ImportSource) {}), speaks("Desk", "POST /api/desk"),
		speaks("Shop", "POST /shop/chat", func(d *palaver.Dialect) { d.Below = "/shop/" }))
	require.ErrorContains(t, err, "CHAT_MODEL_PROVIDER")
}

func TestOnlyToolsAllowsTheNamedToolsAndReadResult(t *testing.T) {
	may := palaver.OnlyTools("create_ticket")
	require.True(t, may("create_ticket"))
	require.True(t, may("read_result"))
	require.False(t, may("generate_image"))
}
