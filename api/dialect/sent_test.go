package dialect

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/palaver-chat/palaver/chat"
)

func TestSentTextFindsTheTextThatWasNotSent(t *testing.T) {
	piece := func(text string) chat.Event { return chat.Event{Type: chat.EventText, Text: text} }
	for name, c := range map[string]struct {
		say     func(*SentText)
		partial string
		want    string
	}{
		"nothing shown":             {func(*SentText) {}, "A bank must", "A bank must"},
		"all shown":                 {func(s *SentText) { s.Token("A bank "); s.Token("must") }, "A bank must", ""},
		"its end trimmed":           {func(s *SentText) { s.Token("A bank must ") }, "A bank must", ""},
		"more than shown":           {func(s *SentText) { s.Token("A bank ") }, "A bank must", "must"},
		"its beginning trimmed":     {func(s *SentText) { s.Token(" A bank") }, "A bank must", " must"},
		"a finished piece":          {func(s *SentText) { s.Piece(piece("One.")) }, "One.\n\nTwo", "Two"},
		"a finished piece and more": {func(s *SentText) { s.Piece(piece("One.")); s.Token("T") }, "One.\n\nTwo", "wo"},
		"written anew":              {func(s *SentText) { s.Token("Old"); s.Restart(); s.Token("N") }, "New", "ew"},
		"another text":              {func(s *SentText) { s.Token("Old text") }, "New text", ""},
		"nothing kept":              {func(s *SentText) { s.Token("Old text") }, "", ""},
	} {
		var s SentText
		c.say(&s)
		assert.EqualValues(t, c.want, s.Rest(c.partial), name)
	}
	var s SentText
	s.Token("shown as it came")
	assert.Empty(t, s.Piece(piece("shown as it came")), "shown twice")
	assert.EqualValues(t, "not shown", s.Piece(piece("not shown")), "missing")
}
