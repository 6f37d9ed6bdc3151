package mention

import (
	"cmp"
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/agents/documents/intent"
	"github.com/palaver-chat/palaver/internal/language"
)

var (
	anyDocument     = lists.Set("any document")
	subjects        = lists.Set("subjects")
	definiteWords   = lists.Set("definite words")
	indefiniteWords = lists.Set("indefinite words")
	newestWords     = lists.Set("newest words")
	oldestWords     = lists.Set("oldest words")
	joining         = lists.Set("joining")
	actionWords     = lists.Set("action words")
	statingVerbs    = lists.Set("stating verbs")
	verbsToo        = lists.Set("verbs too")
	objectWords     = lists.Set("object words")
	fillers         = lists.Set("fillers")
	twoWords        = lists.Set("two")
)

// phrase is the words between two joining words, marks or names: "the new travel policy".
type phrase struct {
	from, end int
	at        []int // the words that a name may have
	kind      int   // the noun for a kind of document; -1 without one
	definite  bool
	plural    bool
	two       bool // "both", "the two"
	age       int  // 1 the latest, -1 the oldest
}

// readPhrases finds the documents of the phrases that are left beside whole names.
func (r *reader) readPhrases() {
	const short = 8 // words of a message that asks for another version
	phrases := r.phrases()
	for i := 0; i < len(phrases); i++ {
		p := phrases[i]
		if i+1 < len(phrases) && r.isOne(p, phrases[i+1]) { // "the agreement with Brightwater"
			next := phrases[i+1]
			p.end, p.at = next.end, append(slices.Clone(p.at), next.at...)
			p.age = cmp.Or(p.age, next.age)
			i++
		}
		if r.onlyVersion(p) {
			if r.documents || len(r.words) <= short || r.compare {
				r.version(p, phrases, i)
			}
			continue
		}
		r.phrase(p)
	}
}

// phrases cuts the words that are not taken.
func (r *reader) phrases() (out []phrase) {
	p := phrase{kind: -1}
	end := func(i int) {
		if len(p.at) > 0 || p.age != 0 {
			p.end = i
			out = append(out, p)
		}
		p = phrase{from: i, kind: -1}
	}
	for i, w := range r.words {
		if r.taken[i] || w.Apart || joining[w.Raw] {
			end(i)
		}
		switch raw := w.Raw; {
		case r.taken[i]:
		case newestWords[raw] && !r.named(w.Token):
			p.age = 1
		case oldestWords[raw] && !r.named(w.Token), raw == "first" && (r.before(i+1, "version") || r.documents && i+1 < len(r.words) && !anyDocument[r.words[i+1].Raw] && !r.words[i+1].Stop):
			p.age = -1
		case twoWords[raw] && !r.named(w.Token):
			p.two = true
		case raw == "all":
			p.plural = true
		case definiteWords[raw]:
			p.definite = p.definite || len(p.at) == 0
		case !r.named(w.Token) && (language.TimeUnits[raw] || language.IsStopWordIn(raw, r.language)):
		case w.Stop || joining[raw] || anyDocument[raw] || statingVerbs[raw] || indefiniteWords[raw]:
		case fillers[raw], verbsToo[raw] && i+1 < len(r.words) && objectWords[r.words[i+1].Raw]:
		case actionWords[raw] && !r.named(w.Token):
			if len(p.at) > 0 { // "does the email break the rules"
				end(i)
			}
		default:
			if len(p.at) == 0 {
				p.from = i
			}
			p.at = append(p.at, i)
			if r.isKind(i) && (p.kind < 0 || subjects[r.words[p.kind].Raw] || !subjects[raw]) {
				p.kind = i
				p.plural = p.plural || strings.HasSuffix(raw, "s") && !slices.Contains([]string{"minutes", "rules", "terms"}, raw)
			}
		}
	}
	end(len(r.words))
	return out
}

func (r *reader) before(i int, raw string) bool { return i < len(r.words) && r.words[i].Raw == raw }

// named reports whether a name has the word.
func (r *reader) named(t language.Token) bool { return r.df[t.Stem] > 0 }

