package extract

var markdown = Type{
	Name:       "md",
	Label:      "Markdown",
	Extensions: []string{".md", ".markdown"},
	MediaTypes: []string{"text/markdown", "text/x-markdown"},
	Read:       decode,
}
