package follow

import (
	"math/rand/v2"
	"testing"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/bus"
)

// In whatever order deltas and drafts arrive, text is always a prefix of what the
// newest attempt has written. A complete draft makes it complete.
func FuzzPieceIsAlwaysAPrefixOfItsAttempt(f *testing.F) {
	f.Add(uint64(1), 20)
	f.Add(uint64(7), 300)
	f.Fuzz(func(t *testing.T, seed uint64, n int) {
		n = max(1, min(n, 500))
		r := rand.New(rand.NewPCG(seed, seed))
		texts := map[int][]rune{}
		for attempt := 1; attempt <= 3; attempt++ {
			text := make([]rune, 40+r.IntN(60))
			for i := range text {
				text[i] = rune('a' + attempt + r.IntN(20))
			}
			texts[attempt] = text
		}
		p := piece{n: 1}
		newest := 0
		for range n {
			attempt := 1 + r.IntN(3)
			text := texts[attempt]
			from := r.IntN(len(text))
			to := from + r.IntN(len(text)-from+1)
			if r.IntN(8) == 0 {
				p.load(db.Draft{Piece: 1, Attempt: attempt, Text: string(text[:to])})
			} else {
				p.add(bus.Delta{Piece: 1, Attempt: attempt, Offset: from, Text: string(text[from:to])})
			}
			newest = max(newest, attempt)
			if p.attempt != newest {
				t.Fatalf("attempt %d after %d was seen", p.attempt, newest)
			}
			if len(p.text) > len(texts[newest]) || string(p.text) != string(texts[newest][:len(p.text)]) {
				t.Fatalf("text %q is no prefix of %q", string(p.text), string(texts[newest]))
			}
		}
		p.load(db.Draft{Piece: 1, Attempt: newest, Text: string(texts[newest])})
		if string(p.text) != string(texts[newest]) || p.gap() {
			t.Fatalf("text %q, gap %v, want %q", string(p.text), p.gap(), string(texts[newest]))
		}
	})
}

func TestTextOfALaterPieceWaitsForTheEarlierPiece(t *testing.T) {
	p := piece{n: 1}
	p.add(bus.Delta{Piece: 2, Attempt: 1, Offset: 0, Text: "second"})
	p.add(bus.Delta{Piece: 1, Attempt: 1, Offset: 0, Text: "first"})
	if string(p.text) != "first" {
		t.Fatalf("text %q", string(p.text))
	}
	p.next(2)
	if string(p.text) != "second" {
		t.Fatalf("text %q", string(p.text))
	}
}

func TestEarlyDeltasAreBounded(t *testing.T) {
	p := piece{n: 1}
	for i := range 2 * maxEarly {
		p.add(bus.Delta{Piece: 1, Attempt: 1, Offset: 10 + i, Text: "x"})
	}
	if len(p.early) > maxEarly {
		t.Fatalf("%d kept", len(p.early))
	}
}
