package offline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/palaver-chat/palaver/agents/documents/intent"
	"github.com/palaver-chat/palaver/agents/documents/mention"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/llm/offline/excerpt"
)

// maxListed is the number of documents in an answer about the library.
const maxListed = 50

// Library answers which of all documents a message asks for: how many, of which kind, since
// when, or what was imported. Those that failed or are still read stand apart, and samples are
// listed only without own documents, else counted.
func Library(message string, all []llm.Document, now time.Time) string {
	q := intent.ReadLibrary(message, now)
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
			return "No document has failed."
		}
		ready, reading = nil, nil
	}
	if len(ready)+len(reading)+len(failed) == 0 {
		if q.Imported {
			return "Nothing has been imported."
		}
		if len(all) == 0 {
			return "There is no document yet. Add one with the button at the message box."
		}
		return fmt.Sprintf("I found no such document. There %s in the library.", are(len(all), "document"))
	}
	var b strings.Builder
	if len(ready) > 0 {
		what := " that you can ask about"
		if samples {
			what = ", all of them samples for everyone"
		}
		fmt.Fprintf(&b, "There %s%s:\n%s", are(len(ready), "document"), what, listed(ready))
	}
	if len(reading) > 0 {
		fmt.Fprintf(&b, "\n\nStill being read:\n%s", listed(reading))
	}
	if len(failed) > 0 {
		fmt.Fprintf(&b, "\n\nThese failed and cannot be read:\n%s", listed(failed))
	}
	if n := len(all) - len(own); n > 0 && len(ready) == len(own) {
		fmt.Fprintf(&b, "\n\nBesides, there %s for everyone.", are(n, "sample"))
	}
	return strings.TrimSpace(b.String())
}

func are(n int, what string) string {
	if n == 1 {
		return "is 1 " + what
	}
	return "are " + excerpt.Count(n, what)
}

func listed(docs []llm.Document) string {
	var b strings.Builder
	for _, d := range docs[:min(len(docs), maxListed)] {
		b.WriteString("\n- **" + excerpt.PlainTitle(cmp.Or(d.Label, d.Title)) + "**")
		var about []string
		if d.Format != "" {
			about = append(about, d.Format)
		}
		if !d.Added.IsZero() {
			about = append(about, "added on "+d.Added.Format("2 January 2006"))
		}
		if len(about) > 0 {
			b.WriteString(" (" + strings.Join(about, ", ") + ")")
		}
	}
	if n := len(docs) - maxListed; n > 0 {
		fmt.Fprintf(&b, "\n- and %d more", n)
	}
	return b.String()
}
