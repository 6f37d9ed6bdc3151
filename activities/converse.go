package activities

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/palaver-chat/palaver/agents/prompt"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/documents/cite"
	"github.com/palaver-chat/palaver/internal/tiptap"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/tools"
)

// PromptTokens is the approximate size of a conversation's prompt; the oldest messages are
// dropped first.
const PromptTokens = 32_000

// How long a turn waits until documents that its message names are processed, as long as for
// an import, and how often it looks.
const (
	TaggedWait = 30 * time.Second
	TaggedPoll = 500 * time.Millisecond
)

// Conversation is what a model call reads that continues a conversation.
type Conversation struct {
	Turn       chat.Turn
	Tagged     tiptap.Tags
	Texts      map[string]string // of the turn; nil while its row is not written
	Earlier    Earlier
	Before     []llm.Message // the conversation before the turn
	Asks       llm.Message   // the turn's message
	Exchange   prompt.Exchange
	Offered    []tools.Tool
	remembered []string // as in PieceRequest
}

// Converse makes one model call of an agent that continues the conversation: it streams the
// text and returns the tool calls (StreamPiece). build returns the request and the filter of
// citations; it may change what is offered, and the notice about earlier messages. step names the call in the log.
func (k *Kit) Converse(parent context.Context, ref TurnRef, stage Stage, step string,
	build func(ctx context.Context, c *Conversation) (llm.Request, *cite.Filter, error)) (ModelResult, error) {
	ctx, w := k.Watch(parent, ref.TurnID)
	defer w.End()
	c, done, err := k.readConversation(ctx, &ref, stage)
	if err == nil && done != nil {
		return *done, nil
	}
	if err == nil {
		s := PieceRequest{TurnRef: ref, Stage: stage, Step: step, Remembered: c.remembered}
		if s.Request, s.Filter, err = build(ctx, &c); err == nil {
			s.Offered, s.Before = c.Offered, c.Earlier
			return k.StreamPiece(parent, ctx, w, s)
		}
	}
	if w.Stopped() {
		return ModelResult{Stopped: true}, nil
	}
	return ModelResult{}, k.EndError(w, ctx, ref, step, err)
}

// readConversation also returns the call's result if an earlier attempt has stored it.
func (k *Kit) readConversation(ctx context.Context, ref *TurnRef, stage Stage) (c Conversation, done *ModelResult, err error) {
	if c.Turn, err = k.LoadOrUnsaved(ctx, ref); err != nil {
		return c, nil, err
	}
	if ref.Unsaved == nil { // an unsaved turn has no texts
		if c.Texts, err = k.Texts(ctx, *ref); err != nil {
			return c, nil, err
		}
	}
	if stored, ok := StoredPiece(c.Texts, stage); ok {
		return c, &stored, nil
	}
	content := c.Turn.Content
	var profile chat.Profile
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		if c.Tagged, err = k.ReadTags(gctx, *ref, content.TipTap, content.TaggedDocs, content.TaggedSets); err != nil {
			return err
		}
		c.Asks.Images, err = k.Images(gctx, ref.Owner, ref.Model, content.Attachments)
		return err
	})
	g.Go(func() (err error) {
		if ref.Unsaved != nil { // the database is unavailable
			return nil
		}
		if profile, err = k.Profile(gctx, *ref); err != nil {
			return err
		}
		if c.Earlier, err = k.ReadEarlier(gctx, *ref); err != nil {
			return err
		}
		c.Before, err = k.EarlierMessages(gctx, ref.Owner, ref.Model, c.Earlier.Messages, chat.MaxAttachments-len(content.Attachments))
		return err
	})
	g.Go(func() (err error) {
		c.Exchange, err = k.ToolExchange(gctx, ref.Owner, c.Texts, stage, nil, nil)
		return err
	})
	if err := g.Wait(); err != nil {
		return c, nil, err
	}
	if stage.Round == 0 && slices.ContainsFunc(c.Tagged.Docs, func(d chat.Document) bool { return d.Status == chat.DocProcessing }) {
		if err := WaitWithin(ctx, TaggedWait, TaggedPoll, "tagged documents"); err != nil {
			return c, nil, err
		}
	}
	c.Asks.Role = llm.User
	c.Asks.Text = content.Message + prompt.TaggedNote(c.Tagged.Docs) + k.UnseenImagesNote(ref.Model, content.Attachments) + prompt.WishesNote(profile.Instructions)
	if stage.Last {
		return c, nil, nil
	}
	c.Offered = k.OfferedTools(ctx, ref.Owner, content.Agent, c.Exchange.Truncated, content.NoWebSearch)
	c.remembered, err = k.RememberedApprovals(ctx, *ref, c.Texts, c.Offered)
	return c, nil, err
}
