package intent

import (
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/imports/links"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/lazyregexp"
)

var (
	// reading matches a text that ends with a request to read or import what follows.
	reading = lazyregexp.New(`(?i)(?:^|[.!?:;,\n]|\b(?:please|and|then|you|to|now|bitte|und|dann|auch)\b)\s*` +
		`(?:import|read|load|fetch|ingest|save|add|upload|download|importiere|lies|lese|lade|hole|speichere)\b` +
		`(?:\s+(?:in|up|me|this|these|that|those|the|a|my|our|following|new|web|page|pages|article|articles|site|website|file|files|document|documents|pdf|link|links|url|from|at|of|for|too|also|both|diese|dieses|diesen|die|das|den|seite|artikel|datei|dateien|dokument|dokumente|von|aus|mir|bitte))*[\s:"'“„<(\[]*$`)
	// between matches what stands between two links of a list.
	between = lazyregexp.New(`(?i)^[\s,;:.)>\]"'”“]*(?:(?:and|und|or|as well as|sowie|then|also)\b)?[\s,;:(<\["'“„]*$`)

	asksForImports = lazyregexp.New(`(?i)^\W*(?:please\s+|bitte\s+|can you\s+|could you\s+)?` + lists.Pattern("asks for imports") + `\b`)

	// onlyImport are the words of a message that asks for nothing but an import.
	onlyImport = lists.Set("only import")

	presents  = lazyregexp.New(`(?i)^\W*` + lists.Pattern("presents"))
	clauseEnd = lazyregexp.New(`[.,;:!–—\n]|\b(?:and|then|und|et|y|e|en)\b`)

	libraryLead = lazyregexp.New(`(?i)^\W*` + lists.Pattern("library lead") + `+`)
	// The words of a message that asks for the list of imports and for nothing else: it has one
	// of importedWords, one of ownWords or a word for documents, and none of notTheList.
	importedWords = lists.Set("imported")
	ownWords      = lists.Set("own")
	aboutTheList  = lists.Set("about the list")
	notTheList    = lists.Set("not the list")

	// ofImport matches words for something imported, anywhere in a message.
	ofImport = lazyregexp.New(`(?i)\b` + lists.Pattern("of an import") + `\b`)
	// refersBack matches words that refer to the subject just before.
	refersBack = lazyregexp.New(`(?i)\b(?:its?|the (?:document|file|page|article|pdf|sheet|slides|presentation)|es|darin|darüber|(?:das|dem|des) dokuments?|(?:die|der) (?:datei|seite))\b` +
		`|\b(?:this|that)(?: (?:is|was|says?|said|means?|contains?|document|file|page|article|import|pdf|sheet|presentation|link|one)\b|\s*[?.!,;:)]|\s*$)`)
	// empty matches uses of "it" that refer to nothing.
	empty = lazyregexp.New(`(?i)\b` + lists.Pattern("empty it") + `\b`)
)

// ConcernsImports reports whether a message may ask for imports or for their list.
func ConcernsImports(message string, places ...links.Place) bool {
	return len(LinksToImport(message, places...)) > 0 || AsksForImports(message)
}

// LinksToImport returns the links of a message that are imported, in their order: all links
// to Google Drive, also malformed ones, all links to an added source (places), and those
// pages that the message asks to read.
func LinksToImport(message string, places ...links.Place) []links.FoundLink {
	var out []links.FoundLink
	rest, asked := message, false
	for _, f := range links.Find(message, places...) {
		before, after, found := strings.Cut(rest, f.Text)
		if !found {
			continue
		}
		asked = reading.MatchString(before) || asked && between.MatchString(before)
		rest = after
		if asked || f.Err != nil || f.Link.Source != chat.SourceLink {
			out = append(out, f)
		}
	}
	return out
}

// AsksForImports reports whether a message asks what was imported in a conversation: in a usual
// form, or in any words that say nothing but that. What was imported everywhere is a question
// about the library.
func AsksForImports(message string) bool {
	message = strings.TrimSpace(message)
	if len(message) >= 200 || everywhere.MatchString(message) {
		return false
	}
	if asksForImports.MatchString(message) {
		return true
	}
	var imported, own bool
	for _, w := range language.Words(libraryLead.ReplaceAllString(message, "")) {
		switch {
		case importedWords[w]:
			imported = true
		case notTheList[w], !ownWords[w] && !DocumentNouns[w] && !aboutTheList[w] && !language.IsStopWord(w):
			return false
		}
		own = own || ownWords[w] || DocumentNouns[w]
	}
	return imported && own
}

// OnlyImports reports whether a message asks for nothing but the import of its links.
func OnlyImports(message string, places ...links.Place) bool {
	for _, f := range LinksToImport(message, places...) {
		message = strings.ReplaceAll(message, f.Text, "\n")
	}
	return !slices.ContainsFunc(strings.Split(message, "\n"), func(part string) bool {
		asks := slices.ContainsFunc(language.Words(part), func(w string) bool { return !onlyImport[w] && !DocumentNouns[w] })
		return asks && !onlyPresents(part)
	})
}

// onlyPresents reports whether a text says what a link leads to, and asks nothing: "here is the
// contract for the warehouse".
func onlyPresents(text string) bool {
	text = strings.TrimSpace(text)
	return presents.MatchString(text) && !strings.ContainsAny(text, "?？") && !NeedsModel(text) &&
		!slices.ContainsFunc(clauseEnd.Split(text, -1), isInstruction)
}

// RefersToImport reports whether a message is about the import of a document with this
// name, which can be empty. justNow: the conversation spoke of the import just before,
// so that "it", or a part of the name, means the document.
func RefersToImport(message, name string, justNow bool) bool {
	if IsTalk(message) {
		return false
	}
	if ofImport.MatchString(message) || justNow && refersBack.MatchString(empty.ReplaceAllString(message, " ")) {
		return true
	}
	words, all, named := language.Words(message), 0, 0
	for _, w := range language.Words(name) {
		if len(w) <= 3 {
			continue
		}
		all++
		if slices.Contains(words, w) {
			named++
		}
	}
	return 2*named > all || justNow && named > 0
}
