package figures

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/lazyregexp"
)

// Check returns the figures of an answer that stand neither in one of the sources nor in a text
// that may be used without being cited, and that are no result of a calculation with figures that
// do. It understands units, scales, rounding to the digits that are written, and dates. Numbers of
// lists, headings and citations, text in code, and how many items a list of the answer has are no
// figures. computed are calculations that were made for the answer: lines such as "3 * 4 = 12", whose results count
// if all of their inputs do.
func Check(answer string, sources, allowed []string, computed ...string) []Figure {
	text := blank(answer)
	stated := statementsIn(text)
	found := Find(text)
	if len(found) == 0 && !references.MatchString(answer) && len(stated) == 0 {
		return nil // most answers have no figure: their sources are not read
	}
	said := language.Detect(answer)
	all := strings.Join(sources, "\n")
	lang := said
	if lang == "" {
		lang = language.Detect(all)
	}
	english := lang == "en" || said == "" && (englishScale.MatchString(answer) || commaGroups(all))
	pointGroups := !english && (said != "" && withPointGroups[said] || said == "" && germanScale.MatchString(answer)) && !commaGroups(all) && language.Detect(all) != "en"
	k := knownFigures{read: phrasesFor(found, stated)}
	for _, s := range slices.Concat(sources, allowed) {
		k.pointGroups = pointGroupsIn(s)
		k.commaGroups = commaGroups(s) || english && !k.pointGroups
		k.add(s)
	}
	for _, s := range computed {
		for line := range strings.Lines(s) {
			k.compute(line)
		}
	}
	missing := append(k.wrongReferences(answer), k.wrongStatements(text, stated)...)
	items := listSizes(answer)
	blocks := blocksOf(text)
	var shown []formula
	for _, b := range blocks {
		for _, f := range formulasIn(withoutPowers(text[b[0]:b[1]])) {
			f.start, f.end = f.start+b[0], f.end+b[0]
			shown = append(shown, f)
		}
	}
	shares := sharesOf(text, found)
	for _, b := range blocks {
		line := text[b[0]:b[1]]
		found := Find(line)
		for i, f := range found {
			switch two := len(f.Values) == 2; {
			case english && (said == "en" || two && f.Values[0] > f.Values[1]): // else a point may group them
				f = f.likeliest()
			case two && pointGroups:
				f = f.grouped().likeliest()
			}
			f.Start, f.End = f.Start+b[0], f.End+b[0]
			if f.Start == b[0] && len(f.Values) > 0 && f.Values[0] < 0 { // the mark of a list
				f.negate()
			}
			f.Falls = falls(line)
			found[i] = f
		}
		readSenses(text[:b[1]], found)
		pairs := pairsIn(text, found)
		withoutOld(found, pairs)
		own, others := between(shown, b)
		verified := make([]bool, len(found))
		for i, f := range found {
			verified[i] = k.has(f) || k.isStated(f, stated) || f.Plain && k.literal[literalOf(wordBefore(text[:f.Start])+f.Text)] || f.Plain && slices.Contains(items, int(f.Values[0])) || isConstant(text, own, f)
		}
		for range 2 { // a result may be part of another calculation
			for i, f := range found {
				switch {
				case verified[i] || isResult(shown, f) || isResult(shares, f):
					verified[i] = true
				case len(own) == 0:
					in := append(inputs(found, verified, i), resultsOf(others)...)
					verified[i] = calculated(line, f, in, len(shown) == 0) || len(shown) == 0 && (k.ofRow(line, f, b[0]) || k.ofPair(f))
				}
			}
		}
		for i, f := range found {
			if !verified[i] || k.isForeign(f) || isWrongResult(text, own, f) || !isResult(shown, f) && k.isContradicted(f) || contradictsItself(f, pairs) || k.isReversed(f, pairs) {
				missing = append(missing, f)
			} else if len(f.Values) > 0 {
				k.figures = append(k.figures, f) // the conclusion may repeat it
			}
		}
	}
	slices.SortStableFunc(missing, func(a, b Figure) int { return a.Start - b.Start })
	return missing
}

