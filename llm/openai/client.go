// Package openai is a language model behind an OpenAI-compatible endpoint. It
// does not retry failed requests: Temporal does. There are two exceptions: when a model
// rejects a parameter, it sends the request again without that parameter; and it asks
// once more for an answer that was empty.
package openai

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	api "github.com/sashabaranov/go-openai"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
)

// Config says which endpoint and which models.
type Config struct {
	Provider         string // for messages and Info
	BaseURL          string // up to and with the version, e.g. https://api.openai.com/v1
	APIKey           string // sent as a bearer token; may be empty
	KeyVariable      string // environment variable the key came from, for hints
	Name             string
	NameStrong       string   // empty: Name
	Choices          []string // what people can choose, Name among them; empty: there is no choice
	EmbeddingModel   string   // empty: no embeddings
	ImageModel       string   // empty: no pictures
	ForcedTool       bool     // try a forced tool call before a schema for structured output
	Signatures       bool     // it requires a signature in calls it made (Gemini)
	MaxTokens        int      // when a request sets none; 0 leaves it to the provider
	Vision           string   // "on" or "off": fixed; empty: pictures are sent until the model refuses one
	ContextTokens    int      // of a prompt and its answer; 0: not known
	FirstByteTimeout time.Duration
	Timeout          time.Duration
	Prices           *llm.PriceTable
	HTTPClient       *http.Client // nil: a client of its own
}

// Client is an llm.Model and an llm.Painter.
type Client struct {
	cfg  Config
	http *http.Client

	mu     sync.Mutex
	traits map[string]traits // by model
}

// New creates a client; it opens no connection.
func New(cfg Config) *Client {
	cfg.NameStrong = cmp.Or(cfg.NameStrong, cfg.Name)
	cfg.KeyVariable = cmp.Or(cfg.KeyVariable, "LLM_API_KEY")
	c := &Client{cfg: cfg, http: cfg.HTTPClient, traits: map[string]traits{}}
	if c.http == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.MaxIdleConnsPerHost = 64 // many turns talk to one host at once
		c.http = &http.Client{Transport: t}
	}
	return c
}

// Info implements llm.Model.
func (c *Client) Info() llm.Info {
	return llm.Info{
		Provider:   c.cfg.Provider,
		Name:       c.cfg.Name,
		NameStrong: c.cfg.NameStrong,
		Embedding:  c.cfg.EmbeddingModel,
		Image:      c.cfg.ImageModel,
		Vision:     !c.known(c.cfg.Name).noImages,

		ContextTokens: smallest(c.known(c.cfg.Name).context, c.known(c.cfg.NameStrong).context),

		Choices: c.cfg.Choices,
		Blind:   c.blind(),
	}
}

// blind returns the choices that take no pictures.
func (c *Client) blind() (names []string) {
	for _, name := range c.cfg.Choices {
		if c.known(name).noImages {
			names = append(names, name)
		}
	}
	return names
}

// smallest returns the smaller of the windows that are known; 0 when none is known.
func smallest(a, b int) int {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// target returns the model for a request.
func (c *Client) target(r llm.Request, structured bool) target {
	to := target{model: llm.Info{Name: c.cfg.Name, NameStrong: c.cfg.NameStrong}.Of(r), variable: "CHAT_MODEL_NAME", structured: structured}
	switch {
	case r.Model != "":
		to.variable = "CHAT_MODELS"
	case r.Task.Strong():
		to.variable = "CHAT_MODEL_NAME_STRONG"
	}
	return to
}

// usage returns the usage of an answered call with its price.
func (c *Client) usage(model string, in, out int) chat.Usage {
	u := c.cfg.Prices.Usage(model, in, out)
	u.Calls = 1
	return u
}

// request builds the part that both kinds of chat call share, by the model's traits.
func (c *Client) request(model string, t traits, r llm.Request, messages []llm.Message, tools []llm.Tool) api.ChatCompletionRequest {
	tokens := cmp.Or(r.MaxTokens, c.cfg.MaxTokens)
	if tokens > 0 {
		tokens += t.room
	}
	messages = t.fit(messages, tools, tokens)
	req := api.ChatCompletionRequest{Model: model, Messages: encode(t, messages, len(tools) > 0), Tools: encodeTools(t, tools)}
	if len(tools) > 0 && t.noReasoning {
		req.ReasoningEffort = api.ReasoningEffortNone
	}
	if !t.noTemperature {
		req.Temperature = max(r.Temperature, smallestTemperature)
	}
	if r.Task.Small() && req.ReasoningEffort == "" && !t.noEffort {
		req.ReasoningEffort = "low"
	}
	tokens = t.replyTokens(tokens)
	if t.completionTokens {
		req.MaxCompletionTokens = tokens
	} else {
		req.MaxTokens = tokens //lint:ignore SA1019 most OpenAI-compatible servers expect it
	}
	return req
}

// smallestTemperature replaces 0: the SDK omits a zero, and providers then use
// their default, often 1. It is small enough to be 0 in every sampler and large
// enough for every JSON parser.
const smallestTemperature = 1e-8

// target is the model a call goes to.
type target struct {
	model      string
	variable   string // the environment variable that names it
	structured bool   // the answer must be JSON
	tools      bool   // tools are offered
	images     bool   // the prompt has pictures
	paints     bool   // the request is for a picture
	prompt     int    // estimated tokens; 0: there is no prompt that can be cut
}

// try runs f with the model's known traits, and again each time the model rejects
// a parameter that can be omitted. f gets a new call each time.
func (c *Client) try(ctx context.Context, to target, f func(k *call, t traits) error) error {
	t := c.known(to.model)
	again := true // an answer without content is asked for again, once
	for {
		k := c.begin(ctx)
		failed := f(k, t)
		err := k.finish(failed, to)
		if err == nil {
			return nil
		}
		if k.asked.emitted { // a second answer would stand after the first
			return err
		}
		next, learned := t.learn(err, to, k.asked.limit)
		if empty := errors.Is(failed, errEmpty) || errors.Is(failed, errNoRoom); empty && again && k.asked.limit >= 0 {
			next, learned, again = t.roomier(k.asked, errors.Is(failed, errNoRoom)), true, false
		}
		if !learned {
			return err
		}
		t = next
		c.remember(to.model, t)
	}
}
