package dialect

import (
	"testing"

	"github.com/palaver-chat/palaver/chat"
)

func TestSaidMakesUpForWhatWasNotShown(t *testing.T) {
	piece := func(text string) chat.Event { return chat.Event{Type: chat.EventText, Text: text} }
	for name, c := range map[string]struct {
		say     func(*Said)
		partial string
		want    string
	}{
		"nothing shown":             {func(*Said) {}, "A bank must", "A bank must"},
		"all shown":                 {func(s *Said) { s.Token("A bank "); s.Token("must") }, "A bank must", ""},
		"its end trimmed":           {func(s *Said) { s.Token("A bank must ") }, "A bank must", ""},
		"more than shown":           {func(s *Said) { s.Token("A bank ") }, "A bank must", "must"},
		"its beginning trimmed":     {func(s *Said) { s.Token(" A bank") }, "A bank must", " must"},
		"a finished piece":          {func(s *Said) { s.Piece(piece("One.")) }, "One.\n\nTwo", "Two"},
		"a finished piece and more": {func(s *Said) { s.Piece(piece("One.")); s.Token("T") }, "One.\n\nTwo", "wo"},
		"written anew":              {func(s *Said) { s.Token("Old"); s.Restart(); s.Token("N") }, "New", "ew"},
		"another text":              {func(s *Said) { s.Token("Old text") }, "New text", ""},
		"nothing kept":              {func(s *Said) { s.Token("Old text") }, "", ""},
	} {
		var s Said
		c.say(&s)
		if got := s.Rest(c.partial); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	var s Said
	s.Token("shown as it came")
	if got := s.Piece(piece("shown as it came")); got != "" {
		t.Errorf("shown twice: %q", got)
	}
	if got := s.Piece(piece("not shown")); got != "not shown" {
		t.Errorf("missing: %q", got)
	}
}
