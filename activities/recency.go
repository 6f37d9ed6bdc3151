package activities

import (
	"strconv"
	"time"
)

// recencyTerms ask for what is true now. Adverbs count as the words they are
// made of; other words that merely contain one ("nowhere") do not.
var recencyTerms = set("latest recent recently current currently now today")

// asksForNow scans a text for whole words that ask for the present: the terms,
// and last year, this year and next year by the clock.
func asksForNow(text string, now time.Time) bool {
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
