package activities

import (
	"context"
	"errors"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/palaver-chat/palaver/agents/documents/mention"
	"github.com/palaver-chat/palaver/agents/documents/prompt"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/documents/cite"
	"github.com/palaver-chat/palaver/internal/tools"
	"github.com/palaver-chat/palaver/llm"
)

const (
	thinkPrompt = 32_000 // approximate tokens of a prompt; the oldest messages are dropped first
	// Limit of the pictures of earlier messages in a prompt, in bytes.
	maxEarlierPictures = 8 << 20

	assistantTemperature = 0.4
)

// Think makes one model call of the assistant: it streams the text and returns the
// tool calls (streamPiece).
func (a *Activities) Think(parent context.Context, r ThinkRequest) (Written, error) {
	ctx, w := a.watch(parent, r.TurnID)
	defer w.end()
	turn, err := a.loadOrUnsaved(ctx, &r.TurnRef)
	var texts map[string]string
	if err == nil && r.Unsaved == nil { // an unsaved turn has no texts
		texts, err = a.Store.Texts(ctx, r.Owner, r.TurnID)
	}
	if err == nil {
		if done, ok := storedPiece(texts, r.Stage); ok {
			return done, nil
		}
		var s pieceRequest
		if s, err = a.thinkRequest(ctx, r, turn, texts); err == nil {
			s.again = lostAttempt(parent)
			return a.streamPiece(parent, ctx, w, s)
		}
	}
	if w.stopped() {
		return Written{Stopped: true}, nil
	}
	return Written{}, a.endError(w, ctx, r.TurnRef, "think", err)
}

// thinkRequest builds the assistant's model call.
func (a *Activities) thinkRequest(ctx context.Context, r ThinkRequest, turn chat.Turn, texts map[string]string) (pieceRequest, error) {
	var (
		tagged mention.Tags
		images []llm.Image
		said   []llm.Message // before the turn
		before earlier
		e      prompt.Exchange
	)
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		if tagged, err = a.readTags(gctx, r.Owner, turn.Content.TipTap, turn.Content.TaggedDocs, turn.Content.TaggedSets); err != nil {
			return err
		}
		images, err = a.images(gctx, r.Owner, turn.Content.Attachments)
		return err
	})
	g.Go(func() (err error) {
		if r.Unsaved != nil { // the database is unavailable
			return nil
		}
		if before, err = a.readEarlier(gctx, r.TurnRef); err != nil {
			return err
		}
		said, err = a.earlierMessages(gctx, r.Owner, before.messages, chat.MaxAttachments-len(turn.Content.Attachments))
		return err
	})
	g.Go(func() (err error) {
		e, err = a.toolExchange(gctx, r.Owner, texts, r.rounds(texts), nil, nil)
		return err
	})
	if err := g.Wait(); err != nil {
		return pieceRequest{}, err
	}

	offered := a.offeredTools(ctx, r.Owner, turn.Content.Agent, e.Truncated, turn.Content.NoWebSearch)
	remembered, err := a.remembered(ctx, r.TurnRef, texts, offered)
	if err != nil {
		return pieceRequest{}, err
	}
	asks := llm.Message{
		Role: llm.User, Images: images,
		Text: turn.Content.Message + prompt.TaggedNote(tagged.Docs) + a.unseenImagesNote(turn.Content.Attachments),
	}
	agent, _ := a.Agents.Find(turn.Content.Agent)
	answers := answersOf(texts, r.Asked)
	if agent.OnBoards {
		return a.boardRequest(ctx, r, turn, boardSaid{before, said, asks, e, prompt.Known(tagged.Docs)}, offered)
	}
	messages := slices.Concat([]llm.Message{prompt.Assistant(agent.Instructions, before.summary, a.now())}, said,
		[]llm.Message{asks}, prompt.Asked(questionsOf(r.Asked), answers), e.Messages)
	return pieceRequest{
		TurnRef: r.TurnRef, Stage: r.Stage, step: "think",
		request: llm.Request{
			Task:     llm.TaskAssistant,
			Messages: llm.Fit(messages, thinkPrompt),
			Facts: llm.Facts{
				Message: strings.Join(append([]string{tagged.TextWithout(turn.Content.Message)}, answers...), "\n"), Recent: prompt.Recent(before.messages), Documents: prompt.Known(tagged.Docs), Explicit: tagged.IDs(),
				Passages: e.Passages, Used: e.Used, Images: len(turn.Content.Attachments),
			},
			Temperature: assistantTemperature,
			MaxTokens:   prompt.MaxAnswerTokens,
		},
		filter:  cite.New(e.Sources, turn.Content.Message).AllowUncited().Continue(e.Citations),
		offered: offered, remembered: remembered, before: before,
	}, nil
}

