package lookup

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/tools"
)

// ReadDocument reads a document: from a passage on, its pages, what stands below a heading, or
// what fits a query. If the document is not found, the result is not an error, because for a
// discovery board it must not count as a failed proposal.
func ReadDocument(library Library, search Searcher) tools.Tool {
	return tools.Tool{
		Name: "read_document",
		Description: "Read a document of the person's library, to quote it or to see what stands around a passage that was found. Returns up to 12 passages in their order, which answers can cite: " +
			"those of pages, those below heading (both with the passage before and the one after), those that fit query, or else those from passage number from on. Read on with a higher from until nothing comes.",
		Schema: json.RawMessage(`{
			"type": "object",
			"required": ["document"],
			"properties": {
				"document": {"type": "string", "minLength": 1, "maxLength": 300, "description": "The document's title or id"},
				"from": {"type": "integer", "minimum": 0, "maximum": 100000, "description": "Begin with this passage; the first one is 0"},
				"pages": {"type": "string", "maxLength": 20, "pattern": "^[0-9]+ *(- *[0-9]+)?$", "description": "A page, or pages as 12-14"},
				"heading": {"type": "string", "maxLength": 300, "description": "A heading as outline shows it, or a part of it"},
				"query": {"type": "string", "maxLength": 1000, "description": "Only passages about this"}
			}
		}`),
		Approval: tools.Never,
		Run: tools.With("read_document", func(ctx context.Context, c tools.Call, in readArguments) (tools.Result, error) {
			doc, why, err := one(ctx, library, c.Owner, in.Document)
			if err != nil || why != "" {
				return tools.Result{Content: why}, err
			}
			if in.Query != "" {
				hits, err := search.Search(ctx, c.Owner, in.Query, []string{doc.ID}, maxPassages)
				if err != nil {
					return tools.Result{}, err
				}
				return together([]string{in.Query}, [][]chat.Hit{hits}), nil
			}
			all, err := library.DocumentChunks(ctx, c.Owner, doc.ID, in.needs())
			if err != nil {
				return tools.Result{}, err
			}
			return in.read(doc, all), nil
		}),
	}
}

// readArguments is what of a document is to be read.
type readArguments struct {
	Document string `json:"document"`
	From     int    `json:"from"`
	Pages    string `json:"pages"`
	Heading  string `json:"heading"`
	Query    string `json:"query"`
}

// needs returns how many passages from the document's beginning must be known.
func (r readArguments) needs() int {
	if r.Pages != "" || r.Heading != "" {
		return maxRead
	}
	return min(r.From, maxRead) + maxPassages + 1 // one more, to know whether the document goes on
}

func (r readArguments) read(doc chat.Document, all []chat.Hit) tools.Result {
	first, end := r.From, len(all)
	switch {
	case r.Pages != "":
		if first, end = onPages(all, r.Pages); first == end {
			return tools.Result{Content: "The document has no text on that page." + extent(doc, all)}
		}
	case r.Heading != "":
		if first, end = below(all, r.Heading); first == end {
			return tools.Result{Content: "The document has no such heading. outline shows its headings, find_in_document finds words."}
		}
	}
	if r.Pages != "" || r.Heading != "" {
		first, end = max(first-1, r.From, 0), min(end+1, len(all))
	}
	if first >= end {
		return tools.Result{Content: "There is no further passage in this document."}
	}
	shown := all[first:min(end, first+maxPassages)]
	last := shown[len(shown)-1]
	note := fmt.Sprintf("%s to %s of %s.", where(shown[0]), where(last), title(doc))
	if first+len(shown) < end {
		note += fmt.Sprintf(" Read on with from %d.", last.Ordinal+1)
	}
	return passages(shown, note)
}

// extent says how far the pages of a document reach.
func extent(doc chat.Document, all []chat.Hit) string {
	if len(all) == 0 {
		return ""
	}
	if doc.PageCount > 0 {
		return fmt.Sprintf(" It has %d pages.", doc.PageCount)
	}
	if last := all[len(all)-1]; chat.PageAt(last.Pages, last.End) > 0 {
		return fmt.Sprintf(" It has %d pages.", chat.PageAt(last.Pages, last.End))
	}
	return " It has no pages: read it by headings or passages."
}

var pageNumbers = regexp.MustCompile(`[0-9]+`)

// onPages returns the range of the passages that stand on pages "3" or "3-5".
func onPages(all []chat.Hit, pages string) (first, end int) {
	numbers := pageNumbers.FindAllString(pages, 2)
	if len(numbers) == 0 {
		return 0, 0
	}
	from, _ := strconv.Atoi(numbers[0]) // digits; one that is too large is no page
	to, _ := strconv.Atoi(numbers[len(numbers)-1])
	return span(all, func(h chat.Hit) bool {
		return slices.ContainsFunc(h.Pages, func(p chat.PageStart) bool { return from <= p.Page && p.Page <= to })
	})
}

// below returns the range of the passages that stand below a heading, or have it: the first such
// passage and those that follow it under the same heading.
func below(all []chat.Hit, heading string) (first, end int) {
	heading = folded(heading)
	under := func(h chat.Hit) bool { return strings.Contains(folded(h.Heading), heading) }
	if first, end = span(all, under); first < end {
		return first, end
	}
	return span(all, func(h chat.Hit) bool { return strings.Contains(folded(h.Text), heading) })
}

// span returns the first run of passages that are meant.
func span(all []chat.Hit, meant func(chat.Hit) bool) (first, end int) {
	first = slices.IndexFunc(all, meant)
	if first < 0 {
		return 0, 0
	}
	for end = first + 1; end < len(all) && meant(all[end]); end++ {
	}
	return first, end
}

// folded makes texts comparable that differ in case and white space.
func folded(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }
