package mention

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/palaver-chat/palaver/agents/documents/intent"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/lazyregexp"
	"github.com/palaver-chat/palaver/llm"
)

// Request is a message whose documents are to be found.
type Request struct {
	Text   string // the part that says what to do
	Action chat.Action
	Recent []llm.Document // that the conversation has used, the latest first
	Tagged []string       // ids
	Pasted bool           // the message has a text to work on
	Now    time.Time      // for "last year's"
}

// Resolution is what the rules found.
type Resolution struct {
	IDs     []string // of documents that are meant, in order of mention
	Open    []string // of documents of which one is meant: a name fits them all
	Exact   bool     // IDs are full names in quotation marks, or exact names of files
	Back    bool     // IDs were spoken of before
	Lost    bool     // the message refers to a document that was not spoken of
	Unknown []string // names that fit no document
}

// matchedPlace is a place in a message that means documents.
type matchedPlace struct {
	from, end int // words
	docs      []*document
	sure      bool // all of docs are meant, else one of them
	exact     bool
	back      bool
}

// reader reads one message.
type reader struct {
	*Library
	Request
	text      string
	words     []language.Word
	upper     []bool // the word begins with a capital, within a sentence
	language  string
	documents bool // the action works on named documents
	compare   bool
	taken     []bool
	found     []matchedPlace
	unknown   []string
}

// Resolve finds the documents that a message means.
func (l *Library) Resolve(q Request) Resolution {
	q.Text = language.Commands(q.Text)
	r := &reader{Library: l, Request: q, documents: intent.OnDocuments(q.Text, q.Action) || intent.NamesNext(q.Text), compare: intent.Comparing(q.Text, q.Action)}
	r.language = language.Detect(q.Text)
	r.readQuoted()
	r.scan()
	r.findNames()
	r.readPhrases()
	if r.mayReferBack() {
		r.readReferences()
	}
	return r.result()
}

func (r *reader) result() (out Resolution) {
	slices.SortStableFunc(r.found, func(a, b matchedPlace) int { return cmp.Compare(a.from, b.from) })
	out.Exact = len(r.found) > 0
	for _, f := range r.found {
		into := &out.IDs
		if !f.sure {
			into = &out.Open
		}
		for _, d := range f.docs {
			if !slices.Contains(*into, d.ID) {
				*into = append(*into, d.ID)
			}
		}
		out.Exact, out.Back = out.Exact && f.exact, out.Back || f.back
	}
	out.Open = slices.DeleteFunc(out.Open, func(id string) bool { return slices.Contains(out.IDs, id) })
	if slices.ContainsFunc(r.found, func(f matchedPlace) bool { return !f.sure && containsAny(f.docs, r.Tagged) }) { // the tag decides
		out.Open = nil
	}
	if len(out.Open) == 1 {
		out.IDs, out.Open = append(out.IDs, out.Open...), nil
	}
	out.Unknown = language.Distinct(r.unknown)
	out.Lost = len(r.found) == 0 && r.lost()
	return out
}

func containsAny(docs []*document, ids []string) bool {
	return slices.ContainsFunc(docs, func(d *document) bool { return slices.Contains(ids, d.ID) })
}

// placeholder stands for a name in quotation marks.
func placeholder(i int) string { return "qq" + string(rune('a'+i)) }

var (
	fileName = lazyregexp.New(`[\pL\pN][\pL\pN_.()-]{0,80}\.(?i:pdf|docx?|xlsx|pptx|csv|txt|md|html?)\b`)
	inQuotes = lazyregexp.New(`["“„«]([^"“”„«»\n]{2,120})["”“»]`)
)

// readQuoted finds full names in quotation marks and exact names of files.
func (r *reader) readQuoted() {
	const most = 20
	replace := func(part, whole string) bool {
		var docs []*document
		for _, d := range r.docs {
			for _, n := range append([]string{d.Title, d.Label}, d.Names...) {
				if n != "" && (language.FoldName(n) == language.FoldName(part) || language.FoldName(language.WithoutExtension(n)) == language.FoldName(language.WithoutExtension(part))) {
					docs = append(docs, d)
					break
				}
			}
		}
		if len(docs) == 0 || len(r.found) == most {
			return false
		}
		docs = readable(docs)
		r.text = strings.Replace(r.text, whole, " "+placeholder(len(r.found))+" ", 1)
		r.found = append(r.found, matchedPlace{docs: docs, sure: len(docs) == 1 || r.compare && len(docs) == 2, exact: true})
		return true
	}
	r.text = r.Text
	for _, m := range inQuotes.FindAllStringSubmatch(r.Text, -1) {
		if !replace(m[1], m[0]) && r.callsIt(m[0]) {
			r.unknown = append(r.unknown, m[1])
		}
	}
	lower := strings.ToLower(r.text)
	for _, d := range r.docs { // names of files may have spaces
		for _, n := range d.Names {
			if language.WithoutExtension(n) == n {
				continue
			}
			if i := strings.Index(lower, strings.ToLower(n)); i >= 0 && len(lower) == len(r.text) && replace(n, r.text[i:i+len(n)]) {
				lower = strings.ToLower(r.text)
			}
		}
	}
	for _, m := range fileName.FindAllString(r.text, -1) {
		if !replace(m, m) {
			r.unknown = append(r.unknown, m)
			r.text = strings.Replace(r.text, m, " , ", 1)
		}
	}
}

