package cite

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/palaver-chat/palaver/documents/figures"
)

// CheckFigures makes f look for the figures of the answer in the sources that it cites, or in all
// of them if it cites none. A figure may also come from a calculation with such figures, and from
// the texts that New allows; AllowUncited limits the check to lines with a citation. What is
// not found is in Unverified, and counts for WrongFigures. computed are results of calculations that
// were made for the answer. It changes and returns f.
func (f *Filter) CheckFigures(computed ...string) *Filter {
	f.figures = true
	f.computed = computed
	f.checks = &figureChecks{}
	return f
}

// ChecksFigures reports whether CheckFigures was called.
func (f *Filter) ChecksFigures() bool { return f.figures }

// WrongFigures is how many figures of the answer are not found. It is known after Close.
func (f *Filter) WrongFigures() int { return f.wrongFigures }

// script is the index of a formula: H<sub>2</sub>O.
var script = regexp.MustCompile(`<(?:sub>[^<\n]{1,20}</sub|sup>[^<\n]{1,20}</sup)>|(?:\pL)~\d{1,3}~`)

// place is a stretch of the answer that no source supports, in bytes.
type place struct{ start, end int }

// figureChecks has the result of the last check of an answer. Copies of a filter share it, so that
// an answer that is looked at before its end is checked once.
type figureChecks struct {
	of    []string // what the result depends on
	wrong []place
}

// checkFigures returns the places of the figures that are not found.
func (f *Filter) checkFigures() (out []place) {
	if !f.figures || len(f.sources) == 0 {
		return nil
	}
	cited := map[int]bool{}
	for _, m := range f.mentions {
		cited[m.source.N] = true
	}
	var sources []string
	allowed := slices.Concat(f.allowed, f.quotes)
	for _, n := range f.numbers() {
		s := f.sources[n]
		allowed = append(allowed, s.Title, s.Heading)
		if len(cited) == 0 || cited[n] {
			sources = append(sources, s.Text)
		}
	}
	for _, m := range f.mentions {
		if m.earlier != nil { // of another piece
			sources = append(sources, m.earlier.Quote)
		}
	}
	answer := f.out.String()
	checked := answer
	if f.uncited {
		checked = citedLines(answer)
	}
	of := slices.Concat([]string{checked}, sources, allowed)
	if slices.Equal(of, f.checks.of) {
		return slices.Clone(f.checks.wrong)
	}
	checked = script.ReplaceAllStringFunc(checked, func(tag string) string { return strings.Repeat(" ", len(tag)) })
	for _, x := range figures.Check(checked, sources, allowed, f.computed...) {
		out = append(out, place{x.Start, x.End})
	}
	f.checks.of, f.checks.wrong = of, slices.Clone(out)
	return out
}

// numbers are those of the sources in their order.
func (f *Filter) numbers() (out []int) {
	for n := range f.sources {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// citedLines replaces the lines of an answer without a citation with spaces.
func citedLines(answer string) string {
	var b strings.Builder
	for line := range strings.Lines(answer) {
		if withoutMarkers(line) == line {
			line = strings.Repeat(" ", len(strings.TrimSuffix(line, "\n"))) + line[len(strings.TrimSuffix(line, "\n")):]
		}
		b.WriteString(line)
	}
	return b.String()
}

// setUnverified sets the words of the places that no source supports, in their order. The words of
// a figure begin far enough before it that a reader who looks for them in order finds that place.
func (f *Filter) setUnverified(wrong []place) {
	answer := f.out.String()
	isFigure := map[place]bool{}
	all := slices.Clone(f.unquoted)
	for _, p := range wrong {
		isFigure[p] = true
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b place) int { return cmp.Compare(a.start, b.start) })
	end := 0
	f.unverified = nil
	for _, p := range all {
		if p.start < end {
			continue
		}
		start := p.start
		for isFigure[p] && end+strings.Index(answer[end:], answer[start:p.end]) != start {
			before := strings.TrimRightFunc(answer[end:start], unicode.IsSpace)
			if before == "" || len(before) < start-end && strings.Contains(answer[end+len(before):start], "\n") {
				break
			}
			start = end + strings.LastIndexFunc(before, unicode.IsSpace) + 1
		}
		if end+strings.Index(answer[end:], answer[start:p.end]) == start {
			f.unverified = append(f.unverified, answer[start:p.end])
			end = p.end
		}
	}
	f.wrongFigures = len(wrong)
}
