package mention

import (
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/agents/documents/intent"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/llm"
)

const backNoun = `(?:one|document|doc|file|paper|version|text|polic(?:y|ies)|contract|circular|regulation|guideline|agreement|report|email)\w*`

var (
	// "Is it allowed to …" refers to no document.
	expletive = regexp.MustCompile(`(?i)\b(?:is|was|would|will|be|makes?) it (?:\w+ )?(?:allowed|permitted|possible|necessary|required|ok|okay|fine|mandatory|legal|lawful|true|forbidden|prohibited|enough|safe|acceptable|correct|right|compulsory)\b(?: for [\w ]{1,40}?)? (?:to|that|if|when)\b`)

	otherOne = regexp.MustCompile(`(?i)\b(?:the|my|our|its) other(?: ` + backNoun + `)?\b|\banother version\b`)
	ordinal  = regexp.MustCompile(`(?i)\bthe (?:(former|latter)|(first|second|last)(?: ` + backNoun + `| of (?:the two|them|these|those)))\b`)
	several  = regexp.MustCompile(`(?i)\b(?:both(?: of them)?|they|them|(?:those|these|the) (?:two|both)(?: ` + backNoun + `)?|(?:those|these) ` + backNoun + `|the (?:documents|docs|files)|which (?:one|of (?:them|the two|these|those))|either(?: of them)?)\b|\b(?:these|those)\s*[?.!,]*$`)
	single   = regexp.MustCompile(`(?i)\b(?:it|its|(?:compare|audit|check|summari[sz]e|contrast) (?:this|that)|(?:this|that)(?: same)? ` + backNoun + `|the (?:same |previous |last |earlier )(?:` + backNoun + `)|the (?:document|doc|file|pdf))\b|\b(?:this|that)\s*[?.!,]*$`)
	visible  = regexp.MustCompile(`\S`)
	before   = regexp.MustCompile(`(?i)\b(?:previous|earlier|last|other|former|same)\b`)
)

// refersToEarlier reports whether the message refers to something said before.
func (r *reader) refersToEarlier() bool {
	return slices.ContainsFunc(r.words, func(w language.Word) bool { return w.Raw == "it" || w.Raw == "that" || w.Raw == "this" })
}

// references returns the places where a text refers back, outside of the mentions. lost
// reports that the text refers to something that was not mentioned.
func (r *reader) references(text string) (refs []mention, lost bool) {
	text = expletive.ReplaceAllStringFunc(text, func(s string) string { return visible.ReplaceAllString(s, "_") })
	type place struct {
		start, end int // words
		what       *regexp.Regexp
		word       string
	}
	var places []place
	for _, re := range []*regexp.Regexp{otherOne, ordinal, several, single} {
		for _, m := range re.FindAllStringSubmatchIndex(text, -1) {
			p := place{r.wordAt(text, m[0]), r.wordAt(text, m[1]), re, ""}
			if re == ordinal {
				g := m[2:4]
				if g[0] < 0 {
					g = m[4:6]
				}
				p.word = text[g[0]:g[1]]
			}
			if re != single && r.continuesAsNoun(p.end) {
				continue // "the two weeks"
			}
			over := func(from, end int) bool { return p.start < end && from < max(p.end, p.start+1) }
			if slices.ContainsFunc(places, func(o place) bool { return over(o.start, o.end) }) ||
				slices.ContainsFunc(r.found, func(m mention) bool { return over(m.from, m.end) }) {
				continue
			}
			places = append(places, p)
		}
	}
	slices.SortStableFunc(places, func(a, b place) int { return a.start - b.start })
	for _, p := range places {
		docs := r.referredTo(p.what, p.word)
		if len(docs) == 0 {
			lost = true
			continue
		}
		refs = append(refs, mention{p.start, p.end, docs, true, true})
	}
	return refs, lost
}

// continuesAsNoun reports whether a noun follows at word i: "the two weeks".
func (r *reader) continuesAsNoun(i int) bool {
	if i >= len(r.words) || r.words[i].Apart {
		return false
	}
	w := r.words[i]
	return !w.Stop && !statingVerbs[w.Raw] && !actionWords[w.Raw] && !joining[w.Raw] && (i == 0 || countWords[r.words[i-1].Raw])
}

