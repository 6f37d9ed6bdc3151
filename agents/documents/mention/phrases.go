package mention

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/hbollon/go-edlib"

	"github.com/palaver-chat/palaver/agents/documents/intent"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/llm"
)

// mention is a place in a message that refers to documents.
type mention struct {
	from, end int // words, determiners included
	docs      []llm.Document
	sure      bool // all of docs are meant, else one of them
	earlier   bool // known from earlier messages
}

// phrase is a run of words that may refer to documents: "both remote work policies", "the
// agreement with Brightwater".
type phrase struct {
	from, end     int
	tokens        []language.Token // what the title must have
	kind          string           // its document noun, stemmed; "" without one
	definite      bool
	any           bool // "a policy", "any policy"
	plural        bool
	two           bool // "both", "the two"
	age           int  // 1 the latest, -1 the oldest
	needsDocument bool // only a document can stand there: "summarize …", "what does … say"
	hasTopic      bool // "on", "about" follows
	followed      bool // another noun may follow: "policy holders"
}

func (p phrase) bare() bool { return p.kind != "" && len(p.tokens) == 1 }

var (
	// anyDocument are nouns for any document.
	anyDocument     = lists.Set("any document")
	definiteWords   = lists.Set("definite words")
	indefiniteWords = language.NewSet("a an any no some every")
	countWords      = language.NewSet("two three four different various respective")
	newestWords     = lists.Set("newest words")
	oldestWords     = lists.Set("oldest words")
	// ambiguousNouns name a document only where a document must be meant.
	ambiguousNouns = lists.Set("ambiguous nouns")
	mailNouns      = lists.Set("mail nouns")
	fillers        = lists.Set("fillers")
	auxiliary      = lists.Set("auxiliary")
	joining        = lists.Set("joining")
	linking        = lists.Set("linking")
	actionWords    = lists.Set("action words")
	statingVerbs   = lists.Set("stating verbs")
	nounGroups     = func() map[string]string { // stem of a document noun to the first of its group
		m := map[string]string{}
		for w := range intent.DocumentNouns {
			if !anyDocument[w] {
				m[language.Stem(w)] = language.Stem(w)
			}
		}
		for _, group := range []string{"contract agreement", "email mail message", "handbook manual", "memo memorandum", "guideline guidance"} {
			words := strings.Fields(group)
			for _, w := range words {
				m[language.Stem(w)] = language.Stem(words[0])
			}
		}
		return m
	}()
)

// phrases cuts the words that are not taken into phrases. It also returns the years and
// versions that stand alone, and the places of "the new one" and "the old one".
func phrases(words []language.Word, taken []bool, documents bool) (out []phrase, versions []int, ages map[int]int) {
	ages = map[int]int{}
	breaks := func(i int) bool {
		w := words[i]
		return w.Stop || taken[i] || actionWords[w.Raw] || statingVerbs[w.Raw] || joining[w.Raw]
	}
	for i := 0; i < len(words); {
		if breaks(i) {
			i++
			continue
		}
		j := i + 1
		for j < len(words) && !breaks(j) && !words[j].Apart {
			j++
		}
		p := newPhrase(words, i, j, documents)
		onlyVersions := !slices.ContainsFunc(p.tokens, func(t language.Token) bool { return !t.Version })
		switch {
		case len(p.tokens) == 0:
			if p.age != 0 && (anyDocument[words[j-1].Raw] || j < len(words) && (anyDocument[words[j].Raw] || joining[words[j].Raw])) { // "the old and the new contract", "the latest version of", "the new one"
				ages[i] = p.age
			}
		case onlyVersions:
			for k := i; k < j; k++ {
				if language.IsYearOrVersion(words[k].Stem) {
					versions = append(versions, k)
				}
			}
		default:
			out = append(out, p)
		}
		i = j
	}
	return out, versions, ages
}

