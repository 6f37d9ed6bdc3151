package openai

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// split returns what a model's text is, in deltas of n characters.
func split(text string, n int, tools, opened bool) (answer, thoughts string, calls []string) {
	var said, thought strings.Builder
	s := &splitter{tools: tools, opened: opened, out: func(k kind, text string) {
		switch k {
		case visible:
			said.WriteString(text)
		case reasoning:
			thought.WriteString(text)
		case called:
			calls = append(calls, text)
		}
	}, retract: func() {
		earlier := said.String()
		said.Reset()
		thought.WriteString(earlier)
	}}
	for part := range slices.Chunk([]rune(text), n) {
		s.write(string(part))
	}
	s.close()
	return said.String(), thought.String(), calls
}

func TestReasoningIsNoPartOfTheText(t *testing.T) {
	for name, c := range map[string]struct{ in, answer, thoughts string }{
		"none":                 {"It is so [1].", "It is so [1].", ""},
		"think":                {"<think>\nhm {maybe}\n</think>\n\nIt is so.", "It is so.", "hm {maybe}"},
		"upper case":           {"<THINK>hm</THINK>It is so.", "It is so.", "hm"},
		"other tags":           {"<thinking>hm</thinking>\nIt is so.", "It is so.", "hm"},
		"Magistral":            {"[THINK]hm [1][/THINK]It is so.", "It is so.", "hm [1]"},
		"Kimi":                 {"◁think▷hm◁/think▷It is so.", "It is so.", "hm"},
		"Seed":                 {"<seed:think>hm</seed:think>It is so.", "It is so.", "hm"},
		"Command":              {"<|START_THINKING|>hm<|END_THINKING|>It is so.", "It is so.", "hm"},
		"only closed":          {"hm, maybe\n</think>\n\nIt is so.", "It is so.", "hm, maybe"},
		"never closed":         {"<think>hm, It is so.", "", "hm, It is so."},
		"closed at once":       {"<think></think>It is so.", "It is so.", ""},
		"two stretches":        {"<think>a</think>\n<think>b</think>It is so.", "It is so.", "ab"},
		"after a text":         {"Let me see.\n<think>hm</think>\nIt is so.", "Let me see.\n\nIt is so.", "hm"},
		"never closed, late":   {"It is so.\n<think>is a tag.", "It is so.\n<think>is a tag.", ""},
		"in a sentence":        {"Models write <think> before they answer.", "Models write <think> before they answer.", ""},
		"inline code":          {"Use `<think>` and `</think>`.", "Use `<think>` and `</think>`.", ""},
		"fence":                {"So:\n```\n<think>\nhm\n</think>\n```\nDone.", "So:\n```\n<think>\nhm\n</think>\n```\nDone.", ""},
		"fence at the start":   {"```xml\n<think>hm</think>\n```", "```xml\n<think>hm</think>\n```", ""},
		"tildes":               {"~~~\n<think>hm</think>\n~~~\nDone.", "~~~\n<think>hm</think>\n~~~\nDone.", ""},
		"fence, then thoughts": {"<think>```\ncode</think>It is so.", "It is so.", "```\ncode"},
		"other tags stay":      {"A <b>bold</b> [1] <thin> {x} text", "A <b>bold</b> [1] <thin> {x} text", ""},
		"less than":            {"a < b and b <", "a < b and b <", ""},
		"harmony":              {"<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>It is so [1].", "It is so [1].", "hm"},
		"harmony to the end":   {"<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>It is so.<|return|>", "It is so.", "hm"},
		"harmony, commentary":  {"<|start|>assistant<|channel|>commentary<|message|>I will look.<|end|><|start|>assistant<|channel|>final<|message|>It is so.", "It is so.", "I will look."},
		"harmony, no answer":   {"<|channel|>analysis<|message|>hm", "", "hm"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{1, 2, 3, 5, 7, 1000} {
				answer, thoughts, calls := split(c.in, n, true, false)
				require.Equal(t, c.answer, strings.TrimSpace(answer), "deltas of %d", n)
				require.Equal(t, c.thoughts, strings.TrimSpace(thoughts), "deltas of %d", n)
				require.Empty(t, calls)
			}
		})
	}
}

func TestMessageThatBeginsWithReasoning(t *testing.T) {
	for name, c := range map[string]struct{ in, answer string }{
		"closed":     {"hm\n</think>\n\nIt is so.", "It is so."},
		"opened too": {"<think>hm</think>It is so.", "It is so."},
		"no tag":     {"It is so.", "It is so."},
	} {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{1, 4, 1000} {
				answer, _, _ := split(c.in, n, false, true)
				require.Equal(t, c.answer, strings.TrimSpace(answer))
			}
		})
	}
}

func TestCallsInTheText(t *testing.T) {
	for name, c := range map[string]struct{ in, answer, call string }{
		"Hermes":       {"<tool_call>\n{\"name\": \"list\"}\n</tool_call>", "", "<tool_call>\n{\"name\": \"list\"}\n</tool_call>"},
		"after a text": {"I look.<tool_call>{}</tool_call>", "I look.", "<tool_call>{}</tool_call>"},
		"not closed":   {"<tool_call>{\"name\":1}", "", "<tool_call>{\"name\":1}"},
		"Mistral":      {"[TOOL_CALLS][{\"name\":\"list\"}]", "", "[TOOL_CALLS][{\"name\":\"list\"}]"},
		"harmony":      {"<|channel|>commentary to=functions.list <|constrain|>json<|message|>{}<|call|>", "", "<function=functions.list>{}"},
		"JSON alone":   {"{\"name\":\"list\"}", "", "{\"name\":\"list\"}"},
		"JSON in text": {"So: {\"name\":\"list\"}", "So: {\"name\":\"list\"}", ""},
		"code":         {"`<tool_call>` is a tag", "`<tool_call>` is a tag", ""},
		"thoughts":     {"<think>call <tool_call>x</tool_call></think>Done.", "Done.", ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{1, 3, 1000} {
				answer, _, calls := split(c.in, n, true, false)
				require.Equal(t, c.answer, strings.TrimSpace(answer))
				require.Equal(t, c.call, strings.Join(calls, ""))
			}
		})
	}
}

func FuzzSplitter(f *testing.F) {
	f.Add("<think>a</think>b `c` {", 1)
	f.Add("<|channel|>final<|message|>x<|call|>[TOOL_CALLS]", 3)
	f.Fuzz(func(t *testing.T, text string, n int) {
		n = max(1, min(n, 100))
		whole, _, calls := split(text, len(text)+1, true, false)
		parts, _, again := split(text, n, true, false)
		require.Equal(t, whole, parts, "the deltas do not matter")
		require.Equal(t, calls, again)
	})
}
