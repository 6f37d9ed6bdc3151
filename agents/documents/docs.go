package documents

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/agents/documents/intent"
	"github.com/palaver-chat/palaver/agents/documents/mention"
	"github.com/palaver-chat/palaver/agents/documents/prompt"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/llm"
)

// DocsByRules finds the documents that a message means if that needs no model: all are tagged,
// or none can be meant. It returns nil when the model has to be asked.
//
// While a document that the message names is still processing, it fails with a retry,
// for at most activities.TaggedWait: the question waits for the document.
func (a *Activities) DocsByRules(ctx context.Context, ref activities.TurnRef) (*Docs, error) {
	d, processing, err := a.docsOrNil(ctx, ref)
	if err == nil && processing {
		if err := activities.WaitWithin(ctx, activities.TaggedWait, activities.TaggedPoll, "documents by rules"); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, a.Fail(ctx, ref, "documents by rules", err)
	}
	return d, nil
}

// docsOrNil also reports whether a document that is tagged, or whose title stands in the
// message, is still processing.
func (a *Activities) docsOrNil(ctx context.Context, ref activities.TurnRef) (_ *Docs, processing bool, err error) {
	t, err := a.Turn(ctx, ref)
	if err != nil {
		return nil, false, err
	}
	d, open, err := a.docsByRules(ctx, ref, t.Content.Action, t)
	if open != nil && !namesProcessing(open) {
		a.PutAside(ref, docsAside, &ruleFindings{t.Content.Action, d, open})
	}
	if err != nil || open != nil {
		return nil, open != nil && namesProcessing(open), err
	}
	return &d, d.Processing, nil
}

// ruleFindings is what the rules have found about a message whose documents a model has to find.
type ruleFindings struct {
	action chat.Action
	docs   Docs
	open   *mention.Candidates
}

// docsAside is the name of a ruled that was put aside.
const docsAside = "docs"

// namesProcessing reports whether a document that is still processing may be meant.
func namesProcessing(c *mention.Candidates) bool {
	return slices.ContainsFunc(c.Visible, func(d chat.Document) bool {
		return d.Status == chat.DocProcessing && (slices.Contains(c.Tags.IDs(), d.ID) || slices.Contains(c.Found.IDs, d.ID) || slices.Contains(c.Found.Open, d.ID))
	})
}

// InferDocs finds the documents that a message is about, in three stages: mentions
// and tags; one model call; and fuzzy matching of names that the model could not
// resolve. It returns only ids that exist and that the owner may see. action is empty
// while it is not known.
func (a *Activities) InferDocs(parent context.Context, ref activities.TurnRef, action chat.Action) (Docs, error) {
	ctx, w := a.Watch(parent, ref.TurnID)
	defer w.End()
	d, err := a.inferDocs(ctx, ref, action)
	if err != nil {
		return Docs{}, a.EndError(w, ctx, ref, string(chat.NodeDocs), err)
	}
	return d, nil
}

func (a *Activities) inferDocs(ctx context.Context, ref activities.TurnRef, action chat.Action) (Docs, error) {
	t, err := a.Turn(ctx, ref)
	if err != nil {
		return Docs{}, err
	}
	if known, is := a.TakeAside(ref, docsAside).(*ruleFindings); is && known.action == cmp.Or(action, t.Content.Action) {
		return a.docsByModel(ctx, ref, known.action, known.open, known.docs.HasText)
	}
	d, open, err := a.docsByRules(ctx, ref, cmp.Or(action, t.Content.Action), t)
	if err != nil || open == nil {
		return d, err
	}
	return a.docsByModel(ctx, ref, cmp.Or(action, t.Content.Action), open, d.HasText)
}

// docsByRules is the first stage. open is nil when no model is needed.
func (a *Activities) docsByRules(ctx context.Context, ref activities.TurnRef, action chat.Action, t chat.Turn) (_ Docs, open *mention.Candidates, err error) {
	c, err := a.candidates(ctx, ref, t)
	if err != nil {
		return Docs{}, nil, err
	}
	d := chosenDocs(c.Tagged())
	free := c.Tags.TextWithout(c.Message)
	c.Instruction, c.Action = free, action
	if len(d.IDs) > 0 && intent.OnlyMentions(free) {
		d, err = a.withRules(ctx, ref, action, c, d)
		return d, nil, err
	}
	if action == chat.Audit || intent.AsksForAudit(free) {
		instruction, text := intent.SplitAudit(free)
		named := mention.Occurring(text, c.Visible)
		d.HasText = text != "" && (len(named) == 0 || intent.HasText(language.ReplaceNames(text, mention.Titles(named), " ")))
		textNamesTarget := instruction == "" && len(named) > 0 && len(c.Tags.Docs) == 0
		if d.HasText && !textNamesTarget {
			c.Instruction, c.Pasted = instruction, true
		}
	}
	c.Gather()
	a.RememberAmong(ref, c.Found.IDs, c.Visible)
	if !c.NeedModel() {
		d.Offered = c.Offer(d.IDs)
		d, err = a.withRules(ctx, ref, action, c, d)
		return d, nil, err
	}
	return d, c, nil
}

