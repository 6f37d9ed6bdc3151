package provider_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/llm/provider"
	"github.com/palaver-chat/palaver/testkit/llmtest"
)

func TestEveryProviderHasItsDefaults(t *testing.T) {
	for _, c := range []struct {
		cfg          provider.Config
		name, strong string
	}{
		{provider.Config{Provider: "gemini", APIKey: "k"}, "gemini-3.5-flash-lite", "gemini-3.8-flash"},
		{provider.Config{Provider: "openai", APIKey: "k"}, "gpt-5.4-mini", "gpt-5.4"},
		{provider.Config{Provider: "anthropic", APIKey: "k"}, "claude-haiku-4-5", "claude-sonnet-5"},
		{provider.Config{Provider: "ollama"}, "qwen3", "qwen3"},
		{provider.Config{Provider: "openai-compatible", BaseURL: "http://127.0.0.1:1/v1", Name: "mine"}, "mine", "mine"},
		{provider.Config{Provider: "openai", APIKey: "k", Name: "mine"}, "mine", "mine"},
		{provider.Config{Provider: "openai", APIKey: "k", NameStrong: "big"}, "gpt-5.4-mini", "big"},
		{provider.Config{Provider: "openai", APIKey: "k", Choices: []string{"one", "two"}}, "one", "one"},
		{provider.Config{Provider: "openai", APIKey: "k", Name: "two", NameStrong: "big", Choices: []string{"one", "two"}}, "two", "big"},
	} {
		m, err := provider.New(c.cfg)
		if err != nil {
			t.Errorf("%s: %v", c.cfg.Provider, err)
			continue
		}
		info := m.Info()
		if info.Name != c.name || info.NameStrong != c.strong || info.Provider != c.cfg.Provider || info.Offline {
			t.Errorf("%+v: %+v", c.cfg, info)
		}
	}
}

func TestDefaultModelsHaveAPrice(t *testing.T) {
	for _, p := range []string{"gemini", "openai", "anthropic"} {
		m, err := provider.New(provider.Config{Provider: p, APIKey: "k"})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{m.Info().Name, m.Info().NameStrong} {
			if llm.DefaultPrices().Cost(name, 1000, 1000) == 0 {
				t.Errorf("%s has no price", name)
			}
		}
	}
}

func TestInvalidSettingIsNamedInTheError(t *testing.T) {
	for variable, cfg := range map[string]provider.Config{
		"CHAT_MODEL_PROVIDER": {Provider: "oracle"},
		"OPENAI_API_KEY":      {Provider: "openai"},
		"LLM_BASE_URL":        {Provider: "openai-compatible", Name: "x"},
		"LLM_BASE_URL:":       {Provider: "ollama", BaseURL: "localhost:11434"},
		"CHAT_MODEL_NAME":     {Provider: "openai-compatible", BaseURL: "http://127.0.0.1/v1"},
	} {
		_, err := provider.New(cfg)
		if err == nil || !strings.Contains(err.Error(), variable) {
			t.Errorf("%+v: %v does not name %s", cfg, err, variable)
		}
	}
}

func TestNoneFailsAtOnceWithAHint(t *testing.T) {
	m, err := provider.New(provider.Config{Provider: "none"})
	if err != nil {
		t.Fatal(err)
	}
	var in llm.Intent
	_, structured := m.Structured(t.Context(), llm.Request{}, llm.IntentSchema, &in)
	_, stream := m.Stream(t.Context(), llm.Request{}, func(string) error { return nil })
	for _, err := range []error{structured, stream} {
		var e *llm.Error
		if !errors.As(err, &e) || e.Code != chat.CodeModelRejected || e.Retryable || !strings.Contains(e.Hint.Text, "CHAT_MODEL_PROVIDER") {
			t.Errorf("got %+v", err)
		}
	}
	if _, err := m.Embed(t.Context(), nil); !errors.Is(err, llm.ErrNoEmbeddings) {
		t.Errorf("got %v", err)
	}
}

func TestAnthropicUsesAForcedToolForStructuredOutput(t *testing.T) {
	s := llmtest.New(t)
	m, err := provider.New(provider.Config{Provider: "anthropic", APIKey: "k", BaseURL: s.URL + "/"})
	if err != nil {
		t.Fatal(err)
	}
	var in llm.Intent
	if _, err := m.Structured(t.Context(), llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "x"}}}, llm.IntentSchema, &in); err != nil {
		t.Fatal(err)
	}
	if r := s.Requests()[0]; r.Mode != "tool" || !strings.Contains(string(r.Body), `"max_tokens":4096`) {
		t.Errorf("sent %s", r.Body)
	}
}

