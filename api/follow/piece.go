package follow

import (
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/bus"
	"slices"
)

// Bounds for deltas that arrived before their predecessors. Deltas beyond the bounds
// are dropped; the draft replaces them.
const (
	maxEarly      = 2048
	maxEarlyRunes = 1 << 18
)

// piece is the text being written. It is assembled from drafts and from deltas,
// which may be lost, duplicated or late. Offsets count characters.
type piece struct {
	n          int // which piece of the turn, from 1
	attempt    int // 0: no text has arrived
	text       []rune
	early      []bus.Delta // deltas that begin after text, or belong to a later piece
	earlyRunes int         // characters in early
}

// add adds a delta; grown reports whether text has changed.
func (p *piece) add(d bus.Delta) (grown bool) {
	if d.Piece < p.n || d.Attempt < 1 || d.Offset < 0 {
		return false
	}
	if d.Piece > p.n {
		p.keep(d)
		return false
	}
	return p.fit(d) && p.retry(true)
}

// fit appends a delta of this piece, or keeps it if text before it is missing.
func (p *piece) fit(d bus.Delta) (grown bool) {
	if d.Attempt < p.attempt {
		return false
	}
	restarted := d.Attempt > p.attempt
	if restarted {
		p.attempt, p.text = d.Attempt, nil
	}
	if d.Offset > len(p.text) {
		p.keep(d)
		return restarted
	}
	text := []rune(d.Text)
	have := len(p.text) - d.Offset
	if have >= len(text) {
		return restarted
	}
	p.text = append(p.text, text[have:]...)
	return true
}

func (p *piece) keep(d bus.Delta) {
	size := len([]rune(d.Text))
	if len(p.early) >= maxEarly || p.earlyRunes+size > maxEarlyRunes {
		return
	}
	p.early = append(p.early, d)
	p.earlyRunes += size
}

// retry adds the early deltas that fit now.
func (p *piece) retry(grown bool) bool {
	for again := len(p.early) > 0; again; {
		early := p.early
		p.early, p.earlyRunes, again = nil, 0, false
		for _, d := range early {
			switch {
			case d.Piece > p.n:
				p.keep(d)
			case d.Piece == p.n:
				again = p.fit(d) || again
			}
		}
		again = again && len(p.early) > 0
	}
	return grown
}

// load replaces the text with a draft, if the draft is longer or of a later attempt.
func (p *piece) load(d db.Draft) (grown bool) {
	if d.Piece != p.n || d.Attempt < p.attempt || d.Attempt < 1 {
		return false
	}
	text := []rune(d.Text)
	if d.Attempt == p.attempt && len(text) <= len(p.text) {
		return false
	}
	p.attempt, p.text = d.Attempt, text
	return p.retry(true)
}

// gap reports whether text is missing before something that has arrived.
func (p *piece) gap() bool {
	return slices.ContainsFunc(p.early, func(d bus.Delta) bool { return d.Piece == p.n && d.Attempt == p.attempt })
}

// next starts piece n with the deltas that have arrived early.
func (p *piece) next(n int) {
	p.n, p.attempt, p.text = n, 0, nil
	p.retry(false)
}
