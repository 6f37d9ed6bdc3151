package offline

import (
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/agents/documents/intent"
	"github.com/palaver-chat/palaver/agents/excerpt"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/documents/figures"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/lazyregexp"
	"github.com/palaver-chat/palaver/llm"
)

// NothingFound is the answer when no passage answers, in the language of the question.
func NothingFound(f llm.Facts) string { return voiceOf(f).say(messages.NothingFound, nil) }

// documentNouns matches nouns of document names.
const documentNouns = `(?:guidelines?|polic(?:y|ies)|circulars?|contracts?|agreements?|handbooks?|manuals?|memos?|memorandum|reports?|leases?)`

var (
	asksFigure        = lazyregexp.New(`(?i)` + lists.Pattern("asks for a figure"))
	asksDefinition    = lazyregexp.New(`(?i)^(?:what (?:is|are|does)|define|meaning of)\b`)
	asksAmount        = lazyregexp.New(`(?i)` + lists.Pattern("asks for an amount"))
	startsWithPronoun = lazyregexp.New(`^(?:It|They|This|These|Such|He|She|That|Those)\b`)
	ofDocument        = lazyregexp.New(`(?i)\b(?:the|this|that|these|those|our|my|your|its)\s+(?:` + documentNouns + `|documents?|e?mails?|files?|letters?|papers?|rules?|texts?)\b`)
	defines           = lazyregexp.New(`(?i)\b(?:means|refers to|is defined as|are defined as|is an?|are the|consists? of)\b`)
)

// Inquire answers a question part by part: from a table if one answers it, else with the two to
// five sentences that match it best.
func Inquire(f llm.Facts) string {
	f.Language = string(voiceOf(f))
	question, edition := asked(f)
	if len(edition.Words) > 0 {
		return again(question, edition, f)
	}
	if text, ok := FromTables(question, f); ok {
		return text
	}
	parts := Parts(question)
	if len(parts) == 1 {
		if text, ok := structured(question, f); ok {
			return text
		}
		return sentences(f, gather(f.Passages, nil))
	}
	var answers []string
	for _, part := range parts {
		text, ok := FromTables(part, f)
		if !ok {
			text, ok = structured(part, f)
		}
		if !ok {
			f.Message = part
			text = sentences(f, gather(f.Passages, nil))
		}
		answers = append(answers, "**"+excerpt.PlainTitle(part)+"**\n\n"+strings.TrimSpace(text))
	}
	return strings.Join(answers, "\n\n")
}

// again answers a follow-up that asks the question before for another edition: only with what is of
// this edition, by the name of its document, its heading, its table or its words.
func again(question string, e intent.Edition, f llm.Facts) string {
	nothing := voiceOf(f).say(messages.NothingFor, messages.Params{"what": e.Said})
	named := map[string]string{} // the names of documents
	for _, d := range f.Documents {
		named[d.ID] = strings.Join(append([]string{d.Title, d.Label}, d.Names...), "\n")
	}
	f.Message, f.Recent = question, nil
	f.Opened = slices.DeleteFunc(slices.Clone(f.Opened), func(x llm.Passage) bool {
		return !e.In(append(textsOf(f.Opened, x.DocID), x.Title, named[x.DocID])...)
	})
	if text, ok := FromTables(question, f); ok && slices.ContainsFunc(f.Opened, func(x llm.Passage) bool { return e.In(x.Title, named[x.DocID], text) }) {
		return text
	}
	f.Passages = slices.DeleteFunc(slices.Clone(f.Passages), func(x llm.Passage) bool {
		_, meant := named[x.DocID]
		return len(named) > 0 && !meant || !e.In(x.Title, x.Heading, x.Text, named[x.DocID])
	})
	p := gather(f.Passages, nil)
	p.Excerpts = slices.DeleteFunc(p.Excerpts, func(s excerpt.Excerpt) bool {
		return !e.In(s.Text, s.Heading, s.Columns, f.Passages[s.Passage].Heading, f.Passages[s.Passage].Title, named[s.DocID])
	})
	if len(p.Excerpts) == 0 || len(p.rank(question, f.Passages, f.Documents)) == 0 {
		return nothing
	}
	return strings.Replace(sentences(f, p), NothingFound(f), nothing, 1)
}

