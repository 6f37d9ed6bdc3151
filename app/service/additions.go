package service

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/palaver-chat/palaver/agents"
	"github.com/palaver-chat/palaver/api"
	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/app/config"
	"github.com/palaver-chat/palaver/boards/board"
	"github.com/palaver-chat/palaver/documents/extract"
	"github.com/palaver-chat/palaver/imports"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/llm/provider"
	"github.com/palaver-chat/palaver/tools"
	"github.com/palaver-chat/palaver/tools/lookup"
	"github.com/palaver-chat/palaver/workflows"
)

// Additions are what a program has in addition to the built-in parts.
type Additions struct {
	Agents        []workflows.Agent
	Tools         tools.List
	DocumentTypes extract.Types
	Models        []ModelProvider
	ImportSources imports.Sources
	Dialects      []dialect.Dialect
}

// ModelProvider is a provider that CHAT_MODEL_PROVIDER may name.
type ModelProvider struct {
	Name string
	New  func(provider.Config) (llm.Model, error)
}

// Collect applies options. Its error names the first addition that cannot be used.
func Collect[Option ~func(*Additions)](options []Option) (Additions, error) {
	var a Additions
	for _, option := range options {
		option(&a)
	}
	return a, a.validate()
}

// agents returns the built-in agents, then the added ones.
func (a Additions) agents() []workflows.Agent { return append(agents.BuiltIn(), a.Agents...) }

// Types returns the types of documents that can be read, built-in and added.
func (a Additions) Types() extract.Types { return append(extract.All(), a.DocumentTypes...) }

// Providers returns the names of the added model providers.
func (a Additions) Providers() []string {
	var names []string
	for _, m := range a.Models {
		names = append(names, m.Name)
	}
	return names
}

// NewModel makes the configured model. It opens no connection.
func (a Additions) NewModel(cfg *config.Config) (llm.Model, error) {
	choice := cfg.Model()
	prices, err := cfg.PriceTable()
	if err != nil {
		return nil, err
	}
	settings := provider.Config{
		Provider:         choice.Provider,
		APIKey:           choice.APIKey,
		KeyVariable:      choice.KeyVariable,
		Name:             cfg.ModelName,
		NameStrong:       cfg.ModelNameStrong,
		Choices:          cfg.ModelChoices(),
		BaseURL:          cfg.BaseURL,
		EmbeddingModel:   cfg.EmbeddingModel,
		ImageModel:       cfg.ImageModel,
		OpenAIKey:        cfg.OpenAIAPIKey,
		FirstByteTimeout: cfg.FirstByteTimeout,
		Timeout:          cfg.ModelTimeout,
		Prices:           prices,
		Vision:           cfg.Vision,
		ContextTokens:    cfg.ContextTokens,
	}
	for _, m := range a.Models {
		if m.Name == choice.Provider {
			return m.New(settings)
		}
	}
	if choice.Provider == provider.Offline {
		return OfflineEngine(), nil
	}
	return provider.New(settings)
}

var providerName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,39}$`)

// validate returns an error for the first addition that cannot be used, or nil.
func (a Additions) validate() error {
	known := workflows.AgentInfos(agents.BuiltIn()).Names()
	for _, x := range a.Agents {
		if err := added("agent", string(x.Name), &known, x.Validate()); err != nil {
			return err
		}
	}
	names := builtIn()
	for _, t := range a.Tools {
		if err := added("tool", t.Name, &names, t.Validate()); err != nil {
			return err
		}
	}
	if err := extract.All().Accept(a.DocumentTypes...); err != nil {
		return err
	}
	models := config.Providers()
	for _, m := range a.Models {
		var err error
		if !providerName.MatchString(m.Name) || m.New == nil {
			err = errors.New("it needs a function, and a name of at most 40 of a-z, 0-9 and -")
		}
		if err := added("model provider", m.Name, &models, err); err != nil {
			return err
		}
	}
	if err := a.ImportSources.Validate(); err != nil {
		return err
	}
	return api.AcceptDialects(a.Dialects)
}

// added returns why an addition cannot be used: err, its own error, or that its name is in
// taken. If it can be used, added adds its name to taken and returns nil.
func added(kind, name string, taken *[]string, err error) error {
	if err != nil {
		return fmt.Errorf("%s %q: %w", kind, name, err)
	}
	if slices.Contains(*taken, name) {
		return fmt.Errorf("%s %q: the name is taken", kind, name)
	}
	*taken = append(*taken, name)
	return nil
}

// builtIn are the names of the product's own tools.
func builtIn() []string {
	var names []string
	for _, t := range append(lookup.Tools(nil, nil), tools.ReadResult(nil), tools.GenerateImage(nil, nil, false), tools.ImportDocument(nil, nil, 0), tools.ListImports(nil)) {
		names = append(names, t.Name)
	}
	return append(names, board.AgentTools...)
}