// wordAt returns the first word at or after a byte of the text.
func (r *reader) wordAt(text string, at int) int {
	chars := utf8.RuneCountInString(text[:at])
	for i, w := range r.words {
		if w.Start >= chars {
			return i
		}
	}
	return len(r.words)
}

// referredTo returns the documents that a reference means.
func (r *reader) referredTo(what *regexp.Regexp, word string) []llm.Document {
	recent := slices.DeleteFunc(slices.Clone(r.recent), r.isFound)
	last := recent[:min(2, len(recent))]
	switch what {
	case otherOne:
		of := slices.Clone(r.recent)
		for _, m := range r.found {
			of = append(of, m.docs...)
		}
		if len(of) == 0 {
			return nil
		}
		if s := r.otherVersions(of[0]); len(s) == 1 {
			return []llm.Document{s[0].Document}
		}
		if len(r.recent) > 1 {
			return r.recent[1:2]
		}
		return nil
	case ordinal:
		if len(last) < 2 {
			return last
		}
		if word := language.Stem(word); word == language.Stem("first") || word == language.Stem("former") {
			return last[1:]
		}
		return last[:1]
	case several:
		if len(last) == 0 && len(r.titles) == 2 && r.documents && len(r.found) == 0 { // nothing else can be meant
			return []llm.Document{r.titles[0].Document, r.titles[1].Document}
		}
		last = slices.Clone(last)
		slices.Reverse(last) // in order of mention
		return last
	}
	if len(last) == 0 && len(r.titles) == 1 && r.documents && len(r.found) == 0 {
		return []llm.Document{r.titles[0].Document}
	}
	return last[:min(1, len(last))]
}

// mentionedIn returns the documents that earlier messages name, the latest first. Documents
// that a person named come before those in the answer.
func (n *titleIndex) mentionedIn(messages []llm.Message) []llm.Document {
	var out []llm.Document
	add := func(docs []llm.Document) {
		for _, d := range docs {
			if !slices.ContainsFunc(out, func(o llm.Document) bool { return o.ID == d.ID }) {
				out = append(out, d)
			}
		}
	}
	var answered []llm.Document
	for i := len(messages) - 1; i >= 0; i-- {
		m := messages[i]
		if m.Role == llm.Assistant { // only whole titles: an answer has many words
			r := &reader{titleIndex: n, words: n.read(m.Text)}
			r.findWholeTitles()
			answered = append(answered, latestFirst(r.found)...)
			continue
		}
		text := language.Commands(intent.Instruction(m.Text))
		add(latestFirst(n.reader(text, llm.Facts{}).mentions()))
		add(answered)
		answered = nil
	}
	add(answered)
	return out
}

// latestFirst returns the documents of sure mentions, the last one first.
func latestFirst(found []mention) []llm.Document {
	slices.SortStableFunc(found, func(a, b mention) int { return a.from - b.from })
	var out []llm.Document
	for _, m := range found {
		if m.sure {
			out = append(out, m.docs...)
		}
	}
	slices.Reverse(out)
	return out
}

// Resolve finds the documents that the latest message refers to: for an audit in the
// instruction, and in the text to audit only when the instruction names none.
func Resolve(f llm.Facts) llm.DocResolution {
	whole := language.Commands(intent.Instruction(f.Message))
	if instruction, text := intent.SplitMessage(f.Message); text != "" {
		if instruction = language.Commands(instruction); intent.Auditing(instruction, "") {
			if out := resolveIn(instruction, f); len(out.ResolvedIDs)+len(out.UnresolvedNames) > 0 {
				return out
			}
		}
	}
	return resolveIn(whole, f)
}

