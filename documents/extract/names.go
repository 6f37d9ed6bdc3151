package extract

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/documents/figures"
	"github.com/palaver-chat/palaver/documents/layout"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/lazyregexp"
)

const (
	namesWithin  = 6_000 // names are looked for within this many bytes of the text
	maxHeadings  = 4
	maxParties   = 8
	maxNameWords = 8 // of a party's or person's name
)

var (
	// labelledLine matches a line such as "Tenant: Ann Lee", "Invoice no. 2026-014".
	labelledLine = lazyregexp.New(`(?m)^[\pL][\pL .()/-]{1,30}:[ \t]*(\S[^\n]{1,80})$`)
	// betweenParties matches the parties of a contract: "between A Ltd (the "Tenant") and B Ltd".
	betweenParties = lazyregexp.New(`(?is)\b(?:between|zwischen|entre|tra|tussen)\b[:\s]+(.{3,160}?)\s+(?:and|und|et|y|e|en)\s+(.{3,120}?)(?:[,;(\n]|\.\s|$)`)
	// companyName matches words in capitals before the form of a company.
	companyName = lazyregexp.New(`(?:[\p{Lu}\d][\pL\d&.'’-]*[ ,]+){1,5}(?:Inc|Ltd|LLC|LLP|PLC|plc|Limited|Corporation|Corp|Company|COMPANY|CORPORATION|INC|LTD|GmbH|AG|KG|SE|SA|S\.A|SAS|SARL|BV|B\.V|NV|SpA|S\.p\.A|Srl|AB|Oy|ApS|A/S|GROUP|Group|Holdings|HOLDINGS)\b\.?`)
	// code matches the number of a document: "2026-014", "HR-12/2025", "FORM 10-K".
	code      = lazyregexp.New(`\b(?:[A-Z]{2,10}[ -])?\d{1,6}(?:[-/][A-Z\d]{1,6})+\b|\b[A-Z]{2,6}-\d{1,6}\b`)
	versionOf = lazyregexp.New(`(?i)\b(?:version|revision|rev\.|ausgabe|stand|versión|versione|versie)[ :]{1,2}(?:v|no\.? )?(\d+(?:\.\d+)*)\b`)
)

// ownNames returns what a document calls itself on its first page: the title in its metadata
// and the names that its type knows (known), headings, version and codes, and its parties.
func ownNames(meta string, known []string, text string) []string {
	text = text[:wholeRunes(text, namesWithin)]
	var names []string
	add := func(name string) {
		name = strings.Trim(chat.OneLine(name), " ,;:.*_#|\"“”()[]<>")
		if n := utf8.RuneCountInString(name); n >= 2 && n <= maxOwnTitle && strings.ContainsFunc(name, language.IsAlphanumeric) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if standsIn(meta, text) {
		add(usefulTitle(meta))
	}
	for _, name := range known {
		add(name)
	}
	headings := 0
	for _, b := range layout.Blocks(text[:wholeRunes(text, titleWithin)]) {
		if title := usefulTitle(b.Title); b.Kind == layout.Heading && title != "" && headings < maxHeadings {
			headings++
			add(title)
		}
	}
	parties := 0
	party := func(name string) {
		if words := len(strings.Fields(name)); parties < maxParties && words > 0 && words <= maxNameWords {
			parties++
			add(name)
		}
	}
	if m := betweenParties.FindStringSubmatch(text); m != nil {
		party(beginningWithCapital(m[1]))
		party(beginningWithCapital(m[2]))
	}
	for _, m := range labelledLine.FindAllStringSubmatch(text, maxParties) {
		if day := dayBehindPlace(m[1]); day != "" {
			party(day)
		} else if !isAmount(m[1]) && !strings.HasPrefix(m[1], "//") { // what follows "https:"
			party(beginningWithCapital(m[1]))
		}
	}
	for _, m := range companyName.FindAllString(text, maxParties) {
		party(m)
	}
	if m := versionOf.FindStringSubmatch(text); m != nil {
		add("Version " + m[1])
	}
	for _, m := range code.FindAllString(text, maxHeadings) {
		add(m)
	}
	return names
}

// beginningWithCapital returns a name if it reads like one: each word but short ones begins
// with a capital letter or a digit. It drops what stands in brackets behind it, and a comma.
func beginningWithCapital(name string) string {
	name, _, _ = strings.Cut(name, " <")
	name, _, _ = strings.Cut(name, "(")
	name, _, _ = strings.Cut(name, ",")
	for _, w := range strings.Fields(name) {
		r, _ := utf8.DecodeRuneInString(w)
		if unicode.IsLower(r) && utf8.RuneCountInString(w) > 3 {
			return ""
		}
	}
	return strings.TrimSpace(name)
}

// dayBehindPlace returns the date behind a weekday or a place: "Mon, 4 May 2026", "Berlin, 4.5.2026".
func dayBehindPlace(s string) string {
	before, behind, found := strings.Cut(s, ", ")
	if !found || strings.ContainsRune(before, ' ') {
		return ""
	}
	if days := figures.Days(behind); len(days) > 0 && days[0].Start == 0 {
		return behind[:days[0].End]
	}
	return ""
}

// isAmount reports whether a text is a figure with a unit, a sign or decimals: many documents may
// have it, so it names none.
func isAmount(s string) bool {
	found := figures.Find(s)
	return len(found) == 1 && !found[0].Plain && found[0].Values != nil && strings.IndexFunc(s[:found[0].Start]+s[found[0].End:], language.IsAlphanumeric) < 0
}
