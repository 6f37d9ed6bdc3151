package lookup

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/tools"
)

// FindInDocument finds words or a pattern in one document, in the order of its text.
func FindInDocument(library Library) tools.Tool {
	return tools.Tool{
		Name: "find_in_document",
		Description: "Find every place in one document that has all of these words, or that fits a pattern, exactly as written, in the order of the text. Returns passages that answers can cite, with what stands around. " +
			"Use it for names, numbers, codes, clauses, and rows of tables, whose caption and header count as their words; use search_documents for a meaning.",
		Schema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"document": {"type": "string", "minLength": 1, "maxLength": 300, "description": "The document's title or id"},
				"words": {"type": "string", "maxLength": 300, "description": "Words that a passage must have, all of them, in any order. Case does not matter. A phrase in double quotes is one word."},
				"pattern": {"type": "string", "maxLength": 200, "description": "Instead of words: a regular expression (RE2)"},
				"around": {"type": "integer", "minimum": 0, "maximum": 3, "description": "How many passages before and after each place to show as well; 0 when left out"},
				"skip": {"type": "integer", "minimum": 0, "maximum": 100000, "description": "How many places to skip"}
			},
			"required": ["document"],
			"additionalProperties": false
		}`),
		Approval: tools.Never,
		Run: withPassages("find_in_document", library, func(ctx context.Context, in struct {
			documentArgument
			Words   string `json:"words"`
			Pattern string `json:"pattern"`
			Around  int    `json:"around"`
			Skip    int    `json:"skip"`
		}, doc chat.Document, all []chat.Hit) (tools.Result, error) {
			fits, why := matcher(in.Words, in.Pattern)
			if why != "" {
				return tools.Failed(messages.Plain(why)), nil
			}
			var places []int
			for i := range all {
				if err := ctx.Err(); err != nil {
					return tools.Result{}, err
				}
				if fits(all[i].Heading, all[i].Text) {
					places = append(places, i)
				}
			}
			return foundPlaces(doc, all, places, in.Skip, in.Around), nil
		}),
	}
}

func foundPlaces(doc chat.Document, all []chat.Hit, places []int, skip, around int) tools.Result {
	if len(places) == 0 {
		return tools.Result{Content: "No passage of " + title(doc) + " has that."}
	}
	if skip >= len(places) {
		return tools.Result{Content: fmt.Sprintf("There are only %d places.", len(places))}
	}
	var shown []chat.Hit
	var at []string
	next := 0 // passage after the last one shown
	done := skip
	for ; done < len(places) && len(shown)+2*around < maxPassages; done++ {
		i := places[done]
		first, end := max(i-around, next), min(i+around+1, len(all))
		if first < end {
			shown, next = append(shown, all[first:end]...), end
		}
		at = append(at, where(all[i]))
	}
	note := fmt.Sprintf("%d places in %s; shown: %s.", len(places), title(doc), strings.Join(at, ", "))
	if done < len(places) {
		note += fmt.Sprintf(" Find on with skip %d.", done)
	}
	return passages(shown, note)
}

// matcher returns a function that reports whether a passage fits a pattern or has all words: at
// least one in its text, others perhaps in its heading or in the caption and header of its table.
// why says what is wrong with them.
func matcher(words, pattern string) (_ func(heading, text string) bool, why string) {
	var all []*regexp.Regexp
	for _, w := range wordsOf(words) {
		all = append(all, regexp.MustCompile("(?i)"+strings.Join(quotedFields(w), `\s+`)))
	}
	if pattern != "" {
		re, err := regexp.Compile("(?i)" + pattern)
		if err != nil {
			return nil, "The pattern cannot be used: " + err.Error() + "."
		}
		return func(heading, text string) bool { return re.MatchString(text) && hasAll(all, heading, text) }, ""
	}
	if len(all) == 0 {
		return nil, "Give words or a pattern."
	}
	return func(heading, text string) bool {
		inText := func(w *regexp.Regexp) bool { return w.MatchString(text) }
		return slices.ContainsFunc(all, inText) && hasAll(all, heading, text)
	}, ""
}

func hasAll(words []*regexp.Regexp, heading, text string) bool {
	return !slices.ContainsFunc(words, func(w *regexp.Regexp) bool { return !w.MatchString(text) && !w.MatchString(heading) })
}

var quotedOrWord = regexp.MustCompile(`"([^"]+)"|[^\s"]+`)

// wordsOf returns the words of a text; what stands in quotation marks is one.
func wordsOf(text string) (words []string) {
	for _, m := range quotedOrWord.FindAllStringSubmatch(text, -1) {
		w := m[0]
		if m[1] != "" {
			w = m[1]
		}
		if strings.TrimSpace(w) != "" {
			words = append(words, w)
		}
	}
	return words
}

func quotedFields(words string) []string {
	fields := strings.Fields(words)
	for i := range fields {
		fields[i] = regexp.QuoteMeta(fields[i])
	}
	return fields
}
