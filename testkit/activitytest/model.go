package activitytest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
)

// Model returns the test's answers to structured calls, in order, and streams by the test's
// function.
type Model struct {
	Answers  []any // an answer to marshal, or an error
	OnStream func(ctx context.Context, emit func(string) error) error
	OnTitle  func(ctx context.Context, emit func(string) error) error // streams titles
	Reply    llm.Reply                                                // of streams, without the usage
	Finishes []llm.Finish                                             // of the next streams, instead of Reply's
	Vision   bool
	Offline  bool
	Window   int // ContextTokens
	OnEmbed  func(texts []string) ([][]float32, error)

	t     *testing.T
	mu    sync.Mutex
	asked []llm.Request
}

// OneCall is the usage of each call.
var OneCall = chat.Usage{TokensIn: 10, TokensOut: 2, CostUSD: 0.5, Calls: 1}

// Overloaded is a model's error that is retried.
var Overloaded = &llm.Error{Code: chat.CodeModelUnavailable, Retryable: true, Err: errors.New("503")}

// Asked returns the requests so far.
func (m *Model) Asked() []llm.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.asked)
}

// Calls returns the number of requests so far.
func (m *Model) Calls() int { return len(m.Asked()) }

// Last returns the last request.
func (m *Model) Last() llm.Request {
	asked := m.Asked()
	return asked[len(asked)-1]
}

func (m *Model) Structured(_ context.Context, r llm.Request, _ llm.Schema, out any) (chat.Usage, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = append(m.asked, r)
	if len(m.Answers) == 0 {
		m.t.Errorf("no answer is scripted for call %d (%s)", len(m.asked), r.Task)
		return chat.Usage{}, llm.ErrUnparseable
	}
	answer := m.Answers[0]
	m.Answers = m.Answers[1:]
	if err, ok := answer.(error); ok {
		return OneCall, err
	}
	raw, err := json.Marshal(answer)
	require.NoError(m.t, err)
	return OneCall, json.Unmarshal(raw, out)
}

func (m *Model) Stream(ctx context.Context, r llm.Request, emit func(string) error) (llm.Reply, error) {
	m.mu.Lock()
	m.asked = append(m.asked, r)
	reply := m.Reply
	if len(m.Finishes) > 0 {
		reply.Finish, m.Finishes = m.Finishes[0], m.Finishes[1:]
	}
	m.mu.Unlock()
	reply.Usage = OneCall
	if r.Task == llm.TaskTitle {
		return reply, m.OnTitle(ctx, emit)
	}
	return reply, m.OnStream(ctx, emit)
}

func (m *Model) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if m.OnEmbed == nil {
		return nil, llm.ErrNoEmbeddings
	}
	for _, text := range texts {
		llm.Meter(ctx, chat.Usage{TokensIn: llm.EstimateTokens(text)})
	}
	return m.OnEmbed(texts)
}

func (m *Model) Info() llm.Info {
	info := llm.Info{Provider: "scripted", Name: "scripted", Vision: m.Vision, Offline: m.Offline, ContextTokens: m.Window}
	if m.OnEmbed != nil {
		info.Embedding = "scripted"
	}
	return info
}

// StreamText makes the model stream these deltas.
func StreamText(deltas ...string) func(context.Context, func(string) error) error {
	return func(_ context.Context, emit func(string) error) error {
		for _, d := range deltas {
			if err := emit(d); err != nil {
				return err
			}
		}
		return nil
	}
}

// StreamError makes the model fail.
func StreamError(err error) func(context.Context, func(string) error) error {
	return func(context.Context, func(string) error) error { return err }
}

// StreamUntilStopped streams "A beginning [1]", and waits until its context ends.
func StreamUntilStopped(started func()) func(context.Context, func(string) error) error {
	return func(ctx context.Context, emit func(string) error) error {
		_ = emit("A beginning [1]")
		started()
		<-ctx.Done()
		return ctx.Err()
	}
}

// SameVector embeds all texts as the same vector.
func SameVector(texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i := range out {
		out[i] = []float32{1, 0}
	}
	return out, nil
}

// PromptText returns the texts of a prompt.
func PromptText(r llm.Request) string {
	var text strings.Builder
	for _, m := range r.Messages {
		text.WriteString(m.Text + "\n")
	}
	return text.String()
}

// Roles returns the roles of messages.
func Roles(messages []llm.Message) (out []llm.Role) {
	for _, m := range messages {
		out = append(out, m.Role)
	}
	return out
}
