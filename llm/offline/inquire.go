package offline

import (
	"regexp"
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/llm"
)

const nothingFound = "I found nothing in your documents that answers this."

var (
	asksNumber        = regexp.MustCompile(`(?i)\b(?:how (?:much|many|long|often|high|large|soon|old|late|quick(?:ly)?|fast|frequently)|when|what (?:percentage|percent|date|amount|number|limit|ratio|rate|deadline|period|price|cost)|minimum|maximum|deadline|limit|threshold)\b`)
	asksDefinition    = regexp.MustCompile(`(?i)^(?:what (?:is|are|does)|define|meaning of)\b`)
	asksCount         = regexp.MustCompile(`(?i)\bhow (?:many|much)\b`)
	startsWithPronoun = regexp.MustCompile(`^(?:It|They|This|These|Such|He|She|That|Those)\b`)
	ofDocument        = regexp.MustCompile(`(?i)\b(?:the|this|that|these|those|our|my|your|its)\s+(?:` + nameNouns + `|documents?|e?mails?|files?|letters?|papers?|rules?|texts?)\b`)
	defines           = regexp.MustCompile(`(?i)\b(?:means|refers to|is defined as|are defined as|is an?|are the|consists? of)\b`)
)

// inquire answers with the two to five sentences that match the question best.
func inquire(f llm.Facts) string {
	const most = 5
	p := gather(f.Passages, nil)
	ranked := p.rank(asked(f), f.Passages, titlesOf(f))
	if len(ranked) == 0 {
		if hasNoSubject(instructionOf(f.Message)) && len(p.excerpts) > 0 { // "what does it say?"
			return summarize(f)
		}
		return nothingFound
	}
	var picked []scored
	for _, r := range ranked {
		if len(picked) == most || len(picked) >= 2 && r.score < 0.45*ranked[0].score || r.score < 0.25*ranked[0].score {
			break
		}
		if !slices.ContainsFunc(picked, func(o scored) bool { return cosine(o.vec, r.vec) > 0.75 }) {
			picked = append(picked, r)
		}
	}
	several := len(sources(citedPassages(f.Passages, picked))) > 1
	var b strings.Builder
	b.WriteString("According to **" + plainTitle(f.Passages[picked[0].passage].Title) + "**: " + quote(picked[0].excerpt) + "\n")
	for _, s := range picked[1:] {
		b.WriteString("\n- ")
		if several {
			b.WriteString("**" + plainTitle(f.Passages[s.passage].Title) + "**: ")
		}
		b.WriteString(quote(s.excerpt))
	}
	return b.String()
}

// asked returns the question of a message. A follow-up ("and the other one?") repeats the
// question before it: its own words only say in which document.
func asked(f llm.Facts) string {
	text := instructionOf(f.Message)
	if !saysNothingNew(text) {
		return text
	}
	for i := len(f.Recent) - 1; i >= 0; i-- {
		if m := f.Recent[i]; m.Role == llm.User && !saysNothingNew(instructionOf(m.Text)) {
			if len(language.ContentWords(text)) > 0 {
				return instructionOf(m.Text)
			}
			return instructionOf(m.Text) + "\n" + text
		}
	}
	return text
}

// saysNothingNew reports whether a text has no subject but documents, versions and order.
func saysNothingNew(text string) bool {
	for _, w := range language.ContentWords(text) {
		if !docNouns[w] && !emptyWords[w] && !wordsOfOrder[w] && !language.IsVersion(w) && !language.IsYearOrVersion(w) && !pointingOn[w] {
			return false
		}
	}
	return true
}

var pointingOn = language.NewSet("other others one ones now last this that same instead too edition")

// titlesOf returns the titles of the documents that an answer is about. Their words say
// where to look, not what to look for.
func titlesOf(f llm.Facts) string {
	var titles []string
	for _, d := range f.Documents {
		titles = append(titles, d.Title)
	}
	return strings.Join(titles, "\n")
}

func citedPassages(passages []llm.Passage, picked []scored) []llm.Passage {
	var out []llm.Passage
	for _, s := range picked {
		out = append(out, passages[s.passage])
	}
	return out
}

// tellsFigure reports whether a sentence has a figure that the question does not have. The 1
// in a question about "tier 1" is not an answer.
func tellsFigure(text, question string) bool {
	given := map[string]bool{}
	for _, w := range strings.Fields(question) {
		given[strings.Trim(w, ".,;:?!")] = true
	}
	return slices.ContainsFunc(language.Figures(text), func(f string) bool { return !given[strings.Fields(f)[0]] })
}

