package offline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/agents/documents/intent"
	"github.com/palaver-chat/palaver/agents/excerpt"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/lazyregexp"
	"github.com/palaver-chat/palaver/llm"
)

// compare compares the first document with each other one, in a table of differences and
// agreements.
func compare(f llm.Facts) string {
	found := bySource(f.Passages)
	if len(found) < 2 {
		return voiceOf(f).say(messages.NothingToCompare, nil)
	}
	const mostTables = 4
	var b strings.Builder
	for _, other := range found[1:min(len(found), mostTables+1)] {
		b.WriteString(table(f, found[0], other))
	}
	return b.String()
}

// pair is two sentences on the same matter.
type pair struct {
	a, b    excerpt.Excerpt
	differs string  // what differs, empty when they agree
	asked   float64 // similarity to the question
}

func table(f llm.Facts, first, second source) string {
	p, v := gather(f.Passages, nil), voiceOf(f)
	var as, bs []excerpt.Excerpt
	for _, s := range p.Excerpts {
		of := sourceID(f.Passages[s.Passage])
		if h := excerpt.PlainTitle(s.Heading); of == first.id && strings.EqualFold(h, first.title) || of == second.id && strings.EqualFold(h, second.title) {
			s.Heading = "" // a row is not about one document's title
		}
		switch of {
		case first.id:
			as = append(as, s)
		case second.id:
			bs = append(bs, s)
		}
	}
	pairs, onlyA, onlyB := p.align(as, bs, intent.Instruction(f.Message), v)
	titleA, titleB := first.title, second.title
	if len(pairs)+len(onlyA)+len(onlyB) == 0 {
		return v.say(messages.NothingInCommon, messages.Params{"a": "**" + titleA + "**", "b": "**" + titleB + "**"}) + "\n\n"
	}
	var b strings.Builder
	differences := 0
	for _, x := range pairs {
		if x.differs != "" {
			differences++
		}
	}
	b.WriteString(v.say(messages.Compared, messages.Params{
		"a": "**" + titleA + "**", "b": "**" + titleB + "**", "differences": differences, "agreements": len(pairs) - differences,
	}))
	fmt.Fprintf(&b, "\n\n| %s | %s | %s | %s |\n|---|---|---|---|\n", v.say(messages.Subject, nil), escape(titleA), escape(titleB), v.say(messages.Result, nil))
	for _, x := range pairs {
		result := v.say(messages.Agrees, nil)
		if x.differs != "" {
			result = v.say(messages.Differs, messages.Params{"how": x.differs})
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", escape(subject(x.a)), cell(x.a), cell(x.b), escape(result))
	}
	for _, s := range onlyA {
		fmt.Fprintf(&b, "| %s | %s | – | %s |\n", escape(subject(s)), cell(s), v.say(messages.OnlyInOne, nil))
	}
	for _, s := range onlyB {
		fmt.Fprintf(&b, "| %s | – | %s | %s |\n", escape(subject(s)), cell(s), v.say(messages.OnlyInOne, nil))
	}
	b.WriteString("\n")
	return b.String()
}

// align pairs sentences, the most similar first. It returns the pairs sorted by rank, and
// within a rank those that match the question come first.
func (p pool) align(as, bs []excerpt.Excerpt, question string, v voice) (pairs []pair, onlyA, onlyB []excerpt.Excerpt) {
	const (
		least       = 0.32 // similarity of a pair
		most        = 600  // sentences of a document
		differences = 12
		agreements  = 4
		alone       = 5
	)
	as, bs = as[:min(len(as), most)], bs[:min(len(bs), most)]
	type candidate struct {
		i, j int
		sim  float64
	}
	var near []candidate
	theirs := make([]likeness, len(bs))
	for j, b := range bs {
		theirs[j] = p.likeness(b)
	}
	for i, a := range as {
		ours := p.likeness(a)
		for j := range bs {
			if sim := alike(ours, theirs[j]); sim >= least {
				near = append(near, candidate{i, j, sim})
			}
		}
	}
	slices.SortStableFunc(near, func(x, y candidate) int { return cmp.Compare(y.sim, x.sim) })
	q := p.Vocab.Query(question)
	pairedA, pairedB := make([]bool, len(as)), make([]bool, len(bs))
	for _, c := range near { // the most alike first, each sentence once
		if pairedA[c.i] || pairedB[c.j] {
			continue
		}
		pairedA[c.i], pairedB[c.j] = true, true
		a, b := as[c.i], bs[c.j]
		pairs = append(pairs, pair{a, b, v.difference(a.Text, b.Text, c.sim), max(excerpt.Cosine(q, a.Vec), excerpt.Cosine(q, b.Vec))})
	}
	slices.SortStableFunc(pairs, func(x, y pair) int {
		return cmp.Or(cmp.Compare(v.rank(x), v.rank(y)), cmp.Compare(round(y.asked), round(x.asked)), cmp.Compare(x.a.Order, y.a.Order))
	})
	nd, ns := 0, 0
	pairs = slices.DeleteFunc(pairs, func(x pair) bool {
		if x.differs != "" {
			nd++
			return nd > differences
		}
		ns++
		return ns > agreements
	})
	lone := func(all []excerpt.Excerpt, paired []bool) []excerpt.Excerpt {
		var out []excerpt.Excerpt
		for i, s := range all {
			if !paired[i] && len(out) < alone && (isRule(s.Text) || language.HasNumber(s.Text)) {
				out = append(out, s)
			}
		}
		return out
	}
	return pairs, lone(as, pairedA), lone(bs, pairedB)
}

// likeness is what the similarity of a sentence to others is computed from. Its figures are
// kept apart: they are the rarest words of a sentence, and two versions of a rule differ in
// them.
type likeness struct {
	words           excerpt.Vector
	heading, clause string
	figures         []string
}

func (p pool) likeness(s excerpt.Excerpt) likeness {
	return likeness{p.Vocab.WithoutFigures(s.Vec), s.Heading, language.ClauseNumber(s.Text), language.Figures(s.Text)}
}

// alike returns the similarity of two sentences. Equal headings and clause numbers add to
// it, and equal figures add a little.
func alike(a, b likeness) float64 {
	s := excerpt.Cosine(a.words, b.words)
	if s == 0 {
		return 0
	}
	if a.heading != "" && strings.EqualFold(a.heading, b.heading) {
		s += 0.1
	}
	if a.clause != "" && a.clause == b.clause {
		s += 0.1
	}
	if len(a.figures) > 0 && slices.Equal(a.figures, b.figures) {
		s += 0.05
	}
	return s
}

// rank sorts differences in numbers and duties before those in words, and agreements last.
func (v voice) rank(x pair) int {
	switch x.differs {
	case "":
		return 2
	case v.say(messages.Worded, nil):
		return 1
	}
	return 0
}

func round(f float64) int { return int(f * 4) }

// difference says how two sentences on one matter differ: in numbers and dates, in how
// binding they are, or only in words.
func (v voice) difference(a, b string, alike float64) string {
	if fa, fb := frequency.FindString(a), frequency.FindString(b); fa != "" && fb != "" && !strings.EqualFold(fa, fb) {
		return fa + " / " + fb
	}
	na, nb := language.Figures(a), language.Figures(b)
	if onlyA, onlyB := without(na, nb), without(nb, na); len(onlyA)+len(onlyB) > 0 {
		return orDash(onlyA) + " / " + orDash(onlyB)
	}
	if ma, mb := v.duty(a), v.duty(b); ma != mb {
		return orDash([]string{ma}) + " / " + orDash([]string{mb})
	}
	if alike < 0.85 {
		return v.say(messages.Worded, nil)
	}
	return ""
}

// frequency is how often something happens: "every year", "once every two years", "monthly".
var frequency = lazyregexp.New(`(?i)\b(?:(?:once|twice|\w+ times) (?:every|each|per|an?)|every|each|per) (?:(?:other|second|third|two|three|four|five|six|\d+) )?(?:hour|day|week|month|quarter|year)s?\b|\b(?:daily|weekly|monthly|quarterly|yearly|annually)\b`)

func orDash(s []string) string { return cmp.Or(strings.Join(s, ", "), "–") }

func without(a, b []string) []string {
	var out []string
	for _, x := range a {
		if !slices.Contains(b, x) && !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}

var duties = []struct {
	word messages.Message
	re   *lazyregexp.Regexp
}{
	{messages.Forbidden, lazyregexp.New(`(?i)\b(?:must not|shall not|may not|must never|cannot|prohibit(?:s|ed)|forbidden|not (?:permitted|allowed))\b`)},
	{messages.Must, lazyregexp.New(`(?i)\b(?:must|shall|(?:is|are) required|mandatory|obliged|has to|have to)\b`)},
	{messages.Should, lazyregexp.New(`(?i)\b(?:should|ought to|recommended|encouraged)\b`)},
	{messages.May, lazyregexp.New(`(?i)\b(?:may|can|(?:is|are) (?:permitted|allowed)|optional)\b`)},
}

// duty returns how binding a sentence is: "forbidden", "must", "should", "may" or "".
func (v voice) duty(s string) string {
	for _, d := range duties {
		if d.re.MatchString(s) {
			return v.say(d.word, nil)
		}
	}
	return ""
}
