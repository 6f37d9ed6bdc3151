package config

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/llm"
)

// Providers that CHAT_MODEL_PROVIDER may name.
const (
	Gemini           = "gemini"
	OpenAI           = "openai"
	Anthropic        = "anthropic"
	Ollama           = "ollama"
	OpenAICompatible = "openai-compatible"
	Offline          = "offline"
	None             = "none"
)

// Providers are the names that CHAT_MODEL_PROVIDER may have in every program.
func Providers() []string {
	return []string{Gemini, OpenAI, Anthropic, Ollama, OpenAICompatible, Offline, None}
}

// Choice is the model provider that follows from the settings, with the key to use.
type Choice struct {
	Provider    string
	APIKey      string
	KeyVariable string // the variable that APIKey came from; empty without a key
}

// keys lists the providers that are chosen by their key alone. The first whose key is
// set wins.
func (c *Config) keys() []struct{ provider, variable, key string } {
	return []struct{ provider, variable, key string }{
		{Gemini, "GEMINI_API_KEY", c.GeminiAPIKey},
		{OpenAI, "OPENAI_API_KEY", c.OpenAIAPIKey},
		{Anthropic, "ANTHROPIC_API_KEY", c.AnthropicAPIKey},
	}
}

// Model resolves the provider: the one named, else the one whose key is set
// (gemini before openai before anthropic), else the endpoint of LLM_BASE_URL,
// else the offline engine. LLM_API_KEY takes precedence over a provider's own key.
func (c *Config) Model() Choice {
	provider := c.Provider
	if provider == "" {
		provider = c.byKey()
	}
	if c.APIKey != "" {
		return Choice{Provider: provider, APIKey: c.APIKey, KeyVariable: "LLM_API_KEY"}
	}
	for _, k := range c.keys() {
		if k.provider == provider && k.key != "" {
			return Choice{Provider: provider, APIKey: k.key, KeyVariable: k.variable}
		}
	}
	return Choice{Provider: provider}
}

func (c *Config) byKey() string {
	for _, k := range c.keys() {
		if k.key != "" {
			return k.provider
		}
	}
	if c.BaseURL != "" {
		return OpenAICompatible
	}
	return Offline
}

// minContextTokens is the least context window. A smaller prompt has no room for documents or
// earlier messages.
const minContextTokens = 2048

// Limits of CHAT_MODELS.
const (
	maxChoices   = 20
	maxModelName = 100 // characters
)

// ModelChoices returns the models of CHAT_MODELS.
func (c *Config) ModelChoices() (names []string) {
	for name := range strings.SplitSeq(c.Models, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

func (c *Config) checkChoices(provider string) error {
	names := c.ModelChoices()
	switch {
	case len(names) == 0:
		return nil
	case provider == Offline || provider == None:
		return refuse("CHAT_MODELS", "the provider %s has no models; leave it out or choose another provider", provider)
	case len(names) > maxChoices:
		return refuse("CHAT_MODELS", "has %d models; use at most %d", len(names), maxChoices)
	case c.ModelName != "" && !slices.Contains(names, c.ModelName):
		return refuse("CHAT_MODELS", "does not have CHAT_MODEL_NAME, %s, which is the default", c.ModelName)
	}
	for i, name := range names {
		if utf8.RuneCountInString(name) > maxModelName || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }) {
			return refuse("CHAT_MODELS", "%q is not the name of a model; use at most %d characters without spaces", name, maxModelName)
		}
		if slices.Contains(names[:i], name) {
			return refuse("CHAT_MODELS", "has %s twice", name)
		}
	}
	return nil
}

// PriceTable returns the embedded table, extended by LLM_PRICES.
func (c *Config) PriceTable() (*llm.PriceTable, error) {
	prices := llm.DefaultPrices()
	if c.Prices == "" {
		return prices, nil
	}
	own, err := llm.ParsePrices([]byte(c.Prices))
	if err != nil {
		return nil, err
	}
	return prices.With(own), nil
}

func (c *Config) checkModel() error {
	if c.Provider != "" {
		if err := oneOf("CHAT_MODEL_PROVIDER", c.Provider, append(Providers(), c.OwnProviders...)...); err != nil {
			return err
		}
	}
	if c.ContextTokens != 0 && c.ContextTokens < minContextTokens {
		return refuse("LLM_CONTEXT_TOKENS", "%d is not allowed; use 0 or at least %d", c.ContextTokens, minContextTokens)
	}
	if _, err := c.PriceTable(); err != nil {
		return refuse("LLM_PRICES", "%v", err)
	}
	choice := c.Model()
	if c.Provider == "" && choice.Provider == Offline && c.APIKey != "" {
		return refuse("CHAT_MODEL_PROVIDER", "needed with LLM_API_KEY, to know whose key it is; use one of gemini, openai, anthropic, or set LLM_BASE_URL")
	}
	for _, k := range c.keys() {
		if k.provider == choice.Provider && choice.APIKey == "" && c.BaseURL == "" {
			return refuse(k.variable, "needed with CHAT_MODEL_PROVIDER=%s (or LLM_API_KEY)", k.provider)
		}
	}
	if choice.Provider == OpenAICompatible {
		if c.BaseURL == "" {
			return refuse("LLM_BASE_URL", "needed with CHAT_MODEL_PROVIDER=%s", OpenAICompatible)
		}
		if c.ModelName == "" && len(c.ModelChoices()) == 0 {
			return refuse("CHAT_MODEL_NAME", "needed with LLM_BASE_URL; the name of a model that the endpoint serves")
		}
	}
	if err := c.checkChoices(choice.Provider); err != nil {
		return err
	}
	if c.EmbeddingModel != "" && c.EmbeddingModel != "off" && slices.Contains([]string{Offline, None, Anthropic}, choice.Provider) {
		return refuse("EMBEDDING_MODEL_NAME", "the provider %s has no embeddings; leave it out or choose another provider", choice.Provider)
	}
	return nil
}
