package openai

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/llm"
)

var offeredTools = []llm.Tool{{Name: "search_documents"}, {Name: "list_documents"}, {Name: "fs__read_file"}}

// assemble adds tool call fragments in wire format.
func assemble(t *testing.T, cut bool, wire ...string) []llm.ToolCall {
	t.Helper()
	return assembleWith(t, newCalls(offeredTools), cut, wire...)
}

func assembleWith(t *testing.T, c *calls, cut bool, wire ...string) []llm.ToolCall {
	t.Helper()
	for _, w := range wire {
		var list []fragment
		if err := json.Unmarshal([]byte(w), &list); err != nil {
			t.Fatal(err)
		}
		for _, f := range list {
			c.add(f)
		}
	}
	return c.reply(cut)
}

func TestToolCallsAreAssembledFromEveryProvidersFragments(t *testing.T) {
	t.Parallel()
	search := llm.ToolCall{ID: "a", Name: "search_documents", Arguments: `{"query":"leave"}`}
	list := llm.ToolCall{ID: "b", Name: "list_documents", Arguments: `{}`}
	for _, c := range []struct {
		name string
		cut  bool
		wire []string
		want []llm.ToolCall
	}{
		{"one, in pieces", false, []string{
			`[{"index":0,"id":"a","type":"function","function":{"name":"search_documents","arguments":""}}]`,
			`[{"index":0,"function":{"arguments":"{\"query\""}}]`, `[{"index":0,"function":{"arguments":":\"leave\"}"}}]`},
			[]llm.ToolCall{search}},
		{"two, taking turns", false, []string{
			`[{"index":0,"id":"a","function":{"name":"search_documents","arguments":"{\"query\""}}]`,
			`[{"index":1,"id":"b","function":{"name":"list_documents","arguments":"{"}}]`,
			`[{"index":0,"function":{"arguments":":\"leave\"}"}},{"index":1,"function":{"arguments":"}"}}]`},
			[]llm.ToolCall{search, list}},
		{"whole and without a number", false, []string{
			`[{"id":"a","function":{"name":"search_documents","arguments":"{\"query\":\"leave\"}"}},{"id":"b","function":{"name":"list_documents","arguments":"{}"}}]`},
			[]llm.ToolCall{search, list}},
		{"whole, all under number 0", false, []string{
			`[{"index":0,"id":"a","function":{"name":"search_documents","arguments":"{\"query\":\"leave\"}"}}]`,
			`[{"index":0,"id":"b","function":{"name":"list_documents","arguments":"{}"}}]`},
			[]llm.ToolCall{search, list}},
		{"the same tool twice, without number and id", false, []string{
			`[{"function":{"name":"search_documents","arguments":"{\"query\":\"a\"}"}}]`, `[{"function":{"name":"search_documents","arguments":"{\"query\":\"b\"}"}}]`},
			[]llm.ToolCall{{ID: "call_1", Name: "search_documents", Arguments: `{"query":"a"}`}, {ID: "call_2", Name: "search_documents", Arguments: `{"query":"b"}`}}},
		{"pieces without a number", false, []string{
			`[{"id":"a","function":{"name":"search_documents"}}]`, `[{"function":{"arguments":"{\"query\":"}}]`, `[{"function":{"arguments":"\"leave\"}"}}]`},
			[]llm.ToolCall{search}},
		{"the name with every piece", false, []string{
			`[{"index":0,"id":"a","function":{"name":"search_documents","arguments":"{\"query\":"}}]`, `[{"index":0,"id":"a","function":{"name":"search_documents","arguments":"\"leave\"}"}}]`},
			[]llm.ToolCall{search}},
		{"another id with every piece", false, []string{
			`[{"index":0,"id":"a","function":{"name":"search_documents"}}]`, `[{"index":0,"id":"x","function":{"arguments":"{\"query\":\"leave\"}"}}]`},
			[]llm.ToolCall{search}},
		{"the name in pieces", false, []string{
			`[{"index":0,"id":"a","function":{"name":"search_"}}]`, `[{"index":0,"function":{"name":"documents","arguments":"{\"query\":\"leave\"}"}}]`},
			[]llm.ToolCall{search}},
		{"the id last", false, []string{
			`[{"index":0,"function":{"name":"search_documents","arguments":"{\"query\":\"leave\"}"}}]`, `[{"index":0,"id":"a"}]`},
			[]llm.ToolCall{search}},
		{"arguments as an object", false, []string{`[{"index":0,"id":"a","function":{"name":"search_documents","arguments":{"query":"leave"}}}]`},
			[]llm.ToolCall{search}},
		{"arguments encoded twice", false, []string{`[{"index":0,"id":"a","function":{"name":"search_documents","arguments":"\"{\\\"query\\\":\\\"leave\\\"}\""}}]`},
			[]llm.ToolCall{search}},
		{"no arguments", false, []string{`[{"index":0,"id":"b","function":{"name":"list_documents"}},{"index":1,"id":"c","function":{"name":"list_documents","arguments":"null"}}]`},
			[]llm.ToolCall{list, {ID: "c", Name: "list_documents", Arguments: "{}"}}},
		{"a name with a vendor's prefix", false, []string{`[{"index":0,"id":"b","function":{"name":"functions.list_documents"}}]`}, []llm.ToolCall{list}},
		{"a name that was not offered", false, []string{`[{"index":0,"id":"a","function":{"name":"rm -rf","arguments":"{}"}}]`},
			[]llm.ToolCall{{ID: "a", Name: "rm_-rf", Arguments: "{}"}}},
		{"no name", false, []string{`[{"index":0,"id":"a","function":{"arguments":"{}"}}]`}, []llm.ToolCall{{ID: "a", Name: "unknown", Arguments: "{}"}}},
		{"nothing but an id", false, []string{`[{"index":0,"id":"a"}]`}, nil},
		{"one id for two calls", false, []string{
			`[{"index":0,"id":"a","function":{"name":"list_documents","arguments":"{}"}},{"index":1,"id":"a","function":{"name":"list_documents","arguments":"{}"}}]`},
			[]llm.ToolCall{{ID: "a", Name: "list_documents", Arguments: "{}"}, {ID: "call_2", Name: "list_documents", Arguments: "{}"}}},
		{"cut in the arguments", true, []string{`[{"index":0,"id":"a","function":{"name":"search_documents","arguments":"{\"query\":\"lea"}}]`},
			[]llm.ToolCall{{ID: "a", Name: "search_documents", Arguments: `{"query":"lea`}}},
		{"cut before the arguments", true, []string{`[{"index":0,"id":"b","function":{"name":"list_documents"}},{"index":1,"id":"c","function":{"name":"list_documents"}}]`},
			[]llm.ToolCall{list, {ID: "c", Name: "list_documents", Arguments: ""}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := assemble(t, c.cut, c.wire...); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestReplyHoldsAtMostSixteenCalls(t *testing.T) {
	t.Parallel()
	c := newCalls(offeredTools)
	var wire []string
	for i := range 40 {
		wire = append(wire, fmt.Sprintf(`[{"index":%d,"id":"id%d","function":{"name":"list_documents","arguments":"{"}}]`, i, i))
	}
	for i := range 40 {
		wire = append(wire, fmt.Sprintf(`[{"index":%d,"function":{"arguments":"}"}}]`, i))
	}
	got := assembleWith(t, c, false, wire...)
	if len(got) != llm.MaxCalls || c.dropped != 40-llm.MaxCalls {
		t.Fatalf("%d calls, %d dropped", len(got), c.dropped)
	}
	for i, c := range got {
		if c.ID != fmt.Sprint("id", i) || c.Arguments != "{}" {
			t.Errorf("call %d has a fragment of another: %+v", i, c)
		}
	}
}

func TestArgumentsBeyondTheLimitAreInvalidJSON(t *testing.T) {
	t.Parallel()
	piece := `[{"index":0,"function":{"arguments":"` + strings.Repeat(" ", 30_000) + `"}}]`
	got := assemble(t, false, `[{"index":0,"id":"a","function":{"name":"list_documents","arguments":"{}"}}]`, piece, piece, piece)
	if len(got) != 1 || json.Valid([]byte(got[0].Arguments)) || len(got[0].Arguments) > llm.MaxCallArguments {
		t.Errorf("%d calls, arguments of %d bytes", len(got), len(got[0].Arguments))
	}
}

var nameForm = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// FuzzToolCalls checks that calls stay within their limits for any input, and
// that arguments are complete however they are split.
func FuzzToolCalls(f *testing.F) {
	f.Add(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"list_documents","arguments":"{}"}}]}}]}`, "leave", 3)
	f.Add(`{"choices":[{"delta":{"tool_calls":[{"index":-1,"function":{"arguments":[1,2]}}]},"finish_reason":"length"}]}`, `"}{\`, 1)
	f.Add(`{"choices":[{"delta":{"content":[{"type":"text","text":"x"}],"tool_calls":null}}]}`, "ü€", 2)
	f.Fuzz(func(t *testing.T, wire, value string, size int) {
		c := newCalls(offeredTools)
		for line := range strings.Lines(wire) {
			var ch chunk
			if json.Unmarshal([]byte(line), &ch) != nil {
				continue
			}
			for _, choice := range ch.Choices {
				for range 3 {
					for _, f := range choice.Delta.ToolCalls {
						c.add(f)
					}
				}
			}
		}
		for _, cut := range []bool{false, true} {
			got := c.reply(cut)
			ids := map[string]bool{}
			for _, call := range got {
				if call.ID == "" || len(call.ID) > 64 || ids[call.ID] || !nameForm.MatchString(call.Name) ||
					len(call.Arguments) > llm.MaxCallArguments+16 || !utf8.ValidString(call.Arguments) {
					t.Fatalf("call %+v", call)
				}
				ids[call.ID] = true
			}
			if len(got) > llm.MaxCalls {
				t.Fatalf("%d calls", len(got))
			}
		}

		args, err := json.Marshal(map[string]string{"query": value})
		if err != nil || len(args) > llm.MaxCallArguments {
			return
		}
		c = newCalls(offeredTools)
		c.add(piece(0, "a", "search_documents", ""))
		c.add(piece(1, "b", "list_documents", ""))
		size = max(1, size%50)
		rest := []rune(string(args))
		for len(rest) > 0 {
			n := min(size, len(rest))
			c.add(piece(0, "", "", string(rest[:n])))
			rest = rest[n:]
		}
		if got := c.reply(false); len(got) != 2 || got[0].Arguments != string(args) || got[1].Arguments != "{}" {
			t.Fatalf("%q came out as %+v", args, got)
		}
	})
}

func piece(index int, id, name, args string) fragment {
	at := count(index)
	f := fragment{Index: &at, ID: loose(id)}
	f.Function.Name = loose(name)
	f.Function.Arguments, _ = json.Marshal(args)
	return f
}

func TestOnlyModelsKnownToTakeNoPicturesGetNone(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]bool{
		"gpt-4o": true, "openai/gpt-6-sol": true, "o3": true, "gemini-3.5-flash-lite": true, "claude-haiku-4-5": true, "llava:13b": true,
		"mine": true, "qwen3": true, "gemma3:1b": true, "": true, // unknown models get pictures
		"gpt-oss:20b": false, "gpt-3.5-turbo": false, "o3-mini": false, "openai/o1-mini": false, "nomic-embed-vision": false, "claude-2.1": false,
		"gpt-4o-audio-preview": false,
	} {
		if got := takesPictures(model); got != want {
			t.Errorf("%s: %v", model, got)
		}
	}
}
