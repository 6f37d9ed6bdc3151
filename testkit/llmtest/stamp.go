package llmtest

import (
	"regexp"
	"strconv"
	"time"
)

// Stamp returns a token with its time of sending, so that readers can measure the
// delay.
func Stamp(at time.Time) string { return "at" + strconv.FormatInt(at.UnixMicro(), 10) + " " }

var stamp = regexp.MustCompile(`at(\d{16})`)

// Stamps returns the times in a text of stamped tokens.
func Stamps(text string) []time.Time {
	var times []time.Time
	for _, m := range stamp.FindAllStringSubmatch(text, -1) {
		if us, err := strconv.ParseInt(m[1], 10, 64); err == nil {
			times = append(times, time.UnixMicro(us))
		}
	}
	return times
}
