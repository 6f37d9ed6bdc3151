package toolcall

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/palaver-chat/palaver/internal/lazyregexp"
	"github.com/palaver-chat/palaver/llm"
)

// property is one argument of a tool.
type property struct {
	name, kind string // kind: string, integer, number, boolean, array, object
	items      string // kind of an array's items
	enum       []string
	required   bool
}

// properties are a tool's arguments in the order of its schema.
func properties(schema json.RawMessage) []property {
	var s struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	var out []property
	dec := json.NewDecoder(bytes.NewReader(s.Properties))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			break
		}
		var p shape
		if dec.Decode(&p) != nil {
			break
		}
		text, _ := name.(string)
		out = append(out, property{name: text, kind: p.kind(), items: p.Items.kind(), enum: p.texts(), required: slices.Contains(s.Required, text)})
	}
	return out
}

// shape is the part of a JSON schema that this package understands.
type shape struct {
	Type  any     `json:"type"`
	Enum  []any   `json:"enum"`
	AnyOf []shape `json:"anyOf"`
	Items *shape  `json:"items"`
}

func (s *shape) UnmarshalJSON(b []byte) error {
	type plain shape
	_ = json.Unmarshal(b, (*plain)(s)) // an unknown schema allows anything
	return nil
}

func (s *shape) kind() string {
	if s == nil {
		return "string"
	}
	kinds, _ := s.Type.([]any)
	for _, k := range append([]any{s.Type}, kinds...) {
		if k, ok := k.(string); ok && k != "null" {
			return k
		}
	}
	for _, one := range s.AnyOf {
		if k := one.kind(); one.Type != nil && k != "null" {
			return k
		}
	}
	return "string"
}

func (s *shape) texts() []string {
	var out []string
	for _, v := range s.Enum {
		if v, ok := v.(string); ok {
			out = append(out, v)
		}
	}
	return out
}

var (
	quotedText     = lazyregexp.New("\"([^\"]*)\"|“([^”]*)”|`([^`]*)`|(?:^|[\\s=:(])'([^']*)'")
	numeral        = lazyregexp.New(`[-+]?\d+(?:\.\d+)?`)
	notQuoted      = lazyregexp.New("\"[^\"]*\"|“[^”]*”|(?:^|[\\s=:(])'[^']*'")
	sentenceGoesOn = lazyregexp.New(`(?i)^\s+(?:(?:and|then|to|so|please|for)\b|$)`)
	leadIn         = lazyregexp.New(`(?i)^(?:[\s:,]+|(?:with|for|on|to|about|saying|using|of|arguments?|and|now|please)\b)+`)
	leadOut        = lazyregexp.New(`(?i)(?:[\s,;.!?]+|\b(?:and|then|please))+$`)
)

// arguments reads the arguments of a tool from the text after its name: a JSON object,
// names with values (path=/x, message "hello"), and values without a name (fillUnnamed).
// missing are the required ones that were not found.
func arguments(text string, props []property) (args map[string]any, missing []string) {
	if args = Object(text); args == nil {
		args = map[string]any{}
		free := byName(text, props, args)
		fillUnnamed(free, props, args)
	}
	for _, p := range props {
		if _, ok := args[p.name]; p.required && !ok {
			missing = append(missing, p.name)
		}
	}
	return args, missing
}

// Object returns the JSON object in a text, or nil.
func Object(text string) map[string]any {
	at := strings.IndexByte(text, '{')
	if at < 0 {
		return nil
	}
	var args map[string]any
	if json.NewDecoder(strings.NewReader(text[at:])).Decode(&args) != nil {
		return nil
	}
	return args
}

// namedArgument is a place where a text names an argument.
type namedArgument struct {
	property
	start, end int // of the words that name it
	equals     bool
}

// byName fills in the arguments that a text names, and returns the text before the first
// of them.
func byName(text string, props []property, args map[string]any) (free string) {
	named := namedArguments(text, props)
	free = text
	for i, m := range named {
		if i == 0 {
			free = text[:m.start]
		}
		end := len(text)
		if i+1 < len(named) {
			end = named[i+1].start
		}
		if v, ok := m.value(text[m.end:end]); ok {
			args[m.name] = v
		}
	}
	return free
}

// namedArguments finds the arguments that a text names, in its order: before an equals
// sign or a colon anywhere, else after a word like "with".
func namedArguments(text string, props []property) []namedArgument {
	masked := mask(text)
	var out []namedArgument
	for _, p := range props {
		words := regexp.QuoteMeta(strings.Join(strings.FieldsFunc(p.name, func(r rune) bool { return r == '_' || r == '-' }), "\x00"))
		words = strings.ReplaceAll(words, "\x00", `[_\-\s]?`)
		re, err := regexp.Compile(`(?i)(?:^|[\s,;(])(?:(?:with|and|set|using)\s+)?(?:the\s+)?` + words + `\s*[=:]\s*|` +
			`(?:^|\s|,\s*)(?:with|and|set|using)\s+(?:the\s+|a\s+)?` + words + `\s+(?:(?:is|to|of|as|being)\s+)?`)
		if err != nil {
			continue
		}
		if m := re.FindStringIndex(masked); m != nil {
			out = append(out, namedArgument{p, m[0], m[1], strings.Contains(masked[m[0]:m[1]], "=")})
		}
	}
	slices.SortFunc(out, func(a, b namedArgument) int { return a.start - b.start })
	apart := out[:0]
	for _, n := range out {
		if len(apart) == 0 || n.start >= apart[len(apart)-1].end {
			apart = append(apart, n)
		}
	}
	return apart
}

