package offline

import (
	"slices"
	"strconv"
	"strings"

	"github.com/palaver-chat/palaver/agents/documents/intent"
	"github.com/palaver-chat/palaver/agents/excerpt"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/documents/figures"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/lazyregexp"
	"github.com/palaver-chat/palaver/llm"
)

// points matches the words for the parts of a summary.
var points = lazyregexp.New(`^(?:bullets?|points?|sentences?|items?|(?:stich)?punkten?|sätzen?|phrases?|puntos?|frases?|punten|zinnen)$`)

// wantedPoints returns how many points a message asks for; 0 if it does not say.
func wantedPoints(message string) int {
	const most, before = 99, 2 // words between the number and "points"
	words := language.Words(message)
	for i, w := range words {
		if !points.MatchString(w) {
			continue
		}
		for _, said := range slices.Backward(words[max(0, i-before):i]) {
			n, err := strconv.Atoi(said)
			if err != nil {
				n = figures.Count(said)
			}
			if n > 0 && n <= most {
				return n
			}
		}
	}
	return 0
}

const (
	summaryTables = 3 // of a document in a summary
	summaryRows   = 3 // of each
)

// summarize picks the most central sentences of each document, in its order, by headings, and
// shows how its tables begin.
func summarize(f llm.Facts) string {
	found, v := bySource(f.Passages), voiceOf(f)
	if len(found) == 0 {
		return v.say(messages.NothingToSummarize, nil)
	}
	wanted := wantedPoints(intent.Instruction(f.Message))
	var b strings.Builder
	if f.Action == chat.Summarize && (wanted > 0 || intent.NeedsModel(intent.Instruction(f.Message))) {
		b.WriteString(v.say(messages.OwnSentences, nil) + "\n\n")
	}
	if wanted > 0 && wanted < len(found) {
		b.WriteString(v.say(messages.NotShortened, messages.Params{"n": len(found)}) + "\n\n")
	}
	points := 0
	for i, x := range found {
		each := max(3, 9/len(found))
		if wanted > 0 {
			each = max(1, wanted*(i+1)/len(found)-wanted*i/len(found)) // together as many as wanted
		}
		pool := excerpt.Gather(x.passages, nil)
		pool.Excerpts = slices.DeleteFunc(pool.Excerpts, func(s excerpt.Excerpt) bool { return strings.Contains(s.Text, " | ") })
		picked := pool.Central(each)
		tables := open(x.passages)
		points += len(picked)
		if wanted > 0 && len(picked) > 0 {
			tables = nil // points were asked for
		}
		if len(picked)+len(tables) == 0 {
			continue
		}
		b.WriteString("**" + x.title + "**\n\n")
		last := ""
		for _, s := range picked {
			b.WriteString("- ")
			if h := excerpt.PlainTitle(language.WithoutClauseNumber(s.Heading)); s.Heading != "" && h != last {
				b.WriteString("**" + h + "**: ")
				last = h
			}
			b.WriteString(excerpt.Quote(s) + "\n")
		}
		if len(picked) > 0 {
			b.WriteString("\n")
		}
		for _, t := range tables[:min(len(tables), summaryTables)] {
			var rows []int
			for r := range t.Rows[:min(len(t.Rows), summaryRows)] {
				rows = append(rows, r)
			}
			b.WriteString(v.say(messages.FirstRows, messages.Params{"table": t.name()}) + "\n\n")
			t.writeRows(&b, rows, nil)
			b.WriteString("\n")
		}
	}
	if b.Len() == 0 {
		return v.say(messages.NoSentence, nil)
	}
	if points > 0 && points < wanted {
		b.WriteString(v.say(messages.FewerPoints, messages.Params{"wanted": wanted, "n": points}) + "\n")
	}
	return b.String()
}
