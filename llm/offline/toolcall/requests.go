// Package toolcall reads from a message which tools it plainly asks for, with their arguments,
// and says what they returned.
package toolcall

import (
	"regexp"
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/internal/lazyregexp"
	"github.com/palaver-chat/palaver/llm"
)

// Request is a tool call that a message asks for.
type Request struct {
	Rest    string // what else is asked about the results of a search
	start   int    // in the message
	end     int    // where the words that ask for it end; its arguments follow
	tool    llm.Tool
	query   string // of a search
	call    llm.ToolCall
	missing []string // required arguments that the message does not have
}

// request matches the beginning of a request. A verb in the middle of a sentence does not
// begin one.
const request = `(?i)(?:^|[.!?;,\n]|\b(?:and|then|please|also|now|first|next|(?:can|could|would|will) you(?: please)?)\b)\s*`

const (
	whose = `(?:(?:all|any|of|my|our|the|these|those|this|your|uploaded)\s+)*`
	files = whose + `(?:documents?|docs?|files?|library|texts?)\b`
)

// Requests in plain words for our own tools.
var (
	searchIn    = lazyregexp.New(request + `(?:search|look|dig|check|query)\s+(?:up\s+)?(?:(?:in|into|through|within|across)\s+)?` + files + `\s*(?:(?:for|about|on|regarding|what is said about)\b|:)\s*`)
	searchFor   = lazyregexp.New(request + `(?:search|look|find)\s+(?:(?:for|up)\s+)?(.{2,300}?)\s+(?:in|within|through|across|among)\s+` + files)
	searchPlain = lazyregexp.New(request + `search\s+for\s+`)
	askFiles    = lazyregexp.New(`(?i)\bwhat\s+(?:do|does|is\s+in|is\s+said\s+in)\s+` + files + `\s+(?:say|says|tell\s+us|mention)?\s*(?:about|on|regarding)\s+`)
	listThem    = lazyregexp.New(request + `(?:list|show|enumerate)\s+(?:me\s+)?` + files + `|(?i)\b(?:what|which)\s+(?:documents|docs|files)\s+(?:do\s+(?:i|we)\s+have|have\s+(?:i|we)|are\s+there)\b`)
	drawIt      = lazyregexp.New(request + `(?:draw|paint|sketch|illustrate)\s+(?:me\s+)?`)
	makePicture = lazyregexp.New(request + `(?:generate|create|make|render|produce|draw|paint)\s+(?:me\s+)?(?:an?\s+|the\s+|some\s+)?(?:[\w-]+\s+){0,3}?(?:images?|pictures?|illustrations?|drawings?|paintings?|photos?)\s*(?:(?:of|showing|with|that shows|depicting)\b|:)\s*`)
	notAPicture = lazyregexp.New(`(?i)^(?:(?:an?|the|your|any|some)\s+)?(?:conclusions?|distinctions?|lines?\s+(?:between|under|at|in the sand)\b|lines?\W*$|attention|comparisons?|inferences?|parallels?|lessons?|up|on|from|upon)(?:\b|$)`)
	furtherAsk  = lazyregexp.New(`(?i)[,;]?\s+(?:and|then|to)\s+(?:then\s+)?(?:tell|say|explain|summari[sz]e|show|list|answer|let|give|find out|quote)\b`)
)

// Requests returns the tool calls that a message plainly asks for and that were not made
// yet, in the order of the message. text is its instruction, without pasted text. byName
// leaves only those that use a tool's name. It reads only the person's message: documents
// and results of tools cannot ask for a call.
func Requests(f llm.Facts, text string, byName bool) []Request {
	if startsWithName.MatchString(f.Message) { // its arguments may be long
		text = strings.TrimSpace(f.Message)
	}
	masked := mask(text)
	var found []Request
	for _, t := range f.Tools {
		for _, m := range nameRequest(t, f.Tools).FindAllStringSubmatchIndex(masked, -1) {
			found = append(found, Request{start: m[0], end: m[2], tool: t})
		}
	}
	if !byName {
		found = append(found, inPlainWords(text, masked, f.Tools)...)
	}
	slices.SortStableFunc(found, func(a, b Request) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return b.end - a.end
	})
	var out []Request
	for _, w := range found {
		if len(out) == 0 || w.start >= out[len(out)-1].end {
			out = append(out, w)
		}
	}
	for i := range out {
		end := len(text)
		if i+1 < len(out) {
			end = out[i+1].start
		}
		out[i].fill(text[out[i].end:end])
	}
	return withoutMade(out, f.Used)
}

