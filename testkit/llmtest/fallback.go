package llmtest

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/llm"
)

// fallback is the default script: it classifies every message as an inquiry about
// the documents that it names by title, and quotes the first passage.
func (s *Server) fallback(r Request, prompt string) Answer {
	pace := s.Pace()
	if r.Kind == Stream {
		if m := callsTool.FindStringSubmatch(r.LastUser); m != nil && slices.Contains(r.Tools, m[1]) && json.Valid([]byte(m[2])) {
			if r.LastResult == "" {
				return Answer{Calls: []llm.ToolCall{{Name: m[1], Arguments: m[2]}}, Delay: pace.FirstToken}
			}
			return Answer{Chunks: pace.fill([]string{"The ", "tool ", "says: ", language.Truncate(r.LastResult, 160)}), Delay: pace.FirstToken, Each: pace.PerToken}
		}
		return Answer{Chunks: pace.fill(quoteFirstPassage(prompt)), Delay: pace.FirstToken, Each: pace.PerToken, Stamped: pace.Stamped}
	}
	a := Answer{Delay: pace.Structured, JSON: map[string]any{}}
	switch r.Schema {
	case llm.IntentSchema.Name:
		a.JSON = llm.Intent{Action: chat.Inquire, Confidence: chat.High, Actions: []chat.Action{chat.Inquire}, Reasoning: "scripted"}
	case llm.DocResolutionSchema.Name:
		a.JSON = llm.DocResolution{ResolvedIDs: titled(prompt, r.LastUser), UnresolvedNames: []string{}, Confidence: chat.High, Reasoning: "scripted"}
	case llm.WebQuerySchema.Name:
		a.JSON = llm.WebQuery{Query: language.Truncate(strings.TrimSpace(r.LastUser), 200)}
	}
	return a
}

// fill cuts or pads an answer to p.Tokens.
func (p Pace) fill(chunks []string) []string {
	if p.Tokens <= 0 {
		return chunks
	}
	out := make([]string, 0, p.Tokens)
	for len(out) < p.Tokens-len(chunks) {
		out = append(out, "word ")
	}
	out = append(out, chunks...)
	return out[len(out)-min(len(out), p.Tokens):]
}

var (
	callsTool = regexp.MustCompile(`(?s)\bcall ([a-zA-Z0-9_-]+) (\{.*\})`)

	passage = regexp.MustCompile(`(?s)<passage id="(\d+)"[^>]*>(.*?)</passage>`)
	listed  = regexp.MustCompile(`"id"\s*:\s*"([^"]+)"\s*,\s*"title"\s*:\s*("(?:[^"\\]|\\.)*")`)
	ident   = regexp.MustCompile(`[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`)
	field   = regexp.MustCompile(`(?i)\b(id|title|document|name)\b\s*[=:]`)
)

// quoteFirstPassage answers with the beginning of the prompt's first passage.
func quoteFirstPassage(prompt string) []string {
	m := passage.FindStringSubmatch(prompt)
	if m == nil {
		return []string{"The ", "documents ", "do not ", "say."}
	}
	quote := ""
	for _, line := range strings.Split(m[2], "\n") { // the first line that is not a heading
		if line = strings.TrimSpace(line); quote == "" || strings.HasPrefix(quote, "#") && line != "" {
			quote = line
		}
	}
	if end := strings.IndexAny(quote, ".!?"); end > 0 {
		quote = quote[:end+1]
	}
	quote = language.Truncate(quote, 160)
	chunks := []string{"The ", "documents ", "say: ", "“"}
	chunks = append(chunks, strings.SplitAfter(quote, " ")...)
	return append(chunks, "”", " [", m[1], "]")
}

// titled returns the ids of the documents listed in the prompt whose title occurs
// in the message.
func titled(prompt, message string) []string {
	message = strings.ToLower(message)
	ids := []string{}
	seen := map[string]bool{}
	for _, m := range listed.FindAllStringSubmatch(prompt, -1) { // a JSON list
		var title string
		if json.Unmarshal([]byte(m[2]), &title) == nil && title != "" && !seen[m[1]] && strings.Contains(message, strings.ToLower(title)) {
			seen[m[1]] = true
			ids = append(ids, m[1])
		}
	}
	for _, line := range strings.Split(prompt, "\n") {
		found := ident.FindAllString(line, -1)
		if len(found) != 1 || seen[found[0]] {
			continue
		}
		title := field.ReplaceAllString(ident.ReplaceAllString(line, " "), " ")
		title = strings.ToLower(strings.Trim(title, " \t-*•:|\"'=<>/,{}[]()"))
		if title != "" && strings.Contains(message, title) {
			seen[found[0]] = true
			ids = append(ids, found[0])
		}
	}
	return ids
}
