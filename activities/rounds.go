package activities

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/palaver-chat/palaver/agents/prompt"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/documents/cite"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/tools"
)

// Stage is the progress of a turn's answer before a model call: its pieces and tool
// calls so far. It enters Temporal's history, so it has numbers and ids only; the
// texts are rows of the turn.
type Stage struct {
	Piece int `json:"piece"`           // the piece of the answer that the call's text becomes
	Tried int `json:"tried,omitempty"` // attempts of earlier calls at that piece, none of which wrote a text
	Round int `json:"round,omitempty"` // number of rounds so far; the turn's texts have them
	Calls int `json:"calls,omitempty"` // tool calls of the turn so far
	// Given are the rounds before which the person's further messages came (chat.GivenKey).
	Given []int `json:"given,omitempty"`
	// Effort of the turn; empty: quick.
	Effort chat.Effort `json:"effort,omitempty"`
	// Last: the call is offered no tools, because a limit is reached. It has to answer.
	Last bool `json:"last,omitempty"`
	// Left says what is left before a limit; nil: the model need not know.
	Left *LimitsLeft `json:"left,omitempty"`
}

// LimitsLeft is what the limits leave to a turn; 0: no limit. Steps are model calls, this one included.
type LimitsLeft struct {
	Steps   int     `json:"steps,omitempty"`
	Tokens  int     `json:"tokens,omitempty"`
	CostUSD float64 `json:"cost_usd,omitempty"`
}

// Guidance is what the system message says about the turn's effort, its plan and its limits; ""
// for a quick answer within them.
func (s Stage) Guidance(texts map[string]string) string {
	g := prompt.Guidance{Effort: s.Effort, Plan: texts[chat.TextPlan], Last: s.Last}
	if s.Left != nil {
		g.Steps, g.Tokens, g.CostUSD = s.Left.Steps, s.Left.Tokens, s.Left.CostUSD
	}
	return g.Text()
}

// given are the person's further messages that came before the n-th round.
func (s Stage) given(texts map[string]string, n int) (messages []string) {
	for i, round := range s.Given {
		if round == n {
			messages = append(messages, texts[chat.GivenKey(i+1)])
		}
	}
	return messages
}

// next is the number of the round that the model call begins.
func (s Stage) next() int { return s.Round + 1 }

// rounds are the rounds before the model call.
func (s Stage) rounds(texts map[string]string) (rounds []Round) {
	piece := 1
	for n := 1; n <= s.Round; n++ {
		var said ModelResult
		_ = json.Unmarshal([]byte(texts[chat.SaidKey(n)]), &said) // our own JSON
		r := Round{Dropped: said.Dropped}
		if said.Chars > 0 {
			r.Piece, piece = piece, piece+1
		}
		for _, c := range said.Calls {
			done, ran := storedCall(texts, c.ID)
			r.Calls = append(r.Calls, CompletedCall{CallRef: c.CallRef, IsError: !ran || done.IsError})
		}
		rounds = append(rounds, r)
	}
	return rounds
}

// failedBefore reports whether a tool call has failed in a round before that of callID.
func failedBefore(texts map[string]string, callID string) (failed bool) {
	for n := 1; ; n++ {
		var said ModelResult
		if json.Unmarshal([]byte(texts[chat.SaidKey(n)]), &said) != nil || slices.ContainsFunc(said.Calls, func(c RequestedCall) bool { return c.ID == callID }) {
			return failed
		}
		for _, c := range said.Calls {
			done, ran := storedCall(texts, c.ID)
			failed = failed || c.Refused || ran && done.IsError
		}
	}
}

// Round is a message of the model that called tools.
type Round struct {
	Piece   int             `json:"piece,omitempty"` // of its text; 0: it had none
	Calls   []CompletedCall `json:"calls"`
	Dropped int             `json:"dropped,omitempty"` // calls that did not run, because there were too many
}

// CompletedCall is a tool call with a result.
type CompletedCall struct {
	chat.CallRef
	IsError bool `json:"error,omitempty"`
}

