package cite

import "strings"

// stepCode handles a run of backticks (or tildes where a line begins): a code
// fence, a code span that closes in its paragraph, or ordinary characters.
func (f *Filter) stepCode(final bool) int {
	mark := f.in[:1]
	n := min(len(f.in)-len(strings.TrimLeft(f.in, mark)), maxMarker)
	if n == len(f.in) && !final && n < maxMarker {
		return 0
	}
	if f.indent && n >= 3 {
		line, undecided := shortLine(f.in, final)
		if undecided {
			return 0
		}
		if line != "" && (mark == "~" || !strings.Contains(line[n:], "`")) {
			f.fence = line[:n]
			f.pass(line)
			return len(line)
		}
	}
	if mark == "~" || f.prev == '\\' {
		return f.characters(n)
	}
	end, undecided := closingRun(f.in, n, final)
	if undecided {
		return 0
	}
	if end == 0 {
		return f.characters(n)
	}
	f.pass(f.in[:end])
	return end
}

// maxFenceLine is the longest line that can open or close a code fence, in bytes.
const maxFenceLine = 256

// shortLine returns the first line of s with its line break; "" when it is too long
// for a code fence.
func shortLine(s string, final bool) (line string, undecided bool) {
	if i := strings.IndexByte(s[:min(len(s), maxFenceLine)], '\n'); i >= 0 {
		return s[:i+1], false
	}
	if len(s) >= maxFenceLine {
		return "", false
	}
	if final {
		return s, false
	}
	return "", true
}

// characters lets the first n bytes through as ordinary characters.
func (f *Filter) characters(n int) int {
	for _, r := range f.in[:n] {
		f.put(r)
	}
	return n
}

// closingRun finds the end of a code span opened by n backticks; 0 when it does
// not close.
func closingRun(s string, n int, final bool) (end int, undecided bool) {
	run, chars := 0, 0
	for i, r := range s[n:] {
		i += n
		if chars++; chars > maxHeld {
			return 0, false
		}
		if r == '`' {
			run++
			continue
		}
		if run == n {
			return i, false
		}
		run = 0
		if r == '\n' {
			ends, unsure := paragraphEnds(s[i+1:], final)
			if unsure {
				return 0, true
			}
			if ends {
				return 0, false
			}
		}
	}
	if final && run == n {
		return len(s), false
	}
	return 0, !final
}

// paragraphEnds reports whether text that follows a line break begins something
// new: a blank line, a list item, a heading, a quotation, a table's row.
func paragraphEnds(rest string, final bool) (ends, undecided bool) {
	rest = rest[:min(len(rest), maxMarker)]
	s := strings.TrimLeft(rest, " \t\r")
	if s == "" {
		ends = final || len(rest) == maxMarker
		return ends, !ends
	}
	return strings.IndexByte("\n-*+#>|", s[0]) >= 0, false
}

// stepFenced lets code through, up to the line that closes the fence.
func (f *Filter) stepFenced(final bool) int {
	if f.indent { // where the line begins
		line, undecided := shortLine(f.in, final)
		if undecided && mayCloseFence(f.in, f.fence) {
			return 0
		}
		if line != "" && mayCloseFence(line, f.fence) && strings.Count(line, f.fence[:1]) >= len(f.fence) {
			f.fence = ""
			f.pass(line)
			return len(line)
		}
	}
	n := len(f.in)
	if i := strings.IndexByte(f.in, '\n'); i >= 0 {
		n = i + 1
	}
	f.pass(f.in[:n])
	f.indent = f.in[n-1] == '\n'
	return n
}

// mayCloseFence reports whether line, perhaps incomplete, is white space and fence
// marks only.
func mayCloseFence(line, fence string) bool {
	body := strings.TrimLeft(line, " \t")
	return strings.TrimSpace(strings.TrimLeft(body, fence[:1])) == ""
}