var beforeName = lazyregexp.New(`(?i)(?:document|file|doc|policy|circular|contract|agreement|report|called|titled|named|entitled|summari[sz]e|summary of|compare|against|and|with|audit)\s*$`)

// callsIt reports whether a quotation stands where a document's name does.
func (r *reader) callsIt(quoted string) bool {
	before, _, _ := strings.Cut(r.Text, quoted)
	return beforeName.MatchString(before) && len(strings.Fields(quoted)) <= 12
}

// scan reads the words of the message as the names write them: words that a name joins or
// writes apart, and misspelt ones.
func (r *reader) scan() {
	r.text = versionNumber.ReplaceAllString(intent.WithYears(language.NormalizeName(r.withShort(r.text)), r.Now, func(year string) bool { return r.df[year] > 0 }), "v$1")
	runes := []rune(r.text)
	scanned := language.Scan(r.text)
	for i := 0; i < len(scanned); i++ {
		w := scanned[i]
		up := w.Start < len(runes) && (unicode.IsUpper(runes[w.Start]) && !startsSentence(runes[:w.Start]) || caseless(runes[w.Start]))
		add := func(t language.Token, apart bool) {
			r.words = append(r.words, language.Word{Token: plainNumber(t), Stop: w.Stop, Start: w.Start, Apart: apart})
			r.upper = append(r.upper, up)
		}
		if code, n := r.codeAt(scanned[i:], runes); n > 0 {
			w.Stop = false
			add(language.Token{Stem: code, Raw: code}, w.Apart)
			i += n - 1
			continue
		}
		if parts := r.joined[w.Raw]; len(parts) > 0 && !w.Version && r.df[w.Stem] == 0 {
			for k, p := range parts {
				add(p, k == 0 && w.Apart)
			}
			continue
		}
		if i+1 < len(scanned) && !w.Stop && !scanned[i+1].Apart && !scanned[i+1].Version { // two words here, one in a name
			if t, ok := r.tokens[w.Raw+scanned[i+1].Raw]; ok {
				add(t, w.Apart)
				i++
				continue
			}
		}
		add(w.Token, w.Apart)
	}
	r.taken = make([]bool, len(r.words))
	r.correctSpelling()
	for i, w := range r.words { // the places of quoted names
		for k := range r.found {
			if w.Raw == placeholder(k) && r.found[k].end == 0 {
				r.found[k].from, r.found[k].end, r.taken[i] = i, i+1, true
			}
		}
	}
}

var shortWord = lazyregexp.New(`\pL[\pL&]{1,5}`)

// withShort writes abbreviations of names in small letters, so that "T&Cs" and "CoC" are one
// word.
func (r *reader) withShort(text string) string {
	return shortWord.ReplaceAllStringFunc(text, func(s string) string {
		key := strings.ToLower(strings.ReplaceAll(strings.TrimSuffix(s, "s"), "&", ""))
		if strings.ContainsAny(s[1:], "&ABCDEFGHIJKLMNOPQRSTUVWXYZ") && r.isShort(key) {
			return strings.ToUpper(key[:1]) + key[1:]
		}
		return s
	})
}

// codeAt returns the code of a name that begins with the first of the words, and how many
// words it has: "cr 7", "secpol04".
func (r *reader) codeAt(words []language.Word, runes []rune) (key string, n int) {
	const most = 4
	for i, w := range words[:min(len(words), most)] {
		if i > 0 && (w.Apart || w.Start-words[i-1].Start > len(words[i-1].Raw)+1) {
			return "", 0
		}
		part := w.Raw
		if t := strings.TrimLeft(part, "0"); t != "" {
			part = t
		}
		key += part
		if w.Version && i > 0 && r.df[key] > 0 && !words[0].Version {
			return key, i + 1
		}
	}
	return "", 0
}

func startsSentence(before []rune) bool {
	s := strings.TrimRight(string(before[max(0, len(before)-8):]), " \t\"'“‘(@*-")
	return s == "" && len(before) < 8 || s != "" && strings.ContainsRune(".!?:\n\r", []rune(s)[len([]rune(s))-1])
}

// caseless reports whether a letter is of a script without capitals, where a name cannot be
// recognized by them.
func caseless(r rune) bool { return unicode.IsLetter(r) && unicode.ToUpper(r) == unicode.ToLower(r) }

