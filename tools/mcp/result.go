package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/pictures"
	"github.com/palaver-chat/palaver/tools"
)

const maxResult = 1 << 20 // bytes of what a tool returns

const cutNote = "\n[The result was longer and is cut here.]"

// reader converts a server's result to text for a model.
type reader struct {
	pictures tools.Pictures // nil: none are stored
	call     tools.Call
	log      *slog.Logger

	stored []string // ids
	left   int      // bytes that may still be stored
}

// read joins texts and describes other content. It stores pictures, so that the page shows them,
// unless the tool has failed. Structured content follows, unless a text says the same.
func (p *reader) read(ctx context.Context, r *sdk.CallToolResult) tools.Result {
	if r.NeedsInput() {
		return failure("The tool wants to ask back, which is not possible here. Give it everything it needs in its arguments.")
	}
	p.left = pictures.MaxBytes
	if r.IsError {
		p.pictures = nil
	}
	var parts []string
	size := 0
	for _, c := range r.Content {
		text := p.describe(ctx, c)
		parts = append(parts, text)
		if size += len(text); size > maxResult {
			break
		}
	}
	if raw, err := json.Marshal(r.StructuredContent); err == nil && r.StructuredContent != nil && !said(r.StructuredContent, r.Content) {
		parts = append(parts, string(raw))
	}
	out := tools.Result{Content: clean(strings.Join(parts, "\n"), maxResult), IsError: r.IsError, Attachments: p.stored}
	if out.Content == "" {
		out.Content = "(no content)"
	}
	return out
}

// said reports whether a text is the structured content, or its only value. Servers send both, so that
// older clients can read it.
func said(structured any, content []sdk.Content) bool {
	var only any
	if o, is := structured.(map[string]any); is && len(o) == 1 {
		for _, only = range o {
		}
	}
	return slices.ContainsFunc(content, func(c sdk.Content) bool {
		text, is := c.(*sdk.TextContent)
		if !is {
			return false
		}
		var value any
		if json.Unmarshal([]byte(text.Text), &value) != nil {
			value = text.Text
		}
		return reflect.DeepEqual(value, structured) || only != nil && (reflect.DeepEqual(value, only) || text.Text == only)
	})
}

func (p *reader) describe(ctx context.Context, c sdk.Content) string {
	switch c := c.(type) {
	case *sdk.TextContent:
		return c.Text
	case *sdk.ImageContent:
		if id, kind := p.keep(ctx, c.Data); id != "" {
			return "[image, " + kind + ", " + strconv.Itoa(len(c.Data)) + " bytes, shown to the person]\n![picture](" + chat.AttachmentURL(id) + ")"
		}
		return binary("image", c.MIMEType, len(c.Data))
	case *sdk.AudioContent:
		return binary("audio", c.MIMEType, len(c.Data))
	case *sdk.ResourceLink:
		return "[resource " + strings.TrimSpace(c.Name+" "+c.URI) + "]"
	case *sdk.EmbeddedResource:
		switch {
		case c.Resource == nil:
			return "[resource]"
		case c.Resource.Text != "" || len(c.Resource.Blob) == 0:
			return "[resource " + c.Resource.URI + "]\n" + c.Resource.Text
		}
		return binary("resource "+c.Resource.URI, c.Resource.MIMEType, len(c.Resource.Blob))
	}
	return "[content of another kind]"
}

// keep stores a picture and returns its id and MIME type. The id is empty if data is no
// picture, exceeds the limits or cannot be stored. That is not an error, because the tool has
// run and its result is valid.
func (p *reader) keep(ctx context.Context, data []byte) (id, kind string) {
	kind, err := pictures.Type(data)
	if p.pictures == nil || err != nil || len(data) > p.left || len(p.stored) == chat.MaxAttachments {
		return "", ""
	}
	// A retried call may return the same pictures or others.
	sum := sha256.Sum256(data)
	id = tools.PictureID(p.call.ID + "." + strconv.Itoa(len(p.stored)) + "." + hex.EncodeToString(sum[:]))
	a := chat.Attachment{ID: id, Owner: p.call.Owner, ThreadID: p.call.ThreadID, MIME: kind, Bytes: len(data)}
	if err := tools.KeepPicture(ctx, p.pictures, a, data); err != nil {
		p.log.Warn("storing a picture of a tool result failed", "error", err)
		return "", ""
	}
	p.stored = append(p.stored, id)
	p.left -= len(data)
	return id, kind
}

// binary describes content that a model cannot read.
func binary(kind, mime string, size int) string {
	return "[" + kind + ", " + mime + ", " + strconv.Itoa(size) + " bytes, not shown]"
}

// clean removes characters that cannot be stored and limits the length in bytes.
func clean(s string, most int) string {
	note := ""
	if len(s) > most {
		for most > 0 && !utf8.RuneStart(s[most]) {
			most--
		}
		s, note = s[:most], cutNote
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD") + note
}

// failure returns a result that tells the model what went wrong.
func failure(text string) tools.Result { return tools.Result{Content: text, IsError: true} }