var (
	codeOrLink = lazyregexp.New("(?s)```.*?```|`[^`\n]*`|https?://\\S+|!?\\[[^\\]\n]*\\]\\([^)\n]*\\)")
	// marks are numbers of citations, of list items, of headings and of clauses.
	marks = lazyregexp.New(`(?m)[\[【［]\^?\d+(?:\s?[-–,、]\s?\d+)*[\]】］]|^[ \t>]*(?:#{1,6}[ \t]+)?(?:[*_]{1,2})?\(?\d{1,3}(?:\.\d{1,2})*[.)](?:[*_]{1,2})?[ \t]|^[ \t]*#{1,6}[ \t]+\d+(?:\.\d+)*[ \t]|` +
		`(?i:(?:§+|\b(?:art\.|articles?|sections?|clauses?|chapters?|pages?|p\.|tables?|figures?|notes?|items?|steps?|appendix|annex|artikel|abschnitt|ziffer|absatz|kapitel|seiten?|tabelle|schritt|anhang|sección|cláusula|página|capítulo|chapitre|bijlage|pagina|hoofdstuk))\s*(?:no\.?\s*)?(?:[a-z]\.?\s?)?\d+(?:\.\d+)*(?:[a-z]{1,2}\b)?(?:\s?(?:[-–,&]|and|und|et|y|en|to)\s?\d+(?:\.\d+)*)*)`)
)

// blank replaces what is no figure with spaces, so that places stay the same.
func blank(s string) string {
	spaces := func(m string) string { return strings.Repeat(" ", len(m)) }
	s = withoutCounting(codeOrLink.ReplaceAllStringFunc(s, spaces))
	return marks.ReplaceAllStringFunc(strings.NewReplacer("**", "  ", "_", " ").Replace(s), spaces)
}

// withoutPowers replaces numbers such as 1.2 × 10^6 with spaces: they are no calculation.
func withoutPowers(s string) string {
	return powers.ReplaceAllStringFunc(s, func(m string) string { return strings.Repeat(" ", len(m)) })
}

// counting matches numbers that count parts of a text: "(1) … (2) …", and "Option 1: …" at the beginning of a line.
var counting = []*lazyregexp.Regexp{lazyregexp.New(`[(（](\d{1,2})[)）]`), lazyregexp.New(`(?m)^[ \t*#-]*\pL+ (\d{1,2})(?:\*\*)?[:：]`)}

// withoutCounting replaces with spaces the numbers that count from one to at least two.
func withoutCounting(s string) string {
	for _, c := range counting {
		all := c.FindAllStringSubmatchIndex(s, -1)
		if len(all) < 2 {
			continue
		}
		inOrder := true
		for i, m := range all {
			inOrder = inOrder && s[m[2]:m[3]] == strconv.Itoa(i+1)
		}
		for _, m := range all {
			if inOrder {
				s = s[:m[2]] + strings.Repeat(" ", m[3]-m[2]) + s[m[3]:]
			}
		}
	}
	return s
}

// blocksOf returns the paragraphs, list items and rows of a text: a calculation stands in one.
func blocksOf(s string) (out [][2]int) {
	from := 0
	for from < len(s) {
		to := len(s)
		if i := strings.IndexByte(s[from:], '\n'); i >= 0 {
			to = from + i + 1
		}
		out = append(out, [2]int{from, to})
		from = to
	}
	return out
}

var listItem = lazyregexp.New(`^\s*(?:[-*•+]|\d{1,3}[.)])\s|^\s*\|`)

// listSizes returns how many items the lists and tables of an answer have.
func listSizes(answer string) (out []int) {
	n := 0
	end := func() {
		if n > 1 {
			out = append(out, n, n-2) // a table has two lines above its rows
		}
		n = 0
	}
	for line := range strings.Lines(answer) {
		switch {
		case listItem.MatchString(line):
			n++
		case strings.TrimSpace(line) != "" && !strings.HasPrefix(line, " "):
			end()
		}
	}
	end()
	return out
}

// knownFigures are the figures that an answer may have.
type knownFigures struct {
	figures []Figure
	days    []Day
	literal map[string]bool
	refers  bool // to sections or articles
	// commaGroups: in the text that is added a comma groups digits, and a point stands before decimals.
	commaGroups bool
	pointGroups bool // the other way round
	rows        []row
	lines       []lineOf
	read        []phrase // of statements in the texts
	statements  map[statement]bool
	scales      []float64 // that a text says for its tables: "in millions"
	currencies  map[string]bool
	measures    []measure // that the names of columns have: "Use (MWh)"
}

// lineOf is a line with its figures, and what became what in it as far as it is known.
type lineOf struct {
	figures []Figure
	pairs   []pair
	table   bool
}

