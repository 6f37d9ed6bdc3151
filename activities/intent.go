package activities

import (
	"context"
	"errors"
	"slices"

	"github.com/palaver-chat/palaver/activities/tiptap"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
)

// contextMessages is how many earlier messages a second look takes in.
const contextMessages = 5

// ResolveIntent decides what to do with a message. An explicit action costs no
// model call. A model that cannot be understood leaves an inquiry of low
// confidence.
func (a *Activities) ResolveIntent(ctx context.Context, ref TurnRef) (Intent, error) {
	t, err := a.turn(ctx, ref)
	if err != nil {
		return Intent{}, a.fail(ctx, ref, string(chat.NodeIntent), err)
	}
	content, _ := tiptap.Read(t.Content.TipTap) // malformed: nothing is mentioned
	explicit, err := a.explicitIntent(ctx, t, content)
	if err != nil {
		return Intent{}, a.fail(ctx, ref, string(chat.NodeIntent), err)
	}
	if t.Content.Action.Valid() {
		return explicit, nil
	}

	ctx, w := a.watch(ctx, ref.TurnID)
	defer w.end()
	in, err := a.classify(ctx, ref, t, content)
	if err != nil {
		return Intent{}, a.outcome(w, ctx, ref, string(chat.NodeIntent), err)
	}
	in.WebSearch = in.WebSearch || explicit.WebSearch
	return in, nil
}

// explicitIntent is what the person chose and the words say without a model.
func (a *Activities) explicitIntent(ctx context.Context, t chat.Turn, content tiptap.Content) (Intent, error) {
	web, err := a.wantsWeb(ctx, t, content)
	return Intent{Action: t.Content.Action, Confidence: chat.High, WebSearch: web}, err
}

// wantsWeb is what the person and the words ask for. Years and terms in the
// names of documents ask for nothing.
func (a *Activities) wantsWeb(ctx context.Context, t chat.Turn, content tiptap.Content) (bool, error) {
	if t.Content.WebSearch {
		return true, nil
	}
	text := without(t.Content.Message, content.Labels(), " ")
	if !asksForNow(text, a.now()) {
		return false, nil
	}
	titles, err := a.titles(ctx, t.Owner)
	return asksForNow(without(text, titles, " "), a.now()), err
}

func (a *Activities) titles(ctx context.Context, owner string) ([]string, error) {
	docs, err := a.Store.VisibleDocuments(ctx, owner)
	var titles []string
	for _, d := range docs {
		titles = append(titles, d.Title)
	}
	return titles, err
}

// classify asks with the message alone, and when that leaves doubt once more
// with the messages before it.
func (a *Activities) classify(ctx context.Context, ref TurnRef, t chat.Turn, content tiptap.Content) (Intent, error) {
	answer, usage, err := a.askIntent(ctx, t, content, nil)
	if err != nil {
		return Intent{}, err
	}
	if answer.Confidence != chat.High {
		recent, err := a.Store.Recent(ctx, ref.Owner, ref.ThreadID, ref.Parent, contextMessages)
		if err != nil {
			return Intent{}, err
		}
		if len(recent) > 0 { // without any it would be the same question
			again, more, err := a.askIntent(ctx, t, content, recent)
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
		if asksOfTopic(t.Content.Message, append(titles, content.Labels()...)) {
			answer.Action = chat.Inquire
			answer.Actions = append([]chat.Action{chat.Inquire}, answer.Actions...)
		}
	}
	in := Intent{Action: answer.Action, Confidence: answer.Confidence, Multi: answer.MultiAction, WebSearch: answer.WebSearch, Usage: usage}
	if in.Multi || in.Confidence == chat.Low {
		in.Likely = likely(answer.Intent, t.Content.Message)
	}
	return in, nil
}

// intentAnswer is a model's answer, or what stands in for one.
type intentAnswer struct {
	llm.Intent
	understood bool
}

func (a *Activities) askIntent(ctx context.Context, t chat.Turn, content tiptap.Content, recent []chat.Message) (intentAnswer, chat.Usage, error) {
	fallback := intentAnswer{Intent: llm.Intent{Action: chat.Inquire, Confidence: chat.Low}}
	r := llm.Request{
		Task:     llm.TaskIntent,
		Messages: conversation(promptText("intent.md"), recent, t.Content.Message),
		Facts: llm.Facts{
			Message:  without(t.Content.Message, content.Labels(), " "),
			Recent:   asPrompt(recent),
			Explicit: append(slices.Clone(t.Content.TaggedDocs), content.IDs(tiptap.Document)...),
		},
		MaxTokens: 400,
	}
	var out llm.Intent
	usage, err := a.Model.Structured(ctx, r, llm.IntentSchema, &out)
	if errors.Is(err, llm.ErrUnparseable) {
		a.log().Warn("intent not understood", "turn", t.ID, "run", t.StreamRunID, "error", err)
		return fallback, usage, nil
	}
	if err != nil {
		return fallback, usage, err
	}
	if !out.Action.Valid() {
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

// asked are words that ask for an action.
var asked = map[chat.Action]map[string]bool{
	chat.Summarize: summaryWords,
	chat.Compare:   set("compare comparing comparison contrast differences difference versus vs"),
	chat.Audit:     set("audit auditing comply complies compliant compliance violate violates violation violations"),
	chat.Inquire:   set("what who when where why how which explain answer question"),
}

// likely are the actions that may be meant, the likeliest first, at least two:
// what the model listed, then what the words ask for, then the usual ones. Of
// several actions asked for at once only those are named.
func likely(answer llm.Intent, message string) []chat.Action {
	var out []chat.Action
	add := func(x chat.Action) {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	if !answer.MultiAction {
		add(answer.Action)
	}
	for _, x := range answer.Actions {
		add(x)
	}
	add(answer.Action)
	ws := words(message)
	for _, x := range []chat.Action{chat.Compare, chat.Audit, chat.Summarize, chat.Inquire} {
		if len(out) < 2 && slices.ContainsFunc(ws, func(w string) bool { return asked[x][w] }) {
			add(x)
		}
	}
	for _, x := range []chat.Action{chat.Inquire, chat.Summarize} {
		if len(out) < 2 {
			add(x)
		}
	}
	return out
}
