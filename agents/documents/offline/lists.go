package offline

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/agents/documents/intent"
	"github.com/palaver-chat/palaver/agents/excerpt"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/documents/figures"
	"github.com/palaver-chat/palaver/documents/layout"
	"github.com/palaver-chat/palaver/documents/sentence"
	"github.com/palaver-chat/palaver/documents/tables"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/lazyregexp"
	"github.com/palaver-chat/palaver/llm"
)

var (
	asksForSeveral = lazyregexp.New(`(?i)` + lists.Pattern("asks for several"))
	asksForRanking = lazyregexp.New(`(?i)` + lists.Pattern("asks for a ranking"))
	asksForTimes   = lazyregexp.New(`(?i)` + lists.Pattern("asks for times"))
	asksForMoney   = lazyregexp.New(`(?i)` + lists.Pattern("asks for money"))
	// kindNouns say of what kind the items of a list are: "rules", "steps".
	kindNouns = lists.Set("kinds of items")
	listing   = lists["asking words of lists"]
)

// itemList is what a document lists below a sentence or a heading.
type itemList struct {
	docID, title string
	lead         excerpt.Excerpt // the sentence before the items; its heading is the one above it
	heading      bool            // the lead is a heading
	items        []excerpt.Excerpt
}

// part is a block of a document with its place.
type part struct {
	layout.Block
	text   string // without the marks of a heading or an item
	marker int
	indent int // of its line
	level  int // of a heading
}

// itemLists returns the lists of the open documents, and of passages of others.
func itemLists(f llm.Facts) (out []itemList) {
	opened := map[string]bool{}
	for _, x := range f.Opened {
		opened[x.DocID] = true
	}
	for _, s := range bySource(f.Opened) {
		out = append(out, listsOf(s.passages)...)
	}
	for _, x := range f.Passages {
		if !opened[x.DocID] {
			out = append(out, listsOf([]llm.Passage{x})...)
		}
	}
	return out
}

// listsOf returns the lists in the text of a document.
func listsOf(passages []llm.Passage) (out []itemList) {
	parts := partsOf(passages)
	excerptOf := func(p part, text, heading string) excerpt.Excerpt {
		return excerpt.Excerpt{Marker: p.marker, DocID: passages[0].DocID, Text: text, Heading: heading}
	}
	heading := passages[0].Heading
	for i, p := range parts {
		l := itemList{docID: passages[0].DocID, title: passages[0].Title}
		var items []part
		switch {
		case p.Kind == layout.Heading:
			heading = p.text
			l.lead, l.heading = excerptOf(p, p.text, ""), true
			items = below(parts[i+1:], p.level)
		case introduces(p.text):
			l.lead = excerptOf(p, lastSentence(p.text), heading)
			for _, x := range parts[i+1:] {
				if x.Kind != layout.Item || p.Kind == layout.Item && x.indent <= p.indent && markOf(x.text) == markOf(p.text) {
					break
				}
				items = append(items, x)
			}
		}
		for _, x := range outermost(items) {
			l.items = append(l.items, excerptOf(x, shortened(x.text), heading))
		}
		if len(l.items) > 1 {
			out = append(out, l)
		}
	}
	return out
}

// outermost returns the items of a list, without those within others if there are many.
func outermost(items []part) []part {
	if len(items) <= maxItems {
		return items
	}
	least := slices.MinFunc(items, func(a, b part) int { return a.indent - b.indent }).indent
	if outer := slices.DeleteFunc(slices.Clone(items), func(p part) bool { return p.indent > least }); len(outer) > 1 {
		return outer
	}
	return items
}

// below returns what a heading of a level lists: the headings right below it, else the items of
// its text.
func below(parts []part, level int) (items []part) {
	end := slices.IndexFunc(parts, func(p part) bool { return p.Kind == layout.Heading && p.level <= level })
	if end >= 0 {
		parts = parts[:end]
	}
	next := 0
	var headings []part
	for _, p := range parts {
		switch {
		case p.Kind == layout.Item && next == 0:
			items = append(items, p)
		case p.Kind == layout.Heading && (next == 0 || p.level <= next):
			next = p.level
			headings = append(headings, p)
		}
	}
	if len(items) > 1 || len(headings) < 2 {
		return items
	}
	return headings
}

// partsOf returns the blocks of a document without its tables.
func partsOf(passages []llm.Passage) (out []part) {
	var texts []string
	for _, p := range passages {
		texts = append(texts, p.Text)
	}
	joined := tables.Join(texts)
	from := 0 // behind the data at the beginning of a Markdown file
	for _, b := range layout.Blocks(joined.Text) {
		text := joined.Text[b.Start:b.End]
		if b.Start == 0 && excerpt.IsMetadata(text) {
			from = max(0, strings.Index(joined.Text, "\n\n"))
		}
		if b.Start < from {
			continue
		}
		p := part{Block: b, marker: passages[joined.Part(b.Start)].N, indent: b.Start - strings.LastIndexByte(joined.Text[:b.Start], '\n')}
		switch b.Kind {
		case layout.Row, layout.Rule, layout.Code:
			continue
		case layout.Heading:
			p.text = strings.Trim(b.Title, "*_ ")
			p.level = levelOf(text, p.text)
		default:
			p.text = strings.TrimSpace(text[layout.BulletLen(text):])
		}
		if joined.Part(b.Start) != joined.Part(b.End-1) { // a passage ends within it
			p.text = firstSentence(p.text)
		}
		if strings.ContainsFunc(p.text, language.IsAlphanumeric) {
			out = append(out, p)
		}
	}
	return out
}

