// Package offline has what the engine without a model does for the assistant: it calls the
// tools that a message plainly asks for, and says what they returned.
package offline

import (
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/agents/documents/intent"
	documents "github.com/palaver-chat/palaver/agents/documents/offline"
	"github.com/palaver-chat/palaver/agents/excerpt"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/llm/offline"
	"github.com/palaver-chat/palaver/llm/offline/toolcall"
)

// Rules returns the rules of the assistant.
func Rules() offline.Rules {
	return offline.Rules{Answers: map[llm.Task]func(llm.Facts) offline.Answer{llm.TaskAssistant: answer}}
}

const listDocuments = "list_documents"

// answer calls tools, or says what they returned.
func answer(f llm.Facts) (a offline.Answer) {
	f.Language = intent.LanguageOf(f.Message, f.Recent)
	a.Language = f.Language
	open := toolcall.Requests(f, intent.Instruction(f.Message), false)
	if calls := toolcall.Callable(open); len(calls) > 0 {
		return offline.Answer{Calls: calls}
	}
	if lists := slices.ContainsFunc(f.Tools, func(t llm.Tool) bool { return t.Name == listDocuments }); lists && len(f.Used) == 0 && intent.AsksLibrary(f.Message) {
		return offline.Answer{Calls: toolcall.Numbered([]llm.ToolCall{toolcall.New(listDocuments, map[string]any{})})}
	}
	var parts []string
	add := func(s string) {
		if s != "" {
			parts = append(parts, s)
		}
	}
	further := furtherQuestions(f)
	for _, u := range f.Used {
		if u.Call.Name == listDocuments && !u.IsError {
			add(documents.Library(f.Message, f.Language, f.Library, f.Now))
			continue
		}
		if u.Call.Name != "search_documents" || u.IsError {
			add(toolcall.Outcome(u, f.Language))
			continue
		}
		query, more := queryOf(u.Call), ""
		if len(further) > 0 {
			more, further = further[0], further[1:]
		}
		passages := toolcall.ShownPassages(f.Passages, u.Content)
		a.Quotes = a.Quotes || len(passages) > 0
		add(searchAnswer(f, query, more, passages))
	}
	for _, w := range open {
		add(w.MissingNote(f.Language))
	}
	if len(parts) == 0 && len(f.Passages) > 0 {
		a.Quotes = true
		add(documents.Inquire(f))
	}
	if len(parts) == 0 {
		add(introduction(f.Language, f.Tools))
	}
	if f.Images > 0 {
		add(messages.SeesNoPictures.In(f.Language, nil))
	}
	a.Text = strings.Join(parts, "\n\n")
	return a
}

// furtherQuestions returns what a message asks about the results of each of its searches.
func furtherQuestions(f llm.Facts) (out []string) {
	f.Used = nil
	for _, w := range toolcall.Requests(f, intent.Instruction(f.Message), false) {
		if w.IsSearch() {
			out = append(out, w.Rest)
		}
	}
	return out
}

func queryOf(c llm.ToolCall) string {
	q, _ := toolcall.Object(c.Arguments)["query"].(string)
	return q
}

// searchAnswer answers from the passages of a search. more is what else the message asks
// about them.
func searchAnswer(f llm.Facts, query, more string, passages []llm.Passage) string {
	searched := messages.Params{"query": italic(query)}
	if len(passages) == 0 {
		return messages.SearchedNothing.In(f.Language, searched)
	}
	answer := documents.Inquire(llm.Facts{Message: query + more, Language: f.Language, Passages: passages, Documents: f.Documents})
	if answer != documents.NothingFound(f) {
		return answer
	}
	// No sentence has the words of the query: show the first of each passage.
	const most = 3
	var b strings.Builder
	b.WriteString(messages.Searched.In(f.Language, searched) + "\n")
	firsts := excerpt.Gather(passages, nil).FirstOfEach(passages)
	if len(firsts) == 0 {
		return documents.NothingFound(f)
	}
	for _, s := range firsts[:min(len(firsts), most)] {
		b.WriteString("\n- **" + excerpt.PlainTitle(passages[s.Passage].Title) + "**: " + excerpt.Quote(s))
	}
	return b.String()
}

// italic formats what a person looked for in a way that does not look like a quotation from
// a document.
func italic(text string) string {
	return "*" + strings.Trim(strings.ReplaceAll(toolcall.OneLine(text), "*", ""), " .?!") + "*"
}

// introduction says in a language what the engine is and what it can do with the given tools.
func introduction(lang string, tools []llm.Tool) string {
	const most = 12
	var can, others []string
	add := func(m messages.Message, values messages.Params) { can = append(can, "- "+m.In(lang, values)) }
	for _, t := range tools {
		switch t.Name {
		case "search_documents":
			add(messages.CanSearch, nil)
		case "list_documents":
			add(messages.CanList, nil)
		case "generate_image":
			add(messages.CanDraw, nil)
		case "read_result":
		default:
			others = append(others, "`"+t.Name+"`")
		}
	}
	if n := len(others); n > 0 {
		first := strings.Trim(others[0], "`")
		if n > most {
			others = append(others[:most], messages.MoreTools.In(lang, messages.Params{"n": n - most}))
		}
		add(messages.CanCall, messages.Params{"tool": first, "tools": messages.Joined(lang, others)})
	}
	text := messages.OfflineEngine.In(lang, nil)
	if len(can) == 0 {
		return text
	}
	return text + " " + messages.CanDo.In(lang, nil) + "\n\n" + strings.Join(can, "\n")
}
