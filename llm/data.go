package llm

import (
	"fmt"
	"html"
	"regexp"
	"strings"
)

// promptTags matches the tags that structure a prompt.
var promptTags = regexp.MustCompile(`(?i)<(\s*/?\s*(?:passage|text_under_audit|question|answer|conversation|earlier_conversation|tool_result|known_documents|tagged_documents|how_to_answer)\b)`)

// Data escapes prompt tags in text that a document, a tool or a person wrote, so
// that the text cannot open or close them. The rest stays verbatim, so that
// quotations match the source.
func Data(text string) string { return promptTags.ReplaceAllString(text, "&lt;$1") }

// Attribute formats the attribute ` name="value"` of a prompt tag; "" without a value.
func Attribute(name, value string) string {
	if value = strings.Join(strings.Fields(value), " "); value == "" {
		return ""
	}
	return fmt.Sprintf(` %s="%s"`, name, html.EscapeString(value))
}

// Block formats the passage for a prompt.
func (p Passage) Block() string {
	return fmt.Sprintf("<passage id=\"%d\"%s%s%s>\n%s\n</passage>\n", p.N,
		Attribute("title", p.Title), Attribute("section", p.Heading), Attribute("url", p.URL), Data(p.Text))
}
