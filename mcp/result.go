package mcp

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/palaver-chat/palaver/tools"
)

const maxResult = 1 << 20 // bytes of what a tool returns

const cutNote = "\n[The result was longer and is cut here.]"

// read is a server's result as a model reads it. Texts are joined; of what is no
// text it says that it is there. Structured content counts where there is
// nothing else, as servers send it as text too.
func read(r *sdk.CallToolResult) tools.Result {
	if r.NeedsInput() {
		return failure("The tool wants to ask back, which is not possible here. Give it everything it needs in its arguments.")
	}
	var parts []string
	size := 0
	for _, c := range r.Content {
		text := describe(c)
		parts = append(parts, text)
		if size += len(text); size > maxResult {
			break
		}
	}
	if len(parts) == 0 && r.StructuredContent != nil {
		if raw, err := json.Marshal(r.StructuredContent); err == nil {
			parts = append(parts, string(raw))
		}
	}
	out := tools.Result{Content: clean(strings.Join(parts, "\n"), maxResult), IsError: r.IsError}
	if out.Content == "" {
		out.Content = "(no content)"
	}
	return out
}

func describe(c sdk.Content) string {
	switch c := c.(type) {
	case *sdk.TextContent:
		return c.Text
	case *sdk.ImageContent:
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

// binary stands for content that a model cannot read here.
func binary(kind, mime string, size int) string {
	return "[" + kind + ", " + mime + ", " + strconv.Itoa(size) + " bytes, not shown]"
}

// clean makes a text storable and bounds it, in bytes.
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

// failure is a result that tells the model what went wrong.
func failure(text string) tools.Result { return tools.Result{Content: text, IsError: true} }
