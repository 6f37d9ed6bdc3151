package activities

import (
	"context"
	"errors"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/llm"
)

const (
	maxRegistry      = 100 // newest entries of the registry in the prompt
	maxSharingWords  = 20  // documents offered because their title shares a word
	maxSimilarTitles = 5   // documents offered because their title is similar to that of the last one mentioned
	maxNames         = 10  // names from the model that are matched
)

// Sources of a resolution.
const (
	sourceExplicit = "explicit"
	sourceInferred = "inferred"
	sourceFuzzy    = "fuzzy_match"
)

// ResolveDocs is Resolve for the documents alone: when a person has chosen the
// action, and in threads of version 0.
func (a *Activities) ResolveDocs(ctx context.Context, r DocsRequest) (Docs, error) {
	found, err := a.Resolve(ctx, ResolveRequest{TurnRef: r.TurnRef, Docs: true, Action: r.Action})
	if err != nil {
		return Docs{}, err
	}
	return *found.Docs, nil
}

// resolution is the input of the stages that find a message's documents.
type resolution struct {
	message     string
	instruction string // the message without tagged names and without a text to audit
	tags        tags
	registry    []chat.DocRef
	visible     []chat.Document
	known       []chat.DocRef // what a model may choose from
	verbatim    []chat.Document
}

// inferDocs finds the documents that a message is about, in three stages: mentions
// and tags; one model call; and fuzzy matching of names that the model could not
// resolve. It returns only ids that exist and that the owner may see.
func (a *Activities) inferDocs(ctx context.Context, r DocsRequest, t chat.Turn) (Docs, error) {
	if r.Action == "" {
		r.Action = t.Content.Action
	}
	d, res, err := a.docsByRules(ctx, r, t)
	if err != nil || res == nil {
		return d, err
	}
	return a.infer(ctx, r, *res, d)
}

// docsByRules is the first stage. open is nil when no model is needed.
func (a *Activities) docsByRules(ctx context.Context, r DocsRequest, t chat.Turn) (_ Docs, open *resolution, err error) {
	res := resolution{message: t.Content.Message}
	g, gctx := errgroup.WithContext(ctx) // most messages need both
	g.Go(func() (err error) {
		res.visible, err = a.Store.VisibleDocuments(gctx, r.Owner)
		return err
	})
	g.Go(func() (err error) {
		res.registry, err = a.Store.Registry(gctx, r.Owner, r.ThreadID, r.Parent)
		return err
	})
	if err := g.Wait(); err != nil {
		return Docs{}, nil, err
	}
	res.tags, err = a.readTagsAmong(ctx, r.Owner, t.Content.TipTap, t.Content.TaggedDocs, t.Content.TaggedSets, res.visible)
	if err != nil {
		return Docs{}, nil, err
	}
	free := res.tags.textWithoutTags(res.message)
	d := Docs{IDs: res.tags.ids(), Confidence: chat.High, Processing: processing(res.tags.docs)}
	if len(d.IDs) > 0 {
		d.Source = sourceExplicit
		if onlyConnecting(free) {
			return d, nil, nil
		}
	}

	res.instruction = free
	if r.Action == chat.Audit || asksForAudit(free) {
		instruction, text := auditText(free)
		if d.HasText = hasOwnText(replaceNames(text, titlesOf(occurring(text, res.visible)), " ")); d.HasText {
			res.instruction = instruction
		}
	}
	res.gatherCandidates()
	if !res.needsModel() {
		return d, nil, nil
	}
	return d, &res, nil
}

// ResolveByRules resolves what needs no model: an explicit action, and the documents
// when all are tagged. The rest is left to Resolve.
func (a *Activities) ResolveByRules(ctx context.Context, ref TurnRef) (Resolved, error) {
	r, err := a.resolveByRules(ctx, ref)
	if err != nil {
		return Resolved{}, a.fail(ctx, ref, "resolve by rules", err)
	}
	return r, nil
}

