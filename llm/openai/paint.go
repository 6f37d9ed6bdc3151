package openai

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	api "github.com/sashabaranov/go-openai"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/pictures"
	"github.com/palaver-chat/palaver/llm"
)

const (
	maxPicturePrompt = 32_000 // characters; the limit of the newest models
	usualPicture     = 1056   // tokens of a square picture of medium quality
)

// errNoPicture is a reply without a usable picture.
var errNoPicture = errors.New("the provider returned no usable picture")

// Paint implements llm.Painter. After a 4xx status the provider generated nothing;
// after any other error it may have.
func (c *Client) Paint(ctx context.Context, prompt, size, idempotencyKey string) (llm.Image, chat.Usage, error) {
	model := c.cfg.ImageModel
	if model == "" {
		return llm.Image{}, chat.Usage{}, llm.ErrNoImages
	}
	var image llm.Image
	var usage chat.Usage
	to := target{model: model, variable: "IMAGE_MODEL_NAME", paints: true}
	err := c.try(ctx, to, func(k *call, t traits) error {
		k.limit = pictures.MaxBytes/3*4 + 1<<20 // base64 and the JSON around it
		k.quiet = true                          // the provider sends nothing until the picture is done
		k.idempotencyKey = idempotencyKey
		req := api.ImageRequest{Model: model, Prompt: language.Truncate(prompt, maxPicturePrompt), N: 1, Size: pictureSize(model, size)}
		if !t.noImageFormat && !strings.Contains(model, "gpt-image") { // those models always return base64
			req.ResponseFormat = api.CreateImageResponseFormatB64JSON
		}
		resp, err := k.client().CreateImage(k.ctx, req)
		if err != nil {
			return err
		}
		usage = c.pictureUsage(model, prompt, resp.Usage)
		image, err = picture(resp.Data)
		return err
	})
	return image, usage, err
}

// pictureUsage returns the usage of a picture: as the provider counted, or else by
// the price per picture, or else an estimate.
func (c *Client) pictureUsage(model, prompt string, counted api.ImageResponseUsage) chat.Usage {
	if counted.InputTokens+counted.OutputTokens > 0 {
		return c.usage(model, counted.InputTokens, counted.OutputTokens)
	}
	if price := c.cfg.Prices.Picture(model); price > 0 {
		return chat.Usage{TokensIn: llm.EstimateTokens(prompt), CostUSD: price, Calls: 1}
	}
	return c.usage(model, llm.EstimateTokens(prompt), usualPicture)
}

// picture extracts the picture from a reply. It does not follow links, because
// the provider chooses the address.
func picture(data []api.ImageResponseDataInner) (llm.Image, error) {
	if len(data) == 0 || data[0].B64JSON == "" {
		return llm.Image{}, errNoPicture
	}
	raw, err := base64.StdEncoding.DecodeString(data[0].B64JSON)
	if err != nil {
		return llm.Image{}, fmt.Errorf("%w: invalid base64", errNoPicture)
	}
	mime, err := pictures.Type(raw)
	if err != nil {
		return llm.Image{}, fmt.Errorf("%w: %w", errNoPicture, err)
	}
	return llm.Image{MIME: mime, Data: raw}, nil
}

// pictureSize maps the requested size to one that the model supports.
func pictureSize(model, size string) string {
	if strings.HasPrefix(model, "dall-e-3") {
		switch size {
		case "1536x1024":
			return api.CreateImageSize1792x1024
		case "1024x1536":
			return api.CreateImageSize1024x1792
		}
	}
	return size
}