// IsSearch reports whether the request is for a search of documents.
func (w Request) IsSearch() bool { return w.tool.Name == "search_documents" }

// startsWithName matches a message that begins with a request for a tool by name.
var startsWithName = lazyregexp.New(`(?i)^\s*(?:please\s+)?(?:use|call|run|invoke|execute)\s+[\w` + "`" + `/-]+`)

// nameRequest matches a request for a tool by its name. The name of its server may be left
// out when no other tool has the same name.
func nameRequest(t llm.Tool, all []llm.Tool) *lazyregexp.Regexp {
	names := namePattern(t.Name)
	if _, short, ok := strings.Cut(t.Name, "__"); ok && short != "" && !slices.ContainsFunc(all, func(o llm.Tool) bool {
		return o.Name != t.Name && (o.Name == short || strings.HasSuffix(o.Name, "__"+short))
	}) {
		names += "|" + namePattern(short)
	}
	return lazyregexp.New(`(?i)\b(?:use|using|call|run|invoke|execute|try)\s+(?:the\s+)?(?:tools?\s+)?[` + "`" + `]?(?:` + names + `)[` + "`" + `]?(?:\s+tool)?()(?:$|[^\w-])`)
}

// namePattern returns a regular expression for a name with blanks or dashes between its words.
func namePattern(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' })
	for i := range words {
		words[i] = regexp.QuoteMeta(words[i])
	}
	return strings.Join(words, `[_\-\s]+`)
}

// inPlainWords finds requests for our own tools in plain words.
func inPlainWords(text, masked string, tools []llm.Tool) []Request {
	var out []Request
	has := func(name string) (llm.Tool, bool) {
		i := slices.IndexFunc(tools, func(t llm.Tool) bool { return t.Name == name })
		if i < 0 {
			return llm.Tool{}, false
		}
		return tools[i], true
	}
	if t, ok := has("search_documents"); ok {
		for _, m := range searchFor.FindAllStringSubmatchIndex(masked, -1) {
			out = append(out, Request{start: m[0], end: m[1], tool: t, query: text[m[2]:m[3]]})
		}
		for _, re := range []*lazyregexp.Regexp{searchIn, askFiles, searchPlain} {
			for _, m := range re.FindAllStringIndex(masked, -1) {
				out = append(out, Request{start: m[0], end: m[1], tool: t})
			}
		}
	}
	if t, ok := has("list_documents"); ok {
		for _, m := range listThem.FindAllStringIndex(masked, -1) {
			out = append(out, Request{start: m[0], end: m[1], tool: t})
		}
	}
	if t, ok := has("generate_image"); ok {
		for _, re := range []*lazyregexp.Regexp{makePicture, drawIt} {
			for _, m := range re.FindAllStringIndex(masked, -1) {
				if !notAPicture.MatchString(text[m[1]:]) {
					out = append(out, Request{start: m[0], end: m[1], tool: t})
				}
			}
		}
	}
	return out
}

// fill reads the arguments from the words after the request.
func (w *Request) fill(text string) {
	props := properties(w.tool.Schema)
	var args map[string]any
	switch w.tool.Name {
	case "search_documents":
		w.Rest = text
		if w.query == "" {
			w.query, w.Rest = text, ""
			if m := furtherAsk.FindStringIndex(mask(text)); m != nil && Object(text) == nil {
				w.query, w.Rest = text[:m[0]], text[m[0]:]
			}
		}
		args, w.missing = arguments(w.query, props)
		if q, ok := args["query"].(string); ok {
			w.query = q
		}
	case "list_documents": // the text that follows is not a title
		if args = Object(text); args == nil {
			args = map[string]any{}
			byName(text, props, args)
		}
	default:
		args, w.missing = arguments(text, props)
	}
	w.call = New(w.tool.Name, args)
}

// withoutMade drops, for each tool, as many requests as calls of it were made. Calls count
// with any arguments, and whether they ran or were rejected.
func withoutMade(all []Request, used []llm.ToolUse) []Request {
	made := map[string]int{}
	for _, u := range used {
		made[u.Call.Name]++
	}
	var out []Request
	for _, w := range all {
		if made[w.tool.Name] > 0 {
			made[w.tool.Name]--
			continue
		}
		out = append(out, w)
	}
	return out
}
