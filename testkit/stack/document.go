package stack

import (
	"fmt"
	"os"
	"strings"
)

// WriteInto replaces the text between the comments "<!-- name begins -->" and
// "<!-- name ends -->" of a document.
func WriteInto(document, name, text string) error {
	b, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	begin, end := "<!-- "+name+" begins -->", "<!-- "+name+" ends -->"
	before, rest, found := strings.Cut(string(b), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return fmt.Errorf("%s has no part between %q and %q", document, begin, end)
	}
	return os.WriteFile(document, []byte(before+begin+"\n\n"+strings.TrimSpace(text)+"\n\n"+end+after), 0o644)
}