// isKind reports whether the i-th word is the noun of a phrase for a document: not "report" in
// "must report a breach", nor "notice" in "notice period".
func (r *reader) isKind(i int) bool {
	w := r.words[i]
	if kinds[w.Raw] == "" && !r.isShort(w.Stem) || i > 0 && indefiniteWords[r.words[i-1].Raw] && !w.Apart {
		return false
	}
	if i+1 == len(r.words) || r.words[i+1].Apart {
		return true
	}
	next := r.words[i+1]
	if r.upper[i] && r.isShort(w.Stem) {
		return true
	}
	if verbsToo[w.Raw] && objectWords[next.Raw] {
		return false
	}
	return next.Stop || next.Version || statingVerbs[next.Raw] || joining[next.Raw] || actionWords[next.Raw] || anyDocument[next.Raw] || kinds[next.Raw] != "" || definiteWords[next.Raw] || r.named(next.Token)
}

// isShort reports whether a word is an abbreviation of a name: "dpa".
func (r *reader) isShort(stem string) bool {
	return slices.ContainsFunc(r.docs, func(d *document) bool {
		return len(d.short[stem]) > 0 && d.has(language.Token{Stem: stem, Raw: stem}) > 0
	})
}

func (r *reader) onlyVersion(p phrase) bool {
	return !slices.ContainsFunc(p.at, func(i int) bool { return !r.words[i].Version })
}

// bare reports whether a phrase has nothing but a kind: "the contract".
func (r *reader) bare(p phrase) bool {
	return p.kind >= 0 && !slices.ContainsFunc(p.at, func(i int) bool {
		return kinds[r.words[i].Raw] == "" && i != p.kind && (!r.words[i].Version || language.IsYearOrVersion(r.words[i].Stem))
	})
}

// isOne reports whether two phrases are one name: a kind, and words that a document of this
// kind has.
func (r *reader) isOne(p, next phrase) bool {
	if next.from-p.end > 2 || p.end >= len(r.words) || !joining[r.words[p.end].Raw] || !r.bare(p) || len(next.at) == 0 || r.words[next.from].Apart || next.kind >= 0 && (r.compare || intent.Auditing(r.Text, r.Action)) {
		return false
	}
	return slices.ContainsFunc(r.docs, func(d *document) bool {
		return d.has(r.words[p.kind].Token) > 0 && slices.ContainsFunc(next.at, func(i int) bool { return !r.words[i].Version && d.has(r.words[i].Token) > 0 })
	})
}

// best returns the documents whose names have the most weight of the words.
func (r *reader) best(at []int) (docs []*document) {
	best := 0.0
	for _, d := range r.docs {
		score := 0.0
		for _, i := range at {
			t := r.words[i].Token
			if w := d.has(t); w > 0 {
				score += w * r.weight(t.Stem)
			} else if d.conflicts(t) {
				score *= 0.3
			}
		}
		switch {
		case score == 0 || score < best-1e-9:
		case score > best+1e-9:
			docs, best = []*document{d}, score
		default:
			docs = append(docs, d)
		}
	}
	return docs
}

// phrase decides which documents a phrase means, if any.
func (r *reader) phrase(p phrase) {
	if r.Pasted && r.bare(p) && subjects[r.words[p.kind].Raw] {
		return // "check the following email": it stands in the message
	}
	all := p
	if p.kind >= 0 && !r.documents { // in a question, the words around the noun
		p.at = r.around(p)
	}
	docs := ownFirst(r.best(p.at))
	if len(docs) == 0 || !r.means(p, p.at, docs[0]) {
		if docs = ownFirst(r.best(all.at)); len(docs) != 1 || !r.whole(docs[0]) {
			r.noteUnknown(p, p.at)
			return
		}
		p = all
	}
	at := p.at
	if !r.matchesEnough(at, docs[0]) {
		r.noteUnknown(p, at)
		if r.documents || !r.whole(docs[0]) {
			return
		}
	}
	f := matchedPlace{from: p.from, end: p.end, docs: docs}
	if slices.ContainsFunc(r.found, func(o matchedPlace) bool {
		return o.sure && slices.ContainsFunc(docs, func(d *document) bool { return slices.Contains(o.docs, d) })
	}) {
		return // another name of the same document
	}
	r.choose(&f, p)
	if f.sure || r.documents && len(f.docs) <= maxOpen {
		r.found = append(r.found, f)
	}
}

