package cite

import (
	"strings"
	"unicode/utf8"
)

// marker is what parseMarker found at the beginning of a text.
type marker struct {
	undecided bool  // more text is needed
	length    int   // in bytes; 0: no marker
	numbers   []int // named sources, in order, ranges written out
	literal   bool  // a year in brackets, as in "[2024] EWHC 1", or a footnote: text, not a marker
}

const (
	maxMarker = 64 // bytes
	maxRange  = 50 // sources named by one range
)

// parseMarker reads [1], [1, 2], [1-3] and their full-width forms, and [^1], which is
// Markdown's footnote of the answer itself.
func parseMarker(s string, final bool) marker {
	var p numberList
	for i, r := range s {
		switch {
		case i == 0:
			continue
		case closesMarker(r):
			if !p.end() {
				return marker{}
			}
			m := marker{length: i + utf8.RuneLen(r), numbers: p.numbers}
			m.literal = p.footnote || len(p.numbers) == 1 && p.numbers[0] >= 1900 && p.numbers[0] < 2100
			return m
		case i >= maxMarker || !p.add(r):
			return marker{}
		}
	}
	return marker{undecided: !final}
}

// markerAt returns the complete marker at the beginning of s, or a zero marker.
func markerAt(s string) marker {
	if r, _ := utf8.DecodeRuneInString(s); !opensMarker(r) {
		return marker{}
	}
	return parseMarker(s, true)
}

func opensMarker(r rune) bool  { return r == '[' || r == '［' || r == '【' }
func closesMarker(r rune) bool { return r == ']' || r == '］' || r == '】' }
func isDigit(r rune) bool      { return r >= '0' && r <= '9' || r >= '０' && r <= '９' }
func inMarker(r rune) bool     { return isDigit(r) || strings.ContainsRune(" ^,;，、-–—", r) }

func digit(r rune) int {
	if r >= '０' {
		r -= '０' - '0'
	}
	return int(r - '0')
}

// numberList reads "1, 3-5".
type numberList struct {
	numbers  []int
	current  int
	digits   bool // in a number
	done     bool // after a number and a space
	ranged   bool // current closes a range
	footnote bool
}

// add takes the next character. It returns false if this is no list of numbers.
func (p *numberList) add(r rune) bool {
	switch {
	case isDigit(r):
		if p.done {
			return false
		}
		p.digits = true
		p.current = min(p.current*10+digit(r), 1_000_000)
	case !inMarker(r):
		return false
	case r == ' ':
		p.done = p.digits
	case r == '^':
		p.footnote = true
		return !p.digits
	default:
		if !p.digits {
			return false
		}
		p.number()
		p.ranged = r == '-' || r == '–' || r == '—'
	}
	return true
}

// number adds the number being read, and the range that it closes, to the list.
func (p *numberList) number() {
	n := p.current
	if p.ranged {
		from := p.numbers[len(p.numbers)-1]
		for i := from + 1; i < n && i < from+maxRange; i++ {
			p.numbers = append(p.numbers, i)
		}
	}
	p.numbers = append(p.numbers, n)
	p.current, p.digits, p.done, p.ranged = 0, false, false, false
}

// end reports whether the list is complete.
func (p *numberList) end() bool {
	if !p.digits {
		return false
	}
	p.number()
	return true
}
