package documents

import (
	"context"
	"strings"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/documents/retrieval"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/llm"
)

// maxSearchWords bounds the words that a model adds to a search, in characters.
const maxSearchWords = 200

// keepOpinion stores what a model said about the search in a call that was made anyway:
// other words for what is asked, and whether the documents may have it.
func (a *Activities) keepOpinion(ctx context.Context, ref activities.TurnRef, words string, answerable llm.Answerable) error {
	var texts []db.Text
	if words = language.Truncate(strings.Join(strings.Fields(words), " "), maxSearchWords); words != "" {
		texts = append(texts, db.Text{Key: chat.TextSearchWords, Text: words})
	}
	if answerable == llm.Likely || answerable == llm.Unlikely {
		texts = append(texts, db.Text{Key: chat.TextAnswerable, Text: string(answerable)})
	}
	if len(texts) == 0 {
		return nil
	}
	return a.PutTexts(ctx, ref, texts...)
}

// withOpinion searches once more with the model's words, unless the person's words found
// the answer. When the scores are low but the model says that the documents may have the
// answer, the confidence is medium, and the person is not asked.
func (a *Activities) withOpinion(ctx context.Context, ref activities.TurnRef, r RetrieveRequest, q query, found retrieval.Selection) (retrieval.Selection, error) {
	if found.Confidence == chat.High || a.Model.Info().Offline {
		return found, nil
	}
	texts, err := a.Store.Texts(ctx, ref.Owner, ref.TurnID)
	if err != nil {
		return found, err
	}
	if words := texts[chat.TextSearchWords]; words != "" && r.Action == chat.Inquire {
		other, err := a.Search.Select(ctx, ref.Owner, r.Action, words, r.DocIDs, q.docs...)
		if err != nil {
			return found, err
		}
		found = retrieval.Merge(found, other)
	}
	opinion := llm.Answerable(texts[chat.TextAnswerable])
	if found.Confidence == chat.Low && len(found.Hits)+len(found.Weak) > 0 && opinion == llm.Likely {
		if len(found.Hits) == 0 {
			found.Hits = found.Weak
		}
		found.Confidence, found.Score = chat.Medium, max(found.Score, retrieval.MediumScore)
	}
	return found, nil
}
