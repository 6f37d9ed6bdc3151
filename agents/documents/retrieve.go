package documents

import (
	"context"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/agents/documents/intent"
	"github.com/palaver-chat/palaver/agents/documents/mention"
	"github.com/palaver-chat/palaver/agents/documents/offline"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/documents/retrieval"
	"github.com/palaver-chat/palaver/imports"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/tiptap"
	"github.com/palaver-chat/palaver/llm"
)

// maybeVagueWords is the number of subject words, with names of documents, below which a
// question may be vague: then the question before it is read in advance.
const maybeVagueWords = 6

// Retrieve picks the passages that an answer may use.
func (a *Activities) Retrieve(ctx context.Context, ref activities.TurnRef, r RetrieveRequest) (RetrieveResult, error) {
	ctx, metered := llm.WithMeter(ctx)
	out, err := a.retrieve(ctx, ref, r)
	out.Usage = metered.Usage()
	return out, a.Fail(ctx, ref, "retrieve", err)
}

// SayImporting stores the answer that a document of the conversation is still being imported.
func (a *Activities) SayImporting(ctx context.Context, ref activities.TurnRef) error {
	err := a.PutTexts(ctx, ref, db.Text{Key: chat.PieceKey(1), Text: imports.StillProcessing})
	return a.Fail(ctx, ref, "say importing", err)
}

func (a *Activities) retrieve(ctx context.Context, ref activities.TurnRef, r RetrieveRequest) (RetrieveResult, error) {
	if r.Action == chat.Talk { // answered from the titles
		return RetrieveResult{Confidence: chat.High}, nil
	}
	q, err := a.query(ctx, ref, r)
	if err != nil {
		return RetrieveResult{}, err
	}
	s, widened, err := a.selectParts(ctx, ref, r, q)
	if err != nil {
		return RetrieveResult{}, err
	}
	if s, err = a.withOpinion(ctx, ref, r, q, s); err != nil {
		return RetrieveResult{}, err
	}
	if r.Action == chat.Inquire && s.Confidence == chat.Low {
		if q, s, err = a.respell(ctx, ref, r, q, s); err != nil {
			return RetrieveResult{}, err
		}
	}
	out := RetrieveResult{Confidence: s.Confidence, Score: s.Score, Processing: s.Processing, Unreadable: s.Unreadable, Partly: s.Partly, NoWeb: !a.webOn(), Widened: widened, Elsewhere: widened && q.text != q.whole, Quiet: a.Model.Info().Offline}
	if out.Confidence == chat.High && r.Web && (q.webAsked || r.Action != chat.Inquire) {
		out.Confidence = chat.Medium // the documents alone cannot say what is current
	}
	a.RememberPassages(ref, s.Hits)
	for _, h := range s.Hits {
		out.ChunkIDs = append(out.ChunkIDs, h.ID)
	}
	if out.Confidence == chat.Low {
		out.Closest = closest(s)
	}
	if out.Quiet && len(out.ChunkIDs) == 0 {
		out.ChunkIDs = out.Closest
	}
	if out.UnreadPages, err = a.hasUnreadPages(ctx, ref, r.DocIDs, s); err != nil {
		return RetrieveResult{}, err
	}
	if r.Imports && len(r.DocIDs) == 0 { // else the question is about these documents
		open, err := a.hasOpenImports(ctx, ref)
		if err != nil {
			return RetrieveResult{}, err
		}
		out.Processing = out.Processing || open
		out.Importing = open && out.Confidence == chat.Low
	}
	return out, nil
}

// closest returns the best passages of a selection that has too little.
func closest(s retrieval.Selection) (ids []string) {
	best := s.Hits
	if len(best) == 0 {
		best = s.Weak
	}
	for _, h := range best[:min(len(best), chat.MaxClosest)] {
		ids = append(ids, h.ID)
	}
	return ids
}

// hasUnreadPages reports whether the documents of a selection, or those that were to be
// searched, have pages that could not be read, so that an answer may miss something.
func (a *Activities) hasUnreadPages(ctx context.Context, ref activities.TurnRef, wanted []string, s retrieval.Selection) (bool, error) {
	ids := slices.Clone(wanted)
	for _, h := range slices.Concat(s.Hits, s.Weak) {
		ids = append(ids, h.DocID)
	}
	docs, err := a.DocsByID(ctx, ref, ids)
	return slices.ContainsFunc(docs, func(d chat.Document) bool { return d.UnreadPages > 0 }), err
}

// hasOpenImports reports whether imports of the turn's conversation have not ended.
func (a *Activities) hasOpenImports(ctx context.Context, ref activities.TurnRef) (bool, error) {
	list, err := a.Store.ListImports(ctx, ref.Owner, ref.ThreadID, "", imports.Listed)
	return slices.ContainsFunc(list, func(i chat.Import) bool { return !i.State.Final() }), err
}

// respell searches once more when words of the question are misspelt.
func (a *Activities) respell(ctx context.Context, ref activities.TurnRef, r RetrieveRequest, q query, found retrieval.Selection) (query, retrieval.Selection, error) {
	text, err := a.Search.Respell(ctx, ref.Owner, q.text, r.DocIDs)
	if err != nil || text == q.text {
		return q, found, err
	}
	q.whole = strings.Replace(q.whole, q.text, text, 1)
	q.text = text
	found, _, err = a.selectPassages(ctx, ref, r, q)
	return q, found, err
}

