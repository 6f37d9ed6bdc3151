package offline

import (
	"slices"

	"github.com/palaver-chat/palaver/agents/documents/intent"
	"github.com/palaver-chat/palaver/agents/excerpt"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/internal/lazyregexp"
	"github.com/palaver-chat/palaver/llm"
)

var (
	thanks    = lazyregexp.New(`(?i)\b(?:thanks?|thank you|thx|ty|cheers|merci|danke\w*|dank|bedankt|gracias|grazie)\b`)
	farewells = lazyregexp.New(`(?i)\b(?:bye|goodbye|wiedersehen|tot ziens|au revoir|adi[oó]s|see you)\b`)
	praise    = lazyregexp.New(`(?i)^\W*(?:ok|okay|great|cool|perfect|nice|awesome|excellent|super|wonderful|fine|understood)\b`)
)

// talk answers a greeting, thanks, and questions about Palaver: it says what it can do with
// the person's documents, and suggests three messages.
func talk(f llm.Facts) string {
	v := voiceOf(f)
	if intent.AsksLibrary(f.Message) {
		return Library(f.Message, string(v), f.Documents, f.Now)
	}
	opening := messages.Hello
	switch {
	case thanks.MatchString(f.Message):
		opening = messages.Welcome
	case farewells.MatchString(f.Message):
		opening = messages.Goodbye
	case praise.MatchString(f.Message):
		opening = messages.Good
	}
	said := v.say(opening, nil) + " " + v.say(messages.WhatICan, nil) + "\n\n"
	docs := slices.DeleteFunc(slices.Clone(f.Documents), func(d llm.Document) bool { return d.Status == string(chat.DocFailed) })
	if n := len(docs); n == 0 {
		said += v.say(messages.NoDocumentAsk, nil) + "\n"
	} else {
		said += v.say(messages.AmongThem, messages.Params{"n": n, "titles": v.titles(docs, 3)}) + "\n"
	}
	for _, q := range v.suggestions(docs) {
		said += "\n- " + q
	}
	return said
}

func (v voice) titles(docs []llm.Document, most int) string {
	var names []string
	for _, d := range docs[:min(len(docs), most)] {
		names = append(names, "**"+excerpt.PlainTitle(d.Title)+"**")
	}
	return messages.Joined(string(v), names)
}

// suggestions returns three messages that a person could send about the documents.
func (v voice) suggestions(docs []llm.Document) []string {
	if len(docs) == 0 {
		return []string{v.say(messages.AskSummaryMine, nil), v.say(messages.AskNoticeMine, nil), v.say(messages.AskCheckMine, nil)}
	}
	about := func(d llm.Document) messages.Params { return messages.Params{"title": excerpt.PlainTitle(d.Title)} }
	if len(docs) == 1 {
		return []string{v.say(messages.AskSummary, about(docs[0])), v.say(messages.AskDeadlines, about(docs[0])), v.say(messages.AskCheck, about(docs[0]))}
	}
	both := messages.Params{"a": excerpt.PlainTitle(docs[0].Title), "b": excerpt.PlainTitle(docs[1].Title)}
	return []string{v.say(messages.AskSummary, about(docs[0])), v.say(messages.AskDeadlines, about(docs[1])), v.say(messages.AskCompareTwo, both)}
}
