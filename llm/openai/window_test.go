package openai_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/llm/openai"
	"github.com/palaver-chat/palaver/testkit/llmtest"
)

// longPrompt is an earlier conversation and a question at the end of long passages.
func longPrompt() llm.Request {
	messages := []llm.Message{{Role: llm.System, Text: "You answer."}}
	for i := range 30 {
		messages = append(messages, llm.Message{Role: llm.User, Text: fmt.Sprintf("Question %d. ", i) + strings.Repeat("word ", 60)},
			llm.Message{Role: llm.Assistant, Text: strings.Repeat("answer ", 60)})
	}
	messages = append(messages, llm.Message{Role: llm.User, Text: strings.Repeat("A passage of a document. ", 1000) + "QUESTION AT THE END"})
	return llm.Request{Task: llm.TaskAssistant, Messages: messages, MaxTokens: 4096,
		Tools: []llm.Tool{{Name: "search", Description: "Searches.", Schema: []byte(`{"type":"object","properties":{"q":{"type":"string"}}}`)}}}
}

func TestPromptIsCutToTheConfiguredWindow(t *testing.T) {
	t.Parallel()
	for _, refuse := range []bool{true, false} {
		s := llmtest.New(t)
		s.SetWindow(llmtest.Window{Tokens: 4096, Refuse: refuse})
		cfg := config(s)
		cfg.ContextTokens = 4096
		stream(t, openai.New(cfg), longPrompt())
		r := s.Requests()
		if len(r) != 1 || r[0].Truncated {
			t.Errorf("refuse=%v: %d requests, truncated %v", refuse, len(r), r[0].Truncated)
		}
		if !strings.HasSuffix(r[0].LastUser, "QUESTION AT THE END") || !strings.HasPrefix(r[0].System, "You answer.") {
			t.Errorf("system %q, last %.60q", r[0].System, r[0].LastUser)
		}
		if body := string(r[0].Body); !strings.Contains(body, `"max_tokens":1024`) {
			t.Errorf("the answer has no room: %s", body[len(body)-300:])
		}
	}
}

func TestWindowIsLearnedFromARefusal(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t)
	s.SetWindow(llmtest.Window{Tokens: 8192, Refuse: true})
	c := openai.New(config(s))
	if c.Info().ContextTokens != 0 {
		t.Errorf("%d tokens are known", c.Info().ContextTokens)
	}
	for range 2 {
		stream(t, c, longPrompt())
	}
	if n := s.Count(llmtest.Match{}); n != 3 || c.Info().ContextTokens != 8192 {
		t.Errorf("%d requests, window %d; want one refusal and two answers, 8192", n, c.Info().ContextTokens)
	}
}

// The texts are real error texts of providers.
func TestRefusalsOfLongPromptsAreUnderstood(t *testing.T) {
	t.Parallel()
	for text, window := range map[string]int{
		"This model's maximum context length is 4096 tokens. However, you requested 9000 tokens (5000 in the messages, 4000 in the completion). (context_length_exceeded)": 4096,
		"prompt is too long: 9100 tokens > 8192 maximum":                                                                                            8192,
		"The input token count (9100) exceeds the maximum number of tokens allowed (4096).":                                                         4096,
		"Prompt contains 9100 tokens, too large for model with 5000 maximum context length":                                                         5000,
		"the request exceeds the available context size (2048 tokens), try increasing it":                                                           2048,
		"the input length exceeds the context length":                                                                                               0, // tried with less
		"Input tokens exceed the configured limit of 6000 tokens. Your messages resulted in 9000 tokens. Please reduce the length of the messages.": 6000,
		"This model's maximum prompt length is 6000 but the request contains 9537 tokens.":                                                          6000, // xAI
		"Please reduce the length of the messages or completion.":                                                                                   0,    // Groq
		"Please reduce the length of the messages or completion. Current length is 9200 while limit is 8192":                                        8192, // Cerebras
		"Your request exceeded model token limit: 6000 (requested: 9000)":                                                                           6000, // Kimi
		"Range of input length should be [1, 6000]":                                                                                                 6000, // Qwen
		"Prompt exceeds max length": 0, // Z.ai
		"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 6000. Given: 9000 `inputs` tokens and 1024 `max_new_tokens`":                                       6000, // TGI, Together
		"length of prompt_tokens (9000) must be less than max_seq_len (6000).":                                                                                                    6000, // SiliconFlow
		"prompt token count of 9000 exceeds the limit of 6000":                                                                                                                    6000, // Copilot
		"Request body too large for gpt-4o model. Max size: 8000 tokens.":                                                                                                         8000, // GitHub
		"too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 9000":                                                                                4081, // Cohere
		"invalid params, context window exceeds limit (2013)":                                                                                                                     0,    // MiniMax: a code, no size
		"input length and `max_tokens` exceed context limit: 9000 + 2000 > 8000, decrease input length or `max_tokens` and try again":                                             8000, // Anthropic
		"(request (9202 tokens) exceeds the available context size (8192 tokens)":                                                                                                 8192,
		"prompt too long; exceeded max context length by 500 tokens":                                                                                                              0,
		"Input is too long for requested model":                                                                                                                                   0, // Bedrock
		"Input length (9000 tokens) exceeds the maximum allowed length (8192 tokens)":                                                                                             8192,
		"The input (9000 tokens) is longer than the model's context length (8192 tokens).":                                                                                        8192,
		"The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length, or provide a shorter input": 0,
		"Request too large for model `llama` in organization `org_x` on tokens per minute (TPM): Limit 6000, Requested 9103, please reduce your message size and try again.":      6000,
		"The provided prompt is 9500 tokens long, the maximum supported sequence length is just 8192!":                                                                            8192,
		"Total tokens of image and text exceed max message tokens":                                                                                                                0,
	} {
		s := llmtest.New(t)
		body := fmt.Sprintf(`{"error":{"message":%q}}`, text)
		s.On(llmtest.Match{}, llmtest.Answer{Status: 400, Body: body}, llmtest.Default())
		c := openai.New(config(s))
		stream(t, c, longPrompt())
		if n := s.Count(llmtest.Match{}); n != 2 {
			t.Errorf("%s: %d requests", text, n)
		}
		if got := c.Info().ContextTokens; window > 0 && got != window || got == 0 {
			t.Errorf("%s: learned %d", text, got)
		}
	}
}

