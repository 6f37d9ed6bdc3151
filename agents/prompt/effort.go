package prompt

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
)

//go:embed effort.md
var effortTexts string

// Guidance is what a model is told about how much work its answer may take.
type Guidance struct {
	Effort  chat.Effort
	Plan    string  // its own, from before the first round
	Last    bool    // it has to answer now, without tools
	Steps   int     // model calls that are left, this one included; 0: no limit
	Tokens  int     // tokens that are left; 0: no limit
	CostUSD float64 // money that is left; 0: no limit
}

// Text returns the guidance as a part of the system message; "" when there is none.
func (g Guidance) Text() string {
	var parts []string
	if text := effortText(g.Effort); text != "" {
		parts = append(parts, text)
	}
	if g.Plan != "" {
		parts = append(parts, "Your plan, which you may change:\n"+llm.Data(g.Plan))
	}
	if g.Last {
		return strings.Join(append(parts, effortText("last")), "\n\n")
	}
	var left []string
	if g.Steps > 0 {
		left = append(left, fmt.Sprintf("%d steps (a step is one message of yours, with all its calls)", g.Steps))
	}
	if g.Tokens > 0 {
		left = append(left, fmt.Sprintf("about %d tokens", g.Tokens))
	}
	if g.CostUSD > 0 {
		left = append(left, fmt.Sprintf("%.*f US dollars", decimals(g.CostUSD), g.CostUSD))
	}
	if len(left) > 0 {
		parts = append(parts, "You have left: "+strings.Join(left, ", ")+".")
	}
	return strings.Join(parts, "\n\n")
}

// decimals are as many as an amount needs so as not to be written as nothing.
func decimals(amount float64) (n int) {
	for n = 2; amount < 0.1 && n < 6; n++ {
		amount *= 10
	}
	return n
}

// effortText returns the section of effort.md with this name; "" without one.
func effortText(name chat.Effort) string {
	_, rest, found := strings.Cut(effortTexts, "# "+string(name)+"\n")
	if !found || name == "" {
		return ""
	}
	text, _, _ := strings.Cut(rest, "\n# ")
	return strings.TrimSpace(text)
}
