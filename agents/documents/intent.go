package documents

import (
	"context"
	"errors"
	"slices"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/agents/documents/intent"
	"github.com/palaver-chat/palaver/agents/documents/mention"
	"github.com/palaver-chat/palaver/agents/documents/prompt"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/tiptap"
	"github.com/palaver-chat/palaver/llm"
)

// contextMessages is the number of earlier messages in the second model call.
const contextMessages = 5

// IntentByRules returns the intent of a message if that needs no model: its action is explicit,
// or rules can tell that it asks for nothing. It returns nil when the model has to be asked.
func (a *Activities) IntentByRules(ctx context.Context, ref activities.TurnRef) (*Intent, error) {
	t, err := a.Turn(ctx, ref)
	if err != nil {
		return nil, a.Fail(ctx, ref, "intent by rules", err)
	}
	content, _ := tiptap.Read(t.Content.TipTap) // malformed: nothing is mentioned
	if isTalk(t, content) {
		return &Intent{Action: chat.Talk, Confidence: chat.High}, nil
	}
	if !t.Content.Action.Valid() {
		return nil, nil
	}
	web, err := a.wantsWeb(ctx, t, content)
	if err != nil {
		return nil, a.Fail(ctx, ref, "intent by rules", err)
	}
	return &Intent{
		Action: t.Content.Action, Confidence: chat.High, WebSearch: web,
	}, nil
}

// InferIntent infers what to do with a message. When the model's answer cannot be
// parsed, it is an inquiry of low confidence.
func (a *Activities) InferIntent(parent context.Context, ref activities.TurnRef) (Intent, error) {
	ctx, w := a.Watch(parent, ref.TurnID)
	defer w.End()
	in, err := a.inferIntent(ctx, ref)
	if err != nil {
		return Intent{}, a.EndError(w, ctx, ref, string(chat.NodeIntent), err)
	}
	return in, nil
}

func (a *Activities) inferIntent(ctx context.Context, ref activities.TurnRef) (Intent, error) {
	t, err := a.Turn(ctx, ref)
	if err != nil {
		return Intent{}, err
	}
	content, _ := tiptap.Read(t.Content.TipTap) // malformed: nothing is mentioned
	web, err := a.wantsWeb(ctx, t, content)
	if err != nil {
		return Intent{}, err
	}
	in, err := a.classify(ctx, ref, t, content)
	in.WebSearch = (in.WebSearch && a.webOn() || web) && !t.Content.NoWebSearch && in.Action != chat.Talk
	in.ComparesSubjects = !in.Multi && in.Action != chat.Talk && in.Action != chat.Inquire && intent.OfSubjects(t.Content.Message, in.Action)
	return in, err
}

// isTalk reports whether rules can tell that a message asks for nothing, or which documents
// there are (chat.Talk).
// A message with documents, pictures or a requested web search is more than small talk.
func isTalk(t chat.Turn, content tiptap.Content) bool {
	c := t.Content
	plain := c.Action == "" && !c.WebSearch && len(c.TaggedDocs)+len(c.TaggedSets)+len(c.Attachments)+len(content.Labels()) == 0
	return plain && (intent.IsTalk(c.Message) || intent.AsksLibrary(c.Message))
}

// wantsWeb reports whether the person asked for web search, or the message asks for
// current information and the web can be searched. So a person who has not asked for a
// search is not told that search is unavailable. Terms in the names of documents and in a
// text to audit do not count. A person can forbid it.
func (a *Activities) wantsWeb(ctx context.Context, t chat.Turn, content tiptap.Content) (bool, error) {
	if t.Content.WebSearch || t.Content.NoWebSearch {
		return t.Content.WebSearch, nil
	}
	text := language.ReplaceNames(t.Content.Message, content.Labels(), " ")
	if instruction, audited := intent.SplitAudit(text); audited != "" && (t.Content.Action == chat.Audit || intent.AsksForAudit(instruction)) {
		text = instruction
	}
	if !a.webOn() || !intent.AsksForNews(text) {
		return false, nil
	}
	titles, err := a.titles(ctx, t.Owner)
	return intent.AsksForNews(language.ReplaceNames(text, titles, " ")), err
}

func (a *Activities) titles(ctx context.Context, owner string) ([]string, error) {
	docs, err := a.Store.VisibleDocuments(ctx, owner)
	var titles []string
	for _, d := range docs {
		titles = append(titles, d.Title)
	}
	return titles, err
}

