package language

import (
	_ "embed"
	"strings"
)

//go:embed words.txt
var wordsFile string

var lists = ReadLists(wordsFile)

// Lists are named lists of words or phrases.
type Lists map[string]string

// ReadLists reads lists from a text. A line "name: words" begins a list, and lines that begin
// with a tab continue it.
func ReadLists(text string) Lists {
	lists, name := Lists{}, ""
	for line := range strings.Lines(text) {
		if more, found := strings.CutPrefix(line, "\t"); found {
			lists[name] += more
		} else if head, list, found := strings.Cut(line, ":"); found && !strings.HasPrefix(line, "#") {
			name, lists[head] = head, strings.TrimLeft(list, " ")
		}
	}
	return lists
}

// Set returns the words of a list. It panics if there is no such list.
func (l Lists) Set(name string) Set { return NewSet(l.text(name)) }

// Phrases returns the entries of a list that is separated by line ends and |.
func (l Lists) Phrases(name string) Set {
	set := Set{}
	for phrase := range strings.FieldsFuncSeq(l.text(name), func(r rune) bool { return r == '|' || r == '\n' }) {
		set[strings.TrimSpace(phrase)] = true
	}
	return set
}

// Pairs returns the pairs of a list with lines "key = value".
func (l Lists) Pairs(name string) map[string]string {
	pairs := map[string]string{}
	for line := range strings.Lines(l.text(name)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " = ")
		pairs[key] = value
	}
	return pairs
}

// Pattern returns a regular expression that matches any line of a list.
func (l Lists) Pattern(name string) string {
	return "(?:" + strings.ReplaceAll(strings.TrimSpace(l.text(name)), "\n", "|") + ")"
}

func (l Lists) text(name string) string {
	text, ok := l[name]
	if !ok {
		panic("no list of words is called " + name)
	}
	return text
}
