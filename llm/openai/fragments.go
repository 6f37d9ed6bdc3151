package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/palaver-chat/palaver/llm"
)

// fragment is a piece of a tool call in a stream. Providers differ: most number
// the calls and send each id and name once and the arguments in pieces; others
// send whole calls without a number, repeat the name, or leave out ids.
type fragment struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"` // a string; from some an object
	} `json:"function"`
}

// arguments is the text of a fragment's arguments.
func (f fragment) arguments() string {
	var s string
	if len(f.Function.Arguments) == 0 || json.Unmarshal(f.Function.Arguments, &s) == nil {
		return s
	}
	return string(f.Function.Arguments)
}

// building is a tool call that is not complete yet.
type building struct {
	id, name string
	args     strings.Builder
	tooLong  bool
}

// calls puts the tool calls of a stream together.
type calls struct {
	offered map[string]bool // names that may be called
	list    []*building
	byIndex map[int]*building
	last    *building // that a fragment was for; perhaps one beyond the limit
}

func newCalls(tools []llm.Tool) *calls {
	c := &calls{offered: map[string]bool{}, byIndex: map[int]*building{}}
	for _, t := range tools {
		c.offered[t.Name] = true
	}
	return c
}

// add takes a fragment and returns the text of its arguments.
func (c *calls) add(f fragment) string {
	args := f.arguments()
	b := c.find(f)
	if b == nil || !c.continues(b, f, args) {
		b = &building{}
		if len(c.list) < llm.MaxCalls {
			c.list = append(c.list, b)
			if f.Index != nil {
				c.byIndex[*f.Index] = b
			}
		}
	}
	c.last = b
	if b.id == "" {
		b.id = first(f.ID, 256)
	}
	if name := f.Function.Name; b.name == "" || name != b.name && !c.offered[b.name] {
		b.name = first(b.name+name, 256)
	}
	if b.args.Len()+len(args) > llm.MaxCallArguments {
		b.tooLong = true
	}
	if !b.tooLong {
		b.args.WriteString(args)
	}
	return args
}

// find is the call that a fragment may belong to.
func (c *calls) find(f fragment) *building {
	if f.Index != nil {
		return c.byIndex[*f.Index]
	}
	if f.ID != "" {
		for _, b := range c.list {
			if b.id == f.ID {
				return b
			}
		}
	}
	return c.last
}

// continues tells a further piece of a call from the beginning of another one
// that came under the same number, or under none.
func (c *calls) continues(b *building, f fragment, args string) bool {
	name := f.Function.Name
	switch {
	case name == "" || b.name == "":
		return true // even under another id: some make one up for each piece
	case f.ID != "" && b.id != "":
		return f.ID == b.id
	case name == b.name: // said again, or called again
		return !strings.HasPrefix(strings.TrimSpace(args), "{") || !json.Valid([]byte(b.args.String()))
	}
	return b.args.Len() == 0 && !c.offered[b.name] && c.begins(b.name+name) // a name in pieces
}

// begins reports whether an offered name begins with s.
func (c *calls) begins(s string) bool {
	for name := range c.offered {
		if strings.HasPrefix(name, s) {
			return true
		}
	}
	return false
}

// reply is the calls as they turned out. cut tells that the model was stopped in
// the middle: the arguments of the last call are then as far as they came, and a
// call that had none yet is not one without arguments.
func (c *calls) reply(cut bool) []llm.ToolCall {
	var out []llm.ToolCall
	ids := map[string]bool{}
	for i, b := range c.list {
		args := strings.TrimSpace(b.args.String())
		if b.name == "" && args == "" {
			continue // a mere id
		}
		switch {
		case b.tooLong:
			args = clip(args, llm.MaxCallArguments-8) // its ellipsis is no JSON
			args = strings.TrimSuffix(args, "…") + "…"
		case cut && i == len(c.list)-1 && args == "":
		case args == "" || args == "null":
			args = "{}"
		default:
			var inner string
			if json.Unmarshal([]byte(args), &inner) == nil && strings.HasPrefix(inner, "{") && json.Valid([]byte(inner)) {
				args = inner // encoded twice
			}
		}
		id := b.id
		for n := i + 1; id == "" || len(id) > 64 || ids[id]; n++ {
			id = fmt.Sprintf("call_%d", n)
		}
		ids[id] = true
		out = append(out, llm.ToolCall{ID: id, Name: c.named(b.name), Arguments: strings.ToValidUTF8(args, "?")})
	}
	return out
}

// named is the offered tool that a model means, else what it wrote in a tool
// name's form.
func (c *calls) named(name string) string {
	name = strings.TrimSpace(name)
	if c.offered[name] {
		return name
	}
	if at := strings.LastIndexAny(name, ".:/"); at >= 0 && c.offered[name[at+1:]] { // functions.search
		return name[at+1:]
	}
	return wireName(name)
}

// first is the first n bytes of s at most.
func first(s string, n int) string { return s[:min(len(s), n)] }
