package activities

import (
	"context"
	"errors"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/palaver-chat/palaver/activities/tiptap"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/llm"
)

const (
	maxRegistry = 100 // entries of the registry that a model sees, the newest ones
	maxSharing  = 20  // documents offered because their title shares a word
	maxOthers   = 5   // documents offered because their title is like the last one spoken of
	maxNames    = 10  // names that are looked for
)

// Sources of a resolution.
const (
	sourceExplicit = "explicit"
	sourceInferred = "inferred"
	sourceFuzzy    = "fuzzy_match"
)

// ResolveDocs finds the documents that a message is about, in three stages:
// mentions and tags; one model call with as much context as it takes; names
// the model could not place, by likeness. Only ids that exist and that the owner
// may see leave it.
func (a *Activities) ResolveDocs(ctx context.Context, r DocsRequest) (Docs, error) {
	ctx, w := a.watch(ctx, r.TurnID)
	defer w.end()
	d, err := a.resolveDocs(ctx, r)
	if err != nil {
		return Docs{}, a.outcome(w, ctx, r.TurnRef, string(chat.NodeDocs), err)
	}
	return d, nil
}

// resolution is a message on its way through the stages.
type resolution struct {
	message     string
	instruction string // the message without tagged names and without a text to audit
	tags        tags
	registry    []chat.DocRef
	visible     []chat.Document
	known       []chat.DocRef // what a model may choose from
	verbatim    []chat.Document
}

func (a *Activities) resolveDocs(ctx context.Context, r DocsRequest) (Docs, error) {
	t, err := a.turn(ctx, r.TurnRef)
	if err != nil {
		return Docs{}, err
	}
	if r.Action == "" {
		r.Action = t.Content.Action
	}
	d, res, err := a.docsByRules(ctx, r, t)
	if err != nil || res == nil {
		return d, err
	}
	return a.infer(ctx, r, *res, d)
}

// docsByRules is the first stage. open is nil when it decides which documents are
// meant.
func (a *Activities) docsByRules(ctx context.Context, r DocsRequest, t chat.Turn) (_ Docs, open *resolution, err error) {
	res := resolution{message: t.Content.Message}
	g, gctx := errgroup.WithContext(ctx) // what most messages need is read at once
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
	free := res.tags.free(res.message)
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
		if d.HasText = enough(without(text, titlesOf(occurring(text, res.visible)), " ")); d.HasText {
			res.instruction = instruction
		}
	}
	res.candidates()
	if !res.needsModel() {
		return d, nil, nil
	}
	return d, &res, nil
}

// ResolveByRules decides what can be told of a message without a model: the
// action that it names, and its documents when everything is tagged. What it
// leaves open is for ResolveIntent and ResolveDocs.
func (a *Activities) ResolveByRules(ctx context.Context, ref TurnRef) (Ruled, error) {
	r, err := a.resolveByRules(ctx, ref)
	if err != nil {
		return Ruled{}, a.fail(ctx, ref, "resolve by rules", err)
	}
	return r, nil
}

func (a *Activities) resolveByRules(ctx context.Context, ref TurnRef) (r Ruled, err error) {
	t, err := a.turn(ctx, ref)
	if err != nil {
		return r, err
	}
	if t.Content.Action.Valid() {
		content, _ := tiptap.Read(t.Content.TipTap) // malformed: nothing is mentioned
		in, err := a.explicitIntent(ctx, t, content)
		if err != nil {
			return r, err
		}
		r.Intent = &in
	}
	d, open, err := a.docsByRules(ctx, DocsRequest{TurnRef: ref, Action: t.Content.Action}, t)
	if err == nil && open == nil {
		r.Docs = &d
	}
	return r, err
}

// candidates gathers what the message may mean: the registry, titles that stand
// in the message and titles that share words with it: one when it speaks of a
// document, else more.
func (r *resolution) candidates() {
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
	speaks := refers(r.instruction) || mayName(r.instruction) || asksForDocuments(r.instruction)
	add(sharing(r.instruction, r.visible, maxSharing, !speaks))
	if n := len(r.registry); n > 0 && points(r.instruction) { // "the other one": a version of what was spoken of
		add(sharing(r.registry[n-1].Title, r.visible, maxOthers, true))
	}
	add(r.tags.docs)
}

