package activities

import (
	"context"
	"strings"

	"github.com/palaver-chat/palaver/chat"
)

// vague is the number of telling words below which a question is read together
// with the one before it.
const vague = 2

// Retrieve picks the passages that an answer may use.
func (a *Activities) Retrieve(ctx context.Context, r RetrieveRequest) (Retrieved, error) {
	query, err := a.query(ctx, r)
	if err != nil {
		return Retrieved{}, a.fail(ctx, r.TurnRef, "retrieve", err)
	}
	s, err := a.Search.Select(ctx, r.Owner, r.Action, query, r.DocIDs)
	if err != nil {
		return Retrieved{}, a.fail(ctx, r.TurnRef, "retrieve", err)
	}
	out := Retrieved{Confidence: s.Confidence, Score: s.Score, Processing: s.Processing, Unreadable: s.Unreadable}
	for _, h := range s.Hits {
		out.ChunkIDs = append(out.ChunkIDs, h.ID)
	}
	return out, nil
}

// query is what passages are looked for by: the message without the documents' names,
// for a vague follow-up together with the question before it, and for an audit
// the text under audit.
func (a *Activities) query(ctx context.Context, r RetrieveRequest) (string, error) {
	t, err := a.turn(ctx, r.TurnRef)
	if err != nil {
		return "", err
	}
	tagged, err := a.readTags(ctx, r.Owner, t.Content.TipTap, t.Content.TaggedDocs, t.Content.TaggedSets)
	if err != nil {
		return "", err
	}
	free := strings.TrimSpace(tagged.free(t.Content.Message))
	if r.Action == chat.Audit {
		return a.underAudit(ctx, r, free)
	}
	docs, err := a.beside(ctx, r.Owner, r.DocIDs, tagged)
	if err != nil {
		return "", err
	}
	free = strings.TrimSpace(without(free, titlesOf(docs), " ")) // they are searched already
	if r.Action == chat.Inquire && len(contentWords(free)) < vague {
		before, err := a.lastQuestion(ctx, r.TurnRef)
		if err != nil {
			return "", err
		}
		return strings.TrimSpace(before + "\n" + free), nil
	}
	return free, nil
}

func (a *Activities) lastQuestion(ctx context.Context, ref TurnRef) (string, error) {
	recent, err := a.Store.Recent(ctx, ref.Owner, ref.ThreadID, ref.Parent, contextMessages)
	if err != nil {
		return "", err
	}
	for i := len(recent) - 1; i >= 0; i-- {
		if recent[i].Role == "user" {
			return recent[i].Content, nil
		}
	}
	return "", nil
}
