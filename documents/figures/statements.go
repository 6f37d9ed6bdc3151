package figures

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

// statement is what a text says of a quantity without a number that stands alone: a share, a multiple, a
// quarter, a fiscal year, a time of day, a ratio or a version.
type statement struct {
	kind  string
	value float64
	text  string // of those that are compared as they are written
}

// said is a statement at its place.
type said struct {
	statement
	start, end int
}

const (
	share    = "share"
	multiple = "multiple"
	half     = "half of a year"
	quarter  = "quarter"
	fiscal   = "fiscal year"
	clock    = "time of day"
	ratio    = "ratio"
	version  = "version"
)

// phrase is a form of a statement; its groups are read by value.
type phrase struct {
	pattern
	kind  string
	value float64 // 0: that of the group
}

func phraseOf(kind string, value float64, expression string) phrase {
	return phrase{patternOf(`(?:^|[^\pL\pN])(` + expression + `)(?:$|[^\pL\pN])`), kind, value}
}

var phrases = []phrase{
	phraseOf(half, 1, `(?:first|1st) half|h1|erste[sn]? (?:halbjahr|hälfte)|premier semestre|primer semestre|eerste (?:halfjaar|helft)`),
	phraseOf(half, 2, `(?:second|2nd|latter) half|h2|zweite[sn]? (?:halbjahr|hälfte)|(?:deuxième|second) semestre|segundo semestre|tweede (?:halfjaar|helft)`),
	phraseOf(share, 1./2, `(?:one|a) half of|half (?:of|the)|die hälfte|la moitié|la mitad|de helft`),
	phraseOf(share, 1./3, `a third of|one[- ]third|eine?[sm]? drittels?|un tiers de[s]?|un tiers du|un tercio|een derde (?:van|deel)`),
	phraseOf(share, 2./3, `two[- ]thirds|zwei drittel|deux tiers|dos tercios|twee derde`),
	phraseOf(share, 1./4, `a quarter of|one[- ]quarter of|ein viertel|einem viertel|un quart|un cuarto|la cuarta parte|een kwart`),
	phraseOf(share, 3./4, `three[- ]quarters|drei viertel|dreiviertel|trois quarts|tres cuartos|driekwart`),
	phraseOf(share, 1./5, `a fifth of|one[- ]fifth|ein fünftel|un cinquième|una quinta parte|een vijfde`),
	phraseOf(share, 1./10, `a tenth of|one[- ]tenth|ein zehntel|un dixième|una décima parte|een tiende`),
	phraseOf(multiple, 2, `doubled|doubling|twice as \pL+|double (?:the|that|what)|verdoppelt\pL*|doppelt so \pL+|doublé\pL*|deux fois plus|duplic[oó]|duplicado|el doble|verdubbeld\pL*|twee keer zo \pL+`),
	phraseOf(multiple, 3, `tripled|trebled|three times as \pL+|verdreifacht\pL*|dreimal so \pL+|triplé\pL*|trois fois plus|triplic[oó]|triplicado|verdrievoudigd\pL*`),
	phraseOf(multiple, 4, `quadrupled|four times as \pL+|vervierfacht\pL*|quadruplé\pL*|cuadruplic[oó]|verviervoudigd\pL*`),
	phraseOf(multiple, 1./2, `halved|half as \pL+|halbiert\pL*|halb so \pL+|réduit\pL* de moitié|gehalveerd\pL*`),
	phraseOf(quarter, 1, `q1|1q|(?:first|1st) quarter|(?:1\.|erste[sn]?) quartal|(?:premier|1er|primer) trimestre|eerste kwartaal`),
	phraseOf(quarter, 2, `q2|2q|(?:second|2nd) quarter|(?:2\.|zweite[sn]?) quartal|(?:deuxième|2e|segundo) trimestre|tweede kwartaal`),
	phraseOf(quarter, 3, `q3|3q|(?:third|3rd) quarter|(?:3\.|dritte[sn]?) quartal|(?:troisième|3e|tercer) trimestre|derde kwartaal`),
	phraseOf(quarter, 4, `q4|4q|(?:fourth|4th) quarter|(?:4\.|vierte[sn]?) quartal|(?:quatrième|4e|cuarto) trimestre|vierde kwartaal`),
	phraseOf(fiscal, 0, `fy\s?'?(?:20)?\d\d`),
	phraseOf(clock, 0, `(?:[01]?\d|2[0-4])[:h][0-5]\d(?:\s?[ap]\.?m\b)?`),
	phraseOf(ratio, 0, `\d+:\d+`),
	phraseOf(version, 0, `\d+(?:\.\d+){2,3}`),
}

