package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/palaver-chat/palaver/llm"
)

// fragment is a part of a tool call in a stream. Providers differ: most number
// the calls, send each id and name once and the arguments in parts; others send
// whole calls without an index, repeat the name, or omit ids.
type fragment struct {
	Index    *count   `json:"index"`
	ID       loose    `json:"id"`
	Function function `json:"function"`
}

type function struct {
	Name      loose           `json:"name"`
	Arguments json.RawMessage `json:"arguments"` // a string; some providers send an object
}

// arguments returns the fragment's arguments as text.
func (f fragment) arguments() string {
	var s string
	if len(f.Function.Arguments) == 0 || json.Unmarshal(f.Function.Arguments, &s) == nil {
		return s
	}
	return string(f.Function.Arguments)
}

// partialCall is a tool call that may still be incomplete.
type partialCall struct {
	id, name string
	args     strings.Builder
	tooLong  bool
}

// calls assembles the tool calls of a stream.
type calls struct {
	offered map[string]bool // names that may be called
	list    []*partialCall
	byIndex map[count]*partialCall
	last    *partialCall // the call of the last fragment; may be beyond the limit
	dropped int          // calls beyond the limit
}

const maxIndexes = 1024 // of calls that are told apart

func newCalls(tools []llm.Tool) *calls {
	c := &calls{offered: map[string]bool{}, byIndex: map[count]*partialCall{}}
	for _, t := range tools {
		c.offered[t.Name] = true
	}
	return c
}

// add adds a fragment and returns its arguments as text.
func (c *calls) add(f fragment) string {
	args := f.arguments()
	b := c.find(f)
	if b == nil || !c.continues(b, f, args) {
		b = &partialCall{}
		if len(c.list) < llm.MaxCalls {
			c.list = append(c.list, b)
		} else {
			b.tooLong = true
			c.dropped++
		}
		if f.Index != nil && len(c.byIndex) < maxIndexes {
			c.byIndex[*f.Index] = b
		}
	}
	c.last = b
	if b.id == "" {
		b.id = first(string(f.ID), 256)
	}
	if name := string(f.Function.Name); b.name == "" || name != b.name && !c.offered[b.name] {
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

// find returns the call that a fragment may belong to.
func (c *calls) find(f fragment) *partialCall {
	if f.Index != nil {
		return c.byIndex[*f.Index]
	}
	if f.ID != "" {
		for _, b := range c.list {
			if b.id == string(f.ID) {
				return b
			}
		}
	}
	return c.last
}

// continues reports whether f continues call b. Otherwise f begins another call
// with the same index, or without one.
func (c *calls) continues(b *partialCall, f fragment, args string) bool {
	name := string(f.Function.Name)
	switch {
	case name == "" || b.name == "":
		return true // even with another id: some providers generate one per fragment
	case f.ID != "" && b.id != "":
		return string(f.ID) == b.id
	case name == b.name: // the name repeated, or a second call
		return !strings.HasPrefix(strings.TrimSpace(args), "{") || !json.Valid([]byte(b.args.String()))
	}
	return b.args.Len() == 0 && !c.offered[b.name] && c.begins(b.name+name) // a name in parts
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

// reply returns the assembled calls. cut says that the output limit stopped the
// model: the arguments of the last call may then be incomplete, and empty ones
// are not replaced with {}.
func (c *calls) reply(cut bool) []llm.ToolCall {
	var out []llm.ToolCall
	ids := map[string]bool{}
	for i, b := range c.list {
		args := strings.TrimSpace(b.args.String())
		if b.name == "" && args == "" {
			continue // only an id
		}
		switch {
		case b.tooLong:
			args = clip(args, llm.MaxCallArguments-8) // the ellipsis makes it invalid JSON
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
			id = callID(n - 1)
		}
		ids[id] = true
		out = append(out, llm.ToolCall{ID: id, Name: c.resolveName(b.name), Arguments: strings.ToValidUTF8(args, "?")})
	}
	return out
}

// callID is the id of a call at a position that has none.
func callID(at int) string { return fmt.Sprintf("call_%d", at+1) }

// resolveName returns the offered tool that a model means, or else a valid tool
// name.
func (c *calls) resolveName(name string) string {
	name = strings.TrimSpace(name)
	if c.offered[name] {
		return name
	}
	if at := strings.LastIndexAny(name, ".:/"); at >= 0 && c.offered[name[at+1:]] { // functions.search
		return name[at+1:]
	}
	return wireName(name)
}

// first returns at most the first n bytes of s.
func first(s string, n int) string { return s[:min(len(s), n)] }
