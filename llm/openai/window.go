package openai

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/palaver-chat/palaver/internal/lazyregexp"
	"github.com/palaver-chat/palaver/llm"
)

// leastContext is the smallest window that a rejection can teach, in tokens.
const leastContext = 1024

// tooLongText matches what providers answer to a prompt that is longer than the model's
// window: it is too long, more than a maximum, or should be shorter.
var tooLongText = lazyregexp.New(`context[_ ]?(?:length|window|size|limit)|maximum context|num_ctx|max_seq_len|` +
	`(?:prompt|inputs?|request|messages?|conversation|sequence|tokens?)\b[^.!]{0,80}?(?:too (?:long|large|big|many)|exceed|longer than|greater than|larger than|over the limit|more than|must be (?:<|less|at most)|should be \[)|` +
	`(?:exceed|too (?:long|large|many)|longer than|more than|over)[^.!]{0,60}(?:\bprompt|input|token|context|max length)|` +
	`(?:maximum|max|limit of)[^.!]{0,20}(?:prompt|input|sequence) (?:length|tokens|size)|maximum supported sequence|` +
	`(?:reduce|shorten|shorter)[^.!]{0,40}(?:length|messages?|prompt|input|context)|token limit`)

// tooLong reports whether a rejection, in lower case, says that the prompt is too long.
func tooLong(text string) bool {
	return tooLongText.MatchString(text) && (!tooMuchOutput.MatchString(text) || ofPrompt.MatchString(text))
}

// tooMuchOutput matches a rejection of the limit of an answer.
var tooMuchOutput = lazyregexp.New("max(?:imum)?[_ ](?:completion_|new_|output_)?tokens[`'\"]?(?: value)?[^.!]{0,60}(?:too (?:large|high|big)|at most|range|exceed|less than|<=|greater than|maximum|must be|>)" +
	`|at most \d+ (?:completion|output) tokens|(?:maximum|allowed)[^.!]{0,30}(?:output|completion) tokens`)

var (
	ofPrompt   = lazyregexp.New(`context|\binputs?\b|prompt`)
	limitNamed = lazyregexp.New(`(?:context length (?:is|of)|context size[^0-9]{0,4}|context window (?:is|of)|tokens allowed[^0-9]{0,4}|>)\s*\(?(\d{3,9})|(\d{3,9})(?: tokens)? maximum`)
	limitNear  = lazyregexp.New(`(?:limit|maximum|max|length|window|allowed|seq_len)\b[^0-9.]{0,40}?(\d{3,9})|(?:<=|less than|at most|cannot exceed)[^0-9]{0,30}(\d{3,9})|\[\d+,? ?(\d{3,9})\]`)
	number     = lazyregexp.New(`\d+`)
)

// windowOf finds the window in a rejection of a prompt; 0: it names none.
func windowOf(text string) int {
	smallest := 0
	for _, form := range []*lazyregexp.Regexp{limitNamed, limitNear} {
		for _, m := range form.FindAllStringSubmatch(text, 8) { // the prompt's own length is the larger one
			n, _ := strconv.Atoi(strings.Join(m[1:], ""))
			if n >= leastContext && (smallest == 0 || n < smallest) {
				smallest = n
			}
		}
		if smallest > 0 {
			break
		}
	}
	return smallest
}

// shorter learns the most tokens of an answer from the rejection of a limit.
func (t traits) shorter(text string, limit int) (traits, bool) {
	const least = 16
	next := 0
	for _, digits := range number.FindAllString(strings.ReplaceAll(text, ",", ""), -1) {
		if n, err := strconv.Atoi(digits); err == nil && n >= least && n < limit {
			next = max(next, n)
		}
	}
	next = cmp.Or(next, limit/2)
	if next < least {
		return t, false
	}
	t.output = next
	return t, true
}

// smaller learns a smaller window from the rejection of a prompt of about prompt tokens.
// When text has no number, it tries three quarters of the prompt.
func (t traits) smaller(text string, prompt int) (traits, bool) {
	text = strings.ReplaceAll(text, ",", "")
	next := windowOf(text)
	if next < leastContext || t.context > 0 && next >= t.context { // known already: our estimate of tokens is too low
		next = prompt * 3 / 4
		if t.context > 0 {
			next = min(next, t.context*3/4)
		}
	}
	if next < leastContext {
		return t, false
	}
	t.context = next
	return t, true
}

// replyTokens returns the length that an answer may have in a model's window, in tokens.
func (t traits) replyTokens(wanted int) int {
	most := t.context / 4
	if t.room > 0 {
		most = t.context / 2 // reasoning stands in it, too
	}
	if t.context > 0 && (wanted == 0 || wanted > most) {
		wanted = most
	}
	if t.output > 0 && (wanted == 0 || wanted > t.output) {
		wanted = t.output
	}
	return wanted
}

// fit cuts a prompt to the model's window, if it is known, with room for the answer and
// for tools, and for the difference between our estimate of tokens and the model's count.
func (t traits) fit(messages []llm.Message, tools []llm.Tool, reply int) []llm.Message {
	if t.context == 0 {
		return messages
	}
	room := (t.context-t.replyTokens(reply))*17/20 - llm.EstimateTools(tools)
	return llm.Fit(messages, max(room, t.context/4))
}
