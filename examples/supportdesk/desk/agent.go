package desk

import (
	"context"
	_ "embed"
	"regexp"
	"slices"

	"github.com/palaver-chat/palaver"
)

//go:embed instructions.md
var instructions string

// support helps with one order.
var support = palaver.Agent{
	Name:         "support",
	Label:        "Support desk",
	Description:  "Helps with an order, and creates tickets",
	Instructions: instructions,
	Tools:        palaver.OnlyTools("create_ticket", "search_documents"),
	Checks:       map[string]palaver.Check{"order": findOrder},
	Answer:       answer,
}

// answer asks for the order, at most twice, before it calls the model.
func answer(t *palaver.Turn) error {
	for range 2 {
		order, err := t.Check("order")
		if err != nil {
			return err
		}
		if order == "known" {
			break
		}
		if err := t.Ask("order", "What is the number of your order? It looks like A-12345."); err != nil {
			return err
		}
	}
	if err := t.Status("Looking into your order..."); err != nil {
		return err
	}
	return t.Answer()
}

var orderNumber = regexp.MustCompile(`\bA-\d{5}\b`)

// findOrder looks for an order's number in all that the person has written.
func findOrder(_ context.Context, said palaver.Said) (string, error) {
	for _, text := range slices.Concat(said.Earlier, []string{said.Message}, said.Answers) {
		if orderNumber.MatchString(text) {
			return "known", nil
		}
	}
	return "missing", nil
}