// classify asks the model with the message alone, and if it is not sure, once more
// with the messages before it.
func (a *Activities) classify(ctx context.Context, ref activities.TurnRef, t chat.Turn, content tiptap.Content) (Intent, error) {
	answer, usage, err := a.askIntent(ctx, ref, t, content, nil)
	if err != nil {
		return Intent{}, err
	}
	if err := a.keepOpinion(ctx, ref, answer.SearchWords, ""); err != nil {
		return Intent{}, err
	}
	if answer.Confidence != chat.High {
		recent, err := a.Recent(ctx, ref, contextMessages)
		if err != nil {
			return Intent{}, err
		}
		if len(recent) > 0 { // else it would be the same call again
			again, more, err := a.askIntent(ctx, ref, t, content, recent)
			if err != nil {
				return Intent{}, err
			}
			usage = usage.Add(more)
			if again.understood {
				again.WebSearch = again.WebSearch || answer.WebSearch
				answer = again
			}
		}
	}
	if answer.Action == chat.Summarize && !answer.MultiAction {
		titles, err := a.titles(ctx, ref.Owner)
		if err != nil {
			return Intent{}, err
		}
		if intent.AsksOfTopic(t.Content.Message, append(titles, content.Labels()...)) {
			answer.Action = chat.Inquire
			answer.Actions = append([]chat.Action{chat.Inquire}, answer.Actions...)
		}
	}
	if mentions := len(content.Labels()) > 0; answer.Action == chat.Inquire && (answer.Confidence == chat.Medium || mentions) && !a.Model.Info().Offline {
		onlyName, err := a.onlyNames(ctx, t, content)
		if err != nil {
			return Intent{}, err
		}
		if onlyName {
			answer.Confidence = chat.Low
		}
	}
	if answer.Action == chat.Talk {
		return talkOr(answer, t, content, usage), nil
	}
	in := Intent{Action: answer.Action, Confidence: answer.Confidence, Multi: answer.MultiAction, WebSearch: answer.WebSearch, Usage: usage}
	if in.Multi || in.Confidence == chat.Low {
		in.Likely = intent.Likely(answer.Intent, t.Content.Message)
	}
	return in, nil
}

// maxNameWords is the number of words of the longest message that may be only a name.
const maxNameWords = 12

// onlyNames reports whether the first message of a conversation is the title of a document, or
// mentions, and nothing else: it does not say what to do with them.
func (a *Activities) onlyNames(ctx context.Context, t chat.Turn, content tiptap.Content) (bool, error) {
	if t.Parent != "" && t.Parent != chat.RootCheckpoint || t.Content.WebSearch || len(t.Content.Attachments) > 0 {
		return false, nil
	}
	if labels := content.Labels(); len(labels) > 0 {
		return intent.OnlyMentions(language.ReplaceNames(t.Content.Message, labels, " ")), nil
	}
	if len(language.Words(t.Content.Message)) > maxNameWords {
		return false, nil
	}
	docs, err := a.Store.VisibleDocuments(ctx, t.Owner)
	if err != nil {
		return false, err
	}
	rest := language.ReplaceNames(t.Content.Message, mention.Titles(docs), " ")
	return rest != t.Content.Message && intent.OnlyMentions(rest), nil
}

// talkOr returns the intent of a message that a model takes for small talk. A message with
// documents, pictures or a requested web search is an inquiry.
func talkOr(answer intentAnswer, t chat.Turn, content tiptap.Content, usage chat.Usage) Intent {
	c := t.Content
	in := Intent{Action: chat.Talk, Confidence: chat.High, Usage: usage}
	if c.WebSearch || len(c.TaggedDocs)+len(c.TaggedSets)+len(c.Attachments)+len(content.Labels()) > 0 {
		in.Action, in.Confidence, in.WebSearch = chat.Inquire, chat.Medium, answer.WebSearch
	}
	return in
}

// intentAnswer is a model's answer, or the fallback for one.
type intentAnswer struct {
	llm.Intent
	understood bool
}

func (a *Activities) askIntent(ctx context.Context, ref activities.TurnRef, t chat.Turn, content tiptap.Content, recent []chat.Message) (intentAnswer, chat.Usage, error) {
	fallback := intentAnswer{Intent: llm.Intent{Action: chat.Inquire, Confidence: chat.Low}}
	var out llm.Intent
	usage, err := a.Model.Structured(ctx, prompt.Intent(t.Content, content, recent).By(ref.Model), llm.IntentSchema, &out)
	if errors.Is(err, llm.ErrUnparseable) {
		a.Logger().Warn("intent cannot be parsed; falling back to inquire", "turn", t.ID, "run", t.StreamRunID, "error", err)
		return fallback, usage, nil
	}
	if err != nil {
		return fallback, usage, err
	}
	if !out.Action.Valid() && out.Action != chat.Talk {
		return fallback, usage, nil
	}
	switch out.Confidence {
	case chat.High, chat.Medium, chat.Low:
	default:
		out.Confidence = chat.Low
	}
	out.Actions = slices.DeleteFunc(out.Actions, func(x chat.Action) bool { return !x.Valid() })
	return intentAnswer{out, true}, usage, nil
}
