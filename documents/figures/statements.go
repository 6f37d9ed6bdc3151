package figures

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/lazyregexp"
)

// statement is what a text says of a quantity without a number that stands alone: a share, a multiple, a
// quarter, a fiscal year, a time of day, a ratio or a version.
type statement struct {
	kind  string
	value float64
	text  string // of those that are compared as they are written
}

// placedStatement is a statement at its place.
type placedStatement struct {
	statement
	start, end int
	anyHalf    bool // a time of day that does not say which half of the day
}

const (
	share    = "share"
	multiple = "multiple" // of another one
	becomes  = "change"   // to a multiple
	half     = "half of a year"
	quarter  = "quarter"
	fiscal   = "fiscal year"
	clock    = "time of day"
	ratio    = "ratio"
	version  = "version"
	ordinal  = "ordinal"
	code     = "code"
	digits   = "digits" // of a telephone number or an account
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

// partWords are the words for parts of a whole, such as "fifths"; partOrdinals, such as "fifth", name a place in an
// order unless a word says of what they are a part.
var partWords, partOrdinals = partsNamed("denominator words"), partsNamed("denominator ordinals")

func partsNamed(list string) string {
	var names []string
	for w := range words.lists.Set(list) {
		name, _, _ := strings.Cut(w, "=")
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, "|")
}

var phrases = []phrase{
	phraseOf(half, 1, `(?:first|1st) half|h1|erste[sn]? (?:halbjahr|hälfte)|premier semestre|primer semestre|eerste (?:halfjaar|helft)`),
	phraseOf(half, 2, `(?:second|2nd|latter) half|h2|zweite[sn]? (?:halbjahr|hälfte)|(?:deuxième|second) semestre|segundo semestre|tweede (?:halfjaar|helft)`),
	phraseOf(share, 1./2, `(?:one|a) half of|half (?:of|the)|die hälfte|la moitié|la mitad|de helft`),
	phraseOf(share, 1./3, `a third of|one[- ]third|eine?[sm]? drittels?|un tiers d(?:es?|u)|un tercio|een derde (?:van|deel)`),
	phraseOf(share, 2./3, `two[- ]thirds|zwei drittel|deux tiers|dos tercios|twee derde`),
	phraseOf(share, 1./4, `a quarter of|one[- ]quarter of|ein viertel|einem viertel|un quart d(?:es?|u)|un cuarto del?|la cuarta parte|een kwart`),
	phraseOf(share, 3./4, `three[- ]quarters|drei viertel|dreiviertel|trois quarts|tres cuartos|driekwart`),
	phraseOf(share, 1./5, `one-fifth|ein fünftel|una quinta parte`),
	phraseOf(share, 1./10, `one-tenth|ein zehntel|una décima parte`),
	phraseOf(becomes, 2, `doubled|doubling|verdoppelt\pL*|doublé\pL*|duplic(?:[oó]|aron|ad[oa]s?)|verdubbeld\pL*`),
	phraseOf(multiple, 2, `twice as \pL+|double (?:the|that|what)|doppelt so \pL+|deux fois plus|el doble|twee keer zo \pL+`),
	phraseOf(becomes, 3, `tripled|trebled|verdreifacht\pL*|triplé\pL*|triplic(?:[oó]|aron|ad[oa]s?)|verdrievoudigd\pL*`),
	phraseOf(multiple, 3, `three times as \pL+|dreimal so \pL+|trois fois plus`),
	phraseOf(becomes, 4, `quadrupled|vervierfacht\pL*|quadruplé\pL*|cuadruplic(?:[oó]|aron|ad[oa]s?)|verviervoudigd\pL*`),
	phraseOf(multiple, 4, `four times as \pL+`),
	phraseOf(becomes, 1./2, `halved|halving|halbiert\pL*|(?:réduit\pL*|divisé\pL*) (?:de moitié|par deux)|a la mitad|gehalveerd\pL*|halveerde\pL*`),
	phraseOf(multiple, 1./2, `half as \pL+|halb so \pL+`),
	phraseOf(quarter, 1, `q1|1q|(?:first|1st) quarter|(?:1\.|erste[sn]?) quartal|(?:premier|1er|primer) trimestre|eerste kwartaal`),
	phraseOf(quarter, 2, `q2|2q|(?:second|2nd) quarter|(?:2\.|zweite[sn]?) quartal|(?:deuxième|2e|segundo) trimestre|tweede kwartaal`),
	phraseOf(quarter, 3, `q3|3q|(?:third|3rd) quarter|(?:3\.|dritte[sn]?) quartal|(?:troisième|3e|tercer) trimestre|derde kwartaal`),
	phraseOf(quarter, 4, `q4|4q|(?:fourth|4th) quarter|(?:4\.|vierte[sn]?) quartal|(?:quatrième|4e|cuarto) trimestre|vierde kwartaal`),
	phraseOf(fiscal, 0, `fy\s?'?(?:20)?\d\d`),
	phraseOf(share, 0, `(?:a|one|two|three|four|five|six|seven|eight|nine|eine?[mrs]?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|une?|deux|trois|quatre|cinq|un[ao]?|la|dos|tres|cuatro|cinco|een|twee|drie|vijf)[- ](?:`+partWords+`)(?: of\b)?`),
	phraseOf(share, 0, `(?:(?:an?|one|une?|un[ao]?|la|el|een)[- ](?:`+partOrdinals+`) (?:of|d(?:es?|u|el)|partes?|van|deel)|(?:twee|drie|vier|vijf|zes|zeven|acht|negen) (?:`+partOrdinals+`))`),
	phraseOf(share, 0, `(?:one|two|three|four|five|six|seven|eight|nine) (?:in|out of) (?:every )?(?:two|three|four|five|six|seven|eight|nine|ten|twenty|hundred)|jede[rsmn]? (?:dritte|vierte|fünfte|zehnte)[rsn]?|(?:une?|deux|trois|quatre) (?:\pL+ )?sur (?:deux|trois|quatre|cinq|six|sept|huit|neuf|dix|vingt|cent)|(?:un[oa]?|dos|tres|cuatro) de cada (?:dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|cien)|(?:één|een|twee|drie|vier) op de (?:twee|drie|vier|vijf|zes|zeven|acht|negen|tien|honderd)|eine?[rsm]? von (?:zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|hundert)`),
	phraseOf(clock, 0, `(?:[01]?\d|2[0-4])(?:[:h]|\sh\s)[0-5]\d(?:\s?[ap]\.?m\b)?|(?:[01]?\d|2[0-4])(?:[.:][0-5]\d)?\suhr|(?:1[0-2]|0?[1-9])\s?[ap]\.?m`),
	phraseOf(ratio, 0, `\d+:\d+`),
	phraseOf(version, 0, `v?\d+(?:\.\d+){2,3}|(?:versions?|release|v\.?) ?\d+\.\d+`),
	phraseOf(code, 0, `\pL{1,6}-\d{3,}(?:-\d+)*`),
	phraseOf(digits, 0, `\+?\(?\d{2,5}\)?(?:[ /-]+\(?\d{2,9}\)?)+`),
	phraseOf(ordinal, 0, `\d{1,3}(?:st|nd|rd|th|er|re|e|ème|eme|º|ª)`),
}

// statementsIn returns the statements of a text in its order.
func statementsIn(text string) []placedStatement { return phrasesIn(text, phrases) }

// inDigits are the kinds of statements that are written in digits.
var inDigits = map[string]bool{clock: true, ratio: true, version: true, code: true, digits: true, ordinal: true}

// phrasesFor returns the phrases to read in the sources of an answer with figures and statements.
func phrasesFor(found []Figure, stated []placedStatement) []phrase {
	kinds := map[string]bool{fiscal: true} // it also names a year
	for _, s := range stated {
		if inDigits[s.kind] { // any other may be a part of it
			return phrases
		}
		kinds[s.kind] = true
	}
	kinds[share] = kinds[share] || slices.ContainsFunc(found, func(f Figure) bool { return f.Unit == Percent })
	kinds[half] = kinds[half] || kinds[share] // "the first half of" is no share
	kinds[multiple] = kinds[multiple] || kinds[becomes]
	kinds[becomes] = kinds[multiple]
	return slices.DeleteFunc(slices.Clone(phrases), func(p phrase) bool { return !kinds[p.kind] })
}

func phrasesIn(text string, phrases []phrase) (out []placedStatement) {
	small := strings.ToLower(text)
	for _, p := range phrases {
		windows := p.windows(text, small)
		for at := 0; len(windows) > 0; {
			at = max(at, windows[0][0])
			m := p.FindStringSubmatchIndex(text[at:windows[0][1]])
			if m == nil {
				windows = windows[1:]
				continue
			}
			s := placedStatement{statement: statement{kind: p.kind, value: p.value}, start: at + m[2], end: at + m[3]}
			at = s.end
			written := strings.ToLower(text[s.start:s.end])
			switch p.kind {
			case fiscal:
				n, _ := strconv.Atoi(written[len(written)-2:])
				s.value = float64(2000 + n)
			case clock:
				if strings.HasSuffix(written, " am") && language.Detect(text) == "de" { // "12 am Standort"
					continue
				}
				s.value = minutes(written)
				s.anyHalf = s.value < 12*60 && !strings.ContainsAny(written, "apu")
			case ratio:
				s.text = written
			case share:
				if s.value = cmp.Or(s.value, partOf(written)); s.value == 0 {
					continue
				}
			case code:
				s.text = literalOf(written)
			case digits:
				if s.text = digitsOf(written); len(s.text) < 7 || len(Days(written)) > 0 {
					continue
				}
			case ordinal:
				n, _ := strconv.Atoi(digitsOf(written))
				if s.value = float64(n); slices.ContainsFunc(Days(text), func(d Day) bool { return d.Start < s.end && s.start < d.End }) {
					continue
				}
			case version:
				if s.text = versionNumber.FindString(written); slices.ContainsFunc(Days(written), func(d Day) bool { return d.Year > 0 }) {
					continue
				}
				if values, _ := Readings(written); values != nil && strings.Count(written, ".") > 1 { // 1.234.567
					continue
				}
			}
			if !slices.ContainsFunc(out, func(o placedStatement) bool { return s.start < o.end && o.start < s.end }) {
				out = append(out, s)
			}
		}
	}
	slices.SortFunc(out, func(a, b placedStatement) int { return cmp.Compare(a.start, b.start) })
	return out
}

var versionNumber = lazyregexp.New(`\d.*`)

func digitsOf(s string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
}

// partOf returns the share that words such as "two fifths" and "one in four" say; 0 for others.
func partOf(written string) float64 {
	var numbers []float64
	for _, w := range letters.FindAllString(written, -1) {
		switch n, ok := Number(w); {
		case words.parts[w] > 0 && !(len(numbers) == 0 && ok):
			numbers = append(numbers, words.parts[w])
		case ok:
			numbers = append(numbers, n)
		}
	}
	switch {
	case len(numbers) == 1: // "a fifth", "jeder vierte"
		return 1 / numbers[0]
	case len(numbers) == 2 && numbers[0] < numbers[1]:
		return numbers[0] / numbers[1]
	}
	return 0
}

// isStated reports whether a figure is a part of a statement that the texts make, too: of a time of day, an ordinal
// or a telephone number.
func (k *knownFigures) isStated(f Figure, stated []placedStatement) bool {
	return slices.ContainsFunc(stated, func(s placedStatement) bool {
		return s.kind != share && s.start <= f.Start && f.End <= s.end && k.statements[s.statement]
	})
}

var timeOfDay = lazyregexp.New(`^(\d{1,2})(?:\s?[:.h]\s?(\d{2}))?\s?([ap]?)`)

// minutes returns the minutes since midnight of "5:30 pm".
func minutes(written string) float64 {
	m := timeOfDay.FindStringSubmatch(written)
	if m == nil {
		return -1
	}
	h, _ := strconv.Atoi(m[1])
	minute, _ := strconv.Atoi(m[2]) // 0 if there are none
	switch half := m[3]; {
	case strings.HasPrefix(half, "p") && h < 12:
		h += 12
	case strings.HasPrefix(half, "a") && h == 12:
		h = 0
	}
	return float64(60*h + minute)
}

// wrongStatements returns those of an answer's statements that the sources contradict: they make such a
// statement, but another one. A share or a multiple must be theirs, or follow from figures in one of their lines.
func (k *knownFigures) wrongStatements(answer string, stated []placedStatement) (out []Figure) {
	for _, s := range stated {
		if !k.says(s) {
			out = append(out, Figure{Start: s.start, End: s.end, Text: answer[s.start:s.end]})
		}
	}
	return out
}

// says reports whether nothing in the texts contradicts a statement.
func (k *knownFigures) says(s placedStatement) bool {
	return k.states(s.statement) || s.anyHalf && k.statements[statement{kind: clock, value: s.value + 12*60}]
}

func (k *knownFigures) states(s statement) bool {
	if k.statements[s] {
		return true
	}
	switch s.kind {
	case code:
		if k.literal[s.text] {
			return true
		}
	case fiscal:
		return slices.ContainsFunc(k.figures, func(f Figure) bool { return f.Plain && f.Values[0] == s.value })
	case becomes:
		return k.statements[statement{kind: multiple, value: s.value}] || k.follows(s)
	case multiple:
		return k.statements[statement{kind: becomes, value: s.value}] || k.follows(s)
	case share:
		return k.follows(s)
	}
	if s.kind == ordinal && slices.ContainsFunc(k.figures, func(f Figure) bool { return f.Plain && f.Values[0] == s.value }) {
		return true
	}
	for o := range k.statements {
		if o.kind == s.kind && (s.kind != code && s.kind != digits || s.kind == code && lettersAfter(o.text) == lettersAfter(s.text)) {
			return false
		}
	}
	return true
}

// follows reports whether a share or a multiple follows from percentages, or from two figures in one line.
func (k *knownFigures) follows(s statement) bool {
	const near = 0.08 // of the value: people round
	close := func(x float64) bool { return math.Abs(x-s.value) <= near*s.value }
	if slices.ContainsFunc(k.figures, func(f Figure) bool {
		if f.Unit != Percent {
			return false
		}
		v := f.Values[0] / 100
		if s.kind == share {
			return close(v)
		}
		if f.sense[change] < 0 {
			v = -v
		}
		return close(1 + v)
	}) {
		return true
	}
	for _, line := range k.lines {
		if s.kind == becomes && len(line.pairs) > 0 {
			if slices.ContainsFunc(line.pairs, func(p pair) bool { return p.old.Values[0] != 0 && close(p.new.Values[0]/p.old.Values[0]) }) {
				return true
			}
			continue
		}
		for i, a := range line.figures {
			for j, b := range line.figures {
				if i != j && b.Values[0] != 0 && close(a.Values[0]/b.Values[0]) {
					return true
				}
			}
		}
	}
	return false
}
