package follow

import (
	"testing"

	"github.com/palaver-chat/palaver/internal/bus"
)

func TestThinkingIsAssembledFromDeltas(t *testing.T) {
	d := func(piece, attempt, offset int, text string) bus.Delta {
		return bus.Delta{Piece: piece, Attempt: attempt, Offset: offset, Text: text, Reasoning: true}
	}
	for name, c := range map[string]struct {
		deltas []bus.Delta
		want   string
	}{
		"in order":         {[]bus.Delta{d(1, 1, 0, "hm, "), d(1, 1, 4, "hm")}, "hm, hm"},
		"twice":            {[]bus.Delta{d(1, 1, 0, "hm"), d(1, 1, 0, "hm")}, "hm"},
		"one was lost":     {[]bus.Delta{d(1, 1, 0, "hm"), d(1, 1, 5, "hm")}, "hm"},
		"joined late":      {[]bus.Delta{d(1, 1, 9, "hm")}, ""},
		"begun again":      {[]bus.Delta{d(1, 1, 0, "hm"), d(1, 2, 0, "so")}, "so"},
		"an older attempt": {[]bus.Delta{d(1, 2, 0, "so"), d(1, 1, 2, "hm")}, "so"},
		"the next piece":   {[]bus.Delta{d(1, 1, 0, "hm"), d(2, 1, 0, "so")}, "so"},
	} {
		var got thinking
		for _, delta := range c.deltas {
			got.add(delta)
		}
		if string(got.text) != c.want {
			t.Errorf("%s: %q", name, string(got.text))
		}
	}
}
