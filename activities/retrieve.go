package activities

import (
	"context"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/palaver-chat/palaver/activities/intent"
	"github.com/palaver-chat/palaver/activities/mention"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
)

// minSubjectWords is the number of words about a subject below which the query also has
// the question before.
const minSubjectWords = 2

// maybeVagueWords is the number of such words, with names of documents, below which the
// question before is read in advance.
const maybeVagueWords = 6

// Retrieve picks the passages that an answer may use.
func (a *Activities) Retrieve(ctx context.Context, r RetrieveRequest) (Retrieved, error) {
	query, docs, err := a.query(ctx, r)
	if err != nil {
		return Retrieved{}, a.fail(ctx, r.TurnRef, "retrieve", err)
	}
	s, err := a.Search.Select(ctx, r.Owner, r.Action, query, r.DocIDs, docs...)
	if err != nil {
		return Retrieved{}, a.fail(ctx, r.TurnRef, "retrieve", err)
	}
	out := Retrieved{Confidence: s.Confidence, Score: s.Score, Processing: s.Processing, Unreadable: s.Unreadable}
	for _, h := range s.Hits {
		out.ChunkIDs = append(out.ChunkIDs, h.ID)
	}
	return out, nil
}

// query is the search query: the message without the documents' names, for a vague
// follow-up together with the question before it, and for an audit the text to
// audit. It also returns the documents to search, if it had to read them.
func (a *Activities) query(ctx context.Context, r RetrieveRequest) (string, []chat.Document, error) {
	t, err := a.turn(ctx, r.TurnRef)
	if err != nil {
		return "", nil, err
	}
	var (
		tagged mention.Tags
		before string
	)
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		tagged, err = a.readTags(gctx, r.Owner, t.Content.TipTap, t.Content.TaggedDocs, t.Content.TaggedSets)
		return err
	})
	if r.Action == chat.Inquire && len(intent.SubjectWords(t.Content.Message)) < maybeVagueWords {
		g.Go(func() (err error) {
			before, err = a.lastQuestion(gctx, r.TurnRef)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return "", nil, err
	}
	free := strings.TrimSpace(tagged.TextWithout(t.Content.Message))
	if r.Action == chat.Audit {
		text, err := a.textUnderAudit(ctx, r, free)
		return text, nil, err
	}
	docs, err := a.docsByID(ctx, r.Owner, r.DocIDs, tagged)
	if err != nil {
		return "", nil, err
	}
	free = strings.TrimSpace(language.ReplaceNames(free, mention.Titles(docs), " ")) // these documents are searched anyway
	if r.Action != chat.Inquire || len(intent.SubjectWords(free)) >= minSubjectWords {
		return free, docs, nil
	}
	if before == "" && len(intent.SubjectWords(t.Content.Message)) >= maybeVagueWords {
		if before, err = a.lastQuestion(ctx, r.TurnRef); err != nil {
			return "", nil, err
		}
	}
	return strings.TrimSpace(before + "\n" + free), docs, nil
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
