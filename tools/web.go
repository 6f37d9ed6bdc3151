// Package tools has the tools that a model can call, one file each, and web search.
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
	// Search returns pages, best first; an empty result is not an error. Errors never contain
	// the query, the key or a body.
	Search(ctx context.Context, query string) ([]WebHit, error)
}