// newPhrase reads words[i:j] and the determiners before them.
func newPhrase(words []language.Word, i, j int, documents bool) phrase {
	p := phrase{from: i, end: j}
	for p.from > 0 && (definiteWords[words[p.from-1].Raw] || indefiniteWords[words[p.from-1].Raw] || words[p.from-1].Raw == "all") && !words[p.from].Apart {
		p.from--
		raw := words[p.from].Raw
		p.definite = p.definite || definiteWords[raw] || raw == "all"
		p.any = p.any || indefiniteWords[raw]
		p.two = p.two || raw == "both"
	}
	for i < j && p.qualifies(words[i].Raw, i+1 < j) {
		i++
	}
	head := -1
	for k := i; k < j; k++ {
		if nounGroups[words[k].Stem] != "" && !words[k].Version {
			head = k
		}
	}
	if head < 0 && i < j && !words[i].Version { // "Northwind v2 differs"
		if k := slices.IndexFunc(words[i:j], func(w language.Word) bool { return w.Version }); k > 0 {
			p.end = i + k + 1
		}
	}
	if head >= 0 {
		p.kind, p.plural = words[head].Stem, strings.HasSuffix(words[head].Raw, "s")
		for p.end = head + 1; p.end < j && (words[p.end].Version || anyDocument[words[p.end].Raw]); p.end++ {
		}
		p.followed = p.end < j
	}
	for _, w := range words[i:p.end] {
		if !anyDocument[w.Raw] {
			p.tokens = append(p.tokens, w.Token)
		}
	}
	before := func(n int) string {
		if k := p.from - n; k >= 0 && !words[k+1].Apart {
			return words[k].Raw
		}
		return ""
	}
	next := ""
	if p.end < len(words) && !words[p.end].Apart {
		next = words[p.end].Raw
	}
	asked := auxiliary[before(1)]
	p.followed = p.followed && !asked
	p.hasTopic = next == "on" || next == "about" || next == "for" || next == "regarding" || next == "concerning"
	versioned := slices.ContainsFunc(p.tokens, func(t language.Token) bool { return t.Version })
	p.needsDocument = documents && versioned || statingVerbs[next] || asked && p.end < len(words) || before(1) == "to" && before(2) == "according" ||
		documents && (p.definite || actionWords[before(1)] || joining[before(1)] || before(1) == "of" || before(1) == "me")
	return p
}

// qualifies reads a word that stands before a name and is not part of it.
func (p *phrase) qualifies(raw string, more bool) bool {
	switch {
	case countWords[raw], raw == "2" && more:
		p.two = p.two || raw == "two" || raw == "2"
	case newestWords[raw]:
		p.age = 1
	case oldestWords[raw]:
		p.age = -1
	default:
		return fillers[raw]
	}
	return true
}

// matching returns the documents whose titles have all the tokens. Titles that have no other
// tokens are preferred.
func (n *titleIndex) matching(toks []language.Token, kind string) []title {
	var out, whole []title
	for _, t := range n.titles {
		if !t.has(toks, kind) {
			continue
		}
		out = append(out, t)
		if len(t.tokens) == len(toks) {
			whole = append(whole, t)
		}
	}
	if len(whole) > 0 && len(toks) > 1 {
		return whole
	}
	for _, closer := range []func(t title) bool{
		func(t title) bool { return kind == "" || t.hasStem(kind) }, // a contract rather than an agreement
		func(t title) bool { return len(toks) < 2 || t.hasRun(toks) },
	} {
		if some := slices.DeleteFunc(slices.Clone(out), func(t title) bool { return !closer(t) }); len(some) > 0 {
			out = some
		}
	}
	return out
}

func (t title) hasStem(stem string) bool {
	return slices.ContainsFunc(t.tokens, func(x language.Token) bool { return x.Stem == stem })
}

// hasRun reports whether a title has the tokens one after another.
func (t title) hasRun(toks []language.Token) bool {
	for i := 0; i+len(toks) <= len(t.tokens); i++ {
		if slices.EqualFunc(t.tokens[i:i+len(toks)], toks, language.Token.Is) {
			return true
		}
	}
	return false
}

// ownFirst leaves out the public documents when some are the person's own.
func ownFirst(fit []title) []title {
	own := slices.DeleteFunc(slices.Clone(fit), func(t title) bool { return t.Public })
	if len(own) > 0 {
		return own
	}
	return fit
}

func (t title) has(toks []language.Token, kind string) bool {
	for i := 0; i < len(toks); i++ {
		tok := toks[i]
		found := slices.ContainsFunc(t.tokens, func(x language.Token) bool {
			return x.Is(tok) || tok.Stem == kind && nounGroups[x.Stem] != "" && nounGroups[x.Stem] == nounGroups[kind]
		})
		if !found && i+1 < len(toks) { // two words in the message, one in the title
			if found = slices.ContainsFunc(t.tokens, func(x language.Token) bool { return x.Raw == tok.Raw+toks[i+1].Raw }); found {
				i++
			}
		}
		if !found && !(tok.Version && t.hasNumber(tok.Stem)) {
			return false
		}
	}
	return len(toks) > 0
}

