package intent

import (
	"strconv"
	"time"

	"github.com/palaver-chat/palaver/internal/language"
)

// recencyTerms are words that ask for current information.
var recencyTerms = language.NewSet("latest recent recently current currently now today")

// AsksForCurrent reports whether a text has one of the terms, or the number of last
// year, this year or next year, as a whole word.
func AsksForCurrent(text string, now time.Time) bool {
	for _, w := range language.Words(text) {
		if recencyTerms[w] {
			return true
		}
		for year := now.Year() - 1; year <= now.Year()+1; year++ {
			if w == strconv.Itoa(year) {
				return true
			}
		}
	}
	return false
}