// textsOf returns the texts of a document's passages.
func textsOf(passages []llm.Passage, doc string) (texts []string) {
	for _, x := range passages {
		if x.DocID == doc {
			texts = append(texts, x.Text)
		}
	}
	return texts
}

// sentences answers with the sentences and rows of the passages that match the question best.
func sentences(f llm.Facts, p pool) string {
	const most = 5
	question, _ := asked(f)
	p.lists = byLead(itemLists(f))
	v, cannot, note := voiceOf(f), "", ""
	instruction := intent.Instruction(f.Message)
	ranked := p.rank(question, f.Passages, f.Documents)
	judge := intent.AsksForJudgement(instruction) || len(ranked) == 0 && intent.AsksForAssessment(instruction)
	switch {
	case intent.NeedsModel(instruction):
		cannot = v.say(messages.NeedsModel, nil) + " "
	case judge:
		cannot = v.say(messages.NoJudgement, nil) + " "
	case asksForRanking.MatchString(instruction):
		cannot = v.say(messages.NoRanking, nil) + " "
	}
	if cannot != "" {
		note = cannot + v.say(messages.MayHelp, nil) + "\n\n"
	}
	if named := ofDocuments(f); judge && len(named) > 0 { // what it says; no word of the question is in it
		f.Passages = named
		return note + summarize(f)
	}
	if len(ranked) == 0 {
		if len(p.Excerpts) > 0 && (note != "" && len(f.Documents) > 0 || intent.HasNoSubject(instruction) || p.onlyTitles(question, f.Documents)) { // "what does it say?"
			return note + summarize(f)
		}
		if closest := p.FirstOfEach(f.Passages); f.Weak && len(closest) > 0 {
			return cannot + nothingFound(f) + " " + v.say(messages.Closest, nil) + "\n" + p.closest(v, closest[:min(len(closest), maxClosest)], f.Passages)
		}
		return cannot + NothingFound(f)
	}
	if f.Weak {
		var closest []excerpt.Excerpt
		for _, r := range ranked[:min(len(ranked), maxClosest)] {
			closest = append(closest, r.Excerpt)
		}
		return cannot + nothingFound(f) + " " + v.say(messages.Closest, nil) + "\n" + p.closest(v, closest, f.Passages)
	}
	var picked []scoredExcerpt
	for _, r := range ranked {
		if len(picked) == most || len(picked) >= 2 && r.score < 0.45*ranked[0].score || r.score < 0.25*ranked[0].score {
			break
		}
		if !slices.ContainsFunc(picked, func(o scoredExcerpt) bool { return excerpt.Cosine(o.Vec, r.Vec) > 0.75 }) {
			picked = append(picked, r)
		}
	}
	several := len(bySource(citedPassages(f.Passages, picked))) > 1
	var quotes []excerpt.Excerpt
	for _, s := range picked {
		quotes = append(quotes, s.Excerpt)
	}
	quotes = p.joinItems(quotes)
	var b strings.Builder
	title := "**" + excerpt.PlainTitle(f.Passages[picked[0].Passage].Title) + "**"
	b.WriteString(note + v.say(messages.AccordingTo, messages.Params{"title": title}) + " ")
	if l, ok := p.list(quotes[0]); ok { // the list is the answer
		v.writeList(&b, l, "")
		return b.String()
	}
	first, rest := excerpt.RowsLike(quotes)
	b.WriteString(first + "\n")
	for len(rest) > 0 {
		title := "**" + excerpt.PlainTitle(f.Passages[rest[0].Passage].Title) + "**: "
		l, leads := p.list(rest[0])
		first, rest = excerpt.RowsLike(rest)
		if leads {
			var listed strings.Builder
			v.writeList(&listed, l, "  ")
			first = strings.TrimRight(listed.String(), "\n")
			rest = slices.DeleteFunc(rest, l.has)
		}
		switch rows := strings.HasPrefix(first, "\n"); {
		case rows:
			b.WriteString("\n" + title + first)
		case several:
			b.WriteString("\n- " + title + first)
		default:
			b.WriteString("\n- " + first)
		}
	}
	b.WriteString(p.rowsSeen(question, f, picked[0]))
	return b.String()
}