// hasNumber reports whether a title has the number, with or without leading zeros: 03 for 3.
func (t title) hasNumber(number string) bool {
	return slices.ContainsFunc(t.tokens, func(x language.Token) bool {
		return x.Version && len(x.Stem) < 4 && strings.TrimLeft(x.Stem, "0") == strings.TrimLeft(number, "0")
	})
}

// correctSpelling replaces misspelt words with those of a title that also has a neighbouring
// word. Where a document must be meant, long words need no such neighbour.
func (n *titleIndex) correctSpelling(words []language.Word, documents bool) {
	for i, w := range words {
		if w.Stop || w.Version || n.df[w.Stem] > 0 || len(w.Raw) < 3 || actionWords[w.Raw] || statingVerbs[w.Raw] || nounGroups[w.Stem] != "" || anyDocument[w.Raw] {
			continue
		}
		best := 3
		for _, t := range n.titles {
			beside := i > 0 && !words[i].Apart && t.holds(words[i-1].Token) || i+1 < len(words) && !words[i+1].Apart && t.holds(words[i+1].Token)
			if !beside && (!documents || len(w.Raw) < 7) {
				continue
			}
			for _, x := range t.tokens {
				most := 1
				if len(w.Raw) >= 8 {
					most = 2
				}
				if x.Version || x.Raw[0] != w.Raw[0] || len(x.Raw) < 4 || abs(len(x.Raw)-len(w.Raw)) > most {
					continue
				}
				if d := edlib.OSADamerauLevenshteinDistance(w.Raw, x.Raw); d <= most && d < best {
					best = d
					words[i].Token = x
				}
			}
		}
	}
}

func abs(n int) int { return max(n, -n) }

func (t title) holds(tok language.Token) bool { return slices.ContainsFunc(t.tokens, tok.Is) }

// otherVersions returns the documents whose titles differ only in the version.
func (n *titleIndex) otherVersions(of llm.Document) []title {
	i := slices.IndexFunc(n.titles, func(t title) bool { return t.ID == of.ID })
	if i < 0 {
		return nil
	}
	names := func(t title) (names, versions []language.Token) {
		for _, tok := range t.tokens {
			if tok.Version {
				versions = append(versions, tok)
			} else {
				names = append(names, tok)
			}
		}
		return names, versions
	}
	name, version := names(n.titles[i])
	var out []title
	for _, t := range n.titles {
		theirs, other := names(t)
		shared := 0
		for _, tok := range name {
			if slices.ContainsFunc(theirs, tok.Is) {
				shared++
			}
		}
		if t.ID != of.ID && shared > 0 && 10*shared >= 7*max(len(name), len(theirs)) && !slices.EqualFunc(version, other, language.Token.Is) {
			out = append(out, t)
		}
	}
	return out
}

// reader finds the documents that one message mentions.
type reader struct {
	*titleIndex
	words     []language.Word
	documents bool // the action is about named documents
	compare   bool
	pasted    bool           // the message has a text to work on
	recent    []llm.Document // mentioned before, the latest first
	found     []mention
	versions  []int // places of years and versions that stand alone
	ages      map[int]int
}

func (n *titleIndex) reader(text string, f llm.Facts) *reader {
	text = n.joinHyphens(text)
	r := &reader{titleIndex: n, words: n.read(text), documents: intent.OnDocuments(text, f.Action) || intent.OnlyNamesDocument(text)}
	r.compare = intent.Comparing(text, f.Action)
	_, pasted := intent.SplitMessage(f.Message)
	r.pasted = len(pasted) > 40
	n.correctSpelling(r.words, r.documents)
	return r
}

var hyphenated = regexp.MustCompile(`\pL+-\pL+`)

// joinHyphens writes a word without its hyphen when a title does: "on-boarding".
func (n *titleIndex) joinHyphens(text string) string {
	return hyphenated.ReplaceAllStringFunc(text, func(s string) string {
		joined := strings.Replace(s, "-", "", 1)
		for _, t := range n.titles {
			if slices.ContainsFunc(t.tokens, func(x language.Token) bool { return strings.EqualFold(x.Raw, joined) }) {
				return joined
			}
		}
		return s
	})
}

