package provider

import (
	"context"
	"errors"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/llm"
)

// none is the model of a server without a model: every call fails at once.
type none struct{}

func unavailable() error {
	return &llm.Error{
		Code: chat.CodeModelRejected,
		Hint: messages.HintNoModel, ForOperators: true,
		Err: errors.New("the provider is none"),
	}
}

func (none) Structured(context.Context, llm.Request, llm.Schema, any) (chat.Usage, error) {
	return chat.Usage{}, unavailable()
}

func (none) Stream(context.Context, llm.Request, func(string) error) (llm.Reply, error) {
	return llm.Reply{}, unavailable()
}

func (none) Paint(context.Context, string, string, string) (llm.Image, chat.Usage, error) {
	return llm.Image{}, chat.Usage{}, llm.ErrNoImages
}

func (none) Embed(context.Context, []string) ([][]float32, error) { return nil, llm.ErrNoEmbeddings }

func (none) Info() llm.Info { return llm.Info{Provider: None} }