// ofDocuments returns the passages of the documents that the question names.
func ofDocuments(f llm.Facts) []llm.Passage {
	return slices.DeleteFunc(slices.Clone(f.Passages), func(x llm.Passage) bool {
		return !slices.ContainsFunc(f.Documents, func(d llm.Document) bool { return d.ID == x.DocID })
	})
}

// nothingFound says that nothing was found, and that a question in another language than the
// passages may be the reason.
func nothingFound(f llm.Facts) string {
	var text strings.Builder
	for _, p := range f.Passages {
		text.WriteString(p.Text + "\n")
	}
	asked, written := language.Detect(f.Message), language.Detect(text.String())
	if asked == "" || written == "" || asked == written {
		return NothingFound(f)
	}
	return NothingFound(f) + " " + voiceOf(f).say(messages.OtherLanguage, nil)
}

// maxClosest is the number of sentences in an answer that has found too little.
const maxClosest = 3

// closest lists the sentences that are closest to a question, with what they introduce.
func (p pool) closest(v voice, quotes []excerpt.Excerpt, passages []llm.Passage) string {
	var b strings.Builder
	for len(quotes) > 0 {
		title, text := "**"+excerpt.PlainTitle(passages[quotes[0].Passage].Title)+"**: ", ""
		if l, ok := p.list(quotes[0]); ok {
			b.WriteString("\n- " + title)
			v.writeList(&b, l, "  ")
			quotes = quotes[1:]
			continue
		}
		if text, quotes = excerpt.RowsLike(quotes); strings.HasPrefix(text, "\n") {
			b.WriteString("\n\n" + title + text)
		} else {
			b.WriteString("\n- " + title + text)
		}
	}
	return b.String()
}

// overTable matches a question that counts or adds up.
var overTable = lazyregexp.New(`(?i)\b(?:how many|count|number of|total|sum|average|mean|highest|lowest|largest|smallest|most|least|maximum|minimum|wie ?viele|summe|durchschnitt|höchste[nrs]?|niedrigste[nrs]?|combien|total|moyenne|cu[aá]ntos|cuántas|suma|promedio|hoeveel|totaal|gemiddelde)\b`)

// rowsSeen says how many rows of a table a count or a sum would need.
func (p pool) rowsSeen(question string, f llm.Facts, first scoredExcerpt) string {
	if !first.Row || !overTable.MatchString(question) {
		return ""
	}
	rows := 0
	for _, s := range p.Excerpts {
		if s.Row && s.Columns != "" && f.Passages[s.Passage].DocID == f.Passages[first.Passage].DocID {
			rows++
		}
	}
	return "\n\n" + voiceOf(f).say(messages.RowsSeen, messages.Params{"n": rows})
}

// onlyTitles reports whether the words of a question are all in the names of its documents.
func (p pool) onlyTitles(question string, docs []llm.Document) bool {
	return len(docs) > 0 && len(p.Vocab.Query(question).Without(p.Vocab.Query(titlesOf(docs)))) == 0
}

// asked returns the question of a message. A follow-up ("and the other one?") repeats the
// question before it: its own words only say in which document, or for which edition.
func asked(f llm.Facts) (question string, edition intent.Edition) {
	text := intent.Instruction(f.Message)
	edition = intent.EditionOf(text, f.Now)
	if len(edition.Words) == 0 && !intent.HasNoSubject(text) {
		return text, edition
	}
	for i := len(f.Recent) - 1; i >= 0; i-- {
		before := intent.Instruction(f.Recent[i].Text)
		switch {
		case f.Recent[i].Role != llm.User, intent.HasNoSubject(before), len(intent.EditionOf(before, f.Now).Words) > 0:
		case len(edition.Words) > 0:
			return edition.Of(before), edition
		case len(language.ContentWords(text)) > 0:
			return before, edition
		default:
			return before + "\n" + text, edition
		}
	}
	return text, intent.Edition{}
}

// titlesOf returns the titles of the documents that an answer is about. Their words say
// where to look, not what to look for.
func titlesOf(docs []llm.Document) string {
	var titles []string
	for _, d := range docs {
		titles = append(titles, d.Title)
	}
	return strings.Join(titles, "\n")
}

func citedPassages(passages []llm.Passage, picked []scoredExcerpt) []llm.Passage {
	var out []llm.Passage
	for _, s := range picked {
		out = append(out, passages[s.Passage])
	}
	return out
}

