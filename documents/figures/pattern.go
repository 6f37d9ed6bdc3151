package figures

import (
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/palaver-chat/palaver/internal/lazyregexp"
)

// pattern is a regular expression, in small letters, that matches in any case. Only the surroundings of the
// literal texts of which every match needs one are searched: a regular expression reads a long text slowly.
type pattern struct {
	*lazyregexp.Regexp
	needs func() []string
}

func patternOf(expression string) pattern {
	return pattern{lazyregexp.New(`(?i)` + expression), sync.OnceValue(func() []string {
		parsed, err := syntax.Parse(expression, syntax.Perl)
		if err != nil {
			panic(err) // a constant
		}
		return needed(parsed)
	})}
}

// in returns the places of the matches in a text, as FindAllStringSubmatchIndex does. small is the
// text in small letters.
func (p pattern) in(text, small string) (all [][]int) {
	for _, w := range p.windows(text, small) {
		for _, m := range p.FindAllStringSubmatchIndex(text[w[0]:w[1]], -1) {
			for i := range m {
				if m[i] >= 0 {
					m[i] += w[0]
				}
			}
			all = append(all, m)
		}
	}
	return all
}

// windows returns the parts of a text that may have a match, in order. They begin and end at white space.
func (p pattern) windows(text, small string) (out [][2]int) {
	needs := p.needs()
	if len(needs) == 0 || len(small) != len(text) { // then places in one are not those in the other
		return [][2]int{{0, len(text)}}
	}
	const reach = 64 // bytes of a match before and after what it needs
	var places [][2]int
	for _, need := range needs {
		for at := 0; ; {
			i := strings.Index(small[at:], need)
			if i < 0 {
				break
			}
			at += i + len(need)
			places = append(places, [2]int{at - len(need), at})
		}
	}
	slices.SortFunc(places, func(a, b [2]int) int { return a[0] - b[0] })
	for _, place := range places {
		from := max(0, strings.LastIndexFunc(text[:max(0, place[0]-reach)], unicode.IsSpace))
		to := min(len(text), place[1]+reach)
		if i := strings.IndexFunc(text[to:], unicode.IsSpace); i >= 0 {
			to += i
		} else {
			to = len(text)
		}
		if last := len(out) - 1; last >= 0 && from <= out[last][1] {
			out[last][1] = max(out[last][1], to)
		} else {
			out = append(out, [2]int{from, to})
		}
	}
	return out
}

// needed returns literal texts of which every match has at least one, the rarest that there are; nil if there are
// none.
func needed(e *syntax.Regexp) (texts []string) {
	if all := matchesOf(e); all != nil && !slices.Contains(all, "") {
		return all
	}
	switch e.Op {
	case syntax.OpCapture, syntax.OpPlus:
		return needed(e.Sub[0])
	case syntax.OpRepeat:
		if e.Min > 0 {
			return needed(e.Sub[0])
		}
	case syntax.OpConcat:
		for from := range e.Sub {
			found := needed(e.Sub[from])
			for to := from + 2; to <= len(e.Sub); to++ {
				all := matchesOf(&syntax.Regexp{Op: syntax.OpConcat, Sub: e.Sub[from:to]})
				if all == nil {
					break
				}
				if !slices.Contains(all, "") {
					found = all
				}
			}
			if found != nil && (texts == nil || frequency(found) < frequency(texts)) {
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

// matchesOf returns all texts that an expression matches; nil if there are too many.
func matchesOf(e *syntax.Regexp) (all []string) {
	const most = 128
	switch e.Op {
	case syntax.OpEmptyMatch:
		return []string{""}
	case syntax.OpLiteral:
		return []string{string(e.Rune)}
	case syntax.OpCharClass:
		for i := 0; i < len(e.Rune); i += 2 {
			for r := e.Rune[i]; r <= e.Rune[i+1]; r++ {
				if all = append(all, string(r)); len(all) > 10 { // more than the digits
					return nil
				}
			}
		}
	case syntax.OpCapture:
		return matchesOf(e.Sub[0])
	case syntax.OpQuest:
		if all = matchesOf(e.Sub[0]); all != nil {
			all = append(all, "")
		}
	case syntax.OpAlternate:
		for _, sub := range e.Sub {
			found := matchesOf(sub)
			if found == nil || len(all)+len(found) > most {
				return nil
			}
			all = append(all, found...)
		}
	case syntax.OpConcat:
		all = []string{""}
		for _, sub := range e.Sub {
			found := matchesOf(sub)
			if found == nil || len(all)*len(found) > most {
				return nil
			}
			var longer []string
			for _, a := range all {
				for _, b := range found {
					longer = append(longer, a+b)
				}
			}
			all = longer
		}
	}
	return all
}

// frequency estimates how often texts stand in other texts.
func frequency(texts []string) (sum float64) {
	for _, text := range texts {
		f := 1.0
		for _, r := range text {
			switch {
			case r == ' ':
				f *= 0.15
			case unicode.IsLetter(r):
				f *= 0.05
			default:
				f *= 0.01
			}
		}
		sum += f
	}
	return sum
}
