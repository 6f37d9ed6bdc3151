// Package tools is what an agent can use: tools that a model calls, each
// declared in a file of its own, and the web.
package tools

import "context"

// WebHit is a page found on the web. Its text is as untrusted as the page.
type WebHit struct {
	Title string  `json:"title"`
	URL   string  `json:"url"` // https only
	Text  string  `json:"text"`
	Score float64 `json:"score"`
}

// WebSearch finds pages. Safe for concurrent use.
type WebSearch interface {
	// Configured reports whether Search can work at all.
	Configured() bool
	// Search returns the best pages, best first; none is no error. Errors name
	// what went wrong and never hold the query, the key or a body.
	Search(ctx context.Context, query string) ([]WebHit, error)
}