// row is a row of a table with its figures.
type row struct {
	stems   language.Set
	figures []Figure
}

// ScaleIn returns the scale that a text says for its figures, such as 1e6 for "(in millions)"; else 0.
func ScaleIn(text string) float64 {
	if m := inScale.FindStringSubmatch(text); m != nil {
		return scaleNamed(m[1])
	}
	return 0
}

// inBrackets matches a word that stands alone in brackets.
var inBrackets = lazyregexp.New(`[(\[]([^\s()\[\]]{1,12})[)\]]`)

func scaleNamed(word string) float64 {
	word = strings.ToLower(word)
	switch {
	case strings.HasSuffix(word, "000"):
		return 1e3
	case len(word) > 1 && scaleLetters[word[:1]] > 0 && words.currencies[word[1:]] != "": // TEUR, k€
		return scaleLetters[word[:1]]
	case word == "m":
		return 1e6
	}
	return words.scales[word]
}

var inScale = patternOf(`(?:(?:\b(?:in|en|usd|eur)|[$€£(])\s*)(?:(?:of|u\.s\.|us)\s*)?(?:[$€£]|dollars?|euros?|usd|eur)?\s*((?:thousands?|millions?|billions?|milliards?|tausend|tsd|millionen|milliarden|milliers|millones|miles|duizenden|duizend|miljoenen|miljoen|miljard|[tkm](?:eur|usd|gbp|chf|cad|aud)|mio|mrd|mn|bn|m|'000|’000|000)\b|[tkm][€$£])`)

func (k *knownFigures) add(text string) {
	small := strings.ToLower(text)
	k.addCurrencies(text)
	k.refers = k.refers || len(references.in(text, small)) > 0
	for _, m := range inScale.in(text, small) {
		if scale := scaleNamed(text[m[2]:m[3]]); !slices.Contains(k.scales, scale) {
			k.scales = append(k.scales, scale)
		}
	}
	for _, m := range inBrackets.FindAllStringSubmatch(small, -1) {
		if of := words.measures[m[1]]; of.factor > 0 && !slices.Contains(k.measures, of) {
			k.measures = append(k.measures, of)
		}
	}
	for _, s := range phrasesIn(text, k.read) {
		if k.statements == nil {
			k.statements = map[statement]bool{}
		}
		k.statements[s.statement] = true
		if s.kind == fiscal {
			k.addYear(s.value)
		}
	}
	for _, m := range season.FindAllStringSubmatch(text, -1) {
		year, _ := strconv.ParseFloat(m[1]+m[2], 64) // digits
		k.addYear(year)
	}
	var columns []column
	above, head := false, "" // whether the line above a table names a percentage, and the table's head
	for line := range strings.Lines(text) {
		found := Find(line)
		down := falls(line)
		table := strings.Contains(line, "|")
		if !table {
			readSenses(line, found)
			withoutOld(found, pairsIn(line, found))
		}
		var values []Figure
		gains := table && resultRow(line, found)
		named := percentNamed(line)
		switch {
		case !table && strings.TrimSpace(line) != "":
			above, head = named, ""
		case table && !slices.ContainsFunc(found, func(f Figure) bool { return len(f.Values) > 0 && !f.IsYear() }):
			head = line
		}
		inPercent := named || table && (above || percentNamed(head) && cellAt(head, len(head)) != cellAt(line, len(line)))
		for i, f := range found {
			bracket := strings.HasSuffix(line[:f.Start], "(")
			switch f.Falls = down || bracket; {
			case k.commaGroups:
				f = f.likeliest()
			case k.pointGroups:
				f = f.grouped()
			}
			if table && f.Unit != Percent {
				f.sense[gain] = signOf(gains && !bracket, bracket || f.isNegative())
			}
			f.bare = len(f.Values) > 0 && f.Unit == "" && f.Step >= 1 && (!table && wordFollows.MatchString(line[f.End:]) || !inPercent && (bracket || table && !percentNamed(cellOf(head, cellAt(line, f.Start)))))
			found[i] = f
			if f.IsMoney() {
				k.addCurrency(f.Unit)
			}
			if len(f.Values) > 0 && !f.IsYear() {
				values = append(values, f)
			}
			if f.Day.IsZero() {
				k.figures = append(k.figures, f)
				continue
			}
			k.days = append(k.days, f.Day)
			if f.Day.Year > 0 {
				k.addYear(float64(f.Day.Year))
			}
		}
		const most = 24 // figures of a line that are set against each other
		l := lineOf{figures: values[:min(len(values), most)], table: table}
		if !table {
			l.pairs = pairsIn(line, found)
		} else if named := columnsOf(line, found); len(named) > 1 {
			columns = named
		} else {
			l.pairs = pairsOf(line, values, columns)
		}
		k.lines = append(k.lines, l)
		for _, m := range number.FindAllString(line, -1) { // groups of three digits may be two numbers
			if parts := strings.Fields(m); len(parts) > 1 {
				for _, part := range parts {
					values, _ := Readings(part)
					k.figures = append(k.figures, Figure{Values: values, Step: 1, Scale: 1})
				}
			}
		}
		// Numbers within words: FY22, Q4, 10-K, ISO 9001.
		name := ""
		for _, w := range strings.FieldsFunc(line, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("|()[];_§", r) }) {
			before := name
			name = ""
			if w = strings.Trim(w, ".,:;?!"); lettersAfter(w) == w {
				name = w
			}
			if !strings.ContainsAny(w, "0123456789") || strings.Contains(w, ",") && withComma.MatchString(w) {
				continue // "2,5" has no 5
			}
			if k.literal == nil {
				k.literal = map[string]bool{}
			}
			for part := range strings.SplitSeq(w, ",") {
				k.literal[literalOf(part)] = true
			}
			if before != "" {
				k.literal[literalOf(before+w)] = true
			}
		}
		if table && len(found) > 1 {
			k.rows = append(k.rows, row{language.StemsOf(line), found})
		}
	}
}

