package language

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed irregular.txt
var irregularFile string

// irregular are the forms of irregular.txt, each with the others of its group.
var irregular = sync.OnceValue(func() map[string][]string {
	forms := map[string][]string{}
	for line := range strings.Lines(irregularFile) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		group := strings.Fields(line)
		for i, w := range group {
			forms[w] = append(append(forms[w], group[:i]...), group[i+1:]...)
		}
	}
	return forms
})

// OtherForms are the other forms of an irregular word, by its stem, too: "shows" has
// "shown".
func OtherForms(w string) []string {
	if forms := irregular()[w]; forms != nil {
		return forms
	}
	return irregular()[Stem(w)]
}
