package activities

import (
	"context"
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/agents/documents/mention"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
)

// maxCodePassages is the number of passages that are searched for a code.
const maxCodePassages = 20

// withCodedTitles replaces document codes in a message with titles, for codes that only the
// document's text has: it replaces "HR-POL-11" with the title of the policy whose first line
// says "Document number HR-POL-11". It keeps a code that several documents state as their
// own. turnID is the turn of the message; empty when the text is not a message.
func (a *Activities) withCodedTitles(ctx context.Context, owner, turnID, message string, visible []chat.Document) (string, error) {
	codes := mention.PossibleCodes(message, visible)
	for _, c := range slices.Backward(codes) { // the last first, so that earlier places stay
		hits, err := a.passagesWith(ctx, owner, turnID, c.Words)
		if err != nil {
			return "", err
		}
		from, to, titles := 0, 0, []string(nil)
		for _, h := range hits {
			if i, j, ok := c.IsOwn(h.Text, h.Start); ok {
				from, to, titles = i, j, append(titles, h.DocID+"\n"+h.Title)
			}
		}
		if titles = language.Distinct(titles); len(titles) == 1 {
			_, title, _ := strings.Cut(titles[0], "\n")
			message = message[:from] + language.WithoutExtension(title) + message[to:]
		}
	}
	return message, nil
}
