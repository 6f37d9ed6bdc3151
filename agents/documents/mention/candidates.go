package mention

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/agents/documents/intent"
	"github.com/palaver-chat/palaver/agents/prompt"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/tiptap"
	"github.com/palaver-chat/palaver/llm"
)

const (
	maxRegistry  = 100 // newest entries of the registry in the prompt
	maxOffered   = 20  // further documents in the prompt, because their names share words with the message
	maxSimilar   = 5   // other versions of the document that was used last
	minTitle     = 3   // characters of the shortest name that is looked for in a text
	maxFollowUp  = 12  // words of a message that may go on with what was asked before
	maxQuoteName = 80  // characters of a name that a question quotes
)

// Candidates are the documents that a message may mean.
type Candidates struct {
	Message     string
	Instruction string // the message without tagged names and without a text to audit
	Action      chat.Action
	Tags        tiptap.Tags
	Pasted      bool            // the message has a text to work on
	Registry    []chat.DocRef   // documents that the thread has used, the latest last
	Visible     []chat.Document // all that the owner may see
	Now         time.Time       // for "last year's"

	Known []llm.Document // what a model may choose from; Gather sets it
	Found Resolution     // by the rules; Gather sets it

	library *Library // of Visible
}

// names returns the library of the visible documents.
func (c *Candidates) names() *Library {
	if c.library == nil {
		c.library = NewLibrary(prompt.Known(c.Visible))
	}
	return c.library
}

// Gather sets Found and Known: the registry, the documents that the rules found, and those
// whose names share words with the message.
func (c *Candidates) Gather() {
	if n := len(c.Registry); n > maxRegistry {
		c.Registry = c.Registry[n-maxRegistry:]
	}
	l := c.names()
	var used []llm.Document // the latest first
	for _, ref := range slices.Backward(c.Registry) {
		if d := l.find(ref.ID); d != nil {
			used = append(used, d.Document)
		}
	}
	q := Request{Text: intent.Instruction(c.Instruction), Action: c.Action, Recent: used, Tagged: c.Tags.IDs(), Pasted: c.Pasted, Now: c.Now}
	c.Found = l.Resolve(q)
	if len(c.Found.IDs)+len(c.Found.Open)+len(c.Tags.Docs) == 0 && !c.Pasted { // a name in what was cut away as a quotation
		if whole := l.Resolve(Request{Text: c.Message, Action: c.Action, Tagged: q.Tagged, Now: c.Now}); whole.Exact {
			c.Found = whole
		}
	}
	c.Known = slices.Clone(used)
	slices.Reverse(c.Known)
	add := func(ids []string) {
		for _, id := range ids {
			if !slices.ContainsFunc(c.Known, func(k llm.Document) bool { return k.ID == id }) {
				c.Known = append(c.Known, l.find(id).Document)
			}
		}
	}
	add(c.Found.IDs)
	add(c.Found.Open)
	add(l.sharing(c.Instruction, maxOffered))
	if len(used) > 0 && len(language.Words(c.Instruction)) <= maxFollowUp { // "and in 2024?": a version of what was spoken of
		var others []string
		for _, d := range l.otherVersions(l.find(used[0].ID)) {
			others = append(others, d.ID)
		}
		add(others[:min(len(others), maxSimilar)])
	}
	for _, d := range c.Tags.Docs {
		if l.find(d.ID) != nil {
			add([]string{d.ID})
		}
	}
}