// correctSpelling replaces words that no name has with similar ones of a name that also has
// a neighbouring word. Long words need no such neighbour.
func (r *reader) correctSpelling() {
	const long = 7
	for i, w := range r.words {
		if w.Stop || w.Version || r.df[w.Stem] > 0 || actionWords[w.Raw] || statingVerbs[w.Raw] || anyDocument[w.Raw] || kinds[w.Raw] != "" {
			continue
		}
		best, errors := language.Token{}, 3
		for raw, t := range r.tokens {
			e := language.Misspelt(w.Raw, raw)
			if e == 0 || e > errors || e == errors && raw > best.Raw || t.Version {
				continue
			}
			if len(w.Raw) >= long || r.beside(i, t) {
				best, errors = t, e
			}
		}
		if best.Raw != "" {
			r.words[i].Token = best
		}
	}
}

// beside reports whether a document has both a word and a neighbour of the message's i-th.
func (r *reader) beside(i int, t language.Token) bool {
	for _, k := range []int{i - 1, i + 1} {
		if k < 0 || k >= len(r.words) || r.words[k].Stop {
			continue
		}
		if slices.ContainsFunc(r.docs, func(d *document) bool { return d.words[t.Stem] > 0 && d.has(r.words[k].Token) > 0 }) {
			return true
		}
	}
	return false
}

// versionNumber matches "version 4", which names write v4.
var versionNumber = lazyregexp.New(`(?i)\b(?:version|versión|versione|versie|fassung)\s+(\d{1,3})\b`)

// findNames finds names that the message contains as a whole. A name of one word must look
// like a name, unless the action works on documents.
func (r *reader) findNames() {
	var at []int
	places := map[string][]int{}
	for i, w := range r.words {
		if !w.Stop && !r.taken[i] {
			places[w.Stem] = append(places[w.Stem], len(at))
			at = append(at, i)
		}
	}
	type candidate struct {
		d    *document
		n    name
		from int // of at
	}
	var all []candidate
	for _, d := range r.docs {
		for _, n := range d.names {
			for _, from := range places[n.tokens[0].Stem] {
				if r.hasRun(at[from:], n.tokens) && r.mayBeName(n, at[from:from+len(n.tokens)]) {
					all = append(all, candidate{d: d, n: n, from: from})
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(len(b.n.tokens)-len(a.n.tokens), cmp.Compare(b.n.weight, a.n.weight))
	})
	for _, c := range all {
		first, last := at[c.from], at[c.from+len(c.n.tokens)-1]+1
		if k := slices.IndexFunc(r.found, func(f matchedPlace) bool { return f.from == first && f.end == last }); k >= 0 {
			if f := &r.found[k]; !f.exact && !slices.Contains(f.docs, c.d) && !slices.Contains(r.taken[first:last], false) {
				f.docs = append(f.docs, c.d)
			}
			continue
		}
		if slices.Contains(r.taken[first:last], true) {
			continue
		}
		r.found = append(r.found, matchedPlace{from: first, end: last, docs: []*document{c.d}})
		for j := first; j < last; j++ {
			r.taken[j] = true
		}
	}
	for i := range r.found {
		if f := &r.found[i]; !f.exact {
			f.docs = ownFirst(f.docs)
			f.sure = len(f.docs) == 1
			if !f.sure {
				r.choose(f, phrase{from: f.from, end: f.end})
			}
		}
	}
}

func (r *reader) hasRun(at []int, tokens []language.Token) bool {
	if len(at) < len(tokens) {
		return false
	}
	for j, t := range tokens {
		if !t.Is(r.words[at[j]].Token) && r.words[at[j]].Stem != t.Stem {
			return false
		}
		if i := at[j]; j > 0 && i > 0 && joining[r.words[i-1].Raw] && definiteWords[r.words[i].Raw] {
			return false
		}
	}
	return true
}

// mayBeName reports whether words of the message are a name and not only a subject.
func (r *reader) mayBeName(n name, at []int) bool {
	if len(n.tokens) == 1 {
		t := n.tokens[0]
		if kinds[t.Raw] != "" || anyDocument[t.Raw] || t.Version {
			return false
		}
		return r.upper[at[0]] || n.weight > otherWeight && (r.documents || strings.ContainsFunc(t.Stem, unicode.IsDigit))
	}
	if n.weight > otherWeight || r.documents {
		return true
	}
	return r.upper[at[0]] && r.upper[at[len(at)-1]]
}

// ownFirst leaves out the public documents when some are the person's own.
func ownFirst(docs []*document) []*document {
	own := slices.DeleteFunc(slices.Clone(docs), func(d *document) bool { return d.Public })
	if len(own) > 0 {
		return own
	}
	return docs
}

// readable leaves out the documents that could not be read when others fit, too.
func readable(docs []*document) []*document {
	read := slices.DeleteFunc(slices.Clone(docs), func(d *document) bool { return d.Status == string(chat.DocFailed) })
	if len(read) > 0 {
		return read
	}
	return docs
}

func (r *reader) isFound(d *document) bool {
	return slices.ContainsFunc(r.found, func(f matchedPlace) bool { return slices.Contains(f.docs, d) })
}

// recent returns the documents used before that the message does not name, the latest first.
func (r *reader) recent() (out []*document) {
	for _, x := range r.Recent {
		if d := r.find(x.ID); d != nil && !r.isFound(d) && !slices.Contains(r.Tagged, d.ID) {
			out = append(out, d)
		}
	}
	return out
}
