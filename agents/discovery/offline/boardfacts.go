package offline

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/palaver-chat/palaver/agents/excerpt"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/internal/lazyregexp"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/llm/offline/toolcall"
)

var (
	// factsRequest: "add the facts of … as facts", "add 5 key facts from …".
	factsRequest = lazyregexp.New(`(?is)^` + politely + verb(adding) + article + `(?:(\d{1,2})\s+)?(?:(?:key|main|most\s+important|wichtigste[nr]?|principaux|principales|belangrijkste)\s+)?` + named("fact") + `\s+` + from + `\s+(.+?)(?:\s+` + as + `\s+` + article + named("fact") + `)?(?:\s+(?:to|on)\s+(?:the|this)\s+board)?` + particle + `\s*[.!]?$`)
	// inputRequest: "add … as an input".
	inputRequest = lazyregexp.New(`(?is)^` + politely + verb(adding) + `(.+?)` + particle + `\s+` + as + `\s+` + article + named("input") + particle + `\s*[.!]?$`)
	onlyID       = lazyregexp.New(`(?i)^` + itemID + `$`)
	documentWord = lazyregexp.New(`(?i)^(?:the\s+)?(?:documents?|files?)\s+`)
)

const (
	readTool     = "read_document"
	addInputTool = "add_document"
	someFacts    = 6 // facts to propose from a document when the message names no number
	mostFacts    = 12
)

// fromDocuments handles a request to take facts from a document, which is added as an input
// and read first, or to add a document as an input. ok is false when the message asks for
// neither.
func (b onBoard) fromDocuments(message string, f llm.Facts) (text string, calls []llm.ToolCall, ok bool) {
	if m := factsRequest.FindStringSubmatch(message); m != nil {
		name := strings.TrimSpace(m[2])
		if item, found := b.find(name); onlyID.MatchString(name) && found && item.Document == "" {
			return b.factsOfInput(item, m[1])
		} else if onlyID.MatchString(name) && !found {
			return b.noItem(name), nil, true
		}
		for _, doc := range b.documentsNamed(name, f) {
			if b.inputOf(doc) == "" && len(onlyID.FindString(name)) == 0 {
				calls = append(calls, toolcall.New(addInputTool, map[string]any{"document": doc}))
			}
			calls = append(calls, toolcall.New(readTool, map[string]any{"document": doc}))
		}
		return "", calls, true
	}
	if m := inputRequest.FindStringSubmatch(message); m != nil {
		for _, doc := range b.documentsNamed(strings.TrimSpace(m[1]), f) {
			calls = append(calls, toolcall.New(addInputTool, map[string]any{"document": doc}))
		}
		return "", calls, true
	}
	return "", nil, false
}

// documentsNamed returns the document of the board item with this name, else the mentioned
// documents (at most three), else the name as it was written.
func (b onBoard) documentsNamed(name string, f llm.Facts) []string {
	if item, found := b.find(name); found && item.Document != "" {
		return []string{item.Document}
	}
	var ids []string
	for _, d := range f.Documents {
		ids = append(ids, d.ID)
	}
	if len(ids) > 0 {
		return ids[:min(len(ids), 3)]
	}
	name = strings.Trim(documentWord.ReplaceAllString(strings.TrimPrefix(name, "@"), ""), `"“”'`)
	return []string{name}
}

// inputOf returns the id of the input that is the document; empty when there is none.
func (b onBoard) inputOf(document string) string {
	for _, item := range b.items("input") {
		if item.Document != "" && item.Document == document {
			return item.ID
		}
	}
	return ""
}

// factsOfInput proposes facts of an input that is not a document.
func (b onBoard) factsOfInput(item llm.BoardItem, number string) (text string, calls []llm.ToolCall, ok bool) {
	if item.Column != "input" {
		return b.wrongBasis(item, "input"), nil, true
	}
	for _, s := range b.factsIn([]llm.Passage{{Text: item.Text}}, number) {
		calls = append(calls, toolcall.New("add_item", map[string]any{"entity_type": "fact", "text": s, "related_ids": []string{item.ID}}))
	}
	if len(calls) == 0 {
		return b.say(messages.BoardNothingNew, messages.Params{"where": "[" + item.ID + "]"}), nil, true
	}
	return "", calls, true
}

// factsRead proposes the facts of the documents that were read in this turn; none when
// they were proposed already.
func (b onBoard) factsRead(message string, f llm.Facts) (calls []llm.ToolCall) {
	m := factsRequest.FindStringSubmatch(message)
	if m == nil || slices.ContainsFunc(f.Used, func(u llm.ToolUse) bool { return u.Call.Name == "add_item" }) {
		return nil
	}
	for _, u := range f.Used {
		if u.Call.Name != readTool || u.IsError || !toolcall.HasPassages(u.Content) {
			continue
		}
		passages := toolcall.ShownPassages(f.Passages, u.Content)
		if len(passages) == 0 {
			continue
		}
		doc := passages[0].DocID
		related := []string{}
		if id := b.inputOf(doc); id != "" {
			related = append(related, id)
		}
		for _, quote := range b.factsIn(passages, m[1]) {
			calls = append(calls, toolcall.New("add_item", map[string]any{"entity_type": "fact", "text": strings.Join(strings.Fields(quote), " "),
				"related_ids": related, "document": doc, "quote": quote}))
		}
	}
	return calls
}

// factsIn returns the most important sentences of a text that are not facts already.
func (b onBoard) factsIn(passages []llm.Passage, number string) (facts []string) {
	n, _ := strconv.Atoi(number)
	n = min(cmp.Or(n, someFacts), mostFacts)
	known := map[string]bool{}
	for _, item := range b.items("fact") {
		known[strings.Join(strings.Fields(strings.ToLower(item.Text)), " ")] = true
	}
	p := excerpt.Gather(passages, nil)
	p.Excerpts = slices.DeleteFunc(p.Excerpts, func(s excerpt.Excerpt) bool {
		return known[strings.Join(strings.Fields(strings.ToLower(excerpt.Verbatim(s.Text))), " ")] || strings.HasSuffix(s.Text, "?") || strings.HasSuffix(s.Text, ":")
	})
	for _, s := range p.Central(n) {
		facts = append(facts, excerpt.Verbatim(s.Text))
	}
	return facts
}
