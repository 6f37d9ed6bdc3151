package prompt

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/documents/cite"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/tools"
)

// Exchange is the tool calls of a turn as messages of a prompt, with the sources that
// their results add for citations.
type Exchange struct {
	Messages  []llm.Message
	Used      []llm.ToolUse
	Passages  []llm.Passage // including those that the prompt had before
	Sources   []cite.Source
	Truncated bool            // a result is longer than the prompt shows
	Citations []chat.Citation // of the turn's earlier pieces
}

// Call is a tool call with its result.
type Call struct {
	llm.ToolCall
	Result  string
	Shown   []string // ids of the passages in the result
	Note    string   // what is said before the passages
	IsError bool
}

// Show adds passages that results have shown, with the next numbers.
func (e *Exchange) Show(hits []chat.Hit) {
	for _, h := range hits {
		if !slices.ContainsFunc(e.Sources, func(s cite.Source) bool { return s.ChunkID == h.ID }) {
			source, passage := Numbered(len(e.Sources)+1, h)
			e.Sources, e.Passages = append(e.Sources, source), append(e.Passages, passage)
		}
	}
}

// Add appends a message of the model with its calls, what it thought before it, the results,
// and how many further calls did not run.
func (e *Exchange) Add(piece, reasoning string, calls []Call, dropped int) {
	said := llm.Message{Role: llm.Assistant, Text: e.renumber(piece), Reasoning: reasoning}
	var results []llm.Message
	for _, c := range calls {
		content, whole := e.result(c)
		e.Truncated = e.Truncated || !whole
		said.Calls = append(said.Calls, c.ToolCall)
		e.Used = append(e.Used, llm.ToolUse{Call: c.ToolCall, Content: content, IsError: c.IsError})
		results = append(results, llm.Message{Role: llm.ToolRole, CallID: c.ID, Text: resultBlock(c.Name, content, c.IsError)})
	}
	if n := len(results); n > 0 && dropped > 0 {
		results[n-1].Text += fmt.Sprintf("\n%d more of your calls did not run: at most %d run at once. Ask for those that you still need.", dropped, llm.MaxCalls)
	}
	e.Messages = append(append(e.Messages, said), results...)
}

// AddGiven appends messages that the person wrote while the turn worked.
func (e *Exchange) AddGiven(messages ...string) {
	for _, m := range messages {
		e.Messages = append(e.Messages, llm.Message{Role: llm.User, Text: "(I add, while you work on my message:)\n" + m})
	}
}

// result returns a call's result for the prompt: passages with their numbers in this turn,
// or any other text up to a limit. whole is false when the text was cut.
func (e *Exchange) result(c Call) (content string, whole bool) {
	var passages strings.Builder
	for _, id := range c.Shown {
		if i := slices.IndexFunc(e.Sources, func(s cite.Source) bool { return s.ChunkID == id }); i >= 0 {
			passages.WriteString(e.passage(e.Sources[i].N).Block())
		}
	}
	if passages.Len() > 0 {
		note, _ := tools.Head(c.ID, c.Note)
		return strings.TrimSpace(llm.Data(note) + "\n" + passages.String()), true
	}
	head, whole := tools.Head(c.ID, c.Result)
	return llm.Data(head), whole
}

func (e *Exchange) passage(n int) llm.Passage {
	i := slices.IndexFunc(e.Passages, func(p llm.Passage) bool { return p.N == n })
	if i < 0 {
		return llm.Passage{}
	}
	return e.Passages[i]
}

var citedNumber = regexp.MustCompile(`\s?\[(\d{1,3})\]`)

// renumber gives the citation markers of an earlier piece the numbers that its passages
// have in the prompt, and removes those without one.
func (e *Exchange) renumber(piece string) string {
	return citedNumber.ReplaceAllStringFunc(piece, func(marker string) string {
		n, _ := strconv.Atoi(citedNumber.FindStringSubmatch(marker)[1])
		i := slices.IndexFunc(e.Citations, func(c chat.Citation) bool { return c.N == n })
		if i < 0 {
			return ""
		}
		c := e.Citations[i]
		k := slices.IndexFunc(e.Sources, func(s cite.Source) bool {
			return c.ChunkID != "" && s.ChunkID == c.ChunkID || c.URL != "" && s.URL == c.URL
		})
		if k < 0 {
			return ""
		}
		lead := ""
		if !strings.HasPrefix(marker, "[") {
			lead = marker[:1]
		}
		return lead + "[" + strconv.Itoa(e.Sources[k].N) + "]"
	})
}

// resultBlock delimits what a tool returned, which is data, not an instruction. The
// caller has escaped the content.
func resultBlock(tool, content string, isError bool) string {
	flag := ""
	if isError {
		flag = ` error="true"`
	}
	return "<tool_result" + llm.Attribute("tool", tool) + flag + ">\n" + content + "\n</tool_result>"
}

// Computed returns the results of the calculations that the model has had made.
func (e Exchange) Computed() (out []string) {
	for _, u := range e.Used {
		if !u.IsError && (u.Call.Name == "calculate" || u.Call.Name == "query_table") {
			out = append(out, u.Content)
		}
	}
	return out
}
