package extract

import (
	"context"
	"strings"

	"github.com/goccy/go-yaml"
)

var markdown = Type{
	Name:       "md",
	Label:      "Markdown",
	Extensions: []string{".md", ".markdown"},
	MediaTypes: []string{"text/markdown", "text/x-markdown"},
	Read:       decode,
	content: func(_ context.Context, raw []byte) (Content, error) {
		text, err := toUTF8(raw, "")
		text, title := frontMatter(clean(text))
		return Content{Text: text, Title: title}, err
	},
}

const maxFrontMatter = 20_000 // bytes

// frontMatter takes the lines of marks from around the data at the beginning of a Markdown
// file, so that they do not make the data a heading, and returns the title in the data.
func frontMatter(text string) (_, title string) {
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return text, ""
	}
	data, body, ok := strings.Cut(rest, "\n---\n")
	if !ok || len(data) > maxFrontMatter {
		return text, ""
	}
	var fields struct {
		Title string `yaml:"title"`
	}
	if yaml.Unmarshal([]byte(data), &fields) != nil {
		return text, ""
	}
	return data + "\n\n" + strings.TrimLeft(body, "\n"), fields.Title
}
