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
	titled:     true,
	content: func(_ context.Context, raw []byte) (Content, error) {
		text, err := toUTF8(raw, "")
		text, front := frontMatter(clean(text))
		return Content{Text: text, Title: front.Title, Names: front.names()}, err
	},
}

const maxFrontMatter = 20_000 // bytes

// front is what the data at the beginning of a Markdown file says of the document's names.
type front struct {
	Title    string `yaml:"title"`
	Subtitle string `yaml:"subtitle"`
	Author   any    `yaml:"author"`  // a name, or a list of names
	Aliases  any    `yaml:"aliases"` // the same
}

func (f front) names() []string {
	var names []string
	for _, value := range []any{f.Subtitle, f.Author, f.Aliases} {
		list, ok := value.([]any)
		if !ok {
			list = []any{value}
		}
		for _, x := range list {
			if name, ok := x.(string); ok && name != "" {
				names = append(names, name)
			}
		}
	}
	return names
}

// frontMatter takes the lines of marks from around the data at the beginning of a Markdown
// file, so that they do not make the data a heading, and returns the names in the data.
func frontMatter(text string) (string, front) {
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return text, front{}
	}
	data, body, ok := strings.Cut(rest, "\n---\n")
	if !ok || len(data) > maxFrontMatter {
		return text, front{}
	}
	var f front
	if yaml.Unmarshal([]byte(data), &f) != nil {
		return text, front{}
	}
	return data + "\n\n" + strings.TrimLeft(body, "\n"), f
}