var sectionNumber = lazyregexp.New(`^\d+(?:\.\d+)*`)

// levelOf returns the level of a heading: by its marks, else by its number.
func levelOf(text, title string) int {
	const unmarked = 7
	if marks := len(text) - len(strings.TrimLeft(text, "#")); marks > 0 {
		return marks
	}
	if n := sectionNumber.FindString(title); n != "" {
		return unmarked + strings.Count(n, ".")
	}
	return unmarked
}

// introduces reports whether a text ends with a colon, maybe within marks of emphasis.
func introduces(text string) bool {
	text = strings.TrimRight(text, "*_ ")
	return strings.HasSuffix(text, ":") || strings.HasSuffix(text, "：")
}

// markOf returns the kind of an item's mark: a digit for all numbers, else its first character.
func markOf(item string) rune {
	r, _ := utf8.DecodeRuneInString(item)
	switch mark, _, _ := strings.Cut(item, " "); {
	case r >= '0' && r <= '9':
		return '0'
	case len(mark) == 2 && mark[1] == '.':
		return 'a'
	case len(mark) > 1 && strings.HasSuffix(mark, ")") && len(mark) < 5:
		return ')'
	}
	return '-'
}

func firstSentence(text string) string {
	if bounds := sentence.Bounds(text); len(bounds) > 0 {
		return strings.TrimSpace(text[:bounds[0]])
	}
	return text
}

func lastSentence(text string) string {
	if bounds := sentence.Bounds(text); len(bounds) > 0 {
		return strings.TrimSpace(text[bounds[len(bounds)-1]:])
	}
	return text
}

// shortened returns an item; of a long one its first sentence.
func shortened(item string) string {
	const long = 200 // bytes
	if len(item) > long {
		return firstSentence(item)
	}
	return item
}

// leastListed is the share of the words of a question, without those of the document's title, that the
// lead of a list and the heading above it must have.
const leastListed = 0.8

// fromLists answers a question that asks for several things with what a document lists below a
// sentence or a heading that has its words.
func fromLists(question string, f llm.Facts) (string, bool) {
	ranking := asksForRanking.MatchString(question)
	if !ranking && !asksForSeveral.MatchString(question) {
		return "", false
	}
	p := gather(f.Passages, nil)
	q := p.askedOf(question, asksForRanking, nil) // the words of a title count less for its own document only
	subject := q.Without(p.Vocab.Query(strings.Join(slices.DeleteFunc(language.Words(question), func(w string) bool { return !kindNouns[w] }), " ")))
	if len(subject) == 0 {
		subject = q
	}
	var best itemList
	bestScore := 0.0
	for _, l := range itemLists(f) {
		rest := subject.Without(p.Vocab.Query(l.title))
		if len(rest) == 0 {
			rest = subject
		}
		lead, all := p.Vocab.Query(l.lead.Text), rest.Sum()
		missing := rest.Without(lead).Without(p.Vocab.Query(l.lead.Heading)).Sum()
		if all == 0 || all-missing < leastListed*all {
			continue
		}
		score := 1 - 0.6*rest.Without(lead).Sum()/all - 0.3*missing/all - 0.1*q.Without(lead).Sum()/q.Sum() - 0.02*float64(len(lead.Without(q)))
		if !l.heading { // it says what the items are
			score += 0.1
		}
		if score > bestScore {
			best, bestScore = l, score
		}
	}
	if bestScore == 0 {
		return "", false
	}
	v := voiceOf(f)
	var b strings.Builder
	if ranking {
		b.WriteString(v.say(messages.NoRanking, nil) + "\n\n")
	}
	b.WriteString(v.say(messages.AccordingTo, messages.Params{"title": "**" + excerpt.PlainTitle(best.title) + "**"}) + " ")
	v.writeList(&b, best, "")
	return b.String(), true
}

// askedOf returns the words of a question without those by which it asks for a list, and those that match.
func (p pool) askedOf(question string, without *lazyregexp.Regexp, docs []llm.Document) excerpt.Vector {
	q, _ := p.asked(question, docs)
	return q.Without(p.Vocab.Query(listing + " " + strings.Join(without.FindAllString(question, -1), " ")))
}

// maxItems is how many items of a list an answer shows.
const maxItems = 15

