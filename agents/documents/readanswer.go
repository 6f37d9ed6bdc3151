package documents

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/agents/documents/intent"
	"github.com/palaver-chat/palaver/agents/documents/mention"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/language"
)

// ReadAnswer resolves a person's answer: documents by mention, tag, id or name, and
// with AsText a text, which it stores.
func (a *Activities) ReadAnswer(ctx context.Context, ref activities.TurnRef, r AnswerRequest) (ReadAnswerResult, error) {
	out, err := a.readAnswer(ctx, ref, r)
	if err != nil {
		return ReadAnswerResult{}, a.Fail(ctx, ref, "read the answer", err)
	}
	return out, nil
}

// whole returns an answer with its stored text.
func (a *Activities) whole(ctx context.Context, ref activities.TurnRef, v chat.ResumeValue) (chat.ResumeValue, error) {
	if v.Ref == "" {
		return v, nil
	}
	texts, err := a.Store.Texts(ctx, ref.Owner, ref.TurnID)
	return v.Whole(texts), err
}

func (a *Activities) readAnswer(ctx context.Context, ref activities.TurnRef, r AnswerRequest) (_ ReadAnswerResult, err error) {
	if r.Value, err = a.whole(ctx, ref, r.Value); err != nil {
		return ReadAnswerResult{}, err
	}
	tagged, err := a.ReadTags(ctx, ref, r.Value.TipTap, r.Value.TaggedDocs, r.Value.TaggedSets)
	if err != nil {
		return ReadAnswerResult{}, err
	}
	out := ReadAnswerResult{IDs: tagged.IDs()}
	if r.Value.Type != chat.TextInput { // the value is an option
		return out, nil
	}
	text := strings.TrimSpace(tagged.TextWithout(r.Value.Text()))
	if text == "" {
		return out, nil
	}
	if uuid.Validate(text) == nil {
		found, err := a.DocsByID(ctx, ref, []string{text})
		if err != nil || len(found) > 0 {
			out.IDs = language.Distinct(append(out.IDs, mention.IDs(found)...))
			return out, err
		}
	}
	named, whole, err := a.named(ctx, ref.Owner, text, !r.AsText)
	if err != nil {
		return ReadAnswerResult{}, err
	}
	if r.AsText && !whole { // titles quoted in a text are not resolved
		if intent.OnlyMentions(text) && len(out.IDs) > 0 {
			return out, nil
		}
		out.Text = true
		return out, a.PutTexts(ctx, ref, db.Text{Key: chat.TextSource, Text: text})
	}
	out.IDs = language.Distinct(append(out.IDs, mention.IDs(named)...))
	if len(out.IDs) == 0 && r.Unknown != "" {
		out.Unknown = true
		return out, a.PutTexts(ctx, ref, db.Text{Key: r.Unknown, Text: mention.Quote([]string{text})})
	}
	return out, nil
}

// maxNameAnswer is the length, in characters, of the longest answer that is read for names.
const maxNameAnswer = 300

// named finds the documents that an answer names. whole reports that it is a name and
// nothing else; without parts, other answers name none.
func (a *Activities) named(ctx context.Context, owner, text string, parts bool) (_ []chat.Document, whole bool, err error) {
	visible, err := a.Store.VisibleDocuments(ctx, owner)
	if err != nil || utf8.RuneCountInString(text) > maxNameAnswer {
		return nil, false, err
	}
	found, whole := mention.Named(text, visible, a.Time())
	if !whole && !parts {
		return nil, false, nil
	}
	return found, whole, nil
}
