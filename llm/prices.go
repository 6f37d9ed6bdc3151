package llm

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

// Price of a model in US dollars per million tokens.
type Price struct {
	In  float64 `json:"in"`
	Out float64 `json:"out"`
	// Picture is the price of one picture, for image models that count no tokens.
	Picture float64 `json:"picture"`
}

// PriceTable holds prices by model name prefix, so that a dated name
// ("gpt-5.4-mini-2026-03-05") has the price of its family.
type PriceTable struct {
	prices map[string]Price
}

//go:embed prices.json
var pricesJSON []byte

// DefaultPrices is the embedded table: list prices of November 2026, without
// discounts for cached input.
func DefaultPrices() *PriceTable {
	t, err := ParsePrices(pricesJSON)
	if err != nil { // the file is compiled in, and a test parses it
		panic(err)
	}
	return t
}

// ParsePrices reads a table of the form {"<model prefix>": {"in": 1, "out": 2}}.
func ParsePrices(data []byte) (*PriceTable, error) {
	t := &PriceTable{}
	if err := json.Unmarshal(data, &t.prices); err != nil {
		return nil, fmt.Errorf("price table: %w", err)
	}
	for name, p := range t.prices {
		if p.In < 0 || p.Out < 0 || p.Picture < 0 {
			return nil, fmt.Errorf("price table: %s: a price is negative", name)
		}
	}
	return t, nil
}

// Cost returns the price of a call in US dollars, by the longest matching prefix.
// Unknown models and a nil table cost 0.
func (t *PriceTable) Cost(model string, tokensIn, tokensOut int) float64 {
	p := t.price(model)
	return (float64(tokensIn)*p.In + float64(tokensOut)*p.Out) / 1e6
}

// Picture returns the price of one picture in US dollars, for models that count
// no tokens.
func (t *PriceTable) Picture(model string) float64 { return t.price(model).Picture }

func (t *PriceTable) price(model string) Price {
	if t == nil {
		return Price{}
	}
	// Gateways put a vendor before the name: "openai/gpt-5.4".
	model = strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	var best string
	for prefix := range t.prices {
		if len(prefix) > len(best) && strings.HasPrefix(model, prefix) {
			best = prefix
		}
	}
	return t.prices[best]
}