func (a *Activities) resolveByRules(ctx context.Context, ref TurnRef) (r Resolved, err error) {
	t, err := a.turn(ctx, ref)
	if err != nil {
		return r, err
	}
	if r.Intent, err = a.intentByRules(ctx, t); err != nil {
		return r, err
	}
	d, open, err := a.docsByRules(ctx, DocsRequest{TurnRef: ref, Action: t.Content.Action}, t)
	if err == nil && open == nil {
		r.Docs = &d
	}
	return r, err
}

// gatherCandidates gathers what the message may mean: the registry, titles that stand
// in the message and titles that share words with it: one when it speaks of a
// document, else more.
func (r *resolution) gatherCandidates() {
	if n := len(r.registry); n > maxRegistry {
		r.registry = r.registry[n-maxRegistry:]
	}
	r.verbatim = occurring(r.instruction, r.visible)
	r.known = slices.Clone(r.registry)
	add := func(docs []chat.Document) {
		for _, d := range docs {
			if !slices.ContainsFunc(r.known, func(k chat.DocRef) bool { return k.ID == d.ID }) {
				r.known = append(r.known, chat.DocRef{ID: d.ID, Title: d.Title})
			}
		}
	}
	add(r.verbatim)
	speaks := mentionsADocument(r.instruction) || mayName(r.instruction) || asksForDocuments(r.instruction)
	add(sharingWords(r.instruction, r.visible, maxSharingWords, !speaks))
	if n := len(r.registry); n > 0 && refersBack(r.instruction) { // "the other one": a version of what was spoken of
		add(sharingWords(r.registry[n-1].Title, r.visible, maxSimilarTitles, true))
	}
	add(r.tags.docs)
}

// needsModel reports whether rules cannot tell which documents are meant. Rules
// suffice when everything is tagged and the rest of the message refers to nothing
// before it, and when there are neither candidates nor anything like a name.
func (r *resolution) needsModel() bool {
	if mayName(r.instruction) || len(r.verbatim) > 0 {
		return true
	}
	others := len(r.known) - len(r.tags.docs)
	if len(r.tags.docs) > 0 {
		return others > 0 && refersBack(r.instruction)
	}
	return others > 0
}

// registryHit reports whether the message names a document of the registry, and
// refers to no other: then the model needs no earlier messages.
func (r *resolution) registryHit() bool {
	if refersBack(replaceNames(r.instruction, titlesOf(r.verbatim), " ")) {
		return false
	}
	lower := strings.ToLower(r.message)
	return slices.ContainsFunc(r.registry, func(d chat.DocRef) bool {
		return d.Title != "" && strings.Contains(lower, strings.ToLower(d.Title))
	})
}

// infer runs stages two and three.
func (a *Activities) infer(ctx context.Context, r DocsRequest, res resolution, d Docs) (Docs, error) {
	var recent []chat.Message
	if !res.registryHit() {
		var err error
		if recent, err = a.Store.Recent(ctx, r.Owner, r.ThreadID, r.Parent, contextMessages); err != nil {
			return Docs{}, err
		}
	}
	var out llm.DocResolution
	usage, err := a.Model.Structured(ctx, docsPrompt(r.Action, res, recent), llm.DocResolutionSchema, &out)
	d.Called, d.Usage = true, usage
	switch {
	case errors.Is(err, llm.ErrUnparseable):
		a.logOf(r.TurnRef).Warn("document resolution cannot be parsed; falling back to titles in the message", "error", err)
		out = llm.DocResolution{ResolvedIDs: docIDs(res.verbatim), Confidence: chat.High}
		if len(res.verbatim) == 0 {
			out.Confidence = chat.Low
		}
	case err != nil:
		return Docs{}, err
	}

	found, err := a.visible(ctx, r.Owner, out.ResolvedIDs)
	if err != nil {
		return Docs{}, err
	}
	found = slices.DeleteFunc(found, func(x chat.Document) bool { return slices.Contains(d.IDs, x.ID) })
	m := merge{docs: &d, message: res.message}
	m.takeModelChoice(found, out.Confidence, res)
	m.takeNames(out.UnresolvedNames, res)
	m.takeVerbatimTitles(res)
	m.finish()
	if d.Source != sourceExplicit {
		if d.IDs, err = a.inOrderOfMention(ctx, r.Owner, res.message, d.IDs); err != nil {
			return Docs{}, err
		}
	}
	if len(m.unknown) > 0 {
		if err := a.putTexts(ctx, r.TurnRef, db.Text{Key: chat.TextUnresolved, Text: quoteNames(m.unknown)}); err != nil {
			return Docs{}, err
		}
	}
	return d, nil
}

