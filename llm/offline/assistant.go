package offline

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/llm"
)

// plainNotice is at the end of an answer that quotes no document.
var plainNotice = messages.AnswerOfflinePlain.Text

// assistant answers with tool calls or with a text. quotes reports that the text quotes
// documents.
func assistant(f llm.Facts) (text string, calls []llm.ToolCall, quotes bool) {
	open := requestedCalls(f, false)
	if calls = callable(open); len(calls) > 0 {
		return "", calls, false
	}
	var parts []string
	add := func(s string) {
		if s != "" {
			parts = append(parts, s)
		}
	}
	further := furtherQuestions(f)
	for _, u := range f.Used {
		if u.Call.Name != "search_documents" || u.IsError {
			add(outcome(u))
			continue
		}
		query, more := queryOf(u.Call), ""
		if len(further) > 0 {
			more, further = further[0], further[1:]
		}
		passages := shownPassages(f.Passages, u.Content)
		quotes = quotes || len(passages) > 0
		add(searchAnswer(f, query, more, passages))
	}
	for _, w := range open {
		add(missingNote(w))
	}
	if len(parts) == 0 && len(f.Passages) > 0 {
		quotes = true
		add(inquire(f))
	}
	if len(parts) == 0 {
		add(introduction(f.Tools))
	}
	if f.Images > 0 {
		add("I cannot see pictures: without a language model the attached ones are not looked at.")
	}
	return strings.Join(parts, "\n\n"), nil, quotes
}

// callable returns the requested calls that have all their arguments.
func callable(open []requestedCall) []llm.ToolCall {
	var calls []llm.ToolCall
	for _, w := range open {
		if len(w.missing) == 0 && len(calls) < llm.MaxCalls {
			w.call.ID = "call_" + strconv.Itoa(len(calls)+1)
			calls = append(calls, w.call)
		}
	}
	return calls
}

// furtherQuestions returns what a message asks about the results of each of its searches.
func furtherQuestions(f llm.Facts) (out []string) {
	for _, w := range requestedCalls(llm.Facts{Message: f.Message, Tools: f.Tools}, false) {
		if w.tool.Name == "search_documents" {
			out = append(out, w.rest)
		}
	}
	return out
}

func queryOf(c llm.ToolCall) string {
	q, _ := object(c.Arguments)["query"].(string)
	return q
}

var passageTag = regexp.MustCompile(`<passage id="(\d+)"`)

// shownPassages returns the passages that a search's result shows, or all if it does not
// say which.
func shownPassages(passages []llm.Passage, content string) []llm.Passage {
	shown := map[int]bool{}
	for _, m := range passageTag.FindAllStringSubmatch(content, -1) {
		n, err := strconv.Atoi(m[1])
		shown[n] = err == nil
	}
	if len(shown) == 0 {
		if len(passages) > 0 && strings.Contains(content, "Nothing was found") {
			return nil
		}
		return passages
	}
	var out []llm.Passage
	for _, p := range passages {
		if shown[p.N] {
			out = append(out, p)
		}
	}
	return out
}

// searchAnswer answers from the passages of a search. more is what else the message asks
// about them.
func searchAnswer(f llm.Facts, query, more string, passages []llm.Passage) string {
	if len(passages) == 0 {
		return "The search for " + italic(query) + " found nothing in your documents."
	}
	answer := inquire(llm.Facts{Message: query + more, Passages: passages, Documents: f.Documents})
	if answer != nothingFound {
		return answer
	}
	// No sentence has the words of the query: show the first of each passage.
	var b strings.Builder
	b.WriteString("The search for " + italic(query) + " found:\n")
	lines := 0
	for _, s := range gather(passages, nil).firstOfEach(passages) {
		b.WriteString("\n- **" + plainTitle(passages[s.passage].Title) + "**: " + quote(s))
		if lines++; lines == 3 {
			break
		}
	}
	if lines == 0 {
		return nothingFound
	}
	return b.String()
}

// firstOfEach returns the first sentence of each passage.
func (p *pool) firstOfEach(passages []llm.Passage) []excerpt {
	var out []excerpt
	seen := make([]bool, len(passages))
	for _, s := range p.excerpts {
		if !seen[s.passage] {
			seen[s.passage] = true
			out = append(out, s)
		}
	}
	return out
}