// mentions finds whole titles first, then phrases, then years that stand alone. Only when
// there are none it finds titles most of whose words occur.
func (r *reader) mentions() []mention {
	taken := r.findWholeTitles()
	var ps []phrase
	ps, r.versions, r.ages = phrases(r.words, taken, r.documents)
	named := len(r.found) > 0 || slices.ContainsFunc(ps, func(p phrase) bool { return p.kind != "" && len(r.matching(p.tokens, p.kind)) > 0 })
	for i := 0; i < len(ps); i++ {
		if ps[i].kind == "" && (!ps[i].needsDocument || named && !r.documents) {
			continue
		}
		if i+1 < len(ps) && r.joinNext(&ps[i], ps[i+1]) {
			ps = slices.Delete(ps, i+1, i+2)
		}
		r.phrase(ps[i])
	}
	r.findVersions()
	if len(r.found) == 0 {
		r.findPartialTitles(taken)
	}
	slices.SortStableFunc(r.found, func(a, b mention) int { return a.from - b.from })
	return r.found
}

// findWholeTitles finds titles that the message contains as a whole.
func (r *reader) findWholeTitles() (taken []bool) {
	taken = make([]bool, len(r.words))
	var at []int // of words that are no stop words
	for i, w := range r.words {
		if !w.Stop {
			at = append(at, i)
		}
	}
	titles := slices.Clone(r.titles)
	slices.SortStableFunc(titles, func(a, b title) int { return len(b.tokens) - len(a.tokens) })
	for _, t := range withCodes(titles) {
		if len(t.tokens) == 1 && nounGroups[t.tokens[0].Stem] != "" {
			continue // "Policy": read as a phrase
		}
		for i := 0; i+len(t.tokens) <= len(at); i++ {
			first, last := at[i], at[i+len(t.tokens)-1]
			same := true
			for j, tok := range t.tokens {
				same = same && tok.Is(r.words[at[i+j]].Token)
			}
			if !same || r.joinsTwo(first, last) {
				continue
			}
			if k := slices.IndexFunc(r.found, func(m mention) bool { return m.from == first && m.end == last+1 }); k >= 0 {
				r.found[k].docs = append(r.found[k].docs, t.Document)
				r.found[k].sure = r.compare && len(r.found[k].docs) == 2
			} else if !slices.Contains(taken[first:last+1], true) {
				r.found = append(r.found, mention{from: first, end: last + 1, docs: []llm.Document{t.Document}, sure: true})
				for j := first; j <= last; j++ {
					taken[j] = true
				}
			} else {
				continue
			}
			break
		}
	}
	return taken
}

// joinsTwo reports whether "and the" or the like stands within words: "Brightway and the
// contract" are two names.
func (r *reader) joinsTwo(first, last int) bool {
	for i := first + 1; i < last; i++ {
		if joining[r.words[i].Raw] && definiteWords[r.words[i+1].Raw] {
			return true
		}
	}
	return false
}

// withCodes adds, for each title that begins with a code, the code as a name of its own:
// "CR-7" for "CR-7 Change Request".
func withCodes(titles []title) []title {
	out := slices.Clone(titles)
	for _, t := range titles {
		code := codeName.FindString(t.Title)
		if code == "" || !strings.HasPrefix(t.Title, code) {
			continue
		}
		if toks := language.TitleTokens(code); len(toks) < len(t.tokens) {
			out = append(out, title{t.Document, toks})
		}
	}
	return out
}

// joinNext joins "the email" and "the customer list" across "about" when a title has both.
func (r *reader) joinNext(p *phrase, next phrase) bool {
	if next.from-p.end != 1 || !linking[r.words[p.end].Raw] || p.followed {
		return false
	}
	toks := append(slices.Clone(p.tokens), next.tokens...)
	if len(r.matching(toks, p.kind)) == 0 {
		return false
	}
	p.tokens, p.end, p.hasTopic = toks, next.end, false
	return true
}

