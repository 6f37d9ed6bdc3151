package desk

import (
	"context"
	"encoding/json"

	"github.com/palaver-chat/palaver"
)

// Tickets is the system that has the desk's tickets.
type Tickets interface {
	// Create creates a ticket and returns its number. The same key never makes a second one.
	Create(ctx context.Context, key string, ticket json.RawMessage) (number string, err error)
}

// createTicket returns a tool that creates a ticket once the person has approved it. The
// person may change the arguments first.
func createTicket(tickets Tickets) palaver.Tool {
	return palaver.Tool{
		Name:        "create_ticket",
		Description: "Create a ticket for the shop's staff. The person is asked first. The result is the ticket's number.",
		Schema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"order": {"type": "string", "pattern": "^A-[0-9]{5}$"},
				"problem": {"type": "string", "minLength": 1, "maxLength": 2000}
			},
			"required": ["order", "problem"],
			"additionalProperties": false
		}`),
		Approval:    palaver.Edit,
		SideEffects: true,
		Run: func(ctx context.Context, c palaver.Call) (palaver.Result, error) {
			number, err := tickets.Create(ctx, c.ID, c.Arguments)
			if err != nil {
				return palaver.Result{}, err
			}
			return palaver.Result{Content: "The ticket " + number + " was created."}, nil
		},
	}
}
