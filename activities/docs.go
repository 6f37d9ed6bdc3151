package activities

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/palaver-chat/palaver/agents/documents/intent"
	"github.com/palaver-chat/palaver/agents/documents/mention"
	"github.com/palaver-chat/palaver/agents/documents/prompt"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/tiptap"
	"github.com/palaver-chat/palaver/llm"
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

// inferDocs finds the documents that a message is about, in three stages: mentions
// and tags; one model call; and fuzzy matching of names that the model could not
// resolve. It returns only ids that exist and that the owner may see.
func (a *Activities) inferDocs(ctx context.Context, r DocsRequest, t chat.Turn) (Docs, error) {
	if r.Action == "" {
		r.Action = t.Content.Action
	}
	d, open, err := a.docsByRules(ctx, r, t)
	if err != nil || open == nil {
		return d, err
	}
	return a.docsByModel(ctx, r, open, d.HasText)
}

// docsByRules is the first stage. open is nil when no model is needed.
func (a *Activities) docsByRules(ctx context.Context, r DocsRequest, t chat.Turn) (_ Docs, open *mention.Candidates, err error) {
	c, err := a.candidates(ctx, r, t)
	if err != nil {
		return Docs{}, nil, err
	}
	d := chosenDocs(c.Tagged())
	free := c.Tags.TextWithout(c.Message)
	if len(d.IDs) > 0 && intent.OnlyMentions(free) {
		return d, nil, nil
	}
	c.Instruction = free
	if r.Action == chat.Audit || intent.AsksForAudit(free) {
		instruction, text := intent.SplitAudit(free)
		named := mention.Occurring(text, c.Visible)
		d.HasText = text != "" && (len(named) == 0 || intent.HasText(language.ReplaceNames(text, mention.Titles(named), " ")))
		textNamesTarget := instruction == "" && len(named) > 0 && len(c.Tags.Docs) == 0
		if d.HasText && !textNamesTarget {
			c.Instruction = instruction
		}
	}
	c.Gather()
	if !c.NeedModel() {
		return d, nil, nil
	}
	return d, c, nil
}

// candidates reads the documents that the message may mean.
func (a *Activities) candidates(ctx context.Context, r DocsRequest, t chat.Turn) (*mention.Candidates, error) {
	c := mention.Candidates{Message: t.Content.Message, Now: a.now()}
	g, gctx := errgroup.WithContext(ctx) // most messages need both
	g.Go(func() (err error) {
		c.Visible, err = a.Store.VisibleDocuments(gctx, r.Owner)
		return err
	})
	g.Go(func() (err error) {
		c.Registry, err = a.Store.Registry(gctx, r.Owner, r.ThreadID, r.Parent)
		return err
	})
	err := g.Wait()
	if err == nil {
		c.Message, err = a.withCodedTitles(ctx, r.Owner, r.TurnID, c.Message, c.Visible)
	}
	if err == nil {
		c.Tags, err = a.readTagsAmong(ctx, r.Owner, t.Content.TipTap, t.Content.TaggedDocs, t.Content.TaggedSets, c.Visible)
	}
	return &c, err
}

func chosenDocs(c mention.Choice) Docs {
	return Docs{
		IDs: c.IDs, Source: c.Source, Confidence: c.Confidence, Processing: c.Processing,
		Suggested: c.Suggested, Unresolved: len(c.Unknown) > 0,
	}
}

// ResolveByRules resolves what needs no model: an explicit action, and the documents
// when all are tagged. The rest is left to Resolve.
//
// While a document that the message names is still processing, it fails with a retry,
// for at most documentWait: the question waits for the document.
func (a *Activities) ResolveByRules(ctx context.Context, ref TurnRef) (Resolved, error) {
	r, waits, err := a.resolveByRules(ctx, ref)
	if err == nil && waits {
		if err := waitWithin(ctx, documentWait, documentPoll, "resolve by rules"); err != nil {
			return Resolved{}, err
		}
	}
	if err != nil {
		return Resolved{}, a.fail(ctx, ref, "resolve by rules", err)
	}
	return r, nil
}

const (
	documentWait = 30 * time.Second // as long as for an import
	documentPoll = 500 * time.Millisecond
)

