package provider

import (
	"context"
	"errors"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/llm"
)

// unavailableModel is the model of a server without a model: every call fails at once.
type unavailableModel struct{}

func unavailable() error {
	return &llm.Error{
		Code: chat.CodeModelRejected,
		Hint: messages.HintNoModel, ForOperators: true,
		Err: errors.New("the provider is none"),
	}
}

func (unavailableModel) Structured(context.Context, llm.Request, llm.Schema, any) (chat.Usage, error) {
	return chat.Usage{}, unavailable()
}

func (unavailableModel) Stream(context.Context, llm.Request, func(string) error) (llm.Reply, error) {
	return llm.Reply{}, unavailable()
}

func (unavailableModel) Paint(context.Context, string, string, string) (llm.Image, chat.Usage, error) {
	return llm.Image{}, chat.Usage{}, llm.ErrNoImages
}

func (unavailableModel) Embed(context.Context, []string) ([][]float32, error) {
	return nil, llm.ErrNoEmbeddings
}

func (unavailableModel) Info() llm.Info { return llm.Info{Provider: None} }
