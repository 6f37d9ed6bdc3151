package retrieval

import (
	"cmp"
	"context"
	"slices"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
)

// Budgets of one answer.
const (
	maxPassages = 40
	maxChars    = 48_000 // characters of all passages
	wholeChars  = 12_000 // characters of a document that is given whole
	broad       = 12     // passages when no document is named
	tooWeak     = 0.3    // with low confidence, passages that cover a smaller share of the question are left out
	maxRead     = 2_000  // passages of one document that are read to choose from
	maxDocs     = 80     // documents that get a share of the passages
)

// Selection is the passages for an answer.
type Selection struct {
	Hits       []chat.Hit
	Confidence chat.Confidence
	Score      float64    // 0 to 1; Confidence follows from it
	Processing bool       // a document in scope is not ready yet and was left out
	Unreadable bool       // a named document could not be read and was left out
	Weak       []chat.Hit // with low confidence: passages that were left out because they share too little with the question
	Partly     bool       // some documents were left out, because there are more than maxDocs
}

// Select picks the passages that an action may use. With docIDs it takes them from these
// documents: all passages of a short document, the best of a long one (for a summary also
// some from all parts of it), and for compare and audit a share of each document. Without
// docIDs it takes the best passages of all documents that owner may see. Hits of an inquiry
// are in order of rank, best first; those of other actions in the order of docIDs and of
// the text.
//
// known are the documents of docIDs that owner may see, if the caller has read them already.
//
// Confidence says how well the passages match what is asked. An inquiry into documents
// that are taken whole has at least medium confidence, unless they share no word with a
// question that has a subject. For the other actions see suitability.
func (s *Searcher) Select(ctx context.Context, owner string, action chat.Action, query string, docIDs []string, known ...chat.Document) (Selection, error) {
	if len(docIDs) == 0 {
		return s.selectAnywhere(ctx, owner, query)
	}
	docs := known
	if len(docs) == 0 {
		var err error
		if docs, err = s.Store.DocumentsByID(ctx, owner, docIDs); err != nil {
			return Selection{}, err
		}
	}
	var out Selection
	var ready, more []chat.Document
	for _, d := range docs {
		switch {
		case d.Status == chat.DocProcessing:
			out.Processing = true
		case d.Status == chat.DocFailed:
			out.Unreadable = true
		default:
			ready = append(ready, d)
		}
	}
	if len(ready) > maxDocs {
		var err error
		if ready, more, err = s.mostAbout(ctx, owner, query, ready); err != nil {
			return Selection{}, err
		}
	}
	if len(ready) == 0 {
		out.Confidence = chat.Low
		return out, nil
	}
	if action == chat.Inquire {
		return s.inquire(ctx, owner, query, ready, more, out)
	}
	out.Partly = len(more) > 0
	shares, err := s.shares(ctx, owner, action, query, ready)
	if err != nil {
		return Selection{}, err
	}
	for _, share := range shares {
		out.Hits = append(out.Hits, share.hits...)
	}
	out.Score, err = s.suitability(ctx, owner, action, query, ready, shares)
	out.Confidence = confidence(out.Score)
	return out, err
}

// mostAbout picks maxDocs documents: first those with the best passages for the query, then
// others in the order of docs. Both lists keep the order of docs.
func (s *Searcher) mostAbout(ctx context.Context, owner, query string, docs []chat.Document) (picked, others []chat.Document, err error) {
	var ids []string
	for _, d := range docs {
		ids = append(ids, d.ID)
	}
	hits, err := s.Search(ctx, owner, query, ids, maxPassages)
	if err != nil {
		return nil, nil, err
	}
	wanted := map[string]bool{}
	for _, h := range hits {
		wanted[h.DocID] = true
	}
	left := maxDocs - len(wanted)
	for _, d := range docs {
		if !wanted[d.ID] && left > 0 {
			wanted[d.ID] = true
			left--
		}
		if wanted[d.ID] {
			picked = append(picked, d)
		} else {
			others = append(others, d)
		}
	}
	return picked, others, nil
}

