// Package samples holds small documents to try Palaver with. We wrote them ourselves;
// the board, the bank, the supplier and the people in them are fictional.
package samples

import (
	"embed"
	"slices"
)

// FS holds the files that List names.
//
//go:embed *.md *.txt
var FS embed.FS

// Sample is one document.
type Sample struct {
	Name  string // file name in FS
	Title string
	Type  string // source type: md or txt
}

var list = []Sample{
	{"circular-2025-04.md", "Circular 2025/04: Capital, Liquidity and Outsourcing", "md"},
	{"remote-work-policy-2024.md", "Remote Work and Customer Data Policy 2024", "md"},
	{"remote-work-policy-2025.md", "Remote Work and Customer Data Policy 2025", "md"},
	{"supplier-contract.txt", "Supplier Contract with Brightwater", "txt"},
	{"email-customer-list.txt", "Email: Customer list for the spring campaign", "txt"},
}

// List returns the samples in the order in which to load them.
func List() []Sample { return slices.Clone(list) }
