package llm

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

func say(r Role, text string) Message { return Message{Role: r, Text: text} }

func calling(ids ...string) Message {
	m := Message{Role: Assistant}
	for _, id := range ids {
		m.Calls = append(m.Calls, ToolCall{ID: id, Name: "f", Arguments: "{}"})
	}
	return m
}

func result(id, text string) Message { return Message{Role: ToolRole, CallID: id, Text: text} }

func TestPairedGivesEveryCallOneResult(t *testing.T) {
	for _, c := range []struct {
		name     string
		in, want []Message
	}{
		{"whole", []Message{say(User, "u"), calling("a", "b"), result("a", "1"), result("b", "2"), say(Assistant, "x")},
			[]Message{say(User, "u"), calling("a", "b"), result("a", "1"), result("b", "2"), say(Assistant, "x")}},
		{"no result", []Message{calling("a", "b"), result("b", "2")}, []Message{calling("a", "b"), result("a", unanswered), result("b", "2")}},
		{"another order", []Message{calling("a", "b"), result("b", "2"), result("a", "1")}, []Message{calling("a", "b"), result("a", "1"), result("b", "2")}},
		{"no call", []Message{result("z", "0"), say(User, "u"), result("a", "1")}, []Message{say(User, "u")}},
		{"twice", []Message{calling("a", "a"), result("a", "1"), result("a", "2")}, []Message{calling("a"), result("a", "1")}},
		{"late", []Message{calling("a"), say(User, "u"), result("a", "1")}, []Message{calling("a"), result("a", unanswered), say(User, "u")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Paired(c.in)
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
			if again := Paired(got); !reflect.DeepEqual(again, got) {
				t.Errorf("Paired is not idempotent: %+v", again)
			}
		})
	}
}

func TestFitLeavesAFittingPromptUnchanged(t *testing.T) {
	in := []Message{say(System, "s"), say(User, "u"), calling("a"), result("a", "1")}
	if got := Fit(in, 1000); !reflect.DeepEqual(got, in) {
		t.Errorf("got %+v", got)
	}
}

func TestFitRemovesTheOldestMessagesFirst(t *testing.T) {
	long := strings.Repeat("word ", 400) // 500 tokens
	in := []Message{say(System, "rules"),
		say(User, "first "+long), calling("a"), result("a", long), say(Assistant, "answer one"),
		say(User, "second "+long), say(Assistant, "answer two"),
		say(User, "third"), calling("b"), result("b", "found "+long)}
	for _, c := range []struct {
		tokens     int
		has, hasno []string
	}{
		{2100, []string{"rules", "first", "second", "third", "found"}, nil}, // the old result is shortened
		{1400, []string{"rules", "second", "third", "found"}, []string{"first", "answer one"}},
		{700, []string{"rules", "third", "found"}, []string{"second", "answer two"}},
		{100, []string{"rules", "third", "found", "shortened"}, []string{"second"}},
	} {
		before := fmt.Sprint(in)
		got := Fit(in, c.tokens)
		text := fmt.Sprint(got)
		if n := EstimatePrompt(got); n > c.tokens {
			t.Errorf("%d tokens, want at most %d", n, c.tokens)
		}
		for _, s := range c.has {
			if !strings.Contains(text, s) {
				t.Errorf("%d tokens: %q is missing", c.tokens, s)
			}
		}
		for _, s := range c.hasno {
			if strings.Contains(text, s) {
				t.Errorf("%d tokens: %q was not removed", c.tokens, s)
			}
		}
		if fmt.Sprint(in) != before {
			t.Fatal("the given prompt was changed")
		}
	}
}

func TestFitKeepsPromptsWellFormed(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := func() string { return strings.Repeat("wörd ", r.IntN(300)) }
	for round := range 300 {
		in := []Message{say(System, "rules")}
		for turn := range 1 + r.IntN(6) {
			in = append(in, say(User, fmt.Sprint("turn ", turn, " ", text())))
			for step := range r.IntN(4) {
				var ids []string
				for k := range 1 + r.IntN(3) {
					ids = append(ids, fmt.Sprint(turn, ".", step, ".", k))
				}
				in = append(in, calling(ids...))
				for _, id := range ids {
					in = append(in, result(id, text()))
				}
			}
			if r.IntN(3) > 0 {
				in = append(in, say(Assistant, text()))
			}
		}
		lastUser := ""
		for _, m := range in {
			if m.Role == User {
				lastUser = strings.Join(strings.Fields(m.Text)[:2], " ")
			}
		}
		budget := 200 + r.IntN(3000)
		got := Fit(in, budget)
		if !reflect.DeepEqual(Paired(got), got) {
			t.Fatalf("round %d: calls and results do not match: %+v", round, got)
		}
		if got[0].Role != System || got[1].Role != User || !strings.Contains(fmt.Sprint(got), lastUser) {
			t.Fatalf("round %d: %+v", round, got)
		}
		if EstimatePrompt(got) > max(budget, 600) { // the last exchange of a turn stays, shortened
			t.Fatalf("round %d: %d tokens, budget %d", round, EstimatePrompt(got), budget)
		}
	}
}

func TestFitTerminatesWhenNothingCanBeRemoved(t *testing.T) {
	for _, in := range [][]Message{nil, {say(System, "s")}, {say(Assistant, "a"), say(Assistant, "b")},
		{say(User, strings.Repeat("x", 5000)), {Role: Assistant, Calls: []ToolCall{{ID: "a", Arguments: strings.Repeat("y", 9000)}}}}} {
		if got := Fit(in, 0); EstimatePrompt(got) > 300 {
			t.Errorf("%d tokens remain", EstimatePrompt(got))
		}
	}
}