// Row W08: LM Studio says it in a stream with status 200.
func TestWindowIsLearnedFromAnErrorInAStream(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t)
	s.On(llmtest.Match{}, llmtest.Answer{Body: "event: error\ndata: {\"error\":{\"message\":\"The number of tokens to keep from the initial prompt is greater than the context length.\"}}\n\n"}, llmtest.Default())
	c := openai.New(config(s))
	stream(t, c, longPrompt())
	if n := s.Count(llmtest.Match{}); n != 2 || c.Info().ContextTokens == 0 {
		t.Errorf("%d requests, window %d", n, c.Info().ContextTokens)
	}
}

func TestPromptThatNeverFitsFailsWithAHint(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t)
	s.On(llmtest.Match{}, llmtest.Answer{Status: 400, Body: `{"error":{"message":"the input length exceeds the context length"}}`})
	_, err := openai.New(config(s)).Stream(t.Context(), longPrompt(), func(string) error { return nil })
	var e *llm.Error
	if !errors.As(err, &e) || e.Code != chat.CodeModelRejected || e.Retryable || !strings.Contains(e.Hint.Text, "too long for the model") {
		t.Errorf("got %v", err)
	}
	if n := s.Count(llmtest.Match{}); n < 2 || n > 12 {
		t.Errorf("%d requests", n)
	}
}

// Rule N17.
func TestUnpricedModelHasNoCost(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t)
	cfg := config(s)
	cfg.Prices = llm.DefaultPrices()
	if _, reply := stream(t, openai.New(cfg), longPrompt()); reply.Usage.Cost() != nil {
		t.Errorf("usage %+v", reply.Usage)
	}
	own, err := llm.ParsePrices([]byte(fmt.Sprintf(`{%q:{"in":0,"out":0}}`, cfg.Name)))
	if err != nil {
		t.Fatal(err)
	}
	cfg.Prices = cfg.Prices.With(own)
	if _, reply := stream(t, openai.New(cfg), longPrompt()); reply.Usage.Cost() == nil || *reply.Usage.Cost() != 0 {
		t.Errorf("usage %+v", reply.Usage)
	}
}

func TestEmbeddingsAreCounted(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t)
	cfg := config(s)
	cfg.EmbeddingModel, cfg.Prices = "text-embedding-3-small", llm.DefaultPrices()
	ctx, metered := llm.WithMeter(t.Context())
	if _, err := openai.New(cfg).Embed(ctx, []string{strings.Repeat("word ", 400)}); err != nil {
		t.Fatal(err)
	}
	if u := metered.Usage(); u.TokensIn == 0 || u.CostUSD == 0 || u.Unpriced {
		t.Errorf("usage %+v", u)
	}
}
