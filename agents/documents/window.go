package documents

import (
	"slices"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/tools"
)

const (
	instructionTokens = 900 // of an answer's instructions, at most
	passageTokens     = 40  // of a passage's title and tags
)

// passageRoom returns the room for passages in the prompt of an answer, in tokens; 0: no
// limit, because the size of the model's window is not known, or large.
func (a *Activities) passageRoom(message string, before []chat.Message) int {
	window := a.Model.Info().ContextTokens
	if window == 0 {
		return 0
	}
	room := (window-window/4)*17/20 - activities.ToolTokens(window) - instructionTokens - llm.EstimateTokens(message) - activities.TokensOf(before)
	return max(room, window/8)
}

// fitPassages cuts what an answer reads to the room in the prompt: passages, pages of the
// web, and passages of the document under audit.
func fitPassages(room int, action chat.Action, hits, subject []chat.Hit, pages []tools.WebHit) ([]chat.Hit, []chat.Hit, []tools.WebHit) {
	if room == 0 {
		return hits, subject, pages
	}
	if len(subject) > 0 {
		room /= 2
		subject = firstThatFit(subject, room)
	}
	if len(pages) > 0 {
		room /= 2
		pages = slices.Clone(pages)
		for i := range pages {
			pages[i].Text = language.Truncate(pages[i].Text, max(200, 4*(room/len(pages)-passageTokens)))
		}
	}
	if action == chat.Inquire { // the best come first
		return firstThatFit(hits, room), subject, pages
	}
	return sharesThatFit(hits, room), subject, pages
}

func tokensOfHits(hits []chat.Hit) (tokens int) {
	for _, h := range hits {
		tokens += llm.EstimateTokens(h.Text) + passageTokens
	}
	return tokens
}

// firstThatFit returns the first passages that fit into tokens, at least one.
func firstThatFit(hits []chat.Hit, tokens int) []chat.Hit {
	for n := range hits {
		if n > 0 && tokensOfHits(hits[:n+1]) > tokens {
			return hits[:n]
		}
	}
	return hits
}

// sharesThatFit takes passages away from the documents that have the most, each
// document's last first, until the rest fits.
func sharesThatFit(hits []chat.Hit, tokens int) []chat.Hit {
	hits = slices.Clone(hits)
	for len(hits) > 1 && tokensOfHits(hits) > tokens {
		counts := map[string]int{}
		for _, h := range hits {
			counts[h.DocID]++
		}
		longest := len(hits) - 1
		for i := len(hits) - 1; i >= 0; i-- {
			if counts[hits[i].DocID] > counts[hits[longest].DocID] {
				longest = i
			}
		}
		hits = slices.Delete(hits, longest, longest+1)
	}
	return hits
}