// mask replaces quoted texts with filler, so that nothing is found in them.
func mask(text string) string {
	return notQuoted.ReplaceAllStringFunc(text, func(q string) string { return q[:1] + strings.Repeat("\x01", len(q)-1) })
}

// value reads an argument's value from the text after its name.
func (n namedArgument) value(text string) (any, bool) {
	text = strings.TrimSpace(text)
	if word := firstWord(text); n.equals && n.kind != "array" && sentenceGoesOn.MatchString(text[len(word):]) {
		text = word // path=/x and then …
	}
	return n.property.value(text)
}

func (p property) value(text string) (any, bool) {
	if m := quotedText.FindStringSubmatchIndex(text); m != nil && m[0] == 0 && p.kind != "array" {
		return p.convert(insideQuotes(text, m))
	}
	text = leadOut.ReplaceAllString(text, "")
	return p.convert(text)
}

func (p property) convert(text string) (any, bool) {
	switch p.kind {
	case "integer":
		n, err := strconv.ParseInt(numeral.FindString(text), 10, 64)
		return n, err == nil
	case "number":
		n, err := strconv.ParseFloat(numeral.FindString(text), 64)
		return n, err == nil
	case "boolean":
		b, err := strconv.ParseBool(strings.ToLower(firstWord(text)))
		return b, err == nil
	case "array":
		var list []any
		for _, item := range strings.Split(text, ",") {
			item = strings.Trim(strings.TrimSpace(item), `"“”'`)
			if v, ok := (property{kind: p.items}).convert(item); ok && item != "" {
				list = append(list, v)
			}
		}
		return list, len(list) > 0
	case "object":
		return Object(text), Object(text) != nil
	}
	if len(p.enum) > 0 {
		for _, e := range p.enum {
			if strings.EqualFold(e, text) {
				return e, true
			}
		}
		return "", false
	}
	return text, text != ""
}

func firstWord(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return word
}

// insideQuotes returns the text between the quotation marks of a match.
func insideQuotes(text string, m []int) string {
	for g := 2; g+1 < len(m); g += 2 {
		if m[g] >= 0 {
			return text[m[g]:m[g+1]]
		}
	}
	return ""
}

// fillUnnamed fills the arguments that are still open from the values that a text does not
// name. Arguments with choices get a choice that the text has. Required arguments get quoted
// texts and numbers in their order. Without quoted texts, one required text gets all of it.
func fillUnnamed(text string, props []property, args map[string]any) {
	text = leadOut.ReplaceAllString(leadIn.ReplaceAllString(text, ""), "")
	if text == "" {
		return
	}
	var open []property
	for _, required := range []bool{true, false} {
		for _, p := range props {
			if _, ok := args[p.name]; !ok && p.required == required {
				open = append(open, p)
			}
		}
	}
	for _, p := range open {
		for _, e := range p.enum {
			if containsWord(text, e) {
				args[p.name] = e
				text = strings.TrimSpace(strings.Replace(text, e, "", 1))
				break
			}
		}
	}
	var quotes []string
	for _, m := range quotedText.FindAllStringSubmatchIndex(text, -1) {
		quotes = append(quotes, insideQuotes(text, m))
	}
	numbers := numeral.FindAllString(mask(text), -1)
	whole := len(quotes) == 0
	for _, p := range open {
		switch {
		case len(p.enum) > 0 || !p.required:
		case p.kind == "string" && len(quotes) > 0:
			args[p.name], quotes = quotes[0], quotes[1:]
		case p.kind == "integer" || p.kind == "number":
			if len(numbers) > 0 {
				if v, ok := p.convert(numbers[0]); ok {
					args[p.name] = v
				}
				numbers = numbers[1:]
			}
		case whole && (p.kind == "string" || p.kind == "array"):
			if v, ok := p.convert(text); ok {
				args[p.name] = v
			}
			whole = false
		}
	}
	if len(open) == 1 && !open[0].required && len(args) == 0 { // the whole text is for it
		if v, ok := open[0].value(text); ok {
			args[open[0].name] = v
		}
	}
}

// containsWord reports whether a text has a word or a term.
func containsWord(text, word string) bool {
	re, err := regexp.Compile(`(?i)(?:^|[^\w])` + regexp.QuoteMeta(word) + `(?:$|[^\w])`)
	return err == nil && re.MatchString(text)
}

// New returns a call of a tool.
func New(name string, args map[string]any) llm.ToolCall {
	b, err := json.Marshal(args)
	if err != nil { // cannot happen: texts, numbers and decoded JSON
		b = []byte("{}")
	}
	return llm.ToolCall{Name: name, Arguments: string(b)}
}
