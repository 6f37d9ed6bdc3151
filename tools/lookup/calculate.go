package lookup

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"github.com/palaver-chat/palaver/documents/figures"
	"github.com/palaver-chat/palaver/tools"
)

const maxDecimals = 12

// Calculate computes formulas with exact numbers.
func Calculate() tools.Tool {
	return tools.Tool{
		Name: "calculate",
		Description: "Compute exactly: sums, differences, shares, percentages, growth, averages. Use it for every figure of an answer that no passage has, with the figures of the passages (a point before decimals, 1577.3), and say how it was computed. " +
			"Formulas have + - * / ( ) and numbers, 15% for a percentage, and sum, average, min, max, abs, change (growth from the first to the second, in percent) of numbers.",
		Schema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"formulas": {"type": "array", "minItems": 1, "maxItems": 20, "items": {"type": "string", "minLength": 1, "maxLength": 1000}, "description": "For example (1577.3 - 1420.1) / 1420.1 * 100, or change(1420.1, 1577.3)"},
				"decimals": {"type": "integer", "minimum": 0, "maximum": 12, "description": "Round the results to so many digits after the point; 4 when left out"}
			},
			"required": ["formulas"],
			"additionalProperties": false
		}`),
		Approval: tools.Never,
		Run: tools.With("calculate", func(_ context.Context, c tools.Call, in struct {
			Formulas []string `json:"formulas"`
			Decimals *int     `json:"decimals"`
		}) (tools.Result, error) {
			decimals := 4
			if in.Decimals != nil {
				decimals = min(max(*in.Decimals, 0), maxDecimals)
			}
			var lines []string
			failed := 0
			for _, formula := range in.Formulas {
				result, err := figures.Evaluate(formula)
				if err != nil {
					failed++
					lines = append(lines, fmt.Sprintf("%s: %v", formula, err))
					continue
				}
				lines = append(lines, fmt.Sprintf("%s %s", formula, written(result, decimals)))
			}
			return tools.Result{Content: strings.Join(lines, "\n"), IsError: failed == len(lines)}, nil
		}),
	}
}

// written shows a result: "= 7.5", or "≈ 7.6667" if it is rounded (half away from zero).
func written(result *big.Rat, decimals int) string {
	text := result.FloatString(decimals)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	if text == "-0" {
		text = "0"
	}
	if shown, ok := new(big.Rat).SetString(text); ok && shown.Cmp(result) == 0 {
		return "= " + text
	}
	return "≈ " + text
}
