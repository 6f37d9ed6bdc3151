package figures

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// pattern is a regular expression, in small letters, that matches in any case. Most texts have
// none of the literal texts that every match needs, and are not searched.
type pattern struct {
	*regexp.Regexp
	needs []string
}

func patternOf(expression string) pattern {
	parsed, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		panic(err) // a constant
	}
	return pattern{regexp.MustCompile(`(?i)` + expression), needed(parsed)}
}

// in returns the places of the matches in a text, as FindAllStringSubmatchIndex does. small is the
// text in small letters.
func (p pattern) in(text, small string) [][]int {
	if !p.mayMatch(small) {
		return nil
	}
	return p.FindAllStringSubmatchIndex(text, -1)
}

func (p pattern) mayMatch(small string) bool {
	return len(p.needs) == 0 || slices.ContainsFunc(p.needs, func(s string) bool { return strings.Contains(small, s) })
}

// needed returns literal texts of which every match has at least one; nil if there are none.
func needed(e *syntax.Regexp) (texts []string) {
	switch e.Op {
	case syntax.OpLiteral:
		return []string{string(e.Rune)}
	case syntax.OpCapture, syntax.OpPlus:
		return needed(e.Sub[0])
	case syntax.OpRepeat:
		if e.Min > 0 {
			return needed(e.Sub[0])
		}
	case syntax.OpConcat: // the part whose shortest text is the longest
		shortest := func(texts []string) (n int) {
			for i, s := range texts {
				if i == 0 || len(s) < n {
					n = len(s)
				}
			}
			return n
		}
		for _, sub := range e.Sub {
			if found := needed(sub); shortest(found) > shortest(texts) {
				texts = found
			}
		}
	case syntax.OpAlternate:
		for _, sub := range e.Sub {
			found := needed(sub)
			if found == nil {
				return nil
			}
			texts = append(texts, found...)
		}
	}
	return texts
}
