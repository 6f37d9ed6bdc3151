package llmtest

import (
	"regexp"
	"strconv"
	"time"
)

// Stamp is a token that says when it was sent, so that whoever reads it knows
// how long it took.
func Stamp(at time.Time) string { return "at" + strconv.FormatInt(at.UnixMicro(), 10) + " " }

var stamp = regexp.MustCompile(`at(\d{16})`)

// Stamps are the times in a text of stamped tokens.
func Stamps(text string) []time.Time {
	var times []time.Time
	for _, m := range stamp.FindAllStringSubmatch(text, -1) {
		if us, err := strconv.ParseInt(m[1], 10, 64); err == nil {
			times = append(times, time.UnixMicro(us))
		}
	}
	return times
}
