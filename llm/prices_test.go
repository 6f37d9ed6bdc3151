package llm

import (
	"math"
	"testing"
)

func TestCostTakesTheLongestMatchingPrefix(t *testing.T) {
	table, err := ParsePrices([]byte(`{"gpt-5":{"in":1,"out":10},"gpt-5-mini":{"in":0.25,"out":2}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		model   string
		in, out int
		want    float64
	}{
		{"gpt-5", 1_000_000, 0, 1},
		{"gpt-5-mini", 1_000_000, 1_000_000, 2.25},
		{"gpt-5-mini-2026-03-05", 0, 500_000, 1},
		{"openai/gpt-5-mini", 4_000_000, 0, 1},
		{"GPT-5", 0, 100_000, 1},
		{"qwen3:8b", 1_000_000, 1_000_000, 0},
		{"", 10, 10, 0},
	} {
		if got := table.Cost(c.model, c.in, c.out); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("Cost(%q, %d, %d) = %v, want %v", c.model, c.in, c.out, got, c.want)
		}
	}
}

func TestAModelIsPricedByItsOwnNameOnly(t *testing.T) {
	table, err := ParsePrices([]byte(`{"gpt-5":{"in":1,"out":10},"qwen3":{"in":0,"out":0}}`))
	if err != nil {
		t.Fatal(err)
	}
	for model, want := range map[string]bool{
		"gpt-5": true, "gpt-5-2026-03-05": true, "gpt-5-latest": true, "qwen3:8b": true, "QWEN3": true,
		"gpt-5.7": false, "gpt-5-pro": false, "gpt-50": false, "llama": false, "": false,
	} {
		if table.Known(model) != want {
			t.Errorf("Known(%q) is %v", model, !want)
		}
	}
	more, err := ParsePrices([]byte(`{"gpt-5":{"in":2},"llama":{"out":1},"web_search":{"search":0.5}}`))
	if err != nil {
		t.Fatal(err)
	}
	both := table.With(more)
	if both.Cost("gpt-5", 1_000_000, 0) != 2 || !both.Known("llama") || !both.Known("qwen3") || both.Searched().CostUSD != 0.5 || both.Searched().Unpriced {
		t.Errorf("%+v", both)
	}
	if u := table.Searched(); !u.Unpriced || u.Searches != 1 || u.Cost() != nil {
		t.Errorf("%+v", u)
	}
}

func TestDefaultPricesIncludeDatedModelNames(t *testing.T) {
	if got := DefaultPrices().Cost("claude-haiku-4-5-20251001", 1_000_000, 0); got != 1 {
		t.Errorf("claude-haiku-4-5 costs %v a million tokens in, want 1", got)
	}
}

func TestANilPriceTableChargesNothing(t *testing.T) {
	if got := (*PriceTable)(nil).Cost("gpt-5", 1, 1); got != 0 {
		t.Errorf("cost %v", got)
	}
}

func TestParsePricesRejectsInvalidTables(t *testing.T) {
	for _, data := range []string{`[`, `{"m":{"in":-1,"out":0}}`, `{"m":3}`, `{"m":{"input":3}}`, `{"":{"in":1}}`, `{} {}`} {
		if _, err := ParsePrices([]byte(data)); err == nil {
			t.Errorf("ParsePrices(%s) accepted it", data)
		}
	}
}