// visible keeps the ids that exist and that owner may see.
func (a *Activities) visible(ctx context.Context, owner string, ids []string) ([]chat.Document, error) {
	if ids = unique(ids); len(ids) == 0 {
		return nil, nil
	}
	return a.Store.DocumentsByID(ctx, owner, ids)
}

// docsByID is visible, but reads nothing when all ids are among the tagged documents.
func (a *Activities) docsByID(ctx context.Context, owner string, ids []string, tagged tags) ([]chat.Document, error) {
	known := map[string]chat.Document{}
	for _, d := range tagged.docs {
		known[d.ID] = d
	}
	var docs []chat.Document
	for _, id := range unique(ids) {
		d, ok := known[id]
		if !ok {
			return a.visible(ctx, owner, ids)
		}
		docs = append(docs, d)
	}
	return docs, nil
}

// merge combines the results of the stages.
type merge struct {
	docs      *Docs
	message   string
	suggested []chat.Document
	unknown   []string
}

// takeModelChoice takes the documents that a model chose. Several of which it is not
// sure, and documents that share a title, become suggestions for the person.
func (m *merge) takeModelChoice(found []chat.Document, c chat.Confidence, res resolution) {
	switch c {
	case chat.High, chat.Medium:
	default:
		c = chat.Low
	}
	m.docs.Confidence = c
	if len(found) > 1 && c != chat.High {
		sure, open := splitByMention(res.instruction, found)
		for _, f := range sure {
			m.take(f, sourceInferred)
		}
		m.suggest(open)
		return
	}
	for _, f := range found {
		if twins := res.sameTitle(f, found); len(twins) > 0 {
			m.suggest(append([]chat.Document{f}, twins...))
			continue
		}
		m.take(f, sourceInferred)
	}
}

// splitByMention splits documents into those that the message identifies, by a title
// or a word that only one of them has, and the open ones. When only one would be
// open, all are.
func splitByMention(message string, docs []chat.Document) (sure, open []chat.Document) {
	for _, d := range docs {
		if mentionIndex(message, d, docs) >= 0 {
			sure = append(sure, d)
		} else {
			open = append(open, d)
		}
	}
	if len(open) < 2 {
		return nil, docs
	}
	return sure, open
}

// sameTitle are other documents of the same title that may be meant, too: from the
// registry, when the chosen one is in it, else from all. There are none when the
// model chose several of the title, or one is tagged.
func (r *resolution) sameTitle(of chat.Document, chosen []chat.Document) []chat.Document {
	inRegistry := func(id string) bool {
		return slices.ContainsFunc(r.registry, func(k chat.DocRef) bool { return k.ID == id })
	}
	var out []chat.Document
	for _, d := range r.visible {
		same := d.ID != of.ID && fold(d.Title) == fold(of.Title)
		if same && (!inRegistry(of.ID) || inRegistry(d.ID)) {
			if slices.ContainsFunc(chosen, func(c chat.Document) bool { return c.ID == d.ID }) ||
				slices.ContainsFunc(r.tags.docs, func(c chat.Document) bool { return c.ID == d.ID }) {
				return nil
			}
			out = append(out, d)
		}
	}
	return out
}

