package activities

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/retrieval/cite"
	"github.com/palaver-chat/palaver/tools"
)

// Stage is the progress of a turn's answer before a model call: its pieces and tool
// calls so far. It enters Temporal's history, so it has numbers and ids only; the
// texts are rows of the turn.
type Stage struct {
	Piece  int     `json:"piece"`            // the piece of the answer that the call's text becomes
	Tried  int     `json:"tried,omitempty"`  // attempts of earlier calls at that piece, none of which wrote a text
	Round  int     `json:"round,omitempty"`  // number of rounds so far; the turn's texts have them
	Rounds []Round `json:"rounds,omitempty"` // the rounds themselves, in threads of version 0
	Calls  int     `json:"calls,omitempty"`  // tool calls of the turn so far
}

// next is the number of the round that the model call begins.
func (s Stage) next() int { return max(s.Round, len(s.Rounds)) + 1 }

// rounds are the rounds before the model call.
func (s Stage) rounds(texts map[string]string) []Round {
	rounds, piece := s.Rounds, 1
	for n := len(rounds) + 1; n <= s.Round; n++ {
		var said Written
		_ = json.Unmarshal([]byte(texts[chat.SaidKey(n)]), &said) // ours
		r := Round{}
		if said.Chars > 0 {
			r.Piece, piece = piece, piece+1
		}
		for _, c := range said.Calls {
			done, ran := storedCall(texts, c.ID)
			r.Calls = append(r.Calls, Made{CallRef: c.CallRef, IsError: !ran || done.IsError})
		}
		rounds = append(rounds, r)
	}
	return rounds
}

// Round is a message of the model that called tools.
type Round struct {
	Piece int    `json:"piece,omitempty"` // of its text; 0: it had none
	Calls []Made `json:"calls"`
}

// Made is a tool call with a result.
type Made struct {
	chat.CallRef
	IsError bool `json:"error,omitempty"`
}

// Wanted is a tool call that a model asks for.
type Wanted struct {
	chat.CallRef
	Approval    tools.Approval `json:"approval,omitempty"`
	SideEffects bool           `json:"side_effects,omitempty"`
	// Refused: it cannot be made (no such tool, wrong arguments), and its result says
	// so.
	Refused bool `json:"refused,omitempty"`
}

// exchange is the rounds of a turn as messages of a prompt, with the sources that
// they add for citations.
type exchange struct {
	messages  []llm.Message
	used      []llm.Used
	passages  []llm.Passage // including those that the prompt had before
	sources   []cite.Source
	truncated bool // a result is longer than the prompt shows
	citations []chat.Citation
}

// toolExchange builds the exchange of the rounds. passages and sources are those that
// the prompt has already.
func (a *Activities) toolExchange(ctx context.Context, owner string, texts map[string]string, rounds []Round, passages []llm.Passage, sources []cite.Source) (exchange, error) {
	e := exchange{passages: slices.Clone(passages), sources: slices.Clone(sources)}
	if raw := texts[chat.TextCitations]; raw != "" {
		if err := json.Unmarshal([]byte(raw), &e.citations); err != nil {
			a.log().Error("stored citations cannot be decoded", "error", err)
		}
	}
	if len(rounds) == 0 {
		return e, nil
	}
	shown := map[string][]string{}
	var all []string
	for _, r := range rounds {
		for _, c := range r.Calls {
			var ids []string
			_ = json.Unmarshal([]byte(texts[chat.ShownKey(c.ID)]), &ids) // ours; none for most tools
			shown[c.ID] = ids
			all = append(all, ids...)
		}
	}
	if all = unique(all); len(all) > 0 {
		hits, err := a.Store.ChunksByID(ctx, owner, all)
		if err != nil {
			return e, err
		}
		for _, h := range hits {
			if !slices.ContainsFunc(e.sources, func(s cite.Source) bool { return s.ChunkID == h.ID }) {
				e.show(h)
			}
		}
	}
	for _, r := range rounds {
		e.add(r, texts, shown)
	}
	return e, nil
}

