package palaver_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver"
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

func noModel(palaver.ModelSettings) (palaver.Model, error) { return nil, llm.ErrNoImages }

func TestProgramWithAnAdditionThatCannotBeUsedDoesNotStart(t *testing.T) {
	broken, silent, unreadable := tool("broken"), tool("silent"), documents("eml", ".eml")
	broken.Schema = json.RawMessage(`{"type":7}`)
	silent.Run = nil
	unreadable.Read = nil
	binary := documents("msg", ".msg")
	binary.Binary = true
	unchecked := agent("desk")
	unchecked.Checks = map[string]palaver.Check{"order": nil}
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
		"an extension is taken":             {[]palaver.Option{palaver.WithDocumentType(documents("eml", ".pdf"))}, `document type "eml": the type "pdf" has its name, an extension or a media type`},
		"an extension has no dot":           {[]palaver.Option{palaver.WithDocumentType(documents("eml", "eml"))}, `document type "eml": the extension "eml" needs a dot`},
		"a type cannot be read":             {[]palaver.Option{palaver.WithDocumentType(unreadable)}, `document type "eml": no function reads it`},
		"a binary type cannot be detected":  {[]palaver.Option{palaver.WithDocumentType(binary)}, `document type "msg": a binary type needs Is`},
		"a provider's name is taken":        {[]palaver.Option{palaver.WithModel("openai", noModel)}, `model provider "openai": the name is taken`},
		"a provider has no function":        {[]palaver.Option{palaver.WithModel("house", nil)}, `model provider "house": it needs a function`},
	} {
		t.Run(name, func(t *testing.T) {
			require.ErrorContains(t, palaver.Run(t.Context(), []string{"serve"}, c.options...), c.says)
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

func TestOnlyToolsAllowsTheNamedToolsAndReadResult(t *testing.T) {
	may := palaver.OnlyTools("create_ticket")
	require.True(t, may("create_ticket"))
	require.True(t, may("read_result"))
	require.False(t, may("generate_image"))
}
