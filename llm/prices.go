package llm

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strings"

	"github.com/palaver-chat/palaver/chat"
)

// Price of a model in US dollars per million tokens.
type Price struct {
	In  float64 `json:"in"`
	Out float64 `json:"out"`
	// Picture is the price of one picture, for image models that count no tokens.
	Picture float64 `json:"picture"`
	// Search is the price of one search, of WebSearch only.
	Search float64 `json:"search"`
}

// PriceTable holds prices by model name. A name with a date, a tag or a version after
// it ("gpt-5.4-mini-2026-03-05", "qwen3:8b") has the price of the name.
type PriceTable struct {
	prices map[string]Price
}

//go:embed prices.json
var pricesJSON []byte

// DefaultPrices returns the embedded table: list prices of November 2026, without
// discounts for cached input.
func DefaultPrices() *PriceTable {
	t, err := ParsePrices(pricesJSON)
	if err != nil { // the file is compiled in, and a test parses it
		panic(err)
	}
	return t
}

// ParsePrices reads a table of the form {"<model>": {"in": 1, "out": 2}}.
func ParsePrices(data []byte) (*PriceTable, error) {
	t := &PriceTable{}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields() // a misspelt "input" would be a price of 0
	var prices map[string]Price
	if err := dec.Decode(&prices); err != nil {
		return nil, fmt.Errorf("price table: %w", err)
	}
	if dec.More() {
		return nil, errors.New("price table: it has more than one JSON value")
	}
	t.prices = make(map[string]Price, len(prices))
	for name, p := range prices {
		if name == "" {
			return nil, errors.New("price table: a name is empty")
		}
		if p.In < 0 || p.Out < 0 || p.Picture < 0 || p.Search < 0 {
			return nil, fmt.Errorf("price table: %s: a price is negative", name)
		}
		t.prices[strings.ToLower(name)] = p
	}
	return t, nil
}

// With returns a table with the prices of more, which replace those of t.
func (t *PriceTable) With(more *PriceTable) *PriceTable {
	out := &PriceTable{prices: map[string]Price{}}
	for _, table := range []*PriceTable{t, more} {
		if table != nil {
			maps.Copy(out.prices, table.prices)
		}
	}
	return out
}

// WebSearch is the name under which a table has the price of a web search.
const WebSearch = "web_search"

// Cost returns the price of a call in US dollars, by the longest matching prefix; 0 for
// a model without a price (Known).
func (t *PriceTable) Cost(model string, tokensIn, tokensOut int) float64 {
	p, _ := t.price(model)
	return (float64(tokensIn)*p.In + float64(tokensOut)*p.Out) / 1e6
}

// Known reports whether a model has a price, which may be 0.
func (t *PriceTable) Known(model string) bool {
	_, known := t.price(model)
	return known
}

// Usage returns the usage of a model's tokens with their price.
func (t *PriceTable) Usage(model string, tokensIn, tokensOut int) chat.Usage {
	return chat.Usage{TokensIn: tokensIn, TokensOut: tokensOut, CostUSD: t.Cost(model, tokensIn, tokensOut), Unpriced: !t.Known(model)}
}

// Searched returns the usage of one web search.
func (t *PriceTable) Searched() chat.Usage {
	p, known := t.price(WebSearch)
	return chat.Usage{Searches: 1, CostUSD: p.Search, Unpriced: !known}
}

// Picture returns the price of one picture in US dollars, for models that count
// no tokens.
func (t *PriceTable) Picture(model string) float64 {
	p, _ := t.price(model)
	return p.Picture
}

func (t *PriceTable) price(model string) (Price, bool) {
	if t == nil {
		return Price{}, false
	}
	// Gateways put a vendor before the name: "openai/gpt-5.4".
	model = strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	best := ""
	for name := range t.prices {
		rest, ok := strings.CutPrefix(model, name)
		if ok && len(name) > len(best) && sameModel.MatchString(rest) {
			best = name
		}
	}
	p, found := t.prices[best]
	return p, found
}

// sameModel matches what may follow a model's name: nothing, a tag, a date or version.
// Other words make another model: "gpt-5-pro" costs more than "gpt-5".
var sameModel = regexp.MustCompile(`^(?:$|[:@]|-(?:\d|latest|preview|exp))`)
