package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/documents/layout"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/lazyregexp"
)

const (
	titleWithin = 4_000 // the title must be within this many bytes of the text
	titleBlocks = 20    // and within this many blocks
	maxOwnTitle = 120   // characters; a longer line is no title
)

// documentTitle returns the title that a document of a type gives itself: its first heading
// that is marked as one, the title in its metadata (before the heading if t.titled), or a first
// line that reads like a heading. It is empty when none of them says what the document is. Metadata
// counts only if its words stand at the beginning of the text: templates leave theirs in the
// documents that are made of them. If t.untitled is set, no heading counts.
func documentTitle(t Type, meta, text string) string {
	text = text[:wholeRunes(text, titleWithin)]
	if !standsIn(meta, text) {
		meta = ""
	}
	candidates := []string{meta}
	switch {
	case t.untitled:
	case t.titled:
		candidates = []string{meta, firstHeading(text, true), firstHeading(text, false)}
	default:
		candidates = []string{firstHeading(text, true), meta, firstHeading(text, false)}
	}
	for _, c := range candidates {
		if title := usefulTitle(c); title != "" {
			return title
		}
	}
	return ""
}

// standsIn reports whether a text has most words of a title.
func standsIn(title, text string) bool {
	words, has := language.Stems(title), language.StemsOf(text)
	found := 0
	for _, w := range words {
		if has[w] {
			found++
		}
	}
	return len(words) > 0 && 3*found >= 2*len(words)
}

// wholeRunes returns the length in bytes, at most limit, of the longest beginning of s that
// does not cut a character.
func wholeRunes(s string, limit int) int {
	if len(s) <= limit {
		return len(s)
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return limit
}

// firstHeading returns the heading that the text begins with, or its first one of level 1;
// else "". If marked is set, only headings count that Markdown or a line below marks; if
// not, only headings that their words alone show.
func firstHeading(text string, marked bool) string {
	blocks := layout.Blocks(text)
	first := true
	for _, b := range blocks[:min(titleBlocks, len(blocks))] {
		if b.Kind == layout.Rule {
			continue
		}
		own := text[b.Start:b.End]
		isMarked := strings.HasPrefix(own, "#") || strings.Contains(own, "\n")
		if b.Kind == layout.Heading && isMarked == marked && (first || strings.HasPrefix(own, "# ")) {
			return b.Title
		}
		first = false
	}
	return ""
}

var (
	markdownLink = lazyregexp.New(`!?\[([^\]]*)\]\([^)]*\)`)
	htmlTag      = lazyregexp.New(`</?[a-zA-Z][^>]*>`)
	slideNumber  = lazyregexp.New(`^Slide \d+(?: \(hidden\))?(: |$)`)
	// sectionTitle matches the title of a part of a document.
	sectionTitle = lazyregexp.New(`^(?i:(article|section|chapter|clause|part|annex|appendix|schedule|rule|page|slide|artikel|abschnitt|kapitel|teil|anhang|seite|folie)\s+[\divxlc]+\b|§|\d+(\.\d+)*[.)]?\s)`)
	// fileTitle matches what programs write into metadata instead of a title.
	fileTitle = lazyregexp.New(`(?i)^microsoft \w+ - |\.(docx?|docm|pdf|xlsx?|pptx?|indd|qxd|txt|rtf|odt|odp|tex|dvi|md|html?|pages|key)$|://|\\`)
	// namelessTitle matches headings that many documents have.
	namelessTitle = lazyregexp.New(`(?i)^(untitled|unbenannt|ohne titel|no title|new|neues?|document|dokument|microsoft word|word|presentation|präsentation|powerpoint[ -]präsentation|powerpoint presentation|layout|title|titel|heading|überschrift|draft|entwurf|confidential|vertraulich|internal|intern|` +
		`(table of )?contents|inhalt(sverzeichnis)?|index|abstract|summary|executive summary|zusammenfassung|introduction|einleitung|einführung|overview|überblick|übersicht|preface|vorwort|foreword|readme|read me|notes?|notizen?|agenda|appendix|anhang|references|text)( document| dokument)?[ _-]*\(?\d*\)?$`)
)

// usefulTitle returns a candidate as one line without marks. It is empty when the
// candidate does not distinguish the document from others.
func usefulTitle(s string) string {
	s = htmlTag.ReplaceAllString(markdownLink.ReplaceAllString(s, "$1"), "")
	s = strings.NewReplacer("**", "", "__", "", "`", "").Replace(clean(strings.ToValidUTF8(s, "")))
	s = slideNumber.ReplaceAllString(chat.OneLine(s), "")
	s = strings.Trim(s, " *_:|-–—\"")
	letters := 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	switch {
	case letters < 2 || letters < 4 && !strings.ContainsFunc(s, isSyllable), utf8.RuneCountInString(s) > maxOwnTitle:
	case strings.ContainsRune(".,;。", lastRune(s)):
	case sectionTitle.MatchString(s), fileTitle.MatchString(s), namelessTitle.MatchString(s):
	default:
		return s
	}
	return ""
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

// isSyllable reports whether a character is a word or a syllable of its own.
func isSyllable(r rune) bool { return language.IsIdeograph(r) || unicode.Is(unicode.Hangul, r) }