// tellsFigure reports whether a sentence has a figure that the question does not have. The 1
// in a question about "tier 1" is not an answer. A date is no amount.
func tellsFigure(text, question string, amount bool) bool {
	given := map[string]bool{}
	for _, w := range strings.Fields(question) {
		given[strings.Trim(w, ".,;:?!")] = true
	}
	text = language.WithoutClauseNumber(text)
	if !amount && slices.ContainsFunc(language.Figures(text), func(f string) bool { return !given[strings.Fields(f)[0]] }) {
		return true
	}
	return slices.ContainsFunc(figures.Find(text), func(f figures.Figure) bool {
		return !given[strings.Fields(f.Text)[0]] && (!amount || f.Day.IsZero() && !f.IsYear())
	})
}

var (
	documentNumber = lazyregexp.New(`(?i)^\W*(?:(?:` + documentNouns + `|documents?|doc|file|reference|ref|version|edition|revision)\W+)?(?:(?:no|nr|number|id|code|reference)\b\W*)?[\pL]{0,6}[-/ ]?\d[\d./-]*\W*$`)
	namesParties   = lazyregexp.New(`(?i)^(?:[\d.() ]*)(?:parties\b|(?:by and )?between\b.*\band\b|(?:this|the) (?:` + documentNouns + `)\b.*\b(?:made|entered into|concluded|agreed|signed)\b.*\b(?:between|by|with)\b)`)
)

// isFormal reports whether a sentence is a title line or a document number, or names the
// parties. Such a sentence does not answer a "how many" question, whatever figures it has.
func isFormal(s excerpt.Excerpt, title excerpt.Vector) bool {
	return len(s.Vec.Without(title)) == 0 || documentNumber.MatchString(s.Text) || namesParties.MatchString(s.Text)
}

var askedClause = lazyregexp.New(`(?i)(?:\b(?:clauses?|sections?|articles?|paragraphs?|points?|items?|rules?|no|number|artikel|abschnitt|ziffer|absatz|punkt|artículos?|cláusula|punto|article|clausule)|§)\s*\.?\s*(\d+(?:\.\d+)*)\b`)

// clauseAsked returns the number of the clause that a question asks for; "" without one.
func clauseAsked(question string) string {
	if m := askedClause.FindStringSubmatch(question); m != nil {
		return m[1]
	}
	return ""
}

// hasClause reports whether a text begins with the number of a clause, or of one within it.
func hasClause(text, number string) bool {
	rest, found := strings.CutPrefix(strings.TrimLeft(text, "§# *"), number)
	return found && (rest == "" || !strings.ContainsRune("0123456789", rune(rest[0])) && !strings.HasPrefix(rest, ",")) || strings.HasPrefix(text, "Article "+number) || strings.HasPrefix(text, "Section "+number+".")
}

type scoredExcerpt struct {
	excerpt.Excerpt
	score float64
}

// asked returns the words that a question asks for, and those of its nouns for documents. Words of
// titles, and "the circular", count only when nothing else is asked.
func (p pool) asked(question string, docs []llm.Document) (q, kind excerpt.Vector) {
	kind = p.Vocab.Query(strings.Join(ofDocument.FindAllString(question, -1), " "))
	q = p.Vocab.Query(strings.Join(language.AskedWords(question), " "))
	if rest := q.Without(kind); len(rest) > 0 {
		q = rest
	}
	if rest := q.Without(p.Vocab.Query(titlesOf(docs))); len(rest) > 0 {
		q = rest
	} else if rest := p.Vocab.Query(strings.Join(slices.DeleteFunc(language.AskedWords(question), intent.NamesKind), " ")); len(rest) > 0 {
		q = rest // "outsourcing" of "Circular 2025/04", whose title has it
	}
	return q, kind
}

