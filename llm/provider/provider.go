// Package provider makes the language model that the settings ask for.
package provider

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/llm/offline"
	"github.com/palaver-chat/palaver/llm/openai"
)

// Providers that Config.Provider may name.
const (
	Gemini           = "gemini"
	OpenAI           = "openai"
	Anthropic        = "anthropic"
	Ollama           = "ollama"
	OpenAICompatible = "openai-compatible"
	Offline          = "offline"
	None             = "none"
)

// Config is the model settings, resolved: which provider, with whose key.
type Config struct {
	Provider         string
	Name             string // empty: the provider's default
	NameStrong       string // empty: the provider's default, or Name where that is set
	APIKey           string
	KeyVariable      string // environment variable the key came from, for messages
	BaseURL          string // empty: the provider's own
	EmbeddingModel   string // empty: no embeddings
	FirstByteTimeout time.Duration
	Timeout          time.Duration
	Prices           *llm.PriceTable // nil: the embedded table
	HTTPClient       *http.Client    // nil: one of the model's own
}

// defaults of a provider. Models are current as of November 2026.
type defaults struct {
	baseURL     string
	name        string
	nameStrong  string
	keyVariable string
	keyless     bool
	forcedTool  bool // its endpoint ignores response_format
	maxTokens   int  // it wants a limit in every request
}

var providers = map[string]defaults{
	Gemini: {
		baseURL: "https://generativelanguage.googleapis.com/v1beta/openai/", keyVariable: "GEMINI_API_KEY",
		name: "gemini-3.5-flash-lite", nameStrong: "gemini-3.8-flash",
	},
	OpenAI: {
		baseURL: "https://api.openai.com/v1", keyVariable: "OPENAI_API_KEY",
		name: "gpt-5.4-mini", nameStrong: "gpt-5.4",
	},
	Anthropic: {
		baseURL: "https://api.anthropic.com/v1/", keyVariable: "ANTHROPIC_API_KEY",
		name: "claude-haiku-4-5", nameStrong: "claude-sonnet-5", forcedTool: true, maxTokens: 4096,
	},
	Ollama: {
		baseURL: "http://127.0.0.1:11434/v1", keyVariable: "LLM_API_KEY", keyless: true,
		name: "qwen3", nameStrong: "qwen3",
	},
	OpenAICompatible: {keyVariable: "LLM_API_KEY", keyless: true},
}

// New makes the model. It opens no connection: a bad key shows in the first call.
func New(cfg Config) (llm.Model, error) {
	switch cfg.Provider {
	case Offline:
		return offline.New(), nil
	case None:
		return none{}, nil
	}
	d, ok := providers[cfg.Provider]
	if !ok {
		return nil, fmt.Errorf("CHAT_MODEL_PROVIDER: %q is not known; use one of gemini, openai, anthropic, ollama, openai-compatible, offline, none", cfg.Provider)
	}
	if cfg.NameStrong == "" && cfg.Name == "" {
		cfg.NameStrong = d.nameStrong
	}
	cfg.Name = first(cfg.Name, d.name)
	cfg.NameStrong = first(cfg.NameStrong, cfg.Name)
	cfg.BaseURL = first(cfg.BaseURL, d.baseURL)
	cfg.KeyVariable = first(cfg.KeyVariable, d.keyVariable)
	if cfg.BaseURL == "" {
		return nil, fmt.Errorf("LLM_BASE_URL: needed with CHAT_MODEL_PROVIDER=%s", cfg.Provider)
	}
	if u, err := url.Parse(cfg.BaseURL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("LLM_BASE_URL: must be an http or https address")
	}
	if cfg.Name == "" {
		return nil, fmt.Errorf("CHAT_MODEL_NAME: needed with CHAT_MODEL_PROVIDER=%s", cfg.Provider)
	}
	if cfg.APIKey == "" && !d.keyless && cfg.BaseURL == d.baseURL {
		return nil, fmt.Errorf("%s: needed with CHAT_MODEL_PROVIDER=%s", cfg.KeyVariable, cfg.Provider)
	}
	if cfg.Prices == nil {
		cfg.Prices = llm.DefaultPrices()
	}
	return openai.New(openai.Config{
		Provider:         cfg.Provider,
		BaseURL:          strings.TrimRight(cfg.BaseURL, "/"),
		APIKey:           cfg.APIKey,
		KeyVariable:      cfg.KeyVariable,
		Name:             cfg.Name,
		NameStrong:       cfg.NameStrong,
		EmbeddingModel:   cfg.EmbeddingModel,
		ForcedTool:       d.forcedTool,
		MaxTokens:        d.maxTokens,
		FirstByteTimeout: cfg.FirstByteTimeout,
		Timeout:          cfg.Timeout,
		Prices:           cfg.Prices,
		HTTPClient:       cfg.HTTPClient,
	}), nil
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