// withComma matches one number that has a comma.
var withComma = lazyregexp.New(`^[^\d\pL]*\d[\d.]*(?:,\d{3})*(?:,\d+)?(?:\.\d+)?[^\d\pL]*$`)

// season matches 2023/24 and 2023-2024.
var season = lazyregexp.New(`\b((?:19|20))\d\d\s?[/–-]\s?(?:19|20)?(\d\d)\b`)

func (k *knownFigures) addYear(year float64) {
	k.figures = append(k.figures, Figure{Values: []float64{year}, Step: 1, Scale: 1, Plain: true})
}

var (
	pointDecimals = lazyregexp.New(`\d\.\d{1,2}(?:\D|$)|\d,\d{3}\.\d`)
	commaDecimals = lazyregexp.New(`\d,\d{1,2}(?:\D|$)|\d\.\d{3},\d`)
)

// commaGroups reports whether the numbers of a text show that a comma groups digits.
func commaGroups(text string) bool {
	return pointDecimals.MatchString(text) && !commaDecimals.MatchString(text)
}

// pointGroupsIn reports whether a text shows, or its language says, that a point groups digits and a comma
// stands before decimals.
func pointGroupsIn(text string) bool {
	return commaDecimals.MatchString(text) && !pointDecimals.MatchString(text) || !commaGroups(text) && withPointGroups[language.Detect(text)]
}

// withPointGroups are languages in which a point groups digits and a comma stands before decimals.
var withPointGroups = language.NewSet("de es fr nl it pt")

// Scales that say how their language groups digits.
var (
	englishScale = lazyregexp.New(`(?i)\d\s?(?:thousand|million|billion|trillion)\b`)
	germanScale  = lazyregexp.New(`(?i)\d\s?(?:tausend|tsd|mio|mrd|millionen|milliarden)\b`)
)

// likeliest returns a figure with its likeliest reading only.
func (f Figure) likeliest() Figure {
	f.Values = f.Values[:min(len(f.Values), 1)]
	return f
}

// grouped returns a figure whose likeliest reading is the one in which a point groups digits and a comma stands
// before decimals.
func (f Figure) grouped() Figure {
	if len(f.Values) == 2 {
		f.Step *= f.Values[1] / f.Values[0]
		f.Values = []float64{f.Values[1], f.Values[0]}
	}
	return f
}

// literalOf is a word with a number as texts may write it: "10-K" and "10K" are the same.
func literalOf(word string) string {
	return strings.ReplaceAll(strings.ToLower(strings.Trim(word, " .:?!")), "-", "")
}

// references are numbers of the parts of a contract or a law.
var references = patternOf(`(?:§+|\b(?:art\.|articles?|sections?|clauses?|artikel|abschnitt|ziffer|sección|cláusula))\s*(?:no\.?\s*)?(?:[a-z]\.?\s?)?(\d+(?:[.-]\d+)*[a-z]{0,2})`)