func TestImageModelByProvider(t *testing.T) {
	for _, c := range []struct {
		cfg  provider.Config
		want string // Info.Image
	}{
		{provider.Config{Provider: "openai", APIKey: "k", ImageModel: "gpt-image-1"}, "gpt-image-1"},
		{provider.Config{Provider: "openai-compatible", BaseURL: "http://127.0.0.1:1/v1", Name: "m", ImageModel: "gpt-image-1"}, "gpt-image-1"},
		{provider.Config{Provider: "gemini", APIKey: "k", ImageModel: "imagen-4"}, "imagen-4"},
		{provider.Config{Provider: "gemini", APIKey: "k", ImageModel: "gpt-image-1"}, ""},
		{provider.Config{Provider: "gemini", APIKey: "k", ImageModel: "gpt-image-1", OpenAIKey: "o"}, "gpt-image-1"},
		{provider.Config{Provider: "anthropic", APIKey: "k", ImageModel: "gpt-image-1", OpenAIKey: "o"}, "gpt-image-1"},
		{provider.Config{Provider: "anthropic", APIKey: "k", ImageModel: "imagen-4", OpenAIKey: "o"}, ""},
		{provider.Config{Provider: "openai", APIKey: "k", ImageModel: "none"}, ""},
		{provider.Config{Provider: "openai", APIKey: "k"}, ""},
		{provider.Config{Provider: "none", ImageModel: "gpt-image-1"}, ""},
	} {
		m, err := provider.New(c.cfg)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Info().Image; got != c.want {
			t.Errorf("%+v: image model %q", c.cfg, got)
		}
		if _, ok := m.(llm.Painter); !ok {
			t.Errorf("%s does not implement llm.Painter", c.cfg.Provider)
		}
	}
}

func TestEmbeddingsAreOnByDefaultAtTheProvidersOwnAddress(t *testing.T) {
	for _, c := range []struct {
		cfg  provider.Config
		want string // Info.Embedding
	}{
		{provider.Config{Provider: "openai", APIKey: "k"}, "text-embedding-3-small"},
		{provider.Config{Provider: "gemini", APIKey: "k"}, "gemini-embedding-001"},
		{provider.Config{Provider: "openai", APIKey: "k", EmbeddingModel: "text-embedding-3-large"}, "text-embedding-3-large"},
		{provider.Config{Provider: "openai", APIKey: "k", EmbeddingModel: "off"}, ""},
		{provider.Config{Provider: "openai", APIKey: "k", BaseURL: "http://127.0.0.1:1/v1"}, ""},
		{provider.Config{Provider: "openai-compatible", BaseURL: "http://127.0.0.1:1/v1", Name: "m"}, ""},
		{provider.Config{Provider: "openai-compatible", BaseURL: "http://127.0.0.1:1/v1", Name: "m", EmbeddingModel: "e"}, "e"},
		{provider.Config{Provider: "anthropic", APIKey: "k"}, ""},
		{provider.Config{Provider: "ollama"}, ""},
	} {
		m, err := provider.New(c.cfg)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Info().Embedding; got != c.want {
			t.Errorf("%+v: embedding model %q", c.cfg, got)
		}
	}
}

func TestOpenAIPaintsForAnotherProvidersChat(t *testing.T) {
	s := llmtest.New(t)
	to := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.URL.Host != "api.openai.com" || r.Header.Get("Authorization") != "Bearer o" {
			t.Errorf("%s with %s", r.URL, r.Header.Get("Authorization"))
		}
		u, err := url.Parse(s.URL + "/images/generations")
		r.URL = u
		if err != nil {
			return nil, err
		}
		return http.DefaultTransport.RoundTrip(r)
	})}
	m, err := provider.New(provider.Config{Provider: "gemini", APIKey: "k", ImageModel: "gpt-image-1", OpenAIKey: "o", HTTPClient: to})
	if err != nil {
		t.Fatal(err)
	}
	if image, _, err := m.(llm.Painter).Paint(t.Context(), "a barn", "", ""); err != nil || len(image.Data) == 0 {
		t.Errorf("%d bytes, %v", len(image.Data), err)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestGeminiCallsCarryOneSignaturePerMessage(t *testing.T) {
	s := llmtest.New(t)
	m, err := provider.New(provider.Config{Provider: "gemini", APIKey: "k", BaseURL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	calls := []llm.ToolCall{{ID: "a", Name: "f", Arguments: "{}"}, {ID: "b", Name: "f", Arguments: "{}"}}
	_, err = m.Stream(t.Context(), llm.Request{Tools: []llm.Tool{{Name: "f"}}, Messages: []llm.Message{{Role: llm.User, Text: "x"},
		{Role: llm.Assistant, Calls: calls}, {Role: llm.ToolRole, CallID: "a", Text: "1"}, {Role: llm.ToolRole, CallID: "b", Text: "2"}}}, func(string) error { return nil })
	if n := strings.Count(string(s.Requests()[0].Body), `"thought_signature":`); err != nil || n != 1 {
		t.Errorf("%d signatures for the two calls of one message, %v", n, err)
	}
}