// show adds a passage with the next number.
func (e *exchange) show(h chat.Hit) {
	n := len(e.sources) + 1
	e.sources = append(e.sources, cite.Source{N: n, DocID: h.DocID, ChunkID: h.ID, Title: h.Title, Text: h.Text, Start: h.Start})
	e.passages = append(e.passages, llm.Passage{N: n, DocID: h.DocID, Title: h.Title, Heading: h.Heading, Text: h.Text, Score: h.Score})
}

// add appends a round: the model's message with its calls, and their results.
func (e *exchange) add(r Round, texts map[string]string, shown map[string][]string) {
	said := llm.Message{Role: llm.Assistant}
	if r.Piece > 0 {
		said.Text = e.asCited(texts[chat.PieceKey(r.Piece)])
	}
	var results []llm.Message
	for _, c := range r.Calls {
		call := llm.ToolCall{ID: c.ID, Name: c.Name, Arguments: argumentsOf(texts, c.ID)}
		content, whole := e.result(c, texts, shown[c.ID])
		e.truncated = e.truncated || !whole
		said.Calls = append(said.Calls, call)
		e.used = append(e.used, llm.Used{Call: call, Content: content, IsError: c.IsError})
		results = append(results, llm.Message{Role: llm.ToolRole, CallID: c.ID, Text: resultBlock(c.Name, content, c.IsError)})
	}
	e.messages = append(append(e.messages, said), results...)
}

// result is a call's result for the prompt: passages with their numbers in this
// turn, any other text up to a limit.
func (e *exchange) result(c Made, texts map[string]string, shown []string) (content string, whole bool) {
	var passages strings.Builder
	for _, id := range shown {
		if i := slices.IndexFunc(e.sources, func(s cite.Source) bool { return s.ChunkID == id }); i >= 0 {
			passages.WriteString(e.passage(e.sources[i].N).Block())
		}
	}
	if passages.Len() > 0 {
		return strings.TrimSpace(passages.String()), true
	}
	text, ok := texts[chat.ResultKey(c.ID)]
	if !ok {
		text = chat.NoToolResult
	}
	head, whole := tools.Head(c.ID, text)
	return llm.Data(head), whole
}

func (e *exchange) passage(n int) llm.Passage {
	i := slices.IndexFunc(e.passages, func(p llm.Passage) bool { return p.N == n })
	if i < 0 {
		return llm.Passage{}
	}
	return e.passages[i]
}

var citedNumber = regexp.MustCompile(`\s?\[(\d{1,3})\]`)

// asCited renumbers the citation markers of an earlier piece to the numbers that its
// passages have in the prompt.
func (e *exchange) asCited(text string) string {
	return citedNumber.ReplaceAllStringFunc(text, func(marker string) string {
		n, _ := strconv.Atoi(citedNumber.FindStringSubmatch(marker)[1])
		i := slices.IndexFunc(e.citations, func(c chat.Citation) bool { return c.N == n })
		if i < 0 {
			return ""
		}
		c := e.citations[i]
		k := slices.IndexFunc(e.sources, func(s cite.Source) bool {
			return c.ChunkID != "" && s.ChunkID == c.ChunkID || c.URL != "" && s.URL == c.URL
		})
		if k < 0 {
			return ""
		}
		lead := ""
		if !strings.HasPrefix(marker, "[") {
			lead = marker[:1]
		}
		return lead + "[" + strconv.Itoa(e.sources[k].N) + "]"
	})
}

// argumentsOf are the arguments of a call, edited ones if there are: a JSON object.
func argumentsOf(texts map[string]string, callID string) string {
	arguments, edited := texts[chat.EditedKey(callID)]
	if !edited {
		arguments = texts[chat.CallKey(callID)]
	}
	if !chat.IsObject(arguments) {
		return "{}"
	}
	return arguments
}

// resultBlock delimits what a tool returned, which is data and no instruction. The
// caller has escaped the content.
func resultBlock(tool, content string, isError bool) string {
	flag := ""
	if isError {
		flag = ` error="true"`
	}
	return "<tool_result" + llm.Attribute("tool", tool) + flag + ">\n" + content + "\n</tool_result>"
}