// wrongReferences returns the numbers of sections and articles in an answer that stand nowhere in
// the sources, if these refer to such parts at all. Else they may be those of a document's outline.
func (k *knownFigures) wrongReferences(answer string) (out []Figure) {
	if !k.refers {
		return nil
	}
	for _, m := range references.FindAllStringSubmatchIndex(codeOrLink.ReplaceAllStringFunc(answer, func(s string) string { return strings.Repeat(" ", len(s)) }), -1) {
		number := answer[m[2]:m[3]]
		if k.literal[literalOf(number)] || !slices.ContainsFunc(strings.Split(number, "-"), func(part string) bool { return !k.literal[strings.ToLower(part)] }) {
			continue
		}
		out = append(out, Figure{Start: m[0], End: m[1], Text: answer[m[0]:m[1]]})
	}
	return out
}

// compute adds the result of a calculation with known inputs. A line without an equals sign is a row
// that was selected from a table.
func (k *knownFigures) compute(line string) {
	at := strings.LastIndexAny(line, "=≈")
	if at < 0 {
		k.add(line)
		return
	}
	for _, f := range Find(line[:at]) {
		constant := f.Plain && (f.Values[0] <= 12 || slices.Contains(constants, f.Values[0]))
		if !constant && !k.has(f) {
			return
		}
	}
	k.add(line[at:])
}

// has reports whether a figure is known, as it is or rounded.
func (k knownFigures) has(f Figure) bool {
	if !f.Day.IsZero() {
		return k.hasDay(f.Day)
	}
	if k.literal[literalOf(f.Text)] && f.Unit == "" && !powers.MatchString(f.Text) && (len(f.Values) == 0 || f.Values[0] >= 0) {
		return true
	}
	switch f.Unit {
	case Percent: // a third
		for s := range k.statements {
			if s.kind == share && f.rounds(0, f.Values[0], 100*s.value) {
				return true
			}
		}
	case Points: // from 3 % to 5 %
		if slices.ContainsFunc(k.lines, func(l lineOf) bool { return f.isDifference(l.figures) }) {
			return true
		}
	}
	for _, x := range k.figures {
		if !(f.Unit == Percent && x.bare) && sameUnit(f, x) && k.equal(f, x) && !contradictSigns(f, x) {
			return true
		}
	}
	return false
}

// isDifference reports whether a figure is the difference of two percentages among others.
func (f Figure) isDifference(of []Figure) bool {
	for i, a := range of {
		for _, b := range of[:i] {
			if a.Unit == Percent && b.Unit == Percent && f.result(a.Values[0]-b.Values[0]) {
				return true
			}
		}
	}
	return false
}

func (k knownFigures) hasDay(d Day) bool {
	if slices.ContainsFunc(k.days, d.same) {
		return true
	}
	// "December 31" above the columns "2024 | 2023".
	year := d.Year
	d.Year = 0
	return year > 0 && d.Date > 0 && slices.ContainsFunc(k.days, func(o Day) bool { return o.Year == 0 && d.same(o) }) &&
		slices.ContainsFunc(k.figures, func(f Figure) bool { return f.Plain && f.Values[0] == float64(year) })
}

// contradictSigns reports whether one of two figures is written with a minus, and nothing in the line
// of the other one says that it is a loss or a decrease.
func contradictSigns(f, source Figure) bool {
	if len(f.Values) == 0 || len(source.Values) == 0 {
		return false
	}
	a, b := f.Values[0] < 0, source.Values[0] < 0
	return a && !b && !source.Falls || b && !a && (f.Plus || !f.Falls && !source.Falls)
}

// resultRow reports whether a row of a table has gains and losses: its name says so, or a figure is negative.
func resultRow(line string, found []Figure) bool {
	name, _, _ := strings.Cut(strings.ToLower(line), "|")
	return senses[gain][0].isIn(name) || results.isIn(name) || strings.Contains(line, "| (") || slices.ContainsFunc(found, Figure.isNegative)
}

var wordFollows = lazyregexp.New(`^\s\pL{3,}`)

