package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/pictures"
	"github.com/palaver-chat/palaver/llm"
)

const paintTimeout = 2 * time.Minute

// GenerateImageName is the name of GenerateImage.
const GenerateImageName = "generate_image"

// GenerateImage draws a picture, stores it and returns its URL. It costs money, so a person
// approves it first and may edit the prompt. placeholder means that the painter is the offline
// engine; the result says so.
func GenerateImage(painter llm.Painter, store Pictures, placeholder bool) Tool {
	return Tool{
		Name:        GenerateImageName,
		Description: "Draw a picture from a description. The person is asked before it is drawn. The result is the picture as markdown: put that line into the answer exactly as it is, where the picture is to stand. If it says that the picture is a placeholder, say so, too.",
		Schema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"prompt": {"type": "string", "minLength": 1, "maxLength": 4000, "description": "What the picture shows, in detail"},
				"size": {"type": "string", "enum": ["1024x1024", "1536x1024", "1024x1536"], "description": "Width and height; leave out to let the model choose"}
			},
			"required": ["prompt"],
			"additionalProperties": false
		}`),
		Approval:    Edit,
		Timeout:     paintTimeout,
		SideEffects: true,
		Run: With("generate_image", func(ctx context.Context, c Call, in struct {
			Prompt string `json:"prompt"`
			Size   string `json:"size"`
		}) (Result, error) {
			id := PictureID(c.ID)
			existing, err := store.AttachmentsByID(ctx, c.Owner, []string{id})
			if err != nil {
				return Result{}, err
			}
			if len(existing) == 1 { // an earlier attempt of this call stored the picture and then crashed
				return drawn(id, in.Prompt, placeholder, chat.Usage{}), nil
			}
			picture, usage, err := painter.Paint(ctx, in.Prompt, in.Size, c.ID)
			if err != nil {
				return refused(ctx, usage, err)
			}
			mime, err := pictures.Type(picture.Data)
			if err != nil {
				return Result{Content: "The provider sent no usable picture.", IsError: true, Usage: usage}, nil
			}
			a := chat.Attachment{ID: id, Owner: c.Owner, ThreadID: c.ThreadID, MIME: mime, Bytes: len(picture.Data)}
			if err := KeepPicture(ctx, store, a, picture.Data); err != nil {
				return Result{Usage: usage}, err
			}
			return drawn(id, in.Prompt, placeholder, usage), nil
		}),
	}
}

// refused returns a provider's refusal as a result for the model. If the outcome is unknown
// (a broken connection), it returns an error.
func refused(ctx context.Context, usage chat.Usage, err error) (Result, error) {
	var e *llm.Error
	if ctx.Err() == nil && errors.As(err, &e) && e.Status >= 400 && e.Status < 500 {
		why := messages.ToolPictureRefused
		if e.Hint.Text != "" && !e.ForOperators {
			why = why.Then(e.Hint)
		}
		r := Failed(why)
		r.Usage = usage
		return r, nil
	}
	if errors.Is(err, llm.ErrNoImages) {
		return Failed(messages.ToolNoImages), nil
	}
	return Result{Usage: usage}, fmt.Errorf("generate_image: %w", err)
}

func drawn(id, prompt string, placeholder bool, usage chat.Usage) Result {
	r := Result{Attachments: []string{id}, Usage: usage}
	r.Content = "The picture is ready:\n![" + altText(prompt) + "](" + chat.AttachmentURL(id) + ")"
	if placeholder {
		r.Content += "\nIt is only a placeholder drawn by the offline engine: no image model is configured."
	}
	return r
}

const maxAlt = 80

// altText returns a picture's alternative text for markdown.
func altText(prompt string) string {
	text := strings.Map(func(r rune) rune {
		if strings.ContainsRune("[]()<>`*_\\!", r) {
			return -1
		}
		return r
	}, strings.Join(strings.Fields(prompt), " "))
	if text = strings.TrimSpace(language.Truncate(text, maxAlt)); text == "" {
		return "picture"
	}
	return text
}
