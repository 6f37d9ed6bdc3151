package offline

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/palaver-chat/palaver/agents/documents/intent"
	"github.com/palaver-chat/palaver/agents/documents/mention"
	"github.com/palaver-chat/palaver/agents/excerpt"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/llm"
)

// maxListed is the number of documents in an answer about the library.
const maxListed = 50

// Library answers which of all documents a message asks for: how many, of which kind, since
// when, or what was imported. Those that failed or are still read stand apart, and samples are
// listed only without own documents, else counted. lang is the language of the answer.
func Library(message, lang string, all []llm.Document, now time.Time) string {
	q, v := intent.ReadLibrary(message, now), voice(lang)
	own := slices.DeleteFunc(slices.Clone(all), func(d llm.Document) bool { return d.Public })
	samples := len(own) == 0
	if samples {
		own = all
	}
	var ready, reading, failed []llm.Document
	for _, d := range own {
		switch {
		case q.Imported && !d.Imported, q.Format != "" && d.Format != q.Format, !q.Since.IsZero() && (d.Added.Before(q.Since) || !d.Added.Before(q.Until)):
		case d.Status == string(chat.DocFailed):
			failed = append(failed, d)
		case d.Status == string(chat.DocProcessing):
			reading = append(reading, d)
		default:
			ready = append(ready, d)
		}
	}
	if named := mention.OfKind(ready, q.Words); len(q.Words) > 0 {
		ready = named
	}
	if about := mention.NewLibrary(own).Resolve(mention.Request{Text: message, Action: chat.Summarize}); len(about.IDs) == 1 && !q.Counts {
		ready = slices.DeleteFunc(ready, func(d llm.Document) bool { return d.ID != about.IDs[0] }) // "since when do I have the lease?"
	}
	if q.Failed {
		if len(failed) == 0 {
			return v.say(messages.NoneFailed, nil)
		}
		ready, reading = nil, nil
	}
	if len(ready)+len(reading)+len(failed) == 0 {
		if q.Imported {
			return v.say(messages.NoneImported, nil)
		}
		if len(all) == 0 {
			return v.say(messages.NoDocument, nil)
		}
		return v.say(messages.NoSuchDocument, messages.Params{"n": len(all)})
	}
	var b strings.Builder
	if len(ready) > 0 {
		what := messages.DocumentsHere
		if samples {
			what = messages.SamplesHere
		}
		b.WriteString(v.say(what, messages.Params{"n": len(ready)}) + "\n" + v.listed(ready))
	}
	if len(reading) > 0 {
		b.WriteString("\n\n" + v.say(messages.StillRead, nil) + "\n" + v.listed(reading))
	}
	if len(failed) > 0 {
		b.WriteString("\n\n" + v.say(messages.FailedToRead, nil) + "\n" + v.listed(failed))
	}
	if n := len(all) - len(own); n > 0 && len(ready)+len(reading)+len(failed) == len(own) {
		b.WriteString("\n\n" + v.say(messages.SamplesToo, messages.Params{"n": n}))
	}
	return strings.TrimSpace(b.String())
}

// dayOf writes a day: in words in English, else in figures.
func (v voice) dayOf(t time.Time) string {
	switch v {
	case "de":
		return t.Format("2.1.2006")
	case "fr", "es":
		return t.Format("2/1/2006")
	case "nl":
		return t.Format("2-1-2006")
	}
	return t.Format("2 January 2006")
}

func (v voice) listed(docs []llm.Document) string {
	var b strings.Builder
	for _, d := range docs[:min(len(docs), maxListed)] {
		b.WriteString("\n- **" + excerpt.PlainTitle(cmp.Or(d.Label, d.Title)) + "**")
		var about []string
		if d.Format != "" {
			about = append(about, d.Format)
		}
		if !d.Added.IsZero() {
			about = append(about, v.say(messages.AddedOn, messages.Params{"day": v.dayOf(d.Added)}))
		}
		if len(about) > 0 {
			b.WriteString(" (" + strings.Join(about, ", ") + ")")
		}
	}
	if n := len(docs) - maxListed; n > 0 {
		b.WriteString("\n- " + v.say(messages.AndMore, messages.Params{"n": n}))
	}
	return b.String()
}