// percentNamed reports whether a line says that figures are in percent.
func percentNamed(line string) bool {
	if strings.Contains(line, "%") {
		return true
	}
	return slices.ContainsFunc(language.Words(line), func(w string) bool {
		return words.percent[w] || shareNames[w] || slices.ContainsFunc(shareEnds, func(end string) bool { return strings.HasSuffix(w, end) })
	})
}

// Names of what is counted in percent, and ends of such names in languages that join words.
var (
	shareNames = words.lists.Set("share names")
	shareEnds  = listOf("share ends")
	results    = listOf("results")
)

func (f Figure) isNegative() bool { return len(f.Values) > 0 && f.Values[0] < 0 }

// falls reports whether a line says that something is a loss, a cost or a decrease.
func falls(line string) bool {
	return slices.ContainsFunc(language.Words(line), func(w string) bool { return words.falls[w] })
}

// sameUnit reports whether two figures do not contradict each other in their units. A figure
// without a unit may stand in a column that has one in its name.
func sameUnit(a, b Figure) bool {
	if a.Unit == cents || b.Unit == cents {
		return a.Unit == b.Unit || len(a.Unit) == len("EUR") || len(b.Unit) == len("EUR")
	}
	return sameCurrency(a, b) || b.Unit == "" || a.Unit == "" && b.Unit != Time && b.Unit != Points
}

// cents are hundredths of any currency.
const cents = "cents"

// equal reports whether a figure of an answer is a figure of a source, or that one rounded.
func (k knownFigures) equal(f, source Figure) bool {
	if f.Factor > 0 && source.Unit == "" {
		ofColumn := slices.DeleteFunc(slices.Clone(k.measures), func(m measure) bool { return m.of != f.Unit })
		if slices.ContainsFunc(ofColumn, func(m measure) bool {
			return slices.ContainsFunc(source.Values, func(x float64) bool { return f.rounds(0, f.Values[0], x*m.factor) })
		}) {
			return true
		}
		if len(ofColumn) > 0 && !slices.Contains(ofColumn, measure{f.Unit, f.Factor}) {
			return false
		}
	}
	if f.Unit != source.Unit && f.Unit != cents && source.Unit != cents { // that of one of them may stand in its column
		f, source = f.withoutMeasure(), source.withoutMeasure()
	}
	for _, x := range source.Values {
		for i, v := range f.Values {
			if f.rounds(i, v, x) {
				return true
			}
			if f.Unit == Percent && math.Abs(x) <= 1.5 && source.Unit == "" && f.rounds(i, v, 100*x) { // 0.12 is 12 %
				return true
			}
			if f.Plain && f.IsYear() || f.Unit == Percent || f.Unit == Time {
				continue
			}
			// Tables say the scale once: "1,577" in millions is 1.577 billion.
			scales := k.scales
			if len(scales) == 0 && f.Scale != 1 {
				scales = []float64{1e3, 1e6, 1e9}
			}
			for _, s := range scales {
				if source.Scale == 1 && f.rounds(i, v, x*s) {
					return true
				}
				for _, asked := range k.scales { // the question wants billions, the table has millions
					if source.Scale == 1 && f.Scale == 1 && s < asked && f.rounds(i, v, x*s/asked) {
						return true
					}
				}
			}
		}
	}
	return false
}

// withoutMeasure returns a figure with the number that is written before a measure: 1.5 of "1.5 km".
func (f Figure) withoutMeasure() Figure {
	if f.Factor > 0 {
		f.Values = slices.Clone(f.Values)
		f.multiply(1 / f.Factor)
		f.Factor = 0
	}
	return f
}

// rounds reports whether v, the reading i of a figure, is x rounded: the difference is at most half of its
// last digit. A rounded figure has two digits, or it is near to x.
func (f Figure) rounds(i int, v, x float64) bool {
	written := f.Step // of the last digit in this reading
	if i > 0 && f.Values[0] != 0 {
		written *= f.Values[i] / f.Values[0]
	}
	v, x = math.Abs(v), math.Abs(x)
	difference := math.Abs(v - x)
	if difference <= 1e-9*max(1, v) {
		return true
	}
	if f.IsYear() {
		return false
	}
	step := written
	if f.Plain || step >= 1 { // zeros at the end may stand for anything: "about 1,600"
		for s := step; s < v && math.Mod(math.Round(v/written), 10*s/written) == 0; s *= 10 {
			step = 10 * s
		}
		if step > written && f.Scale == 1 && difference > 0.02*x && !(f.About && difference <= 0.06*x) {
			step = written
		}
	}
	return difference <= 0.5*step*(1+1e-9) && (f.Digits > 1 && v/step >= 10 || difference <= 0.06*x)
}

