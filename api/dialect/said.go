package dialect

import (
	"strings"
	"unicode"

	"github.com/palaver-chat/palaver/chat"
)

// Said keeps what a stream has shown of an answer, for wire formats whose
// terminal event does not repeat the text: what a view, or a replay, has left
// out is made up for by the finished pieces and by the partial of a turn that
// ended early.
type Said struct {
	done strings.Builder // finished pieces, as a partial joins them
	open strings.Builder // of the piece being written
}

const betweenPieces = "\n\n"

// Token notes a delta that was shown.
func (s *Said) Token(text string) { s.open.WriteString(text) }

// Restart forgets the piece being written: it is written anew.
func (s *Said) Restart() { s.open.Reset() }

// Piece closes a piece. What comes back is all of it when no delta of it was
// shown, else nothing.
func (s *Said) Piece(e chat.Event) (missing string) {
	if s.open.Len() == 0 {
		missing = e.Text
	}
	if s.done.Len() > 0 {
		s.done.WriteString(betweenPieces)
	}
	s.done.WriteString(e.Text)
	s.open.Reset()
	return missing
}

// Rest is what a partial has beyond all that was shown; nothing when it is
// another text.
func (s *Said) Rest(partial string) string {
	shown := s.done.String()
	if open := s.open.String(); open != "" {
		if shown != "" {
			shown += betweenPieces
		}
		shown += open
	}
	shown = strings.TrimLeftFunc(shown, unicode.IsSpace)
	rest, ok := strings.CutPrefix(partial, shown)
	if !ok { // its end was trimmed
		rest, ok = strings.CutPrefix(partial, strings.TrimRightFunc(shown, unicode.IsSpace))
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
	}
	if !ok {
		return ""
	}
	if s.open.Len() == 0 {
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
	}
	return rest
}