// maxOpen is the number of documents that one phrase may mean.
const maxOpen = 8

// around returns the words of a phrase that belong to its noun: those before and after it up
// to a verb or an article, across "of", "for" and the like.
func (r *reader) around(p phrase) (out []int) {
	const gap = 2
	k := slices.Index(p.at, p.kind)
	from, end := k, k+1
	for from > 0 && p.at[from]-p.at[from-1] <= 1 {
		from--
	}
	for end < len(p.at) && p.at[end]-p.at[end-1] <= gap && !r.verbBetween(p.at[end-1], p.at[end]) {
		end++
	}
	return p.at[from:end]
}

func (r *reader) verbBetween(i, j int) bool {
	return slices.ContainsFunc(r.words[i+1:j], func(w language.Word) bool {
		return statingVerbs[w.Raw] || !slices.Contains([]string{"of", "for", "on", "about", "in", "from", "with", "by", "mit", "avec", "con", "met", "der", "des", "von", "de", "du", "del", "van"}, w.Raw)
	})
}

// means reports whether the words name a document and are not only a subject: they have a
// noun for its kind, a version, or all words of a name, or the action works on documents.
func (r *reader) means(p phrase, at []int, d *document) bool {
	rare := slices.ContainsFunc(at, func(i int) bool {
		return kinds[r.words[i].Raw] == "" && d.has(r.words[i].Token) > 0
	})
	if r.bare(p) {
		sure := r.documents || (p.definite || p.two) && (!subjects[r.words[p.kind].Raw] || r.stated(p.kind))
		return sure && (!subjects[r.words[p.kind].Raw] || p.definite || p.two || r.documents)
	}
	if !rare {
		return false
	}
	return r.documents || p.kind >= 0 && slices.Contains(at, p.kind) || r.whole(d) || r.hasVersion(at, d)
}

// stated reports whether the message asks what a document says.
func (r *reader) stated(i int) bool {
	return i+1 < len(r.words) && statingVerbs[r.words[i+1].Raw]
}

func (r *reader) hasVersion(at []int, d *document) bool {
	return slices.ContainsFunc(at, func(i int) bool {
		return language.IsYearOrVersion(r.words[i].Stem) && d.has(r.words[i].Token) >= fileWeight
	})
}

// whole reports whether the message has all words of one of the document's own names, or an
// abbreviation that stands for them, or a code.
func (r *reader) whole(d *document) bool {
	said := map[string]bool{}
	for i, w := range r.words {
		if r.taken[i] {
			continue
		}
		said[w.Stem] = true
		for _, stem := range d.short[w.Stem] {
			said[stem] = true
		}
		if strings.ContainsAny(w.Raw, "0123456789") && !w.Version && d.words[w.Stem] > 0 {
			return true // a code
		}
	}
	return slices.ContainsFunc(d.names, func(n name) bool {
		words := 0
		for _, t := range n.tokens {
			if t.Version {
				continue
			}
			if words++; !said[t.Stem] {
				return false
			}
		}
		return words > 1 && n.weight > otherWeight
	})
}

// matchesEnough reports whether a document has most of the words' weight. A word in capitals
// that it does not have counts in full, any other only half.
func (r *reader) matchesEnough(at []int, d *document) bool {
	const least = 0.5
	has, all := 0.0, 0.0
	for _, i := range at {
		t := r.words[i].Token
		w := r.weight(t.Stem)
		switch {
		case d.has(t) > 0:
			has += w
		case d.conflicts(t):
			return false
		case !r.upper[i] && !t.Version:
			w /= 2
		}
		all += w
	}
	return has >= least*all
}

// maxUnknown is the number of words of the longest name without a noun for its kind.
const maxUnknown = 4

