package activities

import "slices"

// named is a placeholder for a document's name.
const named = "\uFFFCDOC\uFFFC"

const namedWord = "doc" // named, as words reads it

var (
	summaryWords = set("summarize summarise summarizing summarising summary summaries overview recap outline tldr")
	aboutWords   = set("about regarding concerning")
	withinWords  = set("in from within of under")
	// generic are words for a document as a whole, not for a subject in it.
	generic = union(documentNouns, determiners, connecting, set(`
main key most important central essential core general overall whole entire full complete brief short quick concise
detailed point points finding findings idea ideas takeaway takeaways content contents message highlights highlight
gist essence substance part parts bullet bullets line lines sentence sentences word words paragraph paragraphs page pages
is are was were says say said does do what it they them here us our your about one two three four five six seven ten
doc attached uploaded`))
)

// asksOfTopic is the rule "summarize X about Y is an inquiry": it reports whether a
// request for a summary is about one subject in a document. names are the documents'
// names in it. It recognizes clear cases only.
func asksOfTopic(message string, names []string) bool {
	ws := words(replaceNames(message, names, " "+named+" "))
	at := slices.IndexFunc(ws, func(w string) bool { return summaryWords[w] })
	if at < 0 {
		return false
	}
	rest := ws[at+1:]
	for i, w := range rest {
		switch {
		case aboutWords[w], w == "on" && i > 0 && rest[i-1] == namedWord:
			if hasSubject(rest[i+1:]) {
				return true
			}
		case withinWords[w]:
			if namesDocument(rest[i+1:]) && hasSubject(rest[:i]) {
				return true
			}
		}
	}
	return false
}

func hasSubject(ws []string) bool {
	return slices.ContainsFunc(ws, func(w string) bool { return !generic[w] })
}

func namesDocument(ws []string) bool {
	return slices.ContainsFunc(ws, func(w string) bool { return w == namedWord || documentNouns[w] })
}
