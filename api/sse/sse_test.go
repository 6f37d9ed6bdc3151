package sse

import (
	"math"
	"testing"
)

func TestEventsAreOneLineEach(t *testing.T) {
	got := string(Comment(JSON(JSON(Data(nil, []byte("{}")), map[string]string{"a": "b\nc"}), math.NaN()), "ping"))
	if want := "data: {}\n\ndata: {\"a\":\"b\\nc\"}\n\n: ping\n\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
