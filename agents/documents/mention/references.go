package mention

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/agents/documents/intent"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/lazyregexp"
)

const nouns = `(?:one|document|doc|file|paper|version|text|polic(?:y|ies)|contract|circular|regulation|guideline|agreement|report|email|handbook|lease)\w*`

func pattern(list string) *lazyregexp.Regexp {
	return lazyregexp.New(`(?i)` + strings.ReplaceAll(lists.Pattern(list), "{noun}", nouns))
}

// Words that refer to documents spoken of before. The patterns of each are data (words.txt).
var (
	theOther   = pattern("the other")
	ordinals   = pattern("ordinals")
	several    = pattern("several")
	single     = pattern("single")
	expletives = pattern("expletives")
	places     = lists.Pairs("ordinal numbers")
	visible    = lazyregexp.New(`\S`)
	since      = lazyregexp.New(`(?i)\b(?:since|changed|new in|changes|differs?|different)\b`)
)

// mayReferBack reports whether words like "it" may mean documents: when the message names
// none, and beside one name when two are compared. With a text in the message, "it" is that.
func (r *reader) mayReferBack() bool {
	against := r.compare || intent.Auditing(r.Text, r.Action)
	switch {
	case r.Pasted:
		return false
	case len(r.Tagged) > 0:
		return len(r.Tagged) == 1 && len(r.found) == 0 && (against || theOther.MatchString(r.text))
	case len(r.found) == 0:
		return len(r.unknown) == 0
	}
	return against && len(r.found) == 1 && len(r.found[0].docs) == 1
}

// readReferences adds the documents that the message refers back to.
func (r *reader) readReferences() {
	text := expletives.ReplaceAllStringFunc(r.text, func(s string) string { return visible.ReplaceAllString(s, "_") })
	last := r.recent()
	add := func(at int, docs ...*document) {
		if len(docs) > 0 {
			r.found = append(r.found, matchedPlace{from: at, end: at, docs: docs, sure: true, back: true})
		}
	}
	if m := theOther.FindStringIndex(text); m != nil {
		add(r.wordAt(text, m[0]), r.other(last)...)
		if !r.compare {
			return
		}
	}
	before := len(r.found)
	if m := ordinals.FindStringSubmatch(text); m != nil {
		add(r.wordAt(text, strings.Index(text, m[0])), r.nth(m, last)...)
	} else if m := several.FindStringIndex(text); m != nil {
		two := last
		if len(last)+len(r.Tagged) == 0 && r.documents && len(ownFirst(r.docs)) == 2 { // nothing else can be meant
			two = ownFirst(r.docs)
		} else {
			two = slices.Clone(last[:min(2, len(last))])
			slices.Reverse(two) // in order of mention
		}
		add(r.wordAt(text, m[0]), two...)
	} else if m := single.FindStringIndex(text); m != nil {
		one := last[:min(1, len(last))]
		if own := ownFirst(r.docs); len(last)+len(r.Tagged) == 0 && len(own) == 1 && r.documents && len(r.found) == 0 {
			one = own
		}
		add(r.wordAt(text, m[0]), one...)
	}
	if len(r.found) > before {
		return
	}
	switch {
	case len(last) > 0 && r.asksForOther(last[0]): // "and in 2024?" after a document of 2025
	case len(r.found) == 0 && len(last) > 0 && (intent.Continues(r.Text) || r.documents && len(r.phrases()) == 0): // "and weekends?", "summarize"
		add(0, last[:1]...)
		if r.compare && len(last) > 1 {
			add(0, last[1])
		}
	case r.compare && len(r.found) == 1 && since.MatchString(r.text): // "what changed in the contract since v1?"
		if others := r.otherVersions(r.found[0].docs[0]); len(others) > 0 {
			add(len(r.words), oldestOrNewest(others, 1)[0])
		}
	}
}

// asksForOther reports whether the message names a year or a version, and a document is one of another.
func (r *reader) asksForOther(d *document) bool {
	return len(r.found) == 0 && slices.ContainsFunc(r.words, func(w language.Word) bool { return d.conflicts(w.Token) })
}

// other returns the document that is not the one spoken of last: its other version, or the
// one before.
func (r *reader) other(last []*document) []*document {
	of := last
	for _, f := range r.found {
		of = append(f.docs, of...)
	}
	if len(of) == 0 {
		return nil
	}
	if v := r.otherVersions(of[0]); len(v) == 1 {
		return v
	}
	if len(last) > 1 {
		return last[1:2]
	}
	return nil
}

// nth returns the document that an ordinal means, of the last two, or of the last three when
// it says "third".
func (r *reader) nth(m []string, last []*document) []*document {
	word := ""
	for _, g := range m[1:] {
		if g != "" {
			word = strings.ToLower(g)
		}
	}
	of := 2
	if places[word] == "3" {
		of = 3
	}
	group := slices.Clone(last[:min(of, len(last))])
	slices.Reverse(group)
	if len(group) < of {
		return group[:min(1, len(group))]
	}
	switch places[word] {
	case "1":
		return group[:1]
	case "2":
		return group[1:2]
	}
	return group[len(group)-1:]
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

// lost reports whether the message refers to a document, and none was spoken of.
func (r *reader) lost() bool {
	return len(r.Recent) == 0 && r.documents && single.MatchString(expletives.ReplaceAllString(r.text, " "))
}
