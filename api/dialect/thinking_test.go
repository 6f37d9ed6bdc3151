package dialect

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
)

func TestThinkingIsSentOnce(t *testing.T) {
	thought := func(offset int, text string) chat.Event {
		return chat.Event{Type: chat.EventThought, Offset: offset, Text: text}
	}
	whole := chat.Event{N: 2, Type: chat.EventReasoning, Text: "hm, hm", Took: 8000}
	token, text, call := chat.Event{Type: chat.EventToken, Text: "x"}, chat.Event{N: 3, Type: chat.EventText, Text: "x"}, chat.Event{N: 3, Type: chat.EventToolCall}
	for name, c := range map[string]struct {
		events []chat.Event
		want   string
	}{
		"from the log":        {[]chat.Event{whole, text}, "(hm, hm)"},
		"live":                {[]chat.Event{thought(0, "hm, "), thought(4, "hm"), token, whole, text}, "(hm, hm)"},
		"live, then a call":   {[]chat.Event{thought(0, "hm, "), whole, call, thought(0, "so"), token, whole, text}, "(hm, )(so)"},
		"begun again":         {[]chat.Event{thought(0, "hm"), thought(0, "so"), token, whole}, "(hm)(so)"},
		"joined late":         {[]chat.Event{token, whole, text}, "(hm, hm)"},
		"two, from the log":   {[]chat.Event{whole, call, whole, text}, "(hm, hm)(hm, hm)"},
		"a status in between": {[]chat.Event{thought(0, "hm"), {Type: chat.EventStatus}, thought(2, "!"), token}, "(hm!)"},
	} {
		var w Thinking
		var out strings.Builder
		for _, e := range c.events {
			for _, s := range w.Steps(e, false) {
				if s.Begins {
					out.WriteString("(")
				}
				out.WriteString(s.Text)
				if s.Ends {
					out.WriteString(")")
				}
			}
		}
		require.Equal(t, c.want, out.String(), name)
	}
}
