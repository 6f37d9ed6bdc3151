package documents

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/agents/documents/prompt"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/llm"
)

// maxWebQuery bounds a search query, in characters.
const maxWebQuery = 300

// WebConfigured reports whether web search is configured.
func (a *Activities) WebConfigured(context.Context, activities.TurnRef) (bool, error) {
	return a.webOn(), nil
}

func (a *Activities) webOn() bool { return a.Web != nil && a.Web.Configured() }

// WordWebQuery has a model write the search query and stores it as a text of the
// turn. When the answer cannot be parsed, the query is the person's message. It does
// nothing when web search is not configured.
func (a *Activities) WordWebQuery(ctx context.Context, ref activities.TurnRef, docIDs []string) (WebQuery, error) {
	if !a.webOn() {
		return WebQuery{}, nil
	}
	ctx, w := a.Watch(ctx, ref.TurnID)
	defer w.End()
	usage, err := a.wordWebQuery(ctx, ref, docIDs)
	return WebQuery{usage}, a.EndError(w, ctx, ref, string(llm.TaskWebQuery), err)
}

func (a *Activities) wordWebQuery(ctx context.Context, ref activities.TurnRef, docIDs []string) (chat.Usage, error) {
	t, err := a.Turn(ctx, ref)
	if err != nil || t.Content.NoWebSearch {
		return chat.Usage{}, err
	}
	docs, err := a.DocsByID(ctx, ref, docIDs)
	if err != nil {
		return chat.Usage{}, err
	}
	profile, err := a.Profile(ctx, ref)
	if err != nil {
		return chat.Usage{}, err
	}
	var out llm.WebQuery
	usage, err := a.Model.Structured(ctx, prompt.WebQuery(t.Content, docs, profile, a.Time()).By(ref.Model), llm.WebQuerySchema, &out)
	if err != nil && !errors.Is(err, llm.ErrUnparseable) {
		return usage, err
	}
	query := oneLine(out.Query)
	if query == "" {
		query = oneLine(t.Content.Message)
	}
	return usage, a.PutTexts(ctx, ref, db.Text{Key: chat.TextWebQuery, Text: query})
}

func oneLine(s string) string {
	return language.Truncate(strings.Join(strings.Fields(s), " "), maxWebQuery)
}

// SearchWeb searches with the turn's query and stores the pages as a text of the
// turn. A failed search is a result, not an error: the answer is written without it.
func (a *Activities) SearchWeb(ctx context.Context, ref activities.TurnRef) (WebResult, error) {
	if !a.webOn() {
		return WebResult{Off: true}, nil
	}
	ctx, w := a.Watch(ctx, ref.TurnID)
	defer w.End()
	result, err := a.searchWeb(ctx, ref)
	return result, a.EndError(w, ctx, ref, string(chat.NodeWebSearch), err)
}

func (a *Activities) searchWeb(ctx context.Context, ref activities.TurnRef) (WebResult, error) {
	if t, err := a.Turn(ctx, ref); err != nil || t.Content.NoWebSearch {
		return WebResult{}, err
	}
	texts, err := a.Store.Texts(ctx, ref.Owner, ref.TurnID)
	if err != nil {
		return WebResult{}, err
	}
	query := texts[chat.TextWebQuery]
	if query == "" {
		return WebResult{Failed: true}, nil
	}
	pages, err := a.Web.Search(ctx, query)
	if ctx.Err() != nil {
		return WebResult{}, ctx.Err()
	}
	if err != nil {
		a.LogOf(ref).Warn("web search failed; answering without it", "error", err)
		return WebResult{Failed: true}, nil
	}
	kept, err := json.Marshal(pages)
	if err != nil {
		return WebResult{}, err
	}
	return WebResult{Results: len(pages), Empty: len(pages) == 0, Usage: a.Prices.Searched()}, a.PutTexts(ctx, ref, db.Text{Key: chat.TextWebResults, Text: string(kept)})
}