// offeredTools are the tools for a model call. The tool that reads on in a long
// result is offered only when a result was truncated, and those that reach the web only
// when the person has not forbidden it. A small window has room for few tools.
func (a *Activities) offeredTools(ctx context.Context, owner string, agent chat.Agent, cut, noWeb bool) []tools.Tool {
	var out []tools.Tool
	size, window := 0, a.Model.Info().ContextTokens
	info, _ := a.Agents.Find(agent)
	for _, t := range a.Tools.Tools(ctx, owner, info) {
		if !cut && t.Name == tools.ReadResultName || noWeb && t.Web {
			continue
		}
		n := llm.EstimateTools([]llm.Tool{{Name: t.Name, Description: t.Description, Schema: t.Schema}})
		if window > 0 && size+n > toolTokens(window) {
			continue
		}
		size += n
		out = append(out, t)
	}
	return out
}

// images are the pictures of a message, for a model that takes them.
func (a *Activities) images(ctx context.Context, owner string, ids []string) (out []llm.Image, err error) {
	if a.cannotSeeImages(ids) {
		return nil, nil
	}
	for _, id := range ids[:min(len(ids), chat.MaxAttachments)] {
		at, data, err := a.Store.Attachment(ctx, owner, id)
		if errors.Is(err, db.ErrNotFound) { // deleted meanwhile
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, llm.Image{MIME: at.MIME, Data: data})
	}
	return out, nil
}

// cannotSeeImages reports whether there are pictures that the model cannot see.
func (a *Activities) cannotSeeImages(ids []string) bool {
	return len(ids) > 0 && !a.Model.Info().Vision
}

// unseenImagesNote is the prompt's note about pictures that the model cannot see.
func (a *Activities) unseenImagesNote(ids []string) string {
	if !a.cannotSeeImages(ids) {
		return ""
	}
	return prompt.UnseenPicturesNote(len(ids))
}

// earlierMessages are the branch's earlier messages for the prompt, with the tool
// calls and results of each answer, and with the newest pictures, at most room.
func (a *Activities) earlierMessages(ctx context.Context, owner string, recent []chat.Message, room int) ([]llm.Message, error) {
	seen, bytes := map[int][]llm.Image{}, 0
	for i := len(recent) - 1; i >= 0 && room > 0 && bytes < maxEarlierPictures; i-- {
		ids := attachmentsOf(recent[i].Metadata)
		images, err := a.images(ctx, owner, ids[:min(len(ids), room)])
		if err != nil {
			return nil, err
		}
		seen[i] = images
		room -= len(images)
		for _, image := range images {
			bytes += len(image.Data)
		}
	}
	var out []llm.Message
	for i, m := range recent {
		said := prompt.Message(m, prompt.MaxEarlier)
		switch said.Role {
		case llm.Assistant:
			out = append(out, prompt.EarlierCalls(chat.ToolResults(m.Metadata))...)
		case llm.User:
			said.Images = seen[i]
		case "":
			continue
		}
		out = append(out, said)
	}
	return out, nil
}

// attachmentsOf are the ids of a message's pictures. The list is []any when a store
// has decoded it from JSON.
func attachmentsOf(metadata map[string]any) (ids []string) {
	switch list := metadata["attachments"].(type) {
	case []string:
		return list
	case []any:
		for _, id := range list {
			if s, ok := id.(string); ok {
				ids = append(ids, s)
			}
		}
	}
	return ids
}