// resolveByRules also reports whether a document that is tagged, or whose title stands
// in the message, is still processing.
func (a *Activities) resolveByRules(ctx context.Context, ref TurnRef) (r Resolved, processing bool, err error) {
	t, err := a.turn(ctx, ref)
	if err != nil {
		return r, false, err
	}
	if content, _ := tiptap.Read(t.Content.TipTap); isTalk(t, content) {
		return Resolved{Intent: &Intent{Action: chat.Talk, Confidence: chat.High}, Docs: &Docs{Confidence: chat.High}}, false, nil
	}
	if r.Intent, err = a.intentByRules(ctx, t); err != nil {
		return r, false, err
	}
	d, open, err := a.docsByRules(ctx, DocsRequest{TurnRef: ref, Action: t.Content.Action}, t)
	if err == nil && open == nil {
		r.Docs = &d
	}
	return r, d.Processing || open != nil && namesProcessing(open), err
}

// namesProcessing reports whether the title of a document that is still processing
// stands in the message.
func namesProcessing(c *mention.Candidates) bool {
	unread := slices.DeleteFunc(slices.Clone(c.Visible), func(d chat.Document) bool { return d.Status != chat.DocProcessing })
	return len(mention.Occurring(c.Message, unread)) > 0
}

// docsByModel runs stages two and three.
func (a *Activities) docsByModel(ctx context.Context, r DocsRequest, c *mention.Candidates, hasText bool) (Docs, error) {
	answer, usage, err := a.askDocs(ctx, r, c)
	if err != nil {
		return Docs{}, err
	}
	if err := a.keepOpinion(ctx, r.TurnRef, answer.SearchWords, answer.Answerable); err != nil {
		return Docs{}, err
	}
	found, err := a.visible(ctx, r.Owner, answer.ResolvedIDs)
	if err != nil {
		return Docs{}, err
	}
	choice := c.Choose(found, answer)
	d := chosenDocs(choice)
	d.HasText, d.Called, d.Usage = hasText, true, usage
	if d.Source != mention.Explicit {
		if d.IDs, err = a.inOrderOfMention(ctx, r.Owner, c.Message, d.IDs); err != nil {
			return Docs{}, err
		}
	}
	if len(choice.Unknown) > 0 {
		err = a.putTexts(ctx, r.TurnRef, db.Text{Key: chat.TextUnresolved, Text: mention.Quote(choice.Unknown)})
	}
	return d, err
}

// askDocs asks the model which of the candidates are meant. When its answer cannot be
// parsed, they are the ones whose titles stand in the message.
func (a *Activities) askDocs(ctx context.Context, r DocsRequest, c *mention.Candidates) (answer llm.DocResolution, usage chat.Usage, err error) {
	var recent []chat.Message
	if !c.NamesRegistered() {
		if recent, err = a.recent(ctx, r.TurnRef, contextMessages); err != nil {
			return answer, usage, err
		}
	}
	usage, err = a.Model.Structured(ctx, prompt.Documents(r.Action, c, recent), llm.DocResolutionSchema, &answer)
	if errors.Is(err, llm.ErrUnparseable) {
		a.logOf(r.TurnRef).Warn("document resolution cannot be parsed; falling back to titles in the message", "error", err)
		return c.Fallback(), usage, nil
	}
	return answer, usage, err
}

// visible keeps the ids that exist and that owner may see.
func (a *Activities) visible(ctx context.Context, owner string, ids []string) ([]chat.Document, error) {
	if ids = language.Distinct(ids); len(ids) == 0 {
		return nil, nil
	}
	return a.Store.DocumentsByID(ctx, owner, ids)
}

// docsByID is visible, but it does not read the store when all ids are tagged documents.
func (a *Activities) docsByID(ctx context.Context, owner string, ids []string, tagged mention.Tags) ([]chat.Document, error) {
	known := map[string]chat.Document{}
	for _, d := range tagged.Docs {
		known[d.ID] = d
	}
	var docs []chat.Document
	for _, id := range language.Distinct(ids) {
		d, ok := known[id]
		if !ok {
			return a.visible(ctx, owner, ids)
		}
		docs = append(docs, d)
	}
	return docs, nil
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
	if mention.SortByPlace(message, docs) {
		return mention.IDs(docs), nil
	}
	return ids, nil
}
