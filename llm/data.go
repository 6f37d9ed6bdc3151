package llm

import (
	"fmt"
	"html"
	"regexp"
	"strings"
)

// ours are the tags that give a prompt its shape.
var ours = regexp.MustCompile(`(?i)<(\s*/?\s*(?:passage|text_under_audit|question|tool_result)\b)`)

// Data keeps text that a document, a tool or a person wrote from opening or
// closing our tags; all else stays verbatim, so that what a model quotes is
// what stands in the source.
func Data(text string) string { return ours.ReplaceAllString(text, "&lt;$1") }

// Attribute is ` name="value"` of a tag of ours, "" without a value.
func Attribute(name, value string) string {
	if value = strings.Join(strings.Fields(value), " "); value == "" {
		return ""
	}
	return fmt.Sprintf(` %s="%s"`, name, html.EscapeString(value))
}

// Block is the passage as prompts show it.
func (p Passage) Block() string {
	return fmt.Sprintf("<passage id=\"%d\"%s%s%s>\n%s\n</passage>\n", p.N,
		Attribute("title", p.Title), Attribute("section", p.Heading), Attribute("url", p.URL), Data(p.Text))
}
