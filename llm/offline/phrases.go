package offline

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hbollon/go-edlib"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/llm"
)

// mention is a place in a message where documents are spoken of.
type mention struct {
	from, end int // words, determiners included
	docs      []llm.Document
	sure      bool // all of docs are meant; else one of them
	back      bool // known from what was spoken of before
}

// phrase is a run of words that may speak of documents: "both remote work
// policies", "the agreement with Brightwater".
type phrase struct {
	from, end int
	tokens    []language.Token // what the title must have
	kind      string           // its document noun, stemmed; "" without one
	definite  bool
	any       bool // "a policy", "any policy": none in particular
	plural    bool
	two       bool // "both", "the two"
	age       int  // 1 the latest, -1 the oldest
	slot      bool // it stands where a document must: "summarize …", "what does … say"
	subject   bool // "on", "about" follows
	followed  bool // another noun may follow, of which this one tells the kind
}

func (p phrase) bare() bool { return p.kind != "" && len(p.tokens) == 1 }

var (
	// loose nouns mean any document.
	loose      = language.NewSet("document documents doc docs file files paper papers pdf docx text texts version versions draft drafts copy copies edition editions one ones")
	definites  = language.NewSet("the this that these those our my your both same")
	indefinite = language.NewSet("a an any no some every")
	counts     = language.NewSet("two three four different various respective")
	newest     = language.NewSet("new newer newest latest current updated recent")
	oldest     = language.NewSet("old older oldest previous former earlier")
	// everyday nouns name a document only where one must be meant.
	everyday  = language.NewSet("rule rules report reports notice letter letters standard standards code act directive procedure procedures statement terms email emails memo memos")
	fillers   = language.NewSet("attached uploaded whole entire full complete sample existing whole following")
	auxiliary = language.NewSet("do does did can could will would may might must shall should")
	joints    = language.NewSet("and or with to against versus vs between from than plus")
	linking   = language.NewSet("about with on for of from regarding concerning between")
	doing     = language.NewSet(`summarize summarise summarizing summarising summary overview recap outline gist tldr compare comparing comparison contrast
audit auditing check checking review verify assess validate examine screen differ differs difference differences changed change changes
comply complies compliant violate violates breach breaches break breaks please explain describe`)
	stating = language.NewSet(`say says said state states stated require requires required mention mentions contain contains cover covers allow allows permit permits
prohibit prohibits forbid forbids tell tells provide provides define defines specify specifies stipulate stipulates demand demands regulate
regulates prescribe prescribes address addresses explain explains describe describes apply applies include includes mean means set sets`)
	kinds = func() map[string]string { // stem of a document noun to the first of its group
		m := map[string]string{}
		for w := range docNouns {
			if !loose[w] {
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

// phrases cuts the words that are not taken into phrases, and tells the years
// and versions that stand alone, and where "the new one" and "the old one" are.
func phrases(words []language.Word, taken []bool, documents bool) (out []phrase, versions []int, ages map[int]int) {
	ages = map[int]int{}
	breaks := func(i int) bool {
		w := words[i]
		return w.Stop || taken[i] || doing[w.Raw] || stating[w.Raw] || joints[w.Raw]
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
			if p.age != 0 && j < len(words) && loose[words[j].Raw] {
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

// newPhrase reads words[i:j] with the determiners before them.
func newPhrase(words []language.Word, i, j int, documents bool) phrase {
	p := phrase{from: i, end: j}
	for p.from > 0 && (definites[words[p.from-1].Raw] || indefinite[words[p.from-1].Raw] || words[p.from-1].Raw == "all") && !words[p.from].Apart {
		p.from--
		raw := words[p.from].Raw
		p.definite = p.definite || definites[raw] || raw == "all"
		p.any = p.any || indefinite[raw]
		p.two = p.two || raw == "both"
	}
	for i < j && p.qualifies(words[i].Raw, i+1 < j) {
		i++
	}
	head := -1
	for k := i; k < j; k++ {
		if kinds[words[k].Stem] != "" && !words[k].Version {
			head = k
		}
	}
	if head >= 0 {
		p.kind, p.plural = words[head].Stem, strings.HasSuffix(words[head].Raw, "s")
		for p.end = head + 1; p.end < j && (words[p.end].Version || loose[words[p.end].Raw]); p.end++ {
		}
		p.followed = p.end < j
	}
	for _, w := range words[i:p.end] {
		if !loose[w.Raw] {
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
	p.subject = next == "on" || next == "about" || next == "for" || next == "regarding" || next == "concerning"
	p.slot = stating[next] || asked && p.end < len(words) || before(1) == "to" && before(2) == "according" ||
		documents && (p.definite || doing[before(1)] || joints[before(1)] || before(1) == "of" || before(1) == "me")
	return p
}

// qualifies takes in a word that stands before a name without being part of it.
func (p *phrase) qualifies(raw string, more bool) bool {
	switch {
	case counts[raw], raw == "2" && more:
		p.two = p.two || raw == "two" || raw == "2"
	case newest[raw]:
		p.age = 1
	case oldest[raw]:
		p.age = -1
	default:
		return fillers[raw]
	}
	return true
}

// fits are the documents whose titles have all the tokens. A title of nothing
// else goes before those that have more.
func (n *namer) fits(toks []language.Token, kind string) []title {
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
	return out
}

func (t title) has(toks []language.Token, kind string) bool {
	for i := 0; i < len(toks); i++ {
		tok := toks[i]
		found := slices.ContainsFunc(t.tokens, func(x language.Token) bool {
			return x.Is(tok) || tok.Stem == kind && kinds[x.Stem] != "" && kinds[x.Stem] == kinds[kind]
		})
		if !found && i+1 < len(toks) { // written apart, joined in the title
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

// hasNumber finds 3 for 03.
func (t title) hasNumber(number string) bool {
	return slices.ContainsFunc(t.tokens, func(x language.Token) bool {
		return x.Version && len(x.Stem) < 4 && strings.TrimLeft(x.Stem, "0") == strings.TrimLeft(number, "0")
	})
}

// correct replaces misspelt words by those of a title that has a word beside
// them, too; where a document must be meant, long ones without that.
func (n *namer) correct(words []language.Word, documents bool) {
	for i, w := range words {
		if w.Stop || w.Version || n.df[w.Stem] > 0 || len(w.Raw) < 3 || doing[w.Raw] || stating[w.Raw] || kinds[w.Stem] != "" || loose[w.Raw] {
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

// siblings are the versions of a document among the others: the same title but
// for the version.
func (n *namer) siblings(of llm.Document) []title {
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

// reader finds what one message speaks of.
type reader struct {
	*namer
	words     []language.Word
	documents bool // the action is about named documents
	compare   bool
	recent    []llm.Document // spoken of before, the last one first
	found     []mention
	versions  []int // words: years and versions that stand alone
	ages      map[int]int
}

func (n *namer) reader(text string, f llm.Facts) *reader {
	r := &reader{namer: n, words: n.read(text), documents: wantsDocuments(text, f.Action)}
	r.compare = f.Action == chat.Compare || f.Action == "" && compareVerb.MatchString(text)
	n.correct(r.words, r.documents)
	return r
}

// mentions finds whole titles first, then phrases, then years that stand alone,
// and only when all that finds nothing, titles most of whose words occur.
func (r *reader) mentions() []mention {
	taken := r.whole()
	var ps []phrase
	ps, r.versions, r.ages = phrases(r.words, taken, r.documents)
	named := len(r.found) > 0 || slices.ContainsFunc(ps, func(p phrase) bool { return p.kind != "" && len(r.fits(p.tokens, p.kind)) > 0 })
	for i := 0; i < len(ps); i++ {
		if ps[i].kind == "" && (!ps[i].slot || named && !r.documents) {
			continue
		}
		if i+1 < len(ps) && r.extend(&ps[i], ps[i+1]) {
			ps = slices.Delete(ps, i+1, i+2)
		}
		r.phrase(ps[i])
	}
	r.alone()
	if len(r.found) == 0 {
		r.scattered(taken)
	}
	slices.SortStableFunc(r.found, func(a, b mention) int { return a.from - b.from })
	return r.found
}

// whole takes the titles that stand in the message from end to end.
func (r *reader) whole() (taken []bool) {
	taken = make([]bool, len(r.words))
	var at []int // of the words that tell something
	for i, w := range r.words {
		if !w.Stop {
			at = append(at, i)
		}
	}
	titles := slices.Clone(r.titles)
	slices.SortStableFunc(titles, func(a, b title) int { return len(b.tokens) - len(a.tokens) })
	for _, t := range titles {
		if len(t.tokens) == 1 && kinds[t.tokens[0].Stem] != "" {
			continue // "Policy": a phrase tells better
		}
		for i := 0; i+len(t.tokens) <= len(at); i++ {
			first, last := at[i], at[i+len(t.tokens)-1]
			same := true
			for j, tok := range t.tokens {
				same = same && tok.Is(r.words[at[i+j]].Token)
			}
			if !same {
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

// extend joins "the email" and "the customer list" over "about" when a title has
// both.
func (r *reader) extend(p *phrase, next phrase) bool {
	if next.from-p.end != 1 || !linking[r.words[p.end].Raw] || p.followed {
		return false
	}
	toks := append(slices.Clone(p.tokens), next.tokens...)
	if len(r.fits(toks, p.kind)) == 0 {
		return false
	}
	p.tokens, p.end, p.subject = toks, next.end, false
	return true
}

// phrase decides what a phrase speaks of, if of any document.
func (r *reader) phrase(p phrase) {
	const most = 8 // documents that one phrase may mean
	fit := r.fits(p.tokens, p.kind)
	if len(fit) == 0 || p.any || p.bare() && (p.followed || !p.definite && !r.documents || everyday[p.tokens[0].Raw] && !r.documents && !p.slot) {
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
		if narrowed := r.narrowed(fit); len(narrowed) > 0 {
			fit = narrowed
			if len(fit) > 1 {
				add(fit, len(fit) <= len(r.versions))
				return
			}
		}
	}
	if len(fit) > 1 && p.age != 0 && !p.plural {
		fit = oldestOrNewest(fit, p.age)
	}
	switch {
	case len(fit) == 1:
		add(fit, true)
	case p.two && len(fit) > 2:
		if two := r.spoken(fit); len(two) >= 2 {
			m.back = true
			add(two[:2], true)
			return
		}
		if len(fit) <= most {
			add(fit, false)
		}
	case p.plural && len(fit) <= most, p.two, r.compare && len(fit) == 2:
		add(fit, true)
	case p.definite && len(r.spoken(fit)) > 0: // "that circular": the one spoken of
		m.back = true
		add(r.spoken(fit)[:1], true)
	case len(fit) > most, p.subject && p.bare(), !r.documents && p.bare() && !p.slot, p.kind == "" && !r.documents:
	default:
		add(fit, false)
	}
}

// narrowed are those of a year or version that stands alone: "between 2024 and
// 2025 in the remote work policy".
func (r *reader) narrowed(fit []title) []title {
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

// spoken are those of fit that were spoken of before, the last one first.
func (r *reader) spoken(fit []title) []title {
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

// alone reads a year or version that stands for a document: "2024 and 2025",
// "the 2024 one", after a turn "and 2024?". It means a version of a document
// named beside it, or of the one spoken of last.
func (r *reader) alone() {
	const short = 8 // words of a message that goes on with another version
	if len(r.found) == 0 && len(r.words) > short && !r.compare {
		return
	}
	var of []llm.Document
	for _, m := range r.found {
		of = append(of, m.docs...)
	}
	if len(of) == 0 || r.pointsBack() {
		of = append(of, r.recent[:min(1, len(r.recent))]...)
	}
	for at := range r.words {
		age := r.ages[at]
		for _, d := range of {
			if age == 0 {
				break
			}
			fit := append(r.siblings(d), title{d, language.TitleTokens(d.Title)})
			if fit = oldestOrNewest(fit, age); len(fit) == 1 && fit[0].ID != d.ID && !r.has(fit[0].Document) {
				r.found = append(r.found, mention{from: at, end: at + 1, docs: []llm.Document{fit[0].Document}, sure: true})
			}
		}
	}
	for _, v := range r.versions {
		one := v+1 < len(r.words) && (loose[r.words[v+1].Raw] || r.words[v+1].Raw == "of")
		before := v - 1
		if before > 0 && r.words[before].Raw == "the" {
			before--
		}
		joined := before >= 0 && joints[r.words[before].Raw] || v+1 < len(r.words) && joints[r.words[v+1].Raw]
		if len(r.found) > 0 && !one && !joined {
			continue
		}
		var fit []title
		for _, d := range of {
			for _, t := range r.siblings(d) {
				if t.holds(r.words[v].Token) && !slices.ContainsFunc(fit, func(o title) bool { return o.ID == t.ID }) {
					fit = append(fit, t)
				}
			}
		}
		if len(fit) == 1 && !r.has(fit[0].Document) {
			r.found = append(r.found, mention{from: v, end: v + 1, docs: []llm.Document{fit[0].Document}, sure: true})
		}
	}
}

func (r *reader) has(d llm.Document) bool {
	return slices.ContainsFunc(r.found, func(m mention) bool { return slices.Contains(m.docs, d) })
}

// scattered takes titles most of whose words occur in the message, wherever.
// For a question that is a name only when a document noun, a version or all that
// the title says is among them, and when it fits one document only.
func (r *reader) scattered(taken []bool) {
	type partial struct {
		doc llm.Document
		set map[int]bool
		ok  bool
	}
	var all []partial
	for _, t := range r.titles {
		if set, sure, ok := r.partly(t, taken); ok {
			all = append(all, partial{t.Document, set, sure || r.documents})
		}
	}
	groups := map[string]int{}
	for _, p := range all {
		beaten := slices.ContainsFunc(all, func(o partial) bool { return len(o.set) > len(p.set) && subset(p.set, o.set) })
		if beaten || !p.ok { // a name that explains more of the text wins
			continue
		}
		if i, ok := groups[key(p.set)]; ok {
			r.found[i].docs = append(r.found[i].docs, p.doc)
			r.found[i].sure = r.compare && len(r.found[i].docs) == 2
			continue
		}
		m := mention{from: len(r.words), docs: []llm.Document{p.doc}, sure: true}
		for at := range p.set {
			m.from, m.end = min(m.from, at), max(m.end, at+1)
		}
		groups[key(p.set)] = len(r.found)
		r.found = append(r.found, m)
	}
	if !r.documents {
		r.found = slices.DeleteFunc(r.found, func(m mention) bool { return !m.sure })
	}
}

// partly matches a title by most of its words, its version not contradicted.
// sure tells that what matched names a document and not a mere subject.
func (r *reader) partly(t title, taken []bool) (at map[int]bool, sure, ok bool) {
	at = map[int]bool{}
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
				kind = kind || kinds[tok.Stem] != ""
			}
		}
		if i >= 0 {
			at[i] = true
		}
	}
	if conflict && !agree || total == 0 || hit/total < 0.55 {
		return nil, false, false
	}
	return at, agree || kind || hit == total, true
}

// position finds tok among words that are free; two words written apart meet a
// title that joins them.
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

// sameKind reports whether both are years, or both version numbers.
func sameKind(a, b language.Token) bool {
	kind := func(t language.Token) int {
		switch {
		case !t.Version:
			return 0
		case t.Stem[0] == 'v':
			return 1
		case len(t.Stem) == 4:
			return 2
		}
		return 3
	}
	return kind(a) == kind(b)
}

func subset(a, b map[int]bool) bool {
	for i := range a {
		if !b[i] {
			return false
		}
	}
	return true
}

func key(set map[int]bool) string {
	var at []int
	for i := range set {
		at = append(at, i)
	}
	slices.Sort(at)
	var b strings.Builder
	for _, i := range at {
		b.WriteRune(rune(i + 32))
	}
	return b.String()
}

// knows reports whether a name is one of a title's.
func (n *namer) knows(name string) bool {
	r := n.reader(name, llm.Facts{Action: chat.Summarize})
	return len(r.mentions()) > 0
}