// selectAnywhere selects from all documents that owner may see. It does not report failed
// documents: a library may hold one for ever.
func (s *Searcher) selectAnywhere(ctx context.Context, owner, query string) (Selection, error) {
	var out Selection
	var q question
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		out.Hits, err = s.Search(gctx, owner, query, nil, broad)
		return err
	})
	g.Go(func() (err error) {
		q, err = s.question(gctx, owner, query)
		return err
	})
	g.Go(func() error {
		docs, err := s.Store.VisibleDocuments(gctx, owner)
		out.Processing = slices.ContainsFunc(docs, func(d chat.Document) bool { return d.Status == chat.DocProcessing })
		return err
	})
	if err := g.Wait(); err != nil {
		return Selection{}, err
	}
	q = q.inHits(out.Hits)
	out.Score = q.score(out.Hits)
	out.Confidence = confidence(out.Score)
	if out.Confidence == chat.Low { // leave out passages that share too little with the question
		all := out.Hits
		out.Hits = nil
		for _, h := range all {
			if q.share(language.TermsOf(h.Title+"\n"+h.Heading+"\n"+h.Text, h.Language)) < tooWeak {
				out.Weak = append(out.Weak, h)
			} else {
				out.Hits = append(out.Hits, h)
			}
		}
	}
	return out, nil
}

// inquire selects from named documents: first the best passages of docs and more, then the
// shares of docs, which for a short document are the rest of it.
func (s *Searcher) inquire(ctx context.Context, owner, query string, docs, more []chat.Document, out Selection) (Selection, error) {
	var ids []string
	for _, d := range slices.Concat(docs, more) {
		ids = append(ids, d.ID)
	}
	var ranked []chat.Hit
	var q question
	var shares []share
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		ranked, err = s.Search(gctx, owner, query, ids, maxPassages/2)
		return err
	})
	g.Go(func() (err error) {
		q, err = s.question(gctx, owner, query)
		return err
	})
	g.Go(func() (err error) {
		shares, err = s.shares(gctx, owner, chat.Inquire, query, docs)
		return err
	})
	if err := g.Wait(); err != nil {
		return Selection{}, err
	}
	about := q.withoutNames(docs)
	out.Score = about.score(ranked)
	out.Confidence = confidence(out.Score)
	whole := len(more) == 0
	b := newBudget(maxPassages, maxChars)
	for _, h := range ranked {
		b.take(h)
	}
	for _, share := range shares {
		whole = whole && share.whole
		for _, h := range share.hits {
			b.take(h)
		}
	}
	out.Hits = b.hits
	if whole && out.Confidence == chat.Low && len(out.Hits) > 0 && (about.vague() || q.vague() || about.matches(out.Hits)) {
		out.Confidence, out.Score = chat.Medium, max(out.Score, MediumScore)
	}
	return out, nil
}

// share is the passages that are taken from one document.
type share struct {
	hits  []chat.Hit // in the order of the text
	whole bool       // hits are all passages of the document
}

// shares reads the share of each document, several documents at a time.
func (s *Searcher) shares(ctx context.Context, owner string, action chat.Action, query string, docs []chat.Document) ([]share, error) {
	passages, chars := max(1, maxPassages/len(docs)), maxChars/len(docs)
	out := make([]share, len(docs))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(4)
	for i, d := range docs {
		g.Go(func() (err error) {
			out[i], err = s.share(ctx, owner, action, query, d, passages, chars)
			return err
		})
	}
	return out, g.Wait()
}

func (s *Searcher) share(ctx context.Context, owner string, action chat.Action, query string, d chat.Document, passages, chars int) (share, error) {
	if d.Chunks <= passages {
		all, err := s.Store.DocumentChunks(ctx, owner, d.ID, passages+1)
		if err != nil {
			return share{}, err
		}
		if len(all) <= passages && length(all) <= min(wholeChars, chars) {
			return share{all, true}, nil
		}
	}
	b := newBudget(passages, chars)
	if action != chat.Summarize || passages < 4 {
		if err := s.takeRanked(ctx, owner, query, d.ID, passages, b); err != nil {
			return share{}, err
		}
		if action == chat.Inquire { // the ranking of all documents is enough
			return share{hits: inOrder(b.hits)}, nil
		}
	} else if err := s.takeRanked(ctx, owner, query, d.ID, passages/4, b); err != nil {
		return share{}, err
	}
	if b.full() {
		return share{hits: inOrder(b.hits)}, nil
	}
	all, err := s.Store.DocumentChunks(ctx, owner, d.ID, maxRead)
	if err != nil {
		return share{}, err
	}
	for _, i := range spread(all, passages) {
		b.take(all[i])
	}
	return share{hits: inOrder(b.hits)}, nil
}

func (s *Searcher) takeRanked(ctx context.Context, owner, query, docID string, k int, b *budget) error {
	ranked, err := s.Search(ctx, owner, query, []string{docID}, k)
	for _, h := range ranked {
		b.take(h)
	}
	return err
}

