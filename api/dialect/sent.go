package dialect

import (
	"strings"
	"unicode"

	"github.com/palaver-chat/palaver/chat"
)

// SentText records the text that a stream has sent, for wire formats whose terminal event does not
// repeat it. Finished pieces and the partial text of a turn that ended early supply what a view or
// a replay has left out.
type SentText struct {
	done strings.Builder // finished pieces, joined as in a partial
	open strings.Builder // tokens of the piece being written
}

const betweenPieces = "\n\n"

// Token records a delta that was sent.
func (s *SentText) Token(text string) { s.open.WriteString(text) }

// Restart discards the piece being written, which is restarted.
func (s *SentText) Restart() { s.open.Reset() }

// Piece closes a piece. It returns the whole piece if no delta of it was sent, else "".
func (s *SentText) Piece(e chat.Event) (missing string) {
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

// Rest returns the part of a partial that was not sent; "" when the partial is a different text.
func (s *SentText) Rest(partial string) string {
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