// maxRuleDocs is the number of documents that a mail is audited against when the message names none.
const maxRuleDocs = 5

// withRules adds to a mail that is to be audited the documents that it touches most. A mail is a
// text to audit, unless the message says that something is to be audited against it.
func (a *Activities) withRules(ctx context.Context, ref activities.TurnRef, action chat.Action, c *mention.Candidates, d Docs) (Docs, error) {
	if len(d.IDs) != 1 || d.HasText || d.Unresolved || len(d.Suggested) > 0 || !intent.Auditing(c.Instruction, action) || intent.NamesTarget(c.Instruction) {
		return d, nil
	}
	named, err := a.DocsByID(ctx, ref, d.IDs)
	if err != nil || len(named) == 0 || !named[0].Mail() || named[0].Status != chat.DocReady {
		return d, err
	}
	others := slices.DeleteFunc(mention.IDs(c.Visible), func(id string) bool { return id == d.IDs[0] })
	if len(others) == 0 {
		return d, nil
	}
	text, err := a.Store.DocumentText(ctx, ref.Owner, d.IDs[0])
	if err != nil {
		return d, err
	}
	found, err := a.Search.Select(ctx, ref.Owner, chat.Inquire, text, others)
	for _, h := range found.Hits {
		if len(d.IDs) <= maxRuleDocs && !slices.Contains(d.IDs, h.DocID) {
			d.IDs = append(d.IDs, h.DocID)
		}
	}
	return d, err
}

// candidates reads the documents that the message may mean.
func (a *Activities) candidates(ctx context.Context, ref activities.TurnRef, t chat.Turn) (*mention.Candidates, error) {
	c := mention.Candidates{Message: t.Content.Message, Now: a.Time()}
	var err error
	if c.Visible, err = a.Store.VisibleDocuments(ctx, ref.Owner); err != nil {
		return nil, err
	}
	if c.Registry, err = a.RegistryAmong(ctx, ref, c.Visible); err == nil {
		c.Tags, err = a.ReadTagsAmong(ctx, ref, t.Content.TipTap, t.Content.TaggedDocs, t.Content.TaggedSets, c.Visible)
	}
	return &c, err
}

func chosenDocs(c mention.Choice) Docs {
	return Docs{
		IDs: c.IDs, Source: c.Source, Confidence: c.Confidence, Sure: c.Sure, Processing: c.Processing,
		Suggested: c.Suggested, Unresolved: len(c.Unknown) > 0,
	}
}

// docsByModel runs stages two and three. Without a model, the rules decide.
func (a *Activities) docsByModel(ctx context.Context, ref activities.TurnRef, action chat.Action, c *mention.Candidates, hasText bool) (Docs, error) {
	var choice mention.Choice
	var usage chat.Usage
	if a.Model.Info().Offline {
		choice = c.ByRules()
	} else {
		answer, used, err := a.askDocs(ctx, ref, action, c)
		if err != nil {
			return Docs{}, err
		}
		if err := a.keepOpinion(ctx, ref, answer.SearchWords, answer.Answerable); err != nil {
			return Docs{}, err
		}
		found, err := a.DocsByID(ctx, ref, answer.ResolvedIDs)
		if err != nil {
			return Docs{}, err
		}
		choice, usage = c.Choose(mention.IDs(found), answer), used
	}
	d := chosenDocs(choice)
	d.HasText, d.Called, d.Usage = hasText, true, usage
	if len(d.IDs) < 2 {
		d.Offered = c.Offer(d.IDs)
	}
	if len(choice.Unknown) == 0 {
		return a.withRules(ctx, ref, action, c, d)
	}
	names := mention.Quote(choice.Unknown)
	texts := activities.CodedText(chat.TextNotFound, messages.DocumentsUnknown.With(messages.Params{"names": names}))
	return d, a.PutTexts(ctx, ref, append(texts, db.Text{Key: chat.TextUnresolved, Text: names})...)
}

// askDocs asks the model which of the candidates are meant. When its answer cannot be
// parsed, they are the ones that the rules found.
func (a *Activities) askDocs(ctx context.Context, ref activities.TurnRef, action chat.Action, c *mention.Candidates) (answer llm.DocResolution, usage chat.Usage, err error) {
	var recent []chat.Message
	if !c.NamesRegistered() {
		if recent, err = a.Recent(ctx, ref, contextMessages); err != nil {
			return answer, usage, err
		}
	}
	usage, err = a.Model.Structured(ctx, prompt.Documents(action, c, recent).By(ref.Model), llm.DocResolutionSchema, &answer)
	if errors.Is(err, llm.ErrUnparseable) {
		a.LogOf(ref).Warn("document resolution cannot be parsed; falling back to rules", "error", err)
		return llm.DocResolution{Confidence: chat.Low}, usage, nil
	}
	return answer, usage, err
}
