package dialect

import "github.com/palaver-chat/palaver/chat"

// SoFar is what a running turn has taken when a status of it begins.
type SoFar struct {
	Took    int      `json:"took_ms"` // without the time in which it waited for people
	Calls   int      `json:"calls"`   // of models
	Tokens  int      `json:"tokens_used"`
	CostUSD *float64 `json:"cost_usd,omitempty"` // absent: a model has no known price
}

// SoFarOf returns what a status's turn has taken; nil before its first model call has ended.
func SoFarOf(e chat.Event) *SoFar {
	if e.Usage == nil {
		return nil
	}
	return &SoFar{e.Took, e.Usage.Calls, e.Usage.Tokens(), e.Usage.Cost()}
}