// selectParts picks passages. Without a model, each part of a question is searched by itself.
func (a *Activities) selectParts(ctx context.Context, ref activities.TurnRef, r RetrieveRequest, q query) (retrieval.Selection, bool, error) {
	parts := offline.Parts(q.text)
	if r.Action != chat.Inquire || !a.Model.Info().Offline || len(parts) == 1 {
		return a.selectPassages(ctx, ref, r, q)
	}
	selections, widened := make([]retrieval.Selection, len(parts)), make([]bool, len(parts))
	g, gctx := errgroup.WithContext(ctx)
	for i, part := range parts {
		g.Go(func() (err error) {
			one := q
			one.text, one.whole = part, part
			selections[i], widened[i], err = a.selectPassages(gctx, ref, r, one)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return retrieval.Selection{}, false, err
	}
	return retrieval.Together(selections), slices.Contains(widened, true), nil
}

// selectPassages picks passages. Documents that a question only mentions do not limit the
// search: their passages come first, unless others have more.
func (a *Activities) selectPassages(ctx context.Context, ref activities.TurnRef, r RetrieveRequest, q query) (_ retrieval.Selection, widened bool, err error) {
	if r.Action != chat.Inquire || !r.Hint || len(r.DocIDs) == 0 || q.tagged {
		s, err := a.Search.Select(ctx, ref.Owner, r.Action, q.text, r.DocIDs, q.docs...)
		return s, false, err
	}
	var named, all retrieval.Selection
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		named, err = a.Search.Select(gctx, ref.Owner, r.Action, q.text, r.DocIDs, q.docs...)
		return err
	})
	g.Go(func() (err error) {
		all, err = a.Search.Select(gctx, ref.Owner, r.Action, q.whole, nil)
		return err
	})
	if err := g.Wait(); err != nil {
		return named, false, err
	}
	s, widened := retrieval.Raise(named, all)
	return s, widened, nil
}

// query is a search query with what else retrieval reads of the message.
type query struct {
	text     string
	whole    string          // with the names of documents
	docs     []chat.Document // the documents to search, if they had to be read
	tagged   bool            // the person has said which documents to search
	webAsked bool            // the person asked for a web search; a message about current information is not enough
}

// query reads the search query: the message without small talk and the documents' names,
// for a vague follow-up together with the question before it, and for an audit the text
// to audit.
func (a *Activities) query(ctx context.Context, ref activities.TurnRef, r RetrieveRequest) (query, error) {
	t, err := a.Turn(ctx, ref)
	if err != nil {
		return query{}, err
	}
	var (
		tagged tiptap.Tags
		before string
	)
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		tagged, err = a.ReadTags(gctx, ref, t.Content.TipTap, t.Content.TaggedDocs, t.Content.TaggedSets)
		return err
	})
	if r.Action == chat.Inquire && len(intent.SubjectWords(t.Content.Message)) < maybeVagueWords {
		g.Go(func() (err error) {
			before, err = a.lastQuestion(gctx, ref)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return query{}, err
	}
	q := query{webAsked: t.Content.WebSearch, tagged: len(tagged.Docs) > 0}
	free := strings.TrimSpace(tagged.TextWithout(t.Content.Message))
	if r.Action == chat.Audit {
		q.text, err = a.textUnderAudit(ctx, ref, r, free)
		return q, err
	}
	if q.docs, err = a.DocsByID(ctx, ref, r.DocIDs); err != nil {
		return query{}, err
	}
	free = intent.WithoutTalk(free)
	q.whole = free
	free = strings.TrimSpace(language.ReplaceNames(free, mention.Titles(q.docs), " ")) // these documents are searched anyway
	q.text = free
	edition := intent.EditionOf(q.whole, a.Time())
	if r.Action != chat.Inquire || len(edition.Words) == 0 && !intent.GoesOn(free) {
		return q, nil
	}
	if before == "" && len(intent.SubjectWords(t.Content.Message)) >= maybeVagueWords {
		if before, err = a.lastQuestion(ctx, ref); err != nil {
			return query{}, err
		}
	}
	if len(edition.Words) > 0 && before != "" {
		q.whole = edition.Of(before)
		q.text = strings.TrimSpace(language.ReplaceNames(q.whole, mention.Titles(q.docs), " "))
		return q, nil
	}
	q.text, q.whole = strings.TrimSpace(before+"\n"+free), strings.TrimSpace(before+"\n"+q.whole)
	return q, nil
}

// questionContext is the number of earlier messages in which the last question is looked
// for. The last turn may have several: its own questions and the answers to them.
const questionContext = 12

// maxChain is the number of messages before a vague follow-up that may be follow-ups, too.
const maxChain = 3

// lastQuestion returns the last message before the turn, in the person's words. Answers to
// questions, such as a button's label, do not count, nor do messages that only import
// something. When it is a vague follow-up itself, the messages before it come first.
func (a *Activities) lastQuestion(ctx context.Context, ref activities.TurnRef) (string, error) {
	recent, err := a.Recent(ctx, ref, questionContext)
	if err != nil {
		return "", err
	}
	var chain []string
	for i := len(recent) - 1; i >= 0 && len(chain) < maxChain; i-- {
		if !recent[i].OpensTurn() || intent.OnlyImports(recent[i].Content, a.ImportPlaces...) {
			continue
		}
		chain = append(chain, recent[i].Content)
		if !intent.GoesOn(recent[i].Content) && len(intent.EditionOf(recent[i].Content, a.Time()).Words) == 0 {
			break
		}
	}
	slices.Reverse(chain)
	return strings.Join(chain, "\n"), nil
}
