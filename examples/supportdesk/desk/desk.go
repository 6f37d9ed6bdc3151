// Package desk is what the support desk of a shop adds to Palaver: a tool that creates
// tickets, an agent that knows the order before it calls a model, the shop's manuals as a
// source of imports, and the protocol of the shop's chat widget.
package desk

import "github.com/palaver-chat/palaver"

// Options are the additions. Every program of the installation has the same ones.
func Options(tickets Tickets) []palaver.Option {
	return []palaver.Option{
		palaver.WithTool(createTicket(tickets)),
		palaver.WithAgent(support),
		palaver.WithImportSource(manualSource),
		palaver.WithDialect(widget),
	}
}