func resolveIn(text string, f llm.Facts) llm.DocResolution {
	names := newTitleIndex(f.Documents)
	r := names.reader(text, f)
	r.recent = names.mentionedIn(f.Recent)
	mentions := r.mentions()
	out := llm.DocResolution{ResolvedIDs: []string{}, UnresolvedNames: []string{}, Confidence: chat.High, Reasoning: "no document is named"}
	out.UnresolvedNames = append(out.UnresolvedNames, unknownNames(text, names, r.documents)...)

	var lost bool
	if r.mayReferBack(f, text, len(out.UnresolvedNames) > 0) {
		var refs []mention
		refs, lost = r.references(language.NormalizeName(text))
		out.ImplicitRefs = lost
		mentions = append(slices.Clone(mentions), refs...)
		slices.SortStableFunc(mentions, func(a, b mention) int { return a.from - b.from })
	}
	if len(mentions)+len(out.UnresolvedNames) == 0 && len(f.Explicit) == 0 && intent.Continues(text) { // "and weekends?"
		mentions = append(mentions, r.lastSubject(f.Recent)...)
	}
	if r.compare {
		mentions = append(mentions, r.versionsSince(text, mentions)...)
	}
	for _, m := range mentions {
		if !m.sure && slices.ContainsFunc(m.docs, func(d llm.Document) bool { return slices.Contains(f.Explicit, d.ID) }) {
			continue // the tag decides
		}
		out.Reasoning, out.ImplicitRefs = "matched by name", out.ImplicitRefs || m.earlier
		for _, d := range m.docs {
			if !slices.Contains(out.ResolvedIDs, d.ID) {
				out.ResolvedIDs = append(out.ResolvedIDs, d.ID)
			}
		}
		if !m.sure {
			out.Confidence = chat.Medium
		}
	}
	switch {
	case out.Confidence == chat.Medium:
		out.Reasoning = "one name fits several documents"
	case len(out.UnresolvedNames) > 0:
		if len(out.ResolvedIDs) == 0 {
			out.Confidence = chat.Low
		}
		out.Reasoning = "a document is named that is not known"
	case lost && len(out.ResolvedIDs) == 0:
		out.Confidence, out.Reasoning = chat.Low, "refers to a document that was not spoken of"
	case out.ImplicitRefs:
		out.Reasoning = "spoken of before"
	}
	return out
}

// lastSubject returns the documents of the last message in which the person named any.
func (r *reader) lastSubject(recent []llm.Message) []mention {
	for i := len(recent) - 1; i >= 0; i-- {
		if recent[i].Role != llm.User {
			continue
		}
		docs := latestFirst(r.reader(language.Commands(intent.Instruction(recent[i].Text)), llm.Facts{}).mentions())
		if len(docs) > 0 {
			slices.Reverse(docs)
			return []mention{{docs: docs, sure: true, earlier: true}}
		}
	}
	if len(r.recent) > 0 { // an answer named one
		return []mention{{docs: r.recent[:1], sure: true, earlier: true}}
	}
	return nil
}

var sinceVersion = regexp.MustCompile(`(?i)\b(?:since|changed|new in|changes|differs?|different)\b`)

// versionsSince returns the newest other version of the only document that a comparison names:
// "what changed in the contract since v1?", "how does v2 differ?".
func (r *reader) versionsSince(text string, mentions []mention) []mention {
	if len(mentions) != 1 || len(mentions[0].docs) != 1 || !sinceVersion.MatchString(text) {
		return nil
	}
	others := r.otherVersions(mentions[0].docs[0])
	if len(others) > 1 {
		others = oldestOrNewest(others, 1)
	}
	if len(others) != 1 {
		return nil
	}
	return []mention{{docs: []llm.Document{others[0].Document}, sure: true}}
}

// mayReferBack reports whether words like "it" may mean documents: when the message names
// none, and beside one name when two are compared. With a tagged document or a text in the
// message, "it" means that.
func (r *reader) mayReferBack(f llm.Facts, text string, unknown bool) bool {
	against := r.compare || intent.Auditing(text, f.Action)
	if _, pasted := intent.SplitMessage(f.Message); len(pasted) > 40 {
		return false
	}
	if len(f.Explicit) > 0 {
		return (against || before.MatchString(text)) && len(f.Explicit) == 1 && len(r.found) == 0
	}
	if len(r.found) == 0 {
		return !unknown
	}
	return against && len(r.found) == 1
}