// spread picks n passages from all parts of a document and returns their indexes: the first
// passages of its sections, then others, evenly in both cases.
func spread(all []chat.Hit, n int) []int {
	var starts, rest []int
	for i := range all {
		if i == 0 || all[i].Heading != all[i-1].Heading {
			starts = append(starts, i)
		} else {
			rest = append(rest, i)
		}
	}
	picked := evenly(starts, n)
	return append(picked, evenly(rest, n-len(picked))...)
}

func evenly(list []int, n int) []int {
	if n >= len(list) {
		return list
	}
	out := make([]int, 0, max(0, n))
	for i := range max(0, n) {
		out = append(out, list[i*len(list)/n])
	}
	return out
}

// budget collects different passages up to a number and a length.
type budget struct {
	hits     []chat.Hit
	seen     map[string]bool
	passages int
	chars    int
}

func newBudget(passages, chars int) *budget {
	return &budget{seen: map[string]bool{}, passages: passages, chars: chars}
}

func (b *budget) full() bool { return len(b.hits) >= b.passages || b.chars <= 0 }

// take adds h unless it is there already or the budget is spent. The first
// passage always fits.
func (b *budget) take(h chat.Hit) {
	n := utf8.RuneCountInString(h.Text)
	if b.seen[h.ID] || len(b.hits) >= b.passages || (n > b.chars && len(b.hits) > 0) {
		return
	}
	b.seen[h.ID] = true
	b.chars -= n
	b.hits = append(b.hits, h)
}

func inOrder(hits []chat.Hit) []chat.Hit {
	slices.SortStableFunc(hits, func(a, b chat.Hit) int { return cmp.Compare(a.Ordinal, b.Ordinal) })
	return hits
}

func length(hits []chat.Hit) int {
	n := 0
	for _, h := range hits {
		n += utf8.RuneCountInString(h.Text)
	}
	return n
}

// Merge joins the selections for a question as it was asked and as it was reworded. The
// confidence is that of the better selection, but it is high only if the question as it
// was asked has high confidence.
func Merge(asked, reworded Selection) Selection {
	out := asked
	out.Hits = fuse(asked.Hits, reworded.Hits)
	if n := max(len(asked.Hits), len(reworded.Hits)); len(out.Hits) > n {
		out.Hits = out.Hits[:n]
	}
	out.Weak = append(slices.Clone(asked.Weak), reworded.Weak...)
	out.Score = max(asked.Score, min(reworded.Score, belowHigh))
	out.Confidence = confidence(out.Score)
	out.Processing = asked.Processing || reworded.Processing
	return out
}

// Together joins the selections for the parts of a question: the best of each first, for a part that
// has too little its closest passages. The confidence is that of the part for which most was found.
func Together(parts []Selection) Selection {
	out := parts[0]
	b := newBudget(maxPassages, maxChars)
	var lists [][]chat.Hit
	longest := 0
	for _, p := range parts {
		list := p.Hits
		if len(list) == 0 {
			list = p.Weak[:min(len(p.Weak), chat.MaxClosest)]
		}
		lists, longest = append(lists, list), max(longest, len(list))
	}
	for i := range longest {
		for _, list := range lists {
			if i < len(list) {
				b.take(list[i])
			}
		}
	}
	out.Hits = b.hits
	for _, p := range parts[1:] {
		out.Weak = append(slices.Clone(out.Weak), p.Weak...)
		out.Processing, out.Unreadable, out.Partly = out.Processing || p.Processing, out.Unreadable || p.Unreadable, out.Partly || p.Partly
		if p.Score > out.Score {
			out.Score, out.Confidence = p.Score, p.Confidence
		}
	}
	return out
}

// Raise joins the selection from the documents that a question names with the one from all
// documents. The named ones come first, unless they have too little and others have more;
// widened reports that.
func Raise(named, all Selection) (_ Selection, widened bool) {
	out, rest := named, all.Hits
	if named.Confidence == chat.Low && all.Confidence != chat.Low {
		out.Hits, rest, widened = all.Hits, named.Hits, true
	} else if n := maxPassages - broad; len(out.Hits) > n {
		out.Hits = out.Hits[:n]
	}
	b := newBudget(maxPassages, maxChars)
	for _, h := range slices.Concat(out.Hits, rest) {
		b.take(h)
	}
	out.Hits, out.Weak = b.hits, append(slices.Clone(named.Weak), all.Weak...)
	out.Score, out.Processing = max(named.Score, all.Score), named.Processing || all.Processing
	if widened || all.Confidence == chat.High {
		out.Confidence = all.Confidence
	}
	return out, widened
}
