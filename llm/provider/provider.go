// Package provider creates the language model that the settings name.
package provider

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
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

// Config holds the resolved model settings.
type Config struct {
	Provider         string
	Name             string   // empty: the provider's default
	NameStrong       string   // empty: the provider's default, or Name where that is set
	Choices          []string // models that people can choose, with the default; empty: there is no choice
	APIKey           string
	KeyVariable      string // environment variable the key came from, for messages
	BaseURL          string // empty: the provider's own
	EmbeddingModel   string // empty: the provider's default at its own address; "off": no embeddings
	ImageModel       string // empty or "none": no pictures, except with the offline engine
	OpenAIKey        string // for an OpenAI image model next to another chat provider
	FirstByteTimeout time.Duration
	Timeout          time.Duration
	Vision           string          // "on" or "off"; empty: pictures are sent until the model refuses one
	ContextTokens    int             // of a prompt and its answer; 0: the provider's default
	Prices           *llm.PriceTable // nil: the embedded table
	HTTPClient       *http.Client    // nil: a client of its own
}

// defaults of a provider. Models are current as of November 2026.
type defaults struct {
	baseURL     string
	name        string
	nameStrong  string
	keyVariable string
	keyless     bool
	forcedTool  bool   // its endpoint ignores response_format
	signatures  bool   // it requires a signature in the tool calls it made
	paints      bool   // it has an images endpoint
	maxTokens   int    // it requires a limit in every request
	context     int    // tokens of a prompt and its answer by default; 0: no need to bound prompts
	embedding   string // its current small embedding model
}

var providers = map[string]defaults{
	Gemini: {
		baseURL: "https://generativelanguage.googleapis.com/v1beta/openai/", keyVariable: "GEMINI_API_KEY",
		name: "gemini-3.5-flash-lite", nameStrong: "gemini-3.8-flash", signatures: true, paints: true, embedding: "gemini-embedding-001",
	},
	OpenAI: {
		baseURL: "https://api.openai.com/v1", keyVariable: "OPENAI_API_KEY",
		name: "gpt-5.4-mini", nameStrong: "gpt-5.4", paints: true, embedding: "text-embedding-3-small",
	},
	Anthropic: {
		baseURL: "https://api.anthropic.com/v1/", keyVariable: "ANTHROPIC_API_KEY",
		name: "claude-haiku-4-5", nameStrong: "claude-sonnet-5", forcedTool: true, maxTokens: 4096,
	},
	Ollama: {
		baseURL: "http://127.0.0.1:11434/v1", keyVariable: "LLM_API_KEY", keyless: true,
		name: "qwen3", nameStrong: "qwen3", paints: true, context: 4096,
	},
	OpenAICompatible: {keyVariable: "LLM_API_KEY", keyless: true, paints: true},
}

// New creates the model, which also implements llm.Painter. It opens no connection: a bad key
// fails the first call. The offline engine is not created here, because it needs the rules of
// the agents.
func New(cfg Config) (llm.Model, error) {
	if cfg.Provider == None {
		return unavailableModel{}, nil
	}
	d, ok := providers[cfg.Provider]
	if !ok {
		return nil, fmt.Errorf("CHAT_MODEL_PROVIDER: %q is not known; use one of gemini, openai, anthropic, ollama, openai-compatible, offline, none", cfg.Provider)
	}
	if cfg.Name == "" && len(cfg.Choices) > 0 {
		cfg.Name = cfg.Choices[0]
	}
	if cfg.NameStrong == "" && cfg.Name == "" {
		cfg.NameStrong = d.nameStrong
	}
	cfg.Name = first(cfg.Name, d.name)
	cfg.NameStrong = first(cfg.NameStrong, cfg.Name)
	cfg.EmbeddingModel = embeddingModel(cfg, d)
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
	settings := openai.Config{
		Provider:         cfg.Provider,
		BaseURL:          strings.TrimRight(cfg.BaseURL, "/"),
		APIKey:           cfg.APIKey,
		KeyVariable:      cfg.KeyVariable,
		Name:             cfg.Name,
		NameStrong:       cfg.NameStrong,
		Choices:          cfg.Choices,
		EmbeddingModel:   cfg.EmbeddingModel,
		ForcedTool:       d.forcedTool,
		Signatures:       d.signatures,
		MaxTokens:        d.maxTokens,
		FirstByteTimeout: cfg.FirstByteTimeout,
		Timeout:          cfg.Timeout,
		Prices:           cfg.Prices,
		Vision:           cfg.Vision,
		ContextTokens:    cmp.Or(cfg.ContextTokens, d.context),
		HTTPClient:       cfg.HTTPClient,
	}
	paints := settings
	paints.ImageModel = cfg.ImageModel
	switch {
	case cfg.ImageModel == "" || cfg.ImageModel == None:
		return openai.New(settings), nil
	case cfg.Provider == OpenAI || cfg.Provider == OpenAICompatible || d.paints && !openAIs(cfg.ImageModel):
		return openai.New(paints), nil
	case !openAIs(cfg.ImageModel) || cfg.OpenAIKey == "":
		return openai.New(settings), nil
	}
	paints.Provider, paints.BaseURL = OpenAI, providers[OpenAI].baseURL
	paints.APIKey, paints.KeyVariable = cfg.OpenAIKey, providers[OpenAI].keyVariable
	return withPainter{openai.New(settings), openai.New(paints)}, nil
}

// openAIs reports whether an image model is one of OpenAI's.
func openAIs(model string) bool {
	for _, prefix := range []string{"gpt-image", "dall-e", "chatgpt-image"} {
		if strings.HasPrefix(model, prefix) {
			return true
		}
	}
	return false
}

// withPainter is a model whose pictures come from another provider.
type withPainter struct {
	*openai.Client
	painter *openai.Client
}

func (w withPainter) Paint(ctx context.Context, prompt, size, idempotencyKey string) (llm.Image, chat.Usage, error) {
	return w.painter.Paint(ctx, prompt, size, idempotencyKey)
}

func (w withPainter) Info() llm.Info {
	info := w.Client.Info()
	info.Image = w.painter.Info().Image
	return info
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// NoEmbeddings is the Config.EmbeddingModel of a model without embeddings.
const NoEmbeddings = "off"

// embeddingModel returns the configured model, or the provider's default at its own
// address. Another address may not serve that model.
func embeddingModel(cfg Config, d defaults) string {
	switch {
	case cfg.EmbeddingModel == NoEmbeddings:
		return ""
	case cfg.EmbeddingModel == "" && (cfg.BaseURL == "" || cfg.BaseURL == d.baseURL):
		return d.embedding
	}
	return cfg.EmbeddingModel
}