// noteUnknown keeps a phrase that is the name of a document which nobody has.
func (r *reader) noteUnknown(p phrase, at []int) {
	if r.bare(p) || len(at) == 0 || p.kind < 0 && !r.documents || p.kind >= 0 && !slices.Contains(at, p.kind) {
		return
	}
	named := slices.ContainsFunc(at, func(i int) bool { return r.upper[i] || r.words[i].Version })
	if !named && (!r.documents || p.kind < 0) || len(at) > maxUnknown && p.kind < 0 || p.kind >= 0 && !r.documents && subjects[r.words[p.kind].Raw] {
		return
	}
	var words []string
	runes := []rune(r.text)
	for i := at[0]; i <= at[len(at)-1]; i++ {
		end := len(runes)
		if i+1 < len(r.words) {
			end = r.words[i+1].Start
		}
		words = append(words, string(runes[min(r.words[i].Start, len(runes)):end]))
	}
	if name := strings.TrimSpace(strings.Trim(strings.TrimSpace(strings.Join(words, "")), ".,;:?!\"'“”")); len([]rune(name)) > 2 {
		r.unknown = append(r.unknown, name)
	}
}

// choose decides among several documents that a phrase fits.
func (r *reader) choose(f *matchedPlace, p phrase) {
	f.docs = readable(f.docs)
	if len(f.docs) > 1 && p.age != 0 {
		f.docs = oldestOrNewest(f.docs, p.age)
	}
	before := slices.DeleteFunc(r.recent(), func(d *document) bool { return !slices.Contains(f.docs, d) })
	switch n := len(f.docs); {
	case n == 1:
		f.sure = true
	case p.two && len(before) >= 2:
		f.docs, f.sure, f.back = before[:2], true, true
	case p.plural && n <= maxOpen, (p.two || r.compare) && n == 2:
		f.sure = true
		slices.SortStableFunc(f.docs, func(a, b *document) int { return cmp.Compare(a.edition(), b.edition()) }) // what changed from the older one
	case len(before) > 0 && (p.definite || p.kind >= 0): // "that circular": the one spoken of
		f.docs, f.sure, f.back = before[:1], true, true
	}
}

// oldestOrNewest returns the document with the lowest or highest year or version; docs when
// one has neither.
func oldestOrNewest(docs []*document, age int) []*document {
	if slices.ContainsFunc(docs, func(d *document) bool { return d.edition() == 0 }) {
		return docs
	}
	return []*document{slices.MaxFunc(docs, func(a, b *document) int { return age * cmp.Compare(a.edition(), b.edition()) })}
}

// version reads a year, a version or "the new one" that stands alone: a version of a
// document that is named beside it, or else of the last one spoken of.
func (r *reader) version(p phrase, phrases []phrase, i int) {
	var of []*document
	for _, f := range r.found {
		of = append(of, f.docs...)
	}
	for _, near := range []int{i - 1, i + 1} { // "v1 and v2 of the Northwind contract"
		if near >= 0 && near < len(phrases) && !r.onlyVersion(phrases[near]) {
			docs := r.best(slices.DeleteFunc(slices.Clone(phrases[near].at), func(i int) bool { return r.words[i].Version }))
			of = append(of, ownFirst(docs)...)
		}
	}
	if last := r.recent(); len(last) > 0 {
		of = append(of, last[0])
	}
	for _, d := range of {
		family := append(r.otherVersions(d), d)
		fit := slices.DeleteFunc(slices.Clone(family), func(o *document) bool {
			return slices.ContainsFunc(p.at, func(i int) bool { return o.has(r.words[i].Token) == 0 })
		})
		if p.age != 0 && len(p.at) == 0 {
			fit = oldestOrNewest(family, p.age)
		}
		if len(fit) != 1 {
			continue
		}
		if !slices.ContainsFunc(r.found, func(f matchedPlace) bool { return f.sure && slices.Contains(f.docs, fit[0]) }) {
			if last := r.recent(); r.compare && len(r.found) == 0 && len(last) > 0 && last[0] != fit[0] { // "compare with v2": the one spoken of
				r.found = append(r.found, matchedPlace{docs: last[:1], sure: true, back: true})
			}
			r.found = append(r.found, matchedPlace{from: p.from, end: p.end, docs: fit, sure: true})
		}
		// A phrase that fits all versions means the ones with these versions.
		r.found = slices.DeleteFunc(r.found, func(f matchedPlace) bool { return !f.sure && slices.Contains(f.docs, fit[0]) })
		return
	}
}
