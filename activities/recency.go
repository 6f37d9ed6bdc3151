package activities

import (
	"strconv"
	"time"
)

// recencyTerms are words that ask for current information.
var recencyTerms = set("latest recent recently current currently now today")

// asksForCurrent reports whether a text has one of the terms, or the number of last
// year, this year or next year, as a whole word.
func asksForCurrent(text string, now time.Time) bool {
	for _, w := range words(text) {
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