// rank orders the sentences that answer a question, the best first, by BM25 of the
// question's words in the sentence and, with less weight, in its heading and title. It
// leaves out sentences with too few of the words. When a section's heading is what is asked, its
// first sentence ranks higher than the others. When a definition is asked, a sentence that
// begins with the term ranks higher.
func (p pool) rank(question string, passages []llm.Passage, docs []llm.Document) []scoredExcerpt {
	const k, b = 1.2, 0.6
	q, kind := p.asked(question, docs)
	asked, least := 0.0, 0.3
	for _, e := range q {
		if p.Vocab.DF[e.Word] == 0 {
			e.Weight /= 2 // a word that no sentence has
		}
		asked += e.Weight
	}
	if asked == 0 {
		return nil
	}
	if len(q) > 5 {
		least = 0.2
	}
	length := 0.0
	for _, s := range p.Excerpts {
		length += float64(len(s.Vec))
	}
	length /= max(1, float64(len(p.Excerpts)))
	count := asksAmount.MatchString(question)
	figure, definition := count || asksFigure.MatchString(question), asksDefinition.MatchString(strings.TrimSpace(question))
	best := 0.0
	for _, x := range passages {
		best = max(best, x.Score)
	}
	meant := map[string]bool{}
	for _, d := range docs {
		meant[d.ID] = true
	}
	clause := clauseAsked(question)
	seen := map[string]excerpt.Vector{}
	around := func(text string) excerpt.Vector { // of headings and titles, which repeat
		v, ok := seen[text]
		if !ok {
			v = p.Vocab.Query(text)
			seen[text] = v
		}
		return v
	}
	var out []scoredExcerpt
	for i, s := range p.Excerpts {
		heading, title := around(s.Heading), around(passages[s.Passage].Title)
		if len(heading.Without(title)) == 0 { // the heading is only the document's name
			heading = nil
		}
		if count && isFormal(s, title) {
			continue
		}
		var before excerpt.Vector
		if i > 0 && p.Excerpts[i-1].Passage == s.Passage && startsWithPronoun.MatchString(s.Text) {
			before = p.Excerpts[i-1].Vec
		}
		if s.Row && s.Columns == "" && i+1 < len(p.Excerpts) && p.Excerpts[i+1].Columns == s.Text { // the header
			continue
		}
		var score, covered, headed, titled float64
		for _, e := range q {
			tf := 0.0
			s.Vec.Each(excerpt.Vector{e}, func(excerpt.Entry, excerpt.Entry) { tf = 1 })
			before.Each(excerpt.Vector{e}, func(excerpt.Entry, excerpt.Entry) { tf += 0.5 })
			heading.Each(excerpt.Vector{e}, func(excerpt.Entry, excerpt.Entry) { tf += 0.5; headed += e.Weight })
			covered += min(tf, 1) * e.Weight
			title.Each(excerpt.Vector{e}, func(excerpt.Entry, excerpt.Entry) { tf += 0.15; titled += e.Weight })
			if tf > 0 {
				score += e.Weight * tf * (k + 1) / (tf + k*(1-b+b*float64(len(s.Vec))/length))
			}
		}
		about := headed > 0.99*asked // the heading is what is asked
		if about {
			covered = asked
		}
		if clause != "" && (hasClause(s.Text, clause) || hasClause(s.Heading, clause)) {
			covered, score = asked, score+10*asked
		}
		// What is asked may be the title: then a figure is an answer to "how long".
		if titled > 0.99*asked && figure && tellsFigure(s.Text, question, count) {
			covered = asked
		}
		isMeant := meant[passages[s.Passage].DocID] // a name is a hint
		if covered < least*asked && !(isMeant && covered > least/4*asked) {
			continue
		}
		score *= 0.5 + covered/asked
		told := figure && tellsFigure(s.Text, question, count)
		if about {
			score *= 1.8
			if s.First && told == figure {
				score *= 1.5
			}
		}
		if told {
			score *= 1.6
		}
		if at := defines.FindStringIndex(s.Text); definition && at != nil {
			score *= 1.25
			if len(q.Without(p.Vocab.Query(s.Text[:at[0]]))) == 0 {
				score *= 2.5
			}
		}
		if _, leads := p.list(s); !leads && (strings.HasSuffix(s.Text, "?") || strings.HasSuffix(s.Text, ":")) {
			score *= 0.6
		}
		if len(kind.Without(title)) < len(kind) { // its title has the document noun of the question
			score *= 1.3
		}
		if isMeant {
			score *= 2.5
		}
		if best > 0 {
			score *= 1 + 0.2*passages[s.Passage].Score/best
		}
		out = append(out, scoredExcerpt{s, score})
	}
	slices.SortStableFunc(out, func(a, b scoredExcerpt) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return a.Order - b.Order
	})
	return out
}