// needsModel reports whether rules cannot tell which documents are meant. They
// can when everything is tagged and the rest points nowhere, and when there is
// neither anything to choose from nor anything like a name.
func (r *resolution) needsModel() bool {
	if mayName(r.instruction) || len(r.verbatim) > 0 {
		return true
	}
	others := len(r.known) - len(r.tags.docs)
	if len(r.tags.docs) > 0 {
		return others > 0 && points(r.instruction)
	}
	return others > 0
}

// registryHit reports whether a title of the registry stands in the message:
// then the message is context enough, unless it points to another as well.
func (r *resolution) registryHit() bool {
	if points(without(r.instruction, titlesOf(r.verbatim), " ")) {
		return false
	}
	lower := strings.ToLower(r.message)
	return slices.ContainsFunc(r.registry, func(d chat.DocRef) bool {
		return d.Title != "" && strings.Contains(lower, strings.ToLower(d.Title))
	})
}

// infer is stages two and three.
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
		a.logOf(r.TurnRef).Warn("documents not understood", "error", err)
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
	m.model(found, out.Confidence, res)
	m.names(out.UnresolvedNames, res)
	m.overlooked(res)
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

// beside is visible for ids among which are tagged documents, read already.
func (a *Activities) beside(ctx context.Context, owner string, ids []string, tagged tags) ([]chat.Document, error) {
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

// merge brings what the stages found together.
type merge struct {
	docs      *Docs
	message   string
	suggested []chat.Document
	unknown   []string
}

// model takes a model's choice. A choice among several that it is not sure of,
// and a title that several documents bear, are for the person to decide.
func (m *merge) model(found []chat.Document, c chat.Confidence, res resolution) {
	switch c {
	case chat.High, chat.Medium:
	default:
		c = chat.Low
	}
	m.docs.Confidence = c
	if len(found) > 1 && c != chat.High {
		sure, open := told(res.instruction, found)
		for _, f := range sure {
			m.take(f, sourceInferred)
		}
		m.suggest(open)
		return
	}
	for _, f := range found {
		if twins := res.twins(f, found); len(twins) > 0 {
			m.suggest(append([]chat.Document{f}, twins...))
			continue
		}
		m.take(f, sourceInferred)
	}
}

// told parts documents into those that the message tells from the others, by a
// title or a word that only one of them has, and those it leaves open. A single
// one cannot be open: then all are.
func told(message string, docs []chat.Document) (sure, open []chat.Document) {
	for _, d := range docs {
		if place(message, d, docs) >= 0 {
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

// twins are other documents of the same title that may be meant as well: in the
// registry, when the chosen one is in it, else among all. A model that chose
// several of a title meant them.
func (r *resolution) twins(of chat.Document, chosen []chat.Document) []chat.Document {
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

// names looks for documents like the names that a model could not place.
func (m *merge) names(names []string, res resolution) {
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
		case distinct(name, res.instruction):
			m.unknown = append(m.unknown, name)
		}
	}
}

// overlooked takes a telling title that stands in the message though the model
// made nothing of it: small models miss what is plain.
func (m *merge) overlooked(res resolution) {
	if len(m.docs.IDs)+len(m.suggested)+len(m.unknown) > 0 {
		return
	}
	byName := map[string][]chat.Document{}
	for _, d := range res.verbatim {
		if name := fold(d.Title); telling(name) {
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

// finish settles the confidence: candidates make it medium, unknown names low,
// names found by likeness high.
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

// inOrderOfMention sorts documents by where the message speaks of them; of two
// in an audit, the first is audited. One without a place leaves all as they are.
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
		if at[d.ID] = place(message, d, docs); at[d.ID] < 0 {
			return ids, nil
		}
	}
	slices.SortStableFunc(docs, func(x, y chat.Document) int { return at[x.ID] - at[y.ID] })
	return docIDs(docs), nil
}

// maxQuotedName bounds a name as a question repeats it.
const maxQuotedName = 80

func quoteNames(names []string) string {
	var quotedNames []string
	for _, n := range names {
		n = strings.Join(strings.Fields(n), " ")
		quotedNames = append(quotedNames, `"`+cut(n, maxQuotedName)+`"`)
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