// sharing returns the ids of at most most documents whose names share words with a text,
// those with the most weight first. Nouns for kinds count only when the text speaks of a
// document.
func (l *Library) sharing(text string, most int) (ids []string) {
	r := &reader{Library: l, Request: Request{Text: text}, text: text}
	r.scan()
	type one struct {
		id    string
		score float64
	}
	var all []one
	for _, d := range l.docs {
		score, rare := 0.0, false
		for _, w := range r.words {
			if has := d.has(w.Token); has > 0 && !w.Stop && (!w.Version || language.IsYearOrVersion(w.Stem)) {
				score += has * l.weight(w.Stem)
				rare = rare || kinds[w.Raw] == "" || d.words[w.Stem] == 0 || l.df[w.Stem] <= maxSimilar
			}
		}
		if score > 0 && rare {
			all = append(all, one{d.ID, score})
		}
	}
	slices.SortStableFunc(all, func(a, b one) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	for _, x := range all[:min(len(all), most)] {
		ids = append(ids, x.id)
	}
	return ids
}

// NeedModel reports whether it is open which documents are meant. It is not when everything
// is tagged and the rest of the message refers to nothing before it, and when there are
// neither candidates nor anything like a name.
func (c *Candidates) NeedModel() bool {
	tagged := c.Tags.IDs()
	further := func(id string) bool { return !slices.Contains(tagged, id) }
	if slices.ContainsFunc(c.Found.IDs, further) || slices.ContainsFunc(c.Found.Open, further) || len(c.Found.Unknown) > 0 || mayName(c.Instruction) {
		return true
	}
	others := len(c.Known) - len(c.Tags.Docs)
	if len(c.Tags.Docs) > 0 {
		return others > 0 && refersBack(c.Instruction)
	}
	return others > 0
}

// mayName reports whether a message may contain the name of a document: a capital or a digit
// within a sentence, a file name, or a quotation.
func mayName(message string) bool {
	for _, w := range language.Scan(message) {
		before := []rune(message)[:w.Start]
		first := []rune(message)[w.Start]
		if w.Raw == "i" || strings.HasPrefix(w.Raw, "i'") || strings.HasPrefix(w.Raw, "i’") {
			continue
		}
		if unicode.IsUpper(first) && !startsSentence(before) || caseless(first) || w.Version && len(before) > 0 && unicode.IsLetter(before[len(before)-1]) || language.IsYearOrVersion(w.Raw) {
			return true
		}
	}
	return fileName.MatchString(message) || strings.ContainsAny(message, language.OpeningDoubleQuotes+"`")
}

// refersBack reports whether a message refers to something said before.
func refersBack(message string) bool {
	return slices.ContainsFunc(language.Words(message), func(w string) bool { return language.Pointing[w] })
}

// NamesRegistered reports whether the message names a document of the registry, and refers to
// no other: then the model needs no earlier messages.
func (c *Candidates) NamesRegistered() bool {
	return len(c.Found.IDs) > 0 && !c.Found.Back && !refersBack(language.ReplaceNames(c.Instruction, c.Titles(), " ")) &&
		!slices.ContainsFunc(c.Found.IDs, func(id string) bool {
			return !slices.ContainsFunc(c.Registry, func(d chat.DocRef) bool { return d.ID == id })
		})
}

// Titles returns the names of the documents that the rules found.
func (c *Candidates) Titles() []string {
	return Titles(slices.DeleteFunc(slices.Clone(c.Visible), func(d chat.Document) bool { return !slices.Contains(c.Found.IDs, d.ID) }))
}

// Titles returns the names of documents that a message may use.
func Titles(docs []chat.Document) (names []string) {
	for _, d := range prompt.Known(docs) {
		for _, n := range append([]string{d.Title, d.Label}, d.Names...) {
			names = append(names, n, language.WithoutExtension(n))
		}
	}
	return slices.DeleteFunc(language.Distinct(names), func(n string) bool { return utf8.RuneCountInString(n) < minTitle })
}

// Occurring returns the documents that a text names in full.
func Occurring(text string, docs []chat.Document) []chat.Document {
	found := NewLibrary(prompt.Known(docs)).Resolve(Request{Text: text, Action: chat.Summarize})
	ids := append(found.IDs, found.Open...)
	lower := strings.ToLower(text)
	var out []chat.Document
	for _, d := range docs {
		if slices.Contains(ids, d.ID) && slices.ContainsFunc(Titles([]chat.Document{d}), func(n string) bool {
			i, _ := -1, 0
			if strings.Contains(lower, strings.ToLower(n)) {
				i, _ = language.FindName(text, n, 0)
			}
			return i >= 0
		}) {
			out = append(out, d)
		}
	}
	return out
}

// Closest returns the documents whose names are most similar to name, if similar enough;
// several when they are equally similar.
func Closest(name string, docs []chat.Document) []chat.Document {
	var found []chat.Document
	best := language.Similar
	for _, d := range docs {
		s := float32(0)
		for _, n := range append([]string{d.Title, d.Name, d.Label}, d.OtherNames...) {
			s = max(s, language.Likeness(name, n))
		}
		switch {
		case s > best:
			found, best = []chat.Document{d}, s
		case s == best:
			found = append(found, d)
		}
	}
	return found
}

// Named returns the documents that a short answer names, in order: by a name that is
// similar, or by words of one. whole reports that the answer is a name and nothing else.
func Named(answer string, docs []chat.Document, now time.Time) (found []chat.Document, whole bool) {
	if found = Closest(answer, docs); len(found) > 0 {
		return found, true
	}
	ids := NewLibrary(prompt.Known(docs)).Resolve(Request{Text: answer, Action: chat.Summarize, Now: now})
	for _, id := range append(ids.IDs, ids.Open...) {
		i := slices.IndexFunc(docs, func(d chat.Document) bool { return d.ID == id })
		found = append(found, docs[i])
	}
	return found, len(found) > 0 && intent.OnlyMentions(language.ReplaceNames(answer, Titles(found), " "))
}

// IDs returns the ids of documents, in order.
func IDs(docs []chat.Document) []string {
	var ids []string
	for _, d := range docs {
		ids = append(ids, d.ID)
	}
	return ids
}

// Quote lists names in quotation marks, for a question to the person.
func Quote(names []string) string {
	var quoted []string
	for _, n := range names {
		n = strings.Join(strings.Fields(n), " ")
		quoted = append(quoted, `"`+language.Truncate(n, maxQuoteName)+`"`)
	}
	return strings.Join(language.Distinct(quoted), ", ")
}

// maxOffers is the number of documents that a question offers.
const maxOffers = 5

// Offer returns the ids of documents beside those chosen that an action may need: other
// versions of the chosen one, then those whose names share words with the message, those used
// before, and the person's own.
func (c *Candidates) Offer(chosen []string) []string {
	l := c.names()
	var ids []string
	for _, id := range chosen {
		if d := l.find(id); d != nil {
			for _, o := range l.otherVersions(d) {
				ids = append(ids, o.ID)
			}
		}
	}
	ids = append(append(ids, c.Found.Open...), l.sharing(c.Instruction, maxOffers)...)
	for _, ref := range slices.Backward(c.Registry) {
		if l.find(ref.ID) != nil {
			ids = append(ids, ref.ID)
		}
	}
	for _, d := range ownFirst(l.docs) {
		ids = append(ids, d.ID)
	}
	ids = slices.DeleteFunc(language.Distinct(ids), func(id string) bool {
		return slices.Contains(chosen, id) || l.find(id).Status == string(chat.DocFailed)
	})
	return ids[:min(len(ids), maxOffers)]
}
