package offline

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/palaver-chat/palaver/agents/documents/intent"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/llm/offline/excerpt"
)

var (
	thanks    = regexp.MustCompile(`(?i)\b(?:thanks?|thank you|thx|ty|cheers|merci|danke\w*|dank|bedankt|gracias|grazie)\b`)
	farewells = regexp.MustCompile(`(?i)\b(?:bye|goodbye|wiedersehen|tot ziens|au revoir|adi[oó]s|see you)\b`)
	praise    = regexp.MustCompile(`(?i)^\W*(?:ok|okay|great|cool|perfect|nice|awesome|excellent|super|wonderful|fine|understood)\b`)
)

// talk answers a greeting, thanks, and questions about Palaver: it says what it can do with
// the person's documents, and suggests three messages.
func talk(f llm.Facts) string {
	if intent.AsksLibrary(f.Message) {
		return Library(f.Message, f.Documents, f.Now)
	}
	var b strings.Builder
	switch {
	case thanks.MatchString(f.Message):
		b.WriteString("You're welcome!")
	case farewells.MatchString(f.Message):
		b.WriteString("Goodbye!")
	case praise.MatchString(f.Message):
		b.WriteString("Good.")
	default:
		b.WriteString("Hello! I am Palaver.")
	}
	b.WriteString(" I can **summarize** your documents, **answer questions** from them with quotations, **compare** two or more of them, and **audit** a text, such as an email, against their rules.\n\n")
	if len(f.Documents) == 0 {
		b.WriteString("There is no document yet. Add one with the button at the message box, and then ask, for example:\n\n- Summarize my document\n- What does it say about notice periods?\n- Check this email against it: …")
		return b.String()
	}
	are := "are"
	if len(f.Documents) == 1 {
		are = "is"
	}
	fmt.Fprintf(&b, "There %s %s, among them %s. You could ask:\n", are, excerpt.Count(len(f.Documents), "document"), titleList(f.Documents, 3))
	for _, q := range suggestions(f.Documents) {
		b.WriteString("\n- " + q)
	}
	return b.String()
}

func titleList(docs []llm.Document, most int) string {
	var names []string
	for _, d := range docs[:min(len(docs), most)] {
		names = append(names, excerpt.PlainTitle(d.Title))
	}
	return excerpt.List("**", names)
}

// suggestions returns three messages that a person could send about the documents.
func suggestions(docs []llm.Document) []string {
	first := excerpt.PlainTitle(docs[0].Title)
	if len(docs) == 1 {
		return []string{"Summarize " + first, "What does " + first + " say about deadlines?", "Check this email against " + first + ": …"}
	}
	return []string{
		"Summarize " + first,
		"What does " + excerpt.PlainTitle(docs[1].Title) + " say about deadlines?",
		"Compare " + first + " and " + excerpt.PlainTitle(docs[1].Title),
	}
}
