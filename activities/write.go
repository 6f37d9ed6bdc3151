package activities

import (
	"context"
	"encoding/json"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/retrieval/cite"
)

// Write streams the answer of a documents turn (speak).
func (a *Activities) Write(parent context.Context, r WriteRequest) (Written, error) {
	ctx, w := a.watch(parent, r.TurnID)
	defer w.end()
	step := string(r.Action)
	m, err := a.gather(ctx, r)
	if err != nil {
		if w.stopped() {
			return Written{Stopped: true}, nil
		}
		return Written{}, a.outcome(w, ctx, r.TurnRef, step, err)
	}
	if done, ok := written(m.texts, r.Piece); ok { // an earlier attempt died after its last write
		return done, nil
	}
	return a.speak(parent, ctx, w, speech{
		TurnRef: r.TurnRef, piece: r.Piece, step: step, request: answerPrompt(m), filter: cite.New(m.sources, m.allowed...),
	})
}

// written recognises a piece that stands already.
func written(texts map[string]string, piece int) (Written, bool) {
	text, ok := texts[chat.PieceKey(piece)]
	if !ok {
		return Written{}, false
	}
	var citations []chat.Citation
	_ = json.Unmarshal([]byte(texts[chat.TextCitations]), &citations) // ours, and only counted
	return Written{Chars: utf8.RuneCountInString(text), Citations: len(citations)}, true
}