// phrase decides which documents a phrase means, if any.
func (r *reader) phrase(p phrase) {
	const most = 8 // documents that one phrase may mean
	fit := ownFirst(r.matching(p.tokens, p.kind))
	if r.pasted && p.bare() && mailNouns[p.tokens[0].Raw] {
		return // "check the following email": it stands in the message
	}
	if len(fit) == 0 || p.any || p.bare() && (p.followed || !p.definite && !r.documents || ambiguousNouns[p.tokens[0].Raw] && !r.documents && !p.needsDocument) {
		return
	}
	m := mention{from: p.from, end: p.end}
	add := func(ts []title, sure bool) {
		for _, t := range ts {
			m.docs = append(m.docs, t.Document)
		}
		m.sure = sure
		r.found = append(r.found, m)
	}
	if len(fit) > 1 {
		if narrowed := r.ofLoneVersions(fit); len(narrowed) > 0 {
			fit = narrowed
			if len(fit) > 1 {
				add(fit, len(fit) <= len(r.versions))
				return
			}
		}
	}
	age := p.age
	for _, a := range r.ages { // "the latest version of the contract"
		age = cmp.Or(age, a)
	}
	if len(fit) > 1 && age != 0 && (!p.plural || pluralTitles(fit)) {
		fit = oldestOrNewest(fit, age)
	}
	switch {
	case len(fit) == 1:
		add(fit, true)
	case p.two && len(fit) > 2:
		if two := r.mentionedBefore(fit); len(two) >= 2 {
			m.earlier = true
			add(two[:2], true)
			return
		}
		if len(fit) <= most {
			add(fit, false)
		}
	case p.plural && !pluralTitles(fit) && len(fit) <= most, p.two, r.compare && len(fit) == 2:
		add(fit, true)
	case p.definite && len(r.mentionedBefore(fit)) > 0: // "that circular": the one mentioned before
		m.earlier = true
		add(r.mentionedBefore(fit)[:1], true)
	case len(fit) > most, p.hasTopic && p.bare(), !r.documents && !p.needsDocument, p.kind == "" && !r.documents:
	default:
		add(fit, false)
	}
}

// pluralTitles reports whether the titles themselves have their noun in the plural: "the
// car park rules" may be one document.
func pluralTitles(fit []title) bool {
	return !slices.ContainsFunc(fit, func(t title) bool {
		return !slices.ContainsFunc(t.tokens, func(x language.Token) bool { return nounGroups[x.Stem] != "" && strings.HasSuffix(x.Raw, "s") })
	})
}

// ofLoneVersions returns those of fit with a year or version that stands alone in the
// message: "between 2024 and 2025 in the remote work policy".
func (r *reader) ofLoneVersions(fit []title) []title {
	var out []title
	for _, v := range r.versions {
		for _, t := range fit {
			if t.holds(r.words[v].Token) && !slices.ContainsFunc(out, func(o title) bool { return o.ID == t.ID }) {
				out = append(out, t)
			}
		}
	}
	return out
}

// mentionedBefore returns those of fit that earlier messages mention, the latest first.
func (r *reader) mentionedBefore(fit []title) []title {
	var out []title
	for _, d := range r.recent {
		for _, t := range fit {
			if t.ID == d.ID {
				out = append(out, t)
			}
		}
	}
	return out
}

func oldestOrNewest(fit []title, age int) []title {
	of := func(t title) string {
		for _, tok := range t.tokens {
			if language.IsYearOrVersion(tok.Stem) {
				return tok.Stem
			}
		}
		return ""
	}
	for _, t := range fit {
		if of(t) == "" {
			return fit
		}
	}
	best := slices.MaxFunc(fit, func(a, b title) int { return age * cmp.Compare(of(a), of(b)) })
	return []title{best}
}

// findVersions reads a year or version that stands for a document: "2024 and 2025", "the
// 2024 one", after a turn "and 2024?". It means a version of a document named beside it, or
// of the last one mentioned.
func (r *reader) findVersions() {
	const short = 8 // words of a message that asks for another version
	if len(r.found) == 0 && len(r.words) > short && !r.compare {
		return
	}
	var of []llm.Document
	for _, m := range r.found {
		of = append(of, m.docs...)
	}
	if len(of) == 0 || r.refersToEarlier() {
		of = append(of, r.recent[:min(1, len(r.recent))]...)
	}
	for at := range r.words {
		age := r.ages[at]
		for _, d := range of {
			if age == 0 {
				break
			}
			fit := append(r.otherVersions(d), title{d, language.TitleTokens(d.Title)})
			if fit = oldestOrNewest(fit, age); len(fit) == 1 && fit[0].ID != d.ID && !r.isFound(fit[0].Document) {
				r.found = append(r.found, mention{from: at, end: at + 1, docs: []llm.Document{fit[0].Document}, sure: true})
			}
		}
	}
	for _, v := range r.versions {
		one := v+1 < len(r.words) && (anyDocument[r.words[v+1].Raw] || r.words[v+1].Raw == "of")
		before := v - 1
		if before > 0 && r.words[before].Raw == "the" {
			before--
		}
		joined := before >= 0 && (joining[r.words[before].Raw] || r.words[before].Version) || v+1 < len(r.words) && joining[r.words[v+1].Raw]
		if len(r.found) > 0 && !one && !joined {
			continue
		}
		var fit []title
		for _, d := range of {
			for _, t := range r.otherVersions(d) {
				if t.holds(r.words[v].Token) && !slices.ContainsFunc(fit, func(o title) bool { return o.ID == t.ID }) {
					fit = append(fit, t)
				}
			}
		}
		if len(fit) == 1 && !r.isFound(fit[0].Document) {
			if r.compare && len(r.found) == 0 && len(r.recent) > 0 { // "compare with v2": the one spoken of
				r.found = append(r.found, mention{from: 0, end: 0, docs: r.recent[:1], sure: true, earlier: true})
			}
			r.found = append(r.found, mention{from: v, end: v + 1, docs: []llm.Document{fit[0].Document}, sure: true})
		}
	}
}

