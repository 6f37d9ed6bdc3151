package openai

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat"
)

// followedTurn is the turn that a message follows.
type followedTurn struct {
	turn chat.Turn
	// The question that the client has seen last, and its answer; nil: it is open.
	asked  *chat.Interrupt
	answer *chat.ResumeValue
	// The request does not repeat the question, and this server has not shown it to this
	// client.
	unseen bool
}

// maxLookups limits the messages whose turns are looked up, the newest first. The first one
// is found, unless its turn was deleted or it never was a turn.
const maxLookups = 20

// locate finds the turn whose answer is the last of the earlier messages: in the thread
// that the client names, or in any thread. So a conversation continues in the thread of its
// messages, and an edited message starts a branch.
func (h handlers) locate(ctx context.Context, owner, thread string, earlier []EarlierMessage) (*followedTurn, error) {
	ctx, done := request.FractionOfDeadline(ctx, 3) // leaves time for the insert
	defer done()
	runs, looked := runIDs(earlier), 0
	for n := len(earlier); n > 0 && looked < maxLookups; n-- {
		if !earlier[n-1].User {
			continue
		}
		looked++
		turns, err := h.TurnsOfRun(ctx, owner, runs[n-1])
		if err != nil {
			return nil, err
		}
		if thread != "" {
			turns = slices.DeleteFunc(turns, func(t chat.Turn) bool { return t.ThreadID != thread })
		}
		if len(turns) > 0 {
			return h.choose(ctx, owner, turns, earlier[n:])
		}
	}
	return nil, nil
}

// choose finds the turn whose answer the client has. Several turns can have the same
// messages before them: an answer was regenerated, or two conversations began with the same
// words.
func (h handlers) choose(ctx context.Context, owner string, turns []chat.Turn, after []EarlierMessage) (*followedTurn, error) {
	ids := make([]string, len(turns))
	for i, t := range turns {
		ids[i] = t.ID
	}
	logs, err := h.Logs(ctx, owner, ids)
	if err != nil {
		return nil, err
	}
	last := ""
	if len(after) > 0 && !after[len(after)-1].User {
		last = notes.ReplaceAllString(withoutAddress(Bare(after[len(after)-1].Text)), "")
	}
	var partly *followedTurn
	likest := leastAlike
	for _, t := range turns {
		if !t.Status.Settled() {
			q, err := h.Question(ctx, owner, t.ThreadID)
			switch {
			case err != nil && !h.NotFound(err):
				return nil, err
			case q == nil || q.TurnID != t.ID:
				partly = &followedTurn{turn: t} // its client disconnected before the end
			case strings.HasSuffix(last, Bare(ShowQuestion(*q.Interrupt))):
				return &followedTurn{turn: t, asked: q.Interrupt}, nil
			}
			continue
		}
		f, whole := search(t, logs[t.ID].Events, last)
		if f != nil {
			return f, nil
		}
		if n := alike(last, whole, t.Status == chat.TurnCompleted); n >= likest {
			partly, likest = &followedTurn{turn: t}, n
		}
	}
	return partly, nil
}

// notes matches the footnotes of an answer without white space. They are not compared,
// because their URLs have the server's name.
var notes = regexp.MustCompile(`(?s)---\[\d+\]\[[^\]]*\]\(.*$`)

// leastAlike is the share of a client's text that must be in an answer.
const leastAlike = 0.5

// thoughts matches what clients leave out of answers, or add to them: reasoning without
// white space, as tags or as Open WebUI shows it, and the marks of citations.
var thoughts = regexp.MustCompile(`(?s)<think>.*?</think>|<details.*?</details>|\[\d{1,3}\]`)

// alike returns the share of a client's text that an answer has, from 0 to 1. Clients keep
// the beginning of an answer that they stopped, and people edit answers. Both texts are
// without white space. An answer that was stopped before its first word has no text.
func alike(last, whole string, completed bool) float64 {
	last, whole = thoughts.ReplaceAllString(last, ""), thoughts.ReplaceAllString(notes.ReplaceAllString(whole, ""), "")
	switch {
	case last == "" && completed:
		return 0
	case strings.HasPrefix(whole, last), whole != "" && strings.HasPrefix(last, whole):
		return 1
	}
	a, b := []rune(last), []rune(whole)
	n := min(len(a), len(b))
	same := 0
	for same < n && a[same] == b[same] {
		same++
	}
	for end := 0; same+end < n && a[len(a)-1-end] == b[len(b)-1-end]; end++ {
		n--
		same++
	}
	return float64(same) / float64(max(len(a), len(b), 1))
}

// search looks for a text that a client of a settled turn may have: its answer, what
// came after its last question, or a question.
func search(t chat.Turn, events []chat.Event, last string) (_ *followedTurn, whole string) {
	var all, rest answer
	var asked *followedTurn
	var open *chat.Interrupt
	for _, e := range events {
		switch {
		case e.Type == chat.EventInterrupt && e.Interrupt != nil:
			rest, open = answer{}, e.Interrupt
		case e.Type == chat.EventResumed && open != nil:
			if strings.HasSuffix(last, Bare(ShowQuestion(*open))) {
				asked = &followedTurn{turn: t, asked: open, answer: e.Resume}
			}
		case e.Type == chat.EventText || e.Type == chat.EventCancelled || e.Type == chat.EventFailed:
			e.Citations = nil
			all.event(e)
			rest.event(e)
		}
	}
	whole = Bare(all.text.String())
	if last == whole || last == Bare(rest.text.String()) {
		return &followedTurn{turn: t}, whole
	}
	if asked == nil && open != nil && strings.HasSuffix(last, Bare(ShowQuestion(*open))) { // never answered
		return &followedTurn{turn: t}, whole
	}
	return asked, whole
}
