package mention

import (
	"regexp"
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/agents/documents/intent"
	"github.com/palaver-chat/palaver/internal/language"
)

// Nouns matches the nouns of document names.
const Nouns = `(?:guidelines?|polic(?:y|ies)|circulars?|contracts?|agreements?|handbooks?|manuals?|memos?|memorandum|reports?|leases?)`

var (
	version = `(?:\s+(?:v\d[\d.]*|[Vv]ersion \d+|(?:19|20)\d\d))?`
	// "the XYZ guidelines", "Bank Negara 2025 circular": capitals make a name.
	capitalName = regexp.MustCompile(`\b((?:[A-Z][\w&’'-]*|\d{4})(?:\s+(?:[A-Z][\w&’'-]*|\d{4}|of|and|for|on))*\s+(?i:` + Nouns + `)` + version + `)\b`)
	// "the remote work policy": a name only where a document must be meant.
	plainName = regexp.MustCompile(`(?i)\b(?:the|our|my)\s+((?:[\w-]+\s+){1,4}?` + Nouns + version + `)\b`)
	fileName  = regexp.MustCompile(`\b[\w][\w.-]{0,80}\.(?i:pdf|docx?|xlsx|pptx|csv|txt|md|html?)\b`)
	quoted    = regexp.MustCompile(`["“]([^"“”\n]{2,80})["”]`)
	callsIt   = regexp.MustCompile(`(?i)(?:document|file|doc|policy|circular|contract|agreement|report|called|titled|named|entitled|summari[sz]e|compare|against|and|with)\s*$`)
	notAName  = lists.Set("not a name")
)

// unknownNames returns the clear names of documents in a text that match no known document.
// documents: the action is about documents, so names without capitals count, too.
func unknownNames(text string, names *titleIndex, documents bool) []string {
	var out []string
	add := func(name string) {
		name = trimName(name)
		if name == "" || len(language.TitleTokens(name)) < 2 && !fileName.MatchString(name) && !strings.Contains(text, `"`+name) && !strings.Contains(text, "“"+name) {
			return
		}
		if names.knows(name) || slices.ContainsFunc(out, func(o string) bool { return strings.Contains(strings.ToLower(o), strings.ToLower(name)) }) {
			return
		}
		out = append(out, name)
	}
	for _, m := range quoted.FindAllStringSubmatchIndex(text, -1) {
		if callsIt.MatchString(text[:m[0]]) {
			add(text[m[2]:m[3]])
		}
	}
	for _, m := range fileName.FindAllString(text, -1) {
		add(m)
	}
	for _, m := range capitalName.FindAllStringIndex(text, -1) {
		name := text[m[0]:m[1]]
		if verbAfterName.MatchString(name) && beginsObject.MatchString(text[m[1]:]) {
			continue
		}
		add(name)
	}
	if documents {
		for _, m := range codeName.FindAllString(text, -1) {
			add(m)
		}
	}
	if documents {
		for _, m := range plainName.FindAllStringSubmatch(text, -1) {
			add(m[1])
		}
	}
	return out
}

// trimName drops words before a name that are not part of it. It returns "" for a noun that
// names nothing.
func trimName(name string) string {
	words := strings.Fields(strings.TrimSpace(name))
	for len(words) > 0 && notAName[strings.ToLower(words[0])] {
		words = words[1:]
	}
	for i := len(words) - 1; i > 0; i-- { // "summary and the Acme contract": the name begins after "and"
		if notAName[strings.ToLower(words[i])] && !slices.Contains([]string{"of", "for", "on", "in"}, strings.ToLower(words[i])) && strings.ToLower(words[i]) != "and" {
			words = words[i+1:]
			break
		}
	}
	name = strings.Join(words, " ")
	if len(words) == 1 && intent.DocumentNouns[strings.ToLower(name)] {
		return ""
	}
	return name
}

// verbAfterName are nouns of documents that are verbs as well, before an object: "must
// Contoso report a breach?".
var verbAfterName = regexp.MustCompile(`(?i)\b(?:reports?|contracts?|leases?)$`)
var beginsObject = regexp.MustCompile(`(?i)^\s+(?:a|an|the|any|all|this|that|it|its|to|on|every|each|such)\b`)

// codeName is a code in capitals, as "CR-9".
var codeName = regexp.MustCompile(`\b[A-Z]{2,6}(?:[-_/][A-Z]{1,6}){0,2}-\d{1,6}\b`)