var (
	servedPicture = regexp.MustCompile(`!\[[^\]\n]{0,200}\]\(/api/attachments/[A-Za-z0-9-]{1,64}\)`)
	documentID    = regexp.MustCompile(`\(id [^,()\s]{1,64}, (?:ready\)|(processing|failed)\))`)
)

// outcome describes the result of a call.
func outcome(u llm.Used) string {
	content := strings.TrimSpace(u.Content)
	tool := "`" + u.Call.Name + "`"
	switch {
	case u.IsError && strings.HasPrefix(content, "The person rejected this call"):
		reason := strings.TrimPrefix(strings.TrimPrefix(content, "The person rejected this call"), ":")
		return "You rejected " + tool + ", so it was not called." + reasonSentence(reason)
	case u.IsError:
		return tool + " gave no result: " + oneLine(content)
	case u.Call.Name == "list_documents" && strings.HasPrefix(content, "- "):
		return "These are your documents:\n\n" + clipped(documentID.ReplaceAllString(content, "$1"))
	case u.Call.Name == "generate_image":
		if picture := servedPicture.FindString(content); picture != "" {
			return "Here is the picture:\n\n" + picture + "\n\nIt is only a placeholder: no image model is configured."
		}
	}
	if content == "" {
		return tool + " returned nothing."
	}
	return tool + " returned:\n\n" + fenced(clipped(content))
}

// outcomes describes the results of the tools that an action's answer does not use.
func outcomes(f llm.Facts) string {
	var b strings.Builder
	for _, u := range f.Used {
		if u.Call.Name != "search_documents" || u.IsError {
			b.WriteString("\n\n" + outcome(u))
		}
	}
	for _, w := range requestedCalls(f, true) {
		b.WriteString("\n\n" + missingNote(w))
	}
	return b.String()
}

// reasonSentence quotes a person's reason, or is empty.
func reasonSentence(reason string) string {
	if reason = strings.Trim(strings.TrimSpace(reason), "."); reason == "" {
		return ""
	}
	return " Your reason: " + oneLine(reason) + "."
}

// fenced puts a text into a code fence that it cannot close.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "text\n" + text + "\n" + fence
}

const longestShown = 4000 // characters of a result

func clipped(text string) string {
	if utf8.RuneCountInString(text) <= longestShown {
		return text
	}
	return string([]rune(text)[:longestShown]) + "\n…"
}

// oneLine puts a text on one line and shortens it.
func oneLine(text string) string {
	r := []rune(strings.Join(strings.Fields(text), " "))
	if len(r) > 500 {
		return string(r[:500]) + "…"
	}
	return string(r)
}

// italic formats what a person looked for in a way that does not look like a quotation from
// a document.
func italic(text string) string {
	return "*" + strings.Trim(strings.ReplaceAll(oneLine(text), "*", ""), " .?!") + "*"
}

// missingNote says which arguments a call needs.
func missingNote(w requestedCall) string {
	var example strings.Builder
	for _, m := range w.missing {
		fmt.Fprintf(&example, " %s=…", m)
	}
	return fmt.Sprintf("To call `%s` I need %s. Write it like this: `call %s%s`", w.tool.Name, listed(w.missing), w.tool.Name, example.String())
}

func listed(names []string) string {
	out := "`" + names[0] + "`"
	for i, name := range names[1:] {
		joint := ", "
		if i == len(names)-2 {
			joint = " and "
		}
		out += joint + "`" + name + "`"
	}
	return out
}

// introduction says what the engine is and what it can do with the given tools.
func introduction(tools []llm.Tool) string {
	const most = 12
	var can, others []string
	for _, t := range tools {
		switch t.Name {
		case "search_documents":
			can = append(can, "- search your documents: *search my documents for notice periods*")
		case "list_documents":
			can = append(can, "- list them: *list my documents*")
		case "generate_image":
			can = append(can, "- draw a placeholder for a picture: *draw a lighthouse*")
		case "read_result":
		default:
			others = append(others, "`"+t.Name+"`")
		}
	}
	if n := len(others); n > 0 {
		more := ""
		if n > most {
			others, more = others[:most], fmt.Sprintf(" and %d more", n-most)
		}
		can = append(can, "- call a tool that you name, with its arguments: *call "+strings.Trim(others[0], "`")+" name=value*. There are "+strings.Join(others, ", ")+more+".")
	}
	text := "I am Palaver's offline engine. No language model is configured on this server, so I cannot hold a conversation."
	if len(can) == 0 {
		return text
	}
	return text + " What I can do:\n\n" + strings.Join(can, "\n")
}