var (
	documentNumber = regexp.MustCompile(`(?i)^\W*(?:(?:` + nameNouns + `|documents?|doc|file|reference|ref|version|edition|revision)\W+)?(?:(?:no|nr|number|id|code|reference)\b\W*)?[\pL]{0,6}[-/ ]?\d[\d./-]*\W*$`)
	namesParties   = regexp.MustCompile(`(?i)^(?:[\d.() ]*)(?:parties\b|(?:by and )?between\b.*\band\b|(?:this|the) (?:` + nameNouns + `)\b.*\b(?:made|entered into|concluded|agreed|signed)\b.*\b(?:between|by|with)\b)`)
)

// isFormal reports whether a sentence is a title line or a document number, or names the
// parties. Such a sentence does not answer a "how many" question, whatever figures it has.
func isFormal(s excerpt, title vector) bool {
	return len(s.vec.without(title)) == 0 || documentNumber.MatchString(s.text) || namesParties.MatchString(s.text)
}

type scored struct {
	excerpt
	score float64
}

// rank orders the sentences that answer a question, the best first, by BM25 of the
// question's words in the sentence and, with less weight, in its heading and title. It
// leaves out sentences with too few of the words. Words of titles, and "the circular",
// count only when nothing else is asked. When a section's heading is what is asked, its
// first sentence ranks higher than the others. When a definition is asked, a sentence that
// begins with the term ranks higher.
func (p *pool) rank(question string, passages []llm.Passage, titles string) []scored {
	const k, b = 1.2, 0.6
	kind := p.vocab.query(strings.Join(ofDocument.FindAllString(question, -1), " "))
	q := p.vocab.query(question)
	if rest := q.without(kind); len(rest) > 0 {
		q = rest
	}
	if rest := q.without(p.vocab.query(titles)); len(rest) > 0 {
		q = rest
	}
	asked, least := 0.0, 0.3
	for _, e := range q {
		if p.vocab.df[e.word] == 0 {
			e.weight /= 2 // a word that no sentence has
		}
		asked += e.weight
	}
	if asked == 0 {
		return nil
	}
	if len(q) > 5 {
		least = 0.2
	}
	length := 0.0
	for _, s := range p.excerpts {
		length += float64(len(s.vec))
	}
	length /= max(1, float64(len(p.excerpts)))
	count := asksCount.MatchString(question)
	number, definition := asksNumber.MatchString(question), asksDefinition.MatchString(strings.TrimSpace(question))
	best := 0.0
	for _, x := range passages {
		best = max(best, x.Score)
	}
	seen := map[string]vector{}
	around := func(text string) vector { // of headings and titles, which repeat
		v, ok := seen[text]
		if !ok {
			v = p.vocab.query(text)
			seen[text] = v
		}
		return v
	}
	var out []scored
	for i, s := range p.excerpts {
		heading, title := around(s.heading), around(passages[s.passage].Title)
		if len(heading.without(title)) == 0 { // the heading is only the document's name
			heading = nil
		}
		if count && isFormal(s, title) {
			continue
		}
		var before vector
		if i > 0 && p.excerpts[i-1].passage == s.passage && startsWithPronoun.MatchString(s.text) {
			before = p.excerpts[i-1].vec
		}
		var score, covered, headed float64
		for _, e := range q {
			tf := 0.0
			s.vec.each(vector{e}, func(entry, entry) { tf = 1 })
			before.each(vector{e}, func(entry, entry) { tf += 0.5 })
			heading.each(vector{e}, func(entry, entry) { tf += 0.5; headed += e.weight })
			covered += min(tf, 1) * e.weight
			title.each(vector{e}, func(entry, entry) { tf += 0.15 })
			if tf > 0 {
				score += e.weight * tf * (k + 1) / (tf + k*(1-b+b*float64(len(s.vec))/length))
			}
		}
		about := headed > 0.99*asked // the heading is what is asked
		if about {
			covered = asked
		}
		if covered < least*asked {
			continue
		}
		score *= 0.5 + covered/asked
		if about {
			score *= 1.8
			if s.first {
				score *= 1.5
			}
		}
		if number && tellsFigure(s.text, question) {
			score *= 1.6
		}
		if at := defines.FindStringIndex(s.text); definition && at != nil {
			score *= 1.25
			if len(q.without(p.vocab.query(s.text[:at[0]]))) == 0 {
				score *= 2.5
			}
		}
		if strings.HasSuffix(s.text, "?") || strings.HasSuffix(s.text, ":") {
			score *= 0.6
		}
		if len(kind.without(title)) < len(kind) { // its title has the document noun of the question
			score *= 1.3
		}
		if best > 0 {
			score *= 1 + 0.2*passages[s.passage].Score/best
		}
		out = append(out, scored{s, score})
	}
	slices.SortStableFunc(out, func(a, b scored) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return a.order - b.order
	})
	return out
}
