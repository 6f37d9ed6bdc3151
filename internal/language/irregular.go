package language

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed irregular.txt
var irregularFile string

// irregular maps each word of irregular.txt to the other words of its groups.
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

// OtherForms returns the other forms of an irregular word. It also looks up the word's
// stem, so that "shows" has "shown".
func OtherForms(w string) []string {
	if forms := irregular()[w]; forms != nil {
		return forms
	}
	return irregular()[Stem(w)]
}