// inputs are the known figures of a block, without the one that is checked.
func inputs(found []Figure, verified []bool, without int) (out []Figure) {
	const most = 24
	for i, f := range found {
		if i != without && verified[i] && len(f.Values) > 0 && !f.IsYear() && len(out) < most {
			out = append(out, f)
		}
	}
	return out
}

// operations are what a text says about how it has calculated.
type operations struct{ sum, difference, ratio, average bool }

func operationsOf(text string) (o operations) {
	said := language.Set{}
	for _, w := range strings.FieldsFunc(strings.ToLower(text), unicode.IsSpace) {
		said[strings.Trim(w, ".,;:()?!\"“”")] = true
		said[w] = true
	}
	any := func(list string) bool {
		for w := range words.lists.Set(list) {
			if said[w] {
				return true
			}
		}
		return false
	}
	return operations{any("sum"), any("difference"), any("ratio"), any("average")}
}

// calculated reports whether a figure is the result of a calculation of which a text speaks, with
// some of its known figures: a sum of all or of two (if sums), a difference, a product, a ratio, a change in
// percent, or an average.
func calculated(text string, f Figure, in []Figure, sums bool) bool {
	if len(f.Values) == 0 || len(in) < 2 {
		return false
	}
	o := operationsOf(text)
	o.sum = o.sum && sums
	if !o.sum && !o.difference && !o.ratio && !o.average {
		return false
	}
	return slices.ContainsFunc(f.results(o, in), f.result)
}

// result reports whether a figure is a result, rounded as it is written, or by one in its last digit.
func (f Figure) result(x float64) bool {
	if f.Factor > 0 && f.Factor != 1 && f.withoutMeasure().result(x) {
		return true
	}
	for i, v := range f.Values {
		// Inputs in millions are written without their scale.
		if f.rounds(i, v, x) || f.Scale != 1 && f.rounds(i, v, x*f.Scale) || f.Step < 1 && math.Abs(math.Abs(v)-math.Abs(x)) <= 0.5*f.Step*(1+1e-9) {
			return true
		}
	}
	return false
}

// results returns what operations on figures give, in the unit of f. The difference of two percentages
// is one of points.
func (f Figure) results(o operations, in []Figure) (out []float64) {
	percent := f.Unit == Percent
	sum := 0.0
	for i, x := range in {
		a := x.Values[0]
		sum += a
		if o.sum && i > 0 {
			out = append(out, sum)
		}
		for j, y := range in {
			b := y.Values[0]
			if i == j {
				continue
			}
			if o.sum && i < j {
				out = append(out, a+b)
			}
			if o.difference && !(percent && x.Unit == Percent && y.Unit == Percent) {
				out = append(out, a-b)
			}
			if (o.difference || o.ratio) && percent && b != 0 {
				out = append(out, 100*(a-b)/b)
			}
			if o.ratio && b != 0 {
				out = append(out, a/b, 100*a/b)
				if i < j {
					out = append(out, a*b, a*b/100)
				}
			}
			if o.average && i < j {
				out = append(out, (a+b)/2)
			}
		}
	}
	if o.average && len(in) > 0 {
		out = append(out, sum/float64(len(in)))
	}
	return out
}

// ofRow reports whether a figure of a text that begins at offset is a change, a share or a sum within a row of a table
// whose name the text has: an answer may leave out what it was calculated from.
func (k knownFigures) ofRow(text string, f Figure, offset int) bool {
	if len(f.Values) == 0 || f.Plain && !(f.sense[change] != 0 && byWords[wordBefore(text[:max(0, f.Start-offset)])]) {
		return false
	}
	o := operationsOf(text)
	if !o.sum && !o.difference && !o.ratio && !o.average {
		return false
	}
	said := language.StemsOf(text)
	for _, r := range k.rows {
		common := 0
		for s := range r.stems {
			if said[s] && !language.IsFigureStem(s) {
				common++
			}
		}
		if common == 0 {
			continue
		}
		const most = 8
		in := slices.DeleteFunc(slices.Clone(r.figures), func(f Figure) bool { return len(f.Values) == 0 || f.IsYear() })
		if slices.ContainsFunc(f.results(o, in[:min(len(in), most)]), f.result) {
			return true
		}
	}
	return false
}
