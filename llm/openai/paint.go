package openai

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	api "github.com/sashabaranov/go-openai"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/llm"
)

const (
	maxPicture       = 10 << 20 // bytes of one picture
	maxPicturePrompt = 32_000   // characters; what the newest models take
	usualPicture     = 1056     // tokens of a square one of medium quality
)

// errNoPicture is a reply that holds no picture we can keep.
var errNoPicture = errors.New("the provider sent no picture that can be used")

// Paint implements llm.Painter. A refusal (a 4xx status) drew nothing; after any
// other error nobody knows whether it did.
func (c *Client) Paint(ctx context.Context, prompt, size, idempotencyKey string) (llm.Image, chat.Usage, error) {
	model := c.cfg.ImageModel
	if model == "" {
		return llm.Image{}, chat.Usage{}, llm.ErrNoImages
	}
	var image llm.Image
	var usage chat.Usage
	to := target{model: model, variable: "IMAGE_MODEL_NAME", paints: true}
	err := c.try(ctx, to, func(k *call, t traits) error {
		k.limit = maxPicture/3*4 + 1<<20 // base64, and what stands around it
		k.quiet = true                   // nothing comes before the picture is done
		k.idempotencyKey = idempotencyKey
		req := api.ImageRequest{Model: model, Prompt: language.Truncate(prompt, maxPicturePrompt), N: 1, Size: pictureSize(model, size)}
		if !t.noImageFormat && !strings.Contains(model, "gpt-image") { // those always send the picture itself
			req.ResponseFormat = api.CreateImageResponseFormatB64JSON
		}
		resp, err := k.client().CreateImage(k.ctx, req)
		if err != nil {
			return err
		}
		usage = c.painted(model, prompt, resp.Usage)
		image, err = picture(resp.Data)
		return err
	})
	return image, usage, err
}

// painted is the usage of a picture: as the provider counted, else by the piece,
// else an estimate.
func (c *Client) painted(model, prompt string, counted api.ImageResponseUsage) chat.Usage {
	if counted.InputTokens+counted.OutputTokens > 0 {
		return c.usage(model, counted.InputTokens, counted.OutputTokens)
	}
	if price := c.cfg.Prices.Picture(model); price > 0 {
		return chat.Usage{TokensIn: llm.EstimateTokens(prompt), CostUSD: price, Calls: 1}
	}
	return c.usage(model, llm.EstimateTokens(prompt), usualPicture)
}

// picture takes the picture out of a reply. A mere link is not followed: its
// address is the provider's choice.
func picture(data []api.ImageResponseDataInner) (llm.Image, error) {
	if len(data) == 0 || data[0].B64JSON == "" {
		return llm.Image{}, errNoPicture
	}
	raw, err := base64.StdEncoding.DecodeString(data[0].B64JSON)
	if err != nil {
		return llm.Image{}, fmt.Errorf("%w: its base64 is broken", errNoPicture)
	}
	if len(raw) > maxPicture {
		return llm.Image{}, fmt.Errorf("%w: %d bytes are too many", errNoPicture, len(raw))
	}
	mime := http.DetectContentType(raw)
	if !slices.Contains([]string{"image/png", "image/jpeg", "image/webp"}, mime) {
		return llm.Image{}, fmt.Errorf("%w: it is %s", errNoPicture, mime)
	}
	return llm.Image{MIME: mime, Data: raw}, nil
}

// pictureSize is a size that the model knows for the one asked for.
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