// statementsIn returns the statements of a text in its order.
func statementsIn(text string) []said { return phrasesIn(text, phrases) }

// fiscalYears are the phrases that also name a year.
var fiscalYears = slices.DeleteFunc(slices.Clone(phrases), func(p phrase) bool { return p.kind != fiscal })

func phrasesIn(text string, phrases []phrase) (out []said) {
	small := strings.ToLower(text)
	for _, p := range phrases {
		for at := 0; p.mayMatch(small); {
			m := p.FindStringSubmatchIndex(text[at:])
			if m == nil {
				break
			}
			s := said{statement{kind: p.kind, value: p.value}, at + m[2], at + m[3]}
			at = s.end
			written := strings.ToLower(text[s.start:s.end])
			switch p.kind {
			case fiscal:
				n, _ := strconv.Atoi(written[len(written)-2:])
				s.value = float64(2000 + n)
			case clock:
				s.value = minutes(written)
			case ratio:
				s.text = written
			case version:
				if s.text = written; slices.ContainsFunc(Days(written), func(d Day) bool { return d.Year > 0 }) {
					continue
				}
				if values, _ := Readings(written); values != nil { // 1.234.567
					continue
				}
			}
			if !slices.ContainsFunc(out, func(o said) bool { return s.start < o.end && o.start < s.end }) {
				out = append(out, s)
			}
		}
	}
	slices.SortFunc(out, func(a, b said) int { return cmp.Compare(a.start, b.start) })
	return out
}

// minutes returns the minutes since midnight of "5:30 pm".
func minutes(written string) float64 {
	hours, rest, _ := strings.Cut(strings.Replace(written, "h", ":", 1), ":")
	h, _ := strconv.Atoi(hours)
	m, _ := strconv.Atoi(rest[:2])
	switch half := strings.Trim(rest[2:], " ."); {
	case strings.HasPrefix(half, "p") && h < 12:
		h += 12
	case strings.HasPrefix(half, "a") && h == 12:
		h = 0
	}
	return float64(60*h + m)
}

// wrongStatements returns those of an answer's statements that the sources contradict: they make such a
// statement, but another one. A share or a multiple must be theirs, or follow from figures in one of their lines.
func (k *known) wrongStatements(answer string, stated []said) (out []Figure) {
	for _, s := range stated {
		if !k.states(s.statement) {
			out = append(out, Figure{Start: s.start, End: s.end, Text: answer[s.start:s.end]})
		}
	}
	return out
}

func (k *known) states(s statement) bool {
	if k.statements[s] {
		return true
	}
	switch s.kind {
	case fiscal:
		return slices.ContainsFunc(k.figures, func(f Figure) bool { return f.Plain && f.Values[0] == s.value })
	case share, multiple:
		return k.follows(s)
	}
	for o := range k.statements {
		if o.kind == s.kind {
			return false
		}
	}
	return true
}

// follows reports whether a share or a multiple follows from percentages, or from two figures in one line.
func (k *known) follows(s statement) bool {
	const near = 0.08 // of the value: people round
	close := func(x float64) bool { return math.Abs(x-s.value) <= near*s.value }
	if slices.ContainsFunc(k.figures, func(f Figure) bool {
		return f.Unit == Percent && (s.kind == share && close(f.Values[0]/100) || s.kind == multiple && close(1+f.Values[0]/100))
	}) {
		return true
	}
	for _, line := range k.lines {
		for i, a := range line {
			for j, b := range line {
				if i != j && b.Values[0] != 0 && close(a.Values[0]/b.Values[0]) {
					return true
				}
			}
		}
	}
	return false
}
