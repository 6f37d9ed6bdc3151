package follow

import "testing"

func FuzzParsePositionReadsOnlyWhatItWrites(f *testing.F) {
	for _, s := range []string{"", ".", "t.1", "t.1.2.3.4", "t.01", "t.1.0.1.1", "t.-1", "t.1.2", "0199.99999999999", "é.1", "t.1.1.1.1.1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePosition(s)
		if err != nil {
			return
		}
		if p.String() != s {
			t.Fatalf("%q reads as %+v, which is %q", s, p, p.String())
		}
	})
}

// Rule T6.
func TestParsePosition(t *testing.T) {
	for s, want := range map[string]Position{
		"turn-1.0":       {TurnID: "turn-1"},
		"turn-1.7":       {TurnID: "turn-1", N: 7},
		"turn-1.7.1.2.0": {TurnID: "turn-1", N: 7, Piece: 1, Attempt: 2},
	} {
		if got, err := ParsePosition(s); err != nil || got != want {
			t.Errorf("%q: %+v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "turn", "turn.", ".1", "turn.-1", "turn.+1", "turn.1.1.1", "turn.1.0.1.1", "turn.1.1.0.1", "turn.9999999999", "a b.1", "turn.1 "} {
		if got, err := ParsePosition(s); err == nil {
			t.Errorf("%q was read as %+v", s, got)
		}
	}
}