// writeList writes the lead of a list and its items, each with its citation.
func (v voice) writeList(b *strings.Builder, l itemList, indent string) {
	b.WriteString(excerpt.Quote(l.lead) + "\n")
	if indent == "" {
		b.WriteString("\n")
	}
	for _, x := range l.items[:min(len(l.items), maxItems)] {
		b.WriteString(indent + "- " + excerpt.Quote(x) + "\n")
	}
	if n := len(l.items) - maxItems; n > 0 {
		b.WriteString(indent + "- " + v.say(messages.AndMore, messages.Params{"n": n}) + "\n")
	}
}

// byLead returns lists by their sentences before the items.
func byLead(all []itemList) map[string]itemList {
	out := map[string]itemList{}
	for _, l := range all {
		if !l.heading {
			out[leadKey(l.lead)] = l
		}
	}
	return out
}

// has reports whether a sentence is an item of the list, or a part of one.
func (l itemList) has(s excerpt.Excerpt) bool {
	return slices.ContainsFunc(l.items, func(x excerpt.Excerpt) bool {
		return x.DocID == s.DocID && strings.Contains(x.Text, s.Text)
	})
}

// joinItems replaces several items of a short list by the sentence that introduces it.
func (p pool) joinItems(quotes []excerpt.Excerpt) []excerpt.Excerpt {
	const short = 8 // items
	for i, s := range quotes {
		for _, l := range slices.SortedFunc(maps.Values(p.lists), innermost) {
			if len(l.items) > short || l.docID != s.DocID || !l.has(s) || !slices.ContainsFunc(quotes[i+1:], l.has) {
				continue
			}
			lead := l.lead
			lead.Passage = s.Passage
			rest := slices.DeleteFunc(slices.Clone(quotes[i+1:]), func(o excerpt.Excerpt) bool { return l.has(o) || leadKey(o) == leadKey(lead) })
			return append(append(slices.Clone(quotes[:i]), lead), p.joinItems(rest)...)
		}
	}
	return quotes
}

// innermost puts a list before those around it.
func innermost(a, b itemList) int {
	return cmp.Or(len(a.items)-len(b.items), strings.Compare(leadKey(a.lead), leadKey(b.lead)))
}

func leadKey(s excerpt.Excerpt) string {
	return s.DocID + "\x00" + strings.Join(strings.Fields(s.Text), " ")
}

// list returns the list that a sentence introduces.
func (p pool) list(s excerpt.Excerpt) (l itemList, ok bool) {
	if introduces(s.Text) {
		l, ok = p.lists[leadKey(s)]
	}
	return l, ok
}

// fromFigures answers a question for all deadlines or all prices with the sentences that have such a
// figure, in their order.
func fromFigures(question string, f llm.Facts) (string, bool) {
	if !asksForSeveral.MatchString(question) {
		return "", false
	}
	var kind *lazyregexp.Regexp
	var is func(figures.Figure) bool
	switch {
	case asksForTimes.MatchString(question):
		kind, is = asksForTimes, func(x figures.Figure) bool { return x.Unit == figures.Time || !x.Day.IsZero() }
	case asksForMoney.MatchString(question):
		kind, is = asksForMoney, figures.Figure.IsMoney
	default:
		return "", false
	}
	docs := f.Passages
	if named := ofDocuments(f); len(named) > 0 {
		docs = named
	}
	if len(docs) == 0 {
		return "", false
	}
	from := bySource(docs)[0]
	if opened := slices.DeleteFunc(slices.Clone(f.Opened), func(x llm.Passage) bool { return x.DocID != from.id }); len(opened) > 0 {
		from.passages = opened
	}
	p := gather(from.passages, nil)
	q := p.askedOf(question, kind, append(f.Documents, llm.Document{Title: from.title}))
	var found []excerpt.Excerpt
	for _, s := range p.Excerpts {
		about := p.Vocab.Query(s.Text + "\n" + s.Heading + "\n" + from.title)
		if !s.Row && slices.ContainsFunc(figures.Find(s.Text), is) && len(q.Without(about)) == 0 {
			found = append(found, s)
		}
	}
	if len(found) < 2 {
		return "", false
	}
	v := voiceOf(f)
	var b strings.Builder
	b.WriteString(v.say(messages.AccordingTo, messages.Params{"title": "**" + from.title + "**"}) + "\n")
	for _, s := range found[:min(len(found), maxItems)] {
		b.WriteString("\n- ")
		if h := excerpt.PlainTitle(language.WithoutClauseNumber(s.Heading)); s.Heading != "" && h != from.title {
			b.WriteString("**" + h + "**: ")
		}
		b.WriteString(excerpt.Quote(s))
	}
	if n := len(found) - maxItems; n > 0 {
		b.WriteString("\n- " + v.say(messages.AndMore, messages.Params{"n": n}))
	}
	return b.String(), true
}

// structured answers from the structure of a document: a list, or all figures of a kind.
func structured(question string, f llm.Facts) (string, bool) {
	if intent.NeedsModel(question) || intent.AsksForJudgement(question) {
		return "", false
	}
	if text, ok := fromLists(question, f); ok {
		return text, true
	}
	return fromFigures(question, f)
}
