package activities

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/agents/prompt"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/llm"
)

const (
	defaultHistoryTokens = 8000 // CHAT_HISTORY_TOKENS
	// How many messages are read for a prompt, and how many of them stay when there are more.
	earlierMessages     = 60
	keptEarlierMessages = 30
	// How many messages are read to be summarized. One call summarizes summarizedTokens of
	// them, and the next call goes on from that summary.
	summarizedMessages = 1000
	summarizedTokens   = 16_000
	maxSummaryCalls    = 8
)

// Earlier is the conversation before a turn, for the prompt of its answer.
type Earlier struct {
	Messages []chat.Message // word for word, oldest first
	Summary  string         // of the messages before those
	Usage    chat.Usage     // of summarizing
	Notice   string         // code of a notice to the person; empty: none
}

// ReadEarlier reads the conversation before a turn. What does not fit into the prompt
// is summarized, once: the summary is stored at the last turn that it covers, so that
// every branch from there has it. Half of the room stays free for the messages to come.
func (k *Kit) ReadEarlier(ctx context.Context, ref TurnRef) (Earlier, error) {
	recent, err := k.Recent(ctx, ref, earlierMessages)
	if err != nil {
		return Earlier{}, err
	}
	room := k.HistoryRoom()
	if len(recent) < earlierMessages && TokensOf(recent) <= room {
		return Earlier{Messages: recent}, nil
	}
	last, err := k.Store.Summary(ctx, ref.Owner, ref.ThreadID, ref.Parent)
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return Earlier{}, err
	}
	offline := k.Model.Info().Offline
	if last.Text == "" && !offline {
		last = db.Summary{} // the offline engine dropped the older part; now a model can summarize it
	}
	after, found := messagesAfter(recent, last.TurnID)
	if found && TokensOf(after) <= room {
		return Earlier{Messages: after, Summary: last.Text}, nil
	}
	all, err := k.Store.Recent(ctx, ref.Owner, ref.ThreadID, ref.Parent, summarizedMessages)
	if err != nil {
		return Earlier{}, err
	}
	after, found = messagesAfter(all, last.TurnID)
	if !found {
		last = db.Summary{}
	}
	old, kept := splitEarlier(after, room/2)
	if len(old) == 0 {
		return Earlier{Messages: kept, Summary: last.Text}, nil
	}
	out := Earlier{Messages: kept, Summary: last.Text, Notice: chat.NoticeHistoryDropped}
	next := db.Summary{TurnID: old[len(old)-1].TurnID, At: k.Time()}
	if !offline {
		out.Summary, out.Usage, err = k.summarize(ctx, ref.Model, last.Text, old)
		if ctx.Err() != nil {
			return Earlier{}, ctx.Err()
		}
		if err != nil { // the answer is written without it, and the next turn tries again
			k.LogOf(ref).Warn("summarizing the older part of the conversation failed; answering without it", "error", err)
			out.Summary = last.Text
			return out, nil
		}
		next.Text, out.Notice = out.Summary, chat.NoticeSummarized
	}
	err = k.Store.PutSummary(ctx, ref.Owner, next)
	return out, err
}

// HistoryRoom returns the room for earlier messages in a prompt, in tokens.
func (k *Kit) HistoryRoom() int {
	room := cmp.Or(k.HistoryTokens, defaultHistoryTokens)
	if window := k.Model.Info().ContextTokens; window > 0 {
		room = min(room, window/4)
	}
	return room
}

// TokensOf estimates the tokens of messages in a prompt.
func TokensOf(messages []chat.Message) (tokens int) {
	for _, m := range messages {
		tokens += llm.EstimateTokens(prompt.Message(m, prompt.MaxEarlier).Text) + 4
	}
	return tokens
}

// messagesAfter returns the messages after those of a turn; all of them, and false, when the
// turn has none.
func messagesAfter(messages []chat.Message, turnID string) ([]chat.Message, bool) {
	if turnID == "" {
		return messages, false
	}
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].TurnID == turnID {
			return messages[i+1:], true
		}
	}
	return messages, false
}

// splitEarlier splits messages into the newest turns that fit into tokens (kept, at least
// the last turn) and those before them (old).
func splitEarlier(messages []chat.Message, tokens int) (old, kept []chat.Message) {
	at := len(messages)
	for at > 0 {
		first := at - 1
		for first > 0 && messages[first-1].TurnID == messages[at-1].TurnID {
			first--
		}
		newest := at == len(messages)
		if !newest && (len(messages)-first > keptEarlierMessages || TokensOf(messages[first:]) > tokens) {
			break
		}
		at = first
	}
	return messages[:at], messages[at:]
}

// summarize summarizes messages and the summary of those before them.
func (k *Kit) summarize(ctx context.Context, model, summary string, messages []chat.Message) (string, chat.Usage, error) {
	var used chat.Usage
	parts := partsToSummarize(messages, k.summaryTokens())
	for _, part := range parts[max(0, len(parts)-maxSummaryCalls):] {
		var text strings.Builder
		r := prompt.History(summary, part).By(model)
		r.Retract = text.Reset
		reply, err := k.Model.Stream(ctx, r, func(delta string) error {
			text.WriteString(delta)
			return ctx.Err()
		})
		used = used.Add(reply.Usage)
		if err != nil {
			return "", used, err
		}
		if summary = storable(text.String()); summary == "" {
			return "", used, errEmptyAnswer
		}
	}
	return summary, used, nil
}

// storable makes a summary valid for every database, and limits its length.
func storable(text string) string {
	return language.Truncate(strings.TrimSpace(clean(text)), 4*prompt.MaxSummaryTokens)
}

// summaryTokens returns the size, in tokens, of the messages that one call summarizes.
func (k *Kit) summaryTokens() int {
	if window := k.Model.Info().ContextTokens; window > 0 {
		return min(summarizedTokens, window/3)
	}
	return summarizedTokens
}

// partsToSummarize splits messages into parts of at most tokens each. A message that is
// longer is a part of its own.
func partsToSummarize(messages []chat.Message, tokens int) (parts [][]chat.Message) {
	size := 0
	for i, m := range messages {
		n := TokensOf(messages[i : i+1])
		if len(parts) == 0 || size+n > tokens {
			parts, size = append(parts, nil), 0
		}
		parts[len(parts)-1] = append(parts[len(parts)-1], m)
		size += n
	}
	return slices.Clip(parts)
}