func (r *reader) isFound(d llm.Document) bool {
	return slices.ContainsFunc(r.found, func(m mention) bool { return slices.ContainsFunc(m.docs, func(o llm.Document) bool { return o.ID == d.ID }) })
}

// findPartialTitles finds titles most of whose words occur anywhere in the message. In a
// question they count only with a document noun, a version or all words of the title, and
// when only one document matches.
func (r *reader) findPartialTitles(taken []bool) {
	type partial struct {
		doc llm.Document
		at  []int
		ok  bool
	}
	var all []partial
	for _, t := range r.titles {
		if at, sure, ok := r.matchPartly(t, taken); ok {
			all = append(all, partial{t.Document, at, sure || r.documents})
		}
	}
	var places [][]int // of each mention
	for _, p := range all {
		beaten := slices.ContainsFunc(all, func(o partial) bool { return len(o.at) > len(p.at) && hasAll(o.at, p.at) })
		if beaten || !p.ok { // a title that has more of the words wins
			continue
		}
		if i := slices.IndexFunc(places, func(at []int) bool { return slices.Equal(at, p.at) }); i >= 0 {
			r.found[i].docs = append(r.found[i].docs, p.doc)
			r.found[i].sure = r.compare && len(r.found[i].docs) == 2
			continue
		}
		places = append(places, p.at)
		r.found = append(r.found, mention{from: p.at[0], end: p.at[len(p.at)-1] + 1, docs: []llm.Document{p.doc}, sure: true})
	}
	if !r.documents {
		r.found = slices.DeleteFunc(r.found, func(m mention) bool { return !m.sure })
	}
}

func hasAll(all, some []int) bool {
	return !slices.ContainsFunc(some, func(i int) bool { return !slices.Contains(all, i) })
}

// matchPartly matches a title by most of its words, when the message has no other version.
// sure reports that the words name a document and not only a subject.
func (r *reader) matchPartly(t title, taken []bool) (at []int, sure, ok bool) {
	var total, hit float64
	var agree, conflict, kind bool
	for _, tok := range t.tokens {
		i := position(r.words, tok, taken)
		switch {
		case tok.Version:
			agree = agree || i >= 0
			conflict = conflict || i < 0 && slices.ContainsFunc(r.words, func(w language.Word) bool { return sameKind(w.Token, tok) })
		default:
			total += r.weight(tok.Stem)
			if i >= 0 {
				hit += r.weight(tok.Stem)
				kind = kind || nounGroups[tok.Stem] != ""
			}
		}
		if i >= 0 {
			at = append(at, i)
		}
	}
	slices.Sort(at)
	at = slices.Compact(at)
	if conflict && !agree || total == 0 || hit/total < 0.55 {
		return nil, false, false
	}
	return at, agree || kind || hit == total, true
}

// position finds tok among the words that are free. Two words in the message match a title
// that joins them.
func position(words []language.Word, tok language.Token, taken []bool) int {
	for i, w := range words {
		if taken[i] || w.Stop {
			continue
		}
		if w.Is(tok) || i+1 < len(words) && !tok.Version && w.Raw+words[i+1].Raw == tok.Raw {
			return i
		}
	}
	return -1
}

// sameKind reports whether both are years, both versions such as v2, or both other numbers.
func sameKind(a, b language.Token) bool {
	isYear := func(t language.Token) bool { return len(t.Stem) == 4 }
	return a.Version && b.Version && (a.Stem[0] == 'v') == (b.Stem[0] == 'v') && (a.Stem[0] == 'v' || isYear(a) == isYear(b))
}

// knows reports whether a name is the name of a known document.
func (n *titleIndex) knows(name string) bool {
	r := n.reader(name, llm.Facts{Action: chat.Summarize})
	return len(r.mentions()) > 0
}
