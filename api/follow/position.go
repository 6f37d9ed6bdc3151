package follow

import (
	"errors"
	"strconv"
	"strings"

	"github.com/palaver-chat/palaver/chat"
)

// Position is a place in a turn's stream: after its N-th durable event and, in
// the middle of a piece of text, after the first Offset characters that Attempt
// wrote. Its string form is the event id that clients send back.
type Position struct {
	TurnID  string
	N       int
	Piece   int // 0: not inside a piece
	Attempt int
	Offset  int
}

// ErrBadPosition means that the server cannot have issued this event id.
var ErrBadPosition = errors.New("not an event id")

const (
	maxTurnID = 64
	maxNumber = 1 << 30
)

// String returns "<turn>.n", or "<turn>.n.<piece>.<attempt>.<offset>" in the middle
// of a piece.
func (p Position) String() string {
	b := make([]byte, 0, len(p.TurnID)+24)
	b = append(b, p.TurnID...)
	for i, n := range [...]int{p.N, p.Piece, p.Attempt, p.Offset} {
		if i == 1 && p.Piece == 0 {
			break
		}
		b = append(b, '.')
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return string(b)
}

// ParsePosition reads an event id.
func ParsePosition(s string) (Position, error) {
	parts := strings.Split(s, ".")
	if len(parts) != 2 && len(parts) != 5 || !validTurnID(parts[0]) {
		return Position{}, ErrBadPosition
	}
	var n [4]int
	for i, part := range parts[1:] {
		v, err := strconv.ParseUint(part, 10, 32)
		if err != nil || v > maxNumber || part != strconv.FormatUint(v, 10) {
			return Position{}, ErrBadPosition
		}
		n[i] = int(v)
	}
	if len(parts) == 5 && (n[1] == 0 || n[2] == 0) {
		return Position{}, ErrBadPosition
	}
	return Position{TurnID: parts[0], N: n[0], Piece: n[1], Attempt: n[2], Offset: n[3]}, nil
}

func validTurnID(s string) bool {
	return s != "" && len(s) <= maxTurnID && !strings.ContainsFunc(s, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_'
	})
}

// Item is an event with the viewer's position after it.
type Item struct {
	chat.Event
	At Position
	// Latest means that no later entry of the turn's log is known yet.
	Latest bool
}