// RequestedCall is a tool call that a model asks for.
type RequestedCall struct {
	chat.CallRef
	Approval    tools.Approval `json:"approval,omitempty"`
	SideEffects bool           `json:"side_effects,omitempty"`
	// Refused: it cannot be made (no such tool, wrong arguments), and its result says
	// so.
	Refused bool `json:"refused,omitempty"`
	// Quiet: no status says that the call runs, because the tool reports what it does.
	Quiet bool `json:"quiet,omitempty"`
	// Repeat is that of CallRequest.
	Repeat int `json:"repeat,omitempty"`
}

// ToolExchange reads the tool calls of the rounds before a model call, for its prompt. passages
// and sources are those that the prompt has already.
func (k *Kit) ToolExchange(ctx context.Context, owner string, texts map[string]string, stage Stage, passages []llm.Passage, sources []cite.Source) (prompt.Exchange, error) {
	rounds := stage.rounds(texts)
	e := prompt.Exchange{Passages: slices.Clone(passages), Sources: slices.Clone(sources)}
	if raw := texts[chat.TextCitations]; raw != "" {
		if err := json.Unmarshal([]byte(raw), &e.Citations); err != nil {
			k.Logger().Error("stored citations cannot be decoded", "error", err)
		}
	}
	var calls [][]prompt.Call
	var shown []string
	for _, r := range rounds {
		made := storedCalls(texts, r)
		for _, c := range made {
			shown = append(shown, c.Shown...)
		}
		calls = append(calls, made)
	}
	if shown = language.Distinct(shown); len(shown) > 0 {
		hits, err := k.Store.ChunksByID(ctx, owner, shown)
		if err != nil {
			return e, err
		}
		e.Show(hits)
	}
	for i, r := range rounds {
		e.AddGiven(stage.given(texts, i+1)...)
		piece := ""
		if r.Piece > 0 {
			piece = texts[chat.PieceKey(r.Piece)]
		}
		e.Add(piece, texts[chat.ReasoningKey(i+1)], calls[i], r.Dropped)
	}
	e.AddGiven(stage.given(texts, stage.next())...)
	return e, nil
}

// maxQuoted bounds the whole documents in which a quotation is looked for, in bytes.
const maxQuoted = 4 << 20

// DocumentTexts returns a function that reads the texts of the documents that sources or ids
// name, for cite.Filter.CheckDocuments.
func (k *Kit) DocumentTexts(ctx context.Context, ref TurnRef, sources []cite.Source, ids ...string) func() []string {
	for _, s := range sources {
		if s.DocID != "" {
			ids = append(ids, s.DocID)
		}
	}
	return func() (texts []string) {
		room := maxQuoted
		for _, id := range language.Distinct(ids) {
			text, err := k.Store.DocumentText(ctx, ref.Owner, id)
			if err != nil { // it may be deleted
				k.LogOf(ref).Debug("quotations are not looked for in a document", "document", id, "error", err)
			}
			if len(text) > room {
				continue
			}
			room -= len(text)
			texts = append(texts, text)
		}
		return texts
	}
}

// storedCalls are a round's calls with their results.
func storedCalls(texts map[string]string, r Round) []prompt.Call {
	var out []prompt.Call
	for _, made := range r.Calls {
		c := prompt.Call{
			ToolCall: llm.ToolCall{ID: made.ID, Name: made.Name, Arguments: argumentsOf(texts, made.ID)},
			Result:   messages.ToolStopped.Text,
			Note:     texts[chat.NoteKey(made.ID)],
			IsError:  made.IsError,
		}
		if result, ok := texts[chat.ResultKey(made.ID)]; ok {
			c.Result = result
		}
		_ = json.Unmarshal([]byte(texts[chat.ShownKey(made.ID)]), &c.Shown) // our own JSON; most tools have none
		out = append(out, c)
	}
	return out
}

// argumentsOf returns the arguments of a call, a JSON object: the edited ones if there are
// any.
func argumentsOf(texts map[string]string, callID string) string {
	arguments, edited := texts[chat.EditedKey(callID)]
	if !edited {
		arguments = texts[chat.CallKey(callID)]
	}
	return chat.Arguments(arguments)
}