// takeNames matches the names that a model could not resolve.
func (m *merge) takeNames(names []string, res resolution) {
	for _, name := range names[:min(len(names), maxNames)] {
		found := closest(name, res.visible)
		if len(found) == 0 {
			found = slices.DeleteFunc(slices.Clone(res.verbatim), func(d chat.Document) bool { return !overlaps(res.instruction, name, d.Title) })
		}
		switch {
		case len(found) == 1:
			m.take(found[0], sourceFuzzy)
		case len(found) > 1:
			m.suggest(found)
		case isPlausibleName(name, res.instruction):
			m.unknown = append(m.unknown, name)
		}
	}
}

// takeVerbatimTitles takes a distinctive title that the message contains when the
// model found nothing. Small models miss such titles.
func (m *merge) takeVerbatimTitles(res resolution) {
	if len(m.docs.IDs)+len(m.suggested)+len(m.unknown) > 0 {
		return
	}
	byName := map[string][]chat.Document{}
	for _, d := range res.verbatim {
		if name := fold(d.Title); isDistinctive(name) {
			byName[name] = append(byName[name], d)
		}
	}
	for _, d := range res.verbatim {
		switch same := byName[fold(d.Title)]; {
		case len(same) == 1:
			m.take(d, sourceInferred)
			m.docs.Confidence = chat.High
		case len(same) > 1:
			m.suggest(same)
		}
	}
}

func (m *merge) take(d chat.Document, source string) {
	if slices.Contains(m.docs.IDs, d.ID) {
		return
	}
	m.docs.IDs = append(m.docs.IDs, d.ID)
	m.docs.Processing = m.docs.Processing || d.Status == chat.DocProcessing
	if m.docs.Source != sourceFuzzy {
		m.docs.Source = source
	}
}

func (m *merge) suggest(docs []chat.Document) {
	for _, d := range docs {
		if !slices.ContainsFunc(m.suggested, func(s chat.Document) bool { return s.ID == d.ID }) {
			m.suggested = append(m.suggested, d)
		}
	}
}

// finish sets the confidence: medium for suggestions, low for unknown names, high
// for fuzzy matches.
func (m *merge) finish() {
	m.suggested = slices.DeleteFunc(m.suggested, func(s chat.Document) bool { return slices.Contains(m.docs.IDs, s.ID) })
	switch {
	case len(m.suggested) > 1:
		m.docs.Suggested = docIDs(m.suggested)
		m.docs.Confidence = chat.Medium
	case len(m.suggested) == 1:
		m.take(m.suggested[0], sourceInferred)
	case len(m.unknown) == 0 && m.docs.Source == sourceFuzzy:
		m.docs.Confidence = chat.High
	}
	if len(m.unknown) > 0 {
		m.docs.Unresolved = true
		if len(m.docs.Suggested) == 0 {
			m.docs.Confidence = chat.Low
		}
	}
}

// inOrderOfMention sorts documents by where the message first mentions them: of two
// in an audit, the first one is audited. If one is not mentioned, the order stays.
func (a *Activities) inOrderOfMention(ctx context.Context, owner, message string, ids []string) ([]string, error) {
	if len(ids) < 2 {
		return ids, nil
	}
	docs, err := a.visible(ctx, owner, ids)
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	for _, d := range docs {
		if at[d.ID] = mentionIndex(message, d, docs); at[d.ID] < 0 {
			return ids, nil
		}
	}
	slices.SortStableFunc(docs, func(x, y chat.Document) int { return at[x.ID] - at[y.ID] })
	return docIDs(docs), nil
}

// maxQuotedName bounds a name that a question quotes, in characters.
const maxQuotedName = 80

func quoteNames(names []string) string {
	var quotedNames []string
	for _, n := range names {
		n = strings.Join(strings.Fields(n), " ")
		quotedNames = append(quotedNames, `"`+truncate(n, maxQuotedName)+`"`)
	}
	return strings.Join(unique(quotedNames), ", ")
}

func titlesOf(docs []chat.Document) []string {
	var titles []string
	for _, d := range docs {
		titles = append(titles, spellings(d.Title)...)
	}
	return titles
}
