package activities

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/palaver-chat/palaver/agents/prompt"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/tiptap"
)

const (
	titlesAtOnce = 4
	titleTimeout = 30 * time.Second
)

// Titles lets a model write the titles of conversations in the background: a turn does not
// wait for it. If the process ends before a title is written, it is not tried again: the
// title that was made by rule stays.
type Titles struct {
	ctx     context.Context
	stop    context.CancelFunc
	running sync.WaitGroup
	slots   chan struct{}
}

// NewTitles returns Titles. The caller must call Close.
func NewTitles() *Titles {
	ctx, stop := context.WithCancel(context.Background())
	return &Titles{ctx: ctx, stop: stop, slots: make(chan struct{}, titlesAtOnce)}
}

// Close cancels the titles that are being written, and waits for them to end.
func (t *Titles) Close() {
	t.stop()
	t.running.Wait()
}

// start runs f in the background. It drops f when titlesAtOnce are running.
func (t *Titles) start(f func(context.Context)) {
	select {
	case t.slots <- struct{}{}:
	default:
		return
	}
	t.running.Go(func() {
		defer func() { <-t.slots }()
		ctx, cancel := context.WithTimeout(t.ctx, titleTimeout)
		defer cancel()
		f(ctx)
	})
}

// ruledTitle makes a title without a model.
func ruledTitle(c chat.Content, citations []chat.Citation) string {
	message := tiptap.TitleWords(c)
	document := ""
	for i, cited := range citations {
		if cited.DocID == "" || i > 0 && cited.DocID != citations[0].DocID {
			return chat.TitleFrom(message)
		}
		document = language.WithoutExtension(cited.Title)
	}
	return chat.TitleWith(message, document)
}

// titleFor is ruledTitle; the title of a conversation that reads in spaces names no document, because
// its owner keeps it when they leave one.
func titleFor(t chat.Turn, citations []chat.Citation) string {
	if chat.Home(t.Space) != t.Space {
		citations = nil
	}
	return ruledTitle(t.Content, citations)
}

// writeTitle has a model write the title of a conversation whose first turn has completed.
func (a *Activities) writeTitle(e Ending) {
	first := e.Parent == "" || e.Parent == chat.RootCheckpoint
	if a.Titles == nil || !first || chat.Home(e.Space) != e.Space || e.Hidden || e.Status != chat.TurnCompleted || a.Model.Info().Offline {
		return
	}
	log := a.LogOf(e.TurnRef)
	a.Titles.start(func(ctx context.Context) {
		if err := a.titleTurn(db.InSpace(ctx, e.Space), e.Owner, e.ThreadID, e.TurnID); err != nil && ctx.Err() == nil {
			log.Warn("writing a title with the model failed; the title by rule stays", "error", err)
		}
	})
}

func (a *Activities) titleTurn(ctx context.Context, owner, thread, turnID string) error {
	turn, err := a.Store.Turn(ctx, owner, turnID)
	if err != nil || turn.Parent != chat.RootCheckpoint || turn.Content.ThreadKind() != chat.ThreadConversation {
		return err
	}
	v, err := a.Store.Conversation(ctx, owner, thread)
	if err != nil {
		return err
	}
	events, err := a.Store.Events(ctx, owner, turnID, 0)
	if err != nil || len(events) == 0 {
		return err
	}
	answer := events[len(events)-1].Response
	if answer == nil || answer.Text == "" || v.Title != ruledTitle(turn.Content, answer.Citations) { // somebody has chosen another title
		return nil
	}
	var text strings.Builder
	r := prompt.Title(turn.Content.Message, answer.Text)
	r.Retract = text.Reset
	reply, err := a.Model.Stream(ctx, r, func(delta string) error {
		text.WriteString(delta)
		return ctx.Err()
	})
	if used := reply.Usage; used.Tokens() > 0 {
		// The call has cost tokens even if the process is about to end.
		spend, cancel := context.WithTimeout(context.WithoutCancel(ctx), spendTimeout)
		defer cancel()
		if err := a.Store.Spend(spend, owner, "", db.Spending{Tokens: int64(used.Tokens()), CostUSD: used.CostUSD}, a.Time()); err != nil {
			a.Logger().Warn("counting the cost of a title failed", "thread", thread, "turn", turnID, "error", err)
		}
	}
	if err != nil {
		return err
	}
	title := chat.WrittenTitle(text.String())
	if title == "" {
		return nil
	}
	return a.Store.RetitleConversation(ctx, owner, thread, v.Title, title)
}

// spendTimeout limits counting what a title has cost.
const spendTimeout = 3 * time.Second
