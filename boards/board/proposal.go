package board

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/palaver-chat/palaver/chat/messages"
)

// Names of the tools with which a model proposes changes.
const (
	ToolAdd    = "add_item"
	ToolEdit   = "edit_item"
	ToolDelete = "delete_item"
)

// Tools lists the names of these tools.
var Tools = []string{ToolAdd, ToolEdit, ToolDelete}

// Names of the agent's tools about documents.
const (
	ToolRead        = "read_document"
	ToolAddDocument = "add_document" // proposes an input; the proposal is an add_item
)

// AgentTools are all tools of the agent of boards.
var AgentTools = append(slices.Clone(Tools), ToolRead, ToolAddDocument)

// State is the state of a proposal.
type State string

// States of a proposal.
const (
	Pending   State = "pending"
	Applied   State = "applied"
	Cancelled State = "cancelled"
	Failed    State = "error"     // the board did not change; the proposal can be tried again
	Overtaken State = "overtaken" // a later proposal is about the same item
)

// Params are the parameters of a proposal; its tool says which fields count.
type Params struct {
	EntityType Kind     `json:"entity_type"`
	Text       string   `json:"text,omitempty"`
	RelatedIDs []string `json:"related_ids,omitempty"`
	OutputType string   `json:"output_type,omitempty"`
	Title      string   `json:"title,omitempty"`
	ItemID     string   `json:"item_id,omitempty"`
	NewText    string   `json:"new_text,omitempty"`
	// Of an addition: the document that an input stands for, or the passage that the item
	// rests on.
	DocumentID string    `json:"document_id,omitempty"`
	Citation   *Citation `json:"citation,omitempty"`
}

// UnmarshalJSON also reads relations under the names that a column gives them.
func (p *Params) UnmarshalJSON(raw []byte) error {
	type plain Params
	in := struct {
		*plain
		Inputs          []string `json:"related_inputs"`
		Facts           []string `json:"related_facts"`
		Insights        []string `json:"related_insights"`
		Recommendations []string `json:"related_recommendations"`
	}{plain: (*plain)(p)}
	if err := json.Unmarshal(raw, &in); err != nil {
		return err
	}
	p.RelatedIDs = slices.Concat(p.RelatedIDs, in.Inputs, in.Facts, in.Insights, in.Recommendations)
	return nil
}

// OnWire returns the JSON of the parameters, with the relations under their general name
// and under that of the column.
func (p Params) OnWire() (json.RawMessage, error) {
	raw, err := json.Marshal(p)
	if err != nil || len(p.RelatedIDs) == 0 {
		return raw, err
	}
	var f Fields
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, err
	}
	f.Put(keysOf[p.EntityType].related, p.RelatedIDs)
	return json.Marshal(f)
}

// Proposal is a change that the assistant suggests. It stays until a person decides.
type Proposal struct {
	ID             string    `json:"id"` // of the tool call
	TurnID         string    `json:"turn_id,omitempty"`
	Tool           string    `json:"tool"`
	Params         Params    `json:"params"`
	State          State     `json:"state"`
	Reason         string    `json:"reason,omitempty"` // why it failed
	messages.Coded           // of Reason
	Seen           Version   `json:"seen"` // of the item that it is about, when the proposal was made
	At             time.Time `json:"at"`
	Result         Result    `json:"result"` // once it is applied
}

// Decision is a person's answer to a proposal.
type Decision struct {
	Confirm bool
	// Params replaces the proposed parameters; nil: as proposed. The tool, the item, the
	// document and the citation stay.
	Params *Params
	// Similar confirms an addition although the board has similar items, Changed an
	// edit or a deletion although the item has changed since it was proposed.
	Similar, Changed bool
}

// SimilarItems is the error of an addition when the board has similar items already.
type SimilarItems struct {
	IDs []string
}

func (e *SimilarItems) Error() string { return messages.ReasonSimilar.Text }

// ItemChanged is the error of a change when the item's text has changed since it was
// proposed.
type ItemChanged struct {
	Seen, Now Version
}

func (e *ItemChanged) Error() string {
	return e.message().Text
}

func (e *ItemChanged) message() messages.Message {
	return messages.ReasonChanged.With(messages.Params{"now": e.Now.N, "seen": e.Seen.N})
}

// codeOf returns the code of an error's text; empty when it has none.
func codeOf(err error) messages.Coded {
	var changed *ItemChanged
	switch {
	case errors.As(err, &changed):
		return changed.message().Coded
	case errors.As(err, new(*SimilarItems)):
		return messages.ReasonSimilar.Coded
	case errors.Is(err, ErrNoItem):
		return messages.ReasonNoItem.Coded
	}
	return messages.Coded{}
}

// AlreadyDecidedError is the error of a decision when another one was made before.
type AlreadyDecidedError struct {
	State State
}

func (e *AlreadyDecidedError) Error() string {
	return "the proposal is " + string(e.State) + " already"
}

// Propose checks a proposal and keeps it. A repeated call with the same id changes
// nothing. The error tells the model what to correct.
func (b *Board) Propose(id, turnID, tool string, p Params, at time.Time) error {
	if b.proposal(id) != nil {
		return nil
	}
	proposal := Proposal{ID: id, TurnID: turnID, Tool: tool, Params: p, State: Pending, At: at}
	if err := b.check(&proposal); err != nil {
		return err
	}
	for i := range b.Proposals {
		if other := &b.Proposals[i]; other.open() && tool != ToolAdd && other.Params.ItemID == proposal.Params.ItemID {
			other.State = Overtaken
		}
	}
	b.keep(proposal)
	return nil
}

// ProposeFailed keeps a proposal that does not fit the board, with the reason, so that a
// person can correct it. Texts that are too long are cut.
func (b *Board) ProposeFailed(id, turnID, tool string, p Params, reason error, at time.Time) {
	if b.proposal(id) != nil || !slices.Contains(Tools, tool) {
		return
	}
	for _, f := range []struct {
		field *string
		most  int
	}{{&p.Text, MaxText}, {&p.NewText, MaxText}, {&p.Title, MaxTitle}, {&p.OutputType, MaxName}, {&p.ItemID, MaxName}, {(*string)(&p.EntityType), MaxName}} {
		if r := []rune(*f.field); len(r) > f.most {
			*f.field = string(r[:f.most])
		}
	}
	if len(p.RelatedIDs) > MaxRelations {
		p.RelatedIDs = p.RelatedIDs[:MaxRelations]
	}
	b.keep(Proposal{ID: id, TurnID: turnID, Tool: tool, Params: p, State: Failed, Reason: reason.Error(), Coded: codeOf(reason), At: at})
}

// keep appends a proposal and forgets the oldest.
func (b *Board) keep(p Proposal) {
	b.Proposals = append(b.Proposals, p)
	if len(b.Proposals) > maxProposals {
		b.Proposals = b.Proposals[len(b.Proposals)-maxProposals:]
	}
}

// check validates a proposal against the board, and writes ids in the board's form.
func (b *Board) check(p *Proposal) error {
	switch p.Tool {
	case ToolAdd:
		b.restOnDocument(&p.Params)
		item, err := b.newItem(p.added())
		p.Params.Text, p.Params.RelatedIDs = item.Version.Text, item.Related
		return err
	case ToolEdit, ToolDelete:
		item := b.Find(p.Params.ItemID)
		switch {
		case item == nil:
			return invalid("item_id", "names %s, which is not on the board", short(p.Params.ItemID))
		case p.Params.EntityType != "" && p.Params.EntityType != item.Kind:
			return invalid("entity_type", "is %s, but %s is %s", short(string(p.Params.EntityType)), item.ID, withArticle(item.Kind))
		}
		p.Params.ItemID, p.Params.EntityType, p.Seen = item.ID, item.Kind, item.Version
		if p.Tool == ToolDelete {
			return nil
		}
		var err error
		p.Params.NewText, err = text("new_text", p.Params.NewText, 1, MaxText)
		return err
	}
	return invalid("tool", "must be add_item, edit_item or delete_item")
}

func (p *Proposal) added() AddedItem {
	return AddedItem{Kind: p.Params.EntityType, Title: p.Params.Title, Text: p.Params.Text, Type: p.Params.OutputType, Related: p.Params.RelatedIDs,
		DocumentID: p.Params.DocumentID, Citation: p.Params.Citation}
}

// restOnDocument relates a fact without relations to the input that stands for the cited
// document.
func (b *Board) restOnDocument(p *Params) {
	if p.EntityType != Fact || p.Citation == nil || len(p.RelatedIDs) > 0 {
		return
	}
	for _, item := range b.Items {
		if item.Kind == Input && item.DocumentID == p.Citation.DocumentID {
			p.RelatedIDs = []string{item.ID}
			return
		}
	}
}

func (p *Proposal) open() bool { return p.State == Pending || p.State == Failed }

// Decide applies or drops a proposal, once: the same decision again changes nothing
// and returns the same result. An error other than ErrNoProposal and *AlreadyDecidedError leaves
// the items as they are, and the proposal open with its reason.
func (b *Board) Decide(id string, d Decision, at time.Time) (Result, error) {
	p := b.proposal(id)
	switch {
	case p == nil:
		return Result{}, ErrNoProposal
	case d.Confirm && p.State == Applied, !d.Confirm && p.State == Cancelled:
		return p.Result, nil
	case !p.open():
		return Result{}, &AlreadyDecidedError{p.State}
	case !d.Confirm:
		p.State = Cancelled
		return Result{}, nil
	}
	next := *p
	if d.Params != nil {
		next.Params = *d.Params
		next.Params.EntityType, next.Params.ItemID = p.Params.EntityType, p.Params.ItemID
		next.Params.DocumentID, next.Params.Citation = p.Params.DocumentID, p.Params.Citation
	} else {
		b.restOnDocument(&next.Params) // the input may have been added since
	}
	result, err := b.confirm(next, d, at)
	if err != nil {
		p.State, p.Reason, p.Coded = Failed, err.Error(), codeOf(err)
		return Result{}, err
	}
	next.State, next.Reason, next.Coded, next.Result, next.Seen = Applied, "", messages.Coded{}, result, p.Seen
	*b.proposal(id) = next
	return result, nil
}

// confirm makes the change of a proposal.
func (b *Board) confirm(p Proposal, d Decision, at time.Time) (Result, error) {
	if p.Tool == ToolAdd {
		if similar := b.Similar(p.Params.EntityType, p.Params.Text); len(similar) > 0 && !d.Similar {
			return Result{}, &SimilarItems{similar}
		}
		return b.Add(p.added(), Assistant, at)
	}
	item := b.Find(p.Params.ItemID)
	switch {
	case item == nil:
		return Result{}, ErrNoItem
	case item.Version.N != p.Seen.N && !d.Changed:
		return Result{}, &ItemChanged{Seen: p.Seen, Now: item.Version}
	case p.Tool == ToolDelete:
		return b.Delete(item.ID, Assistant, at)
	}
	return b.Edit(item.ID, Edit{Text: &p.Params.NewText}, Assistant, at)
}

// ToolCall returns a proposal in the form that the chat shows.
func (b *Board) ToolCall(id string) (call ToolCall, found bool) {
	p := b.proposal(id)
	if p == nil {
		return call, false
	}
	params, err := json.Marshal(p.Params)
	if err != nil { // cannot happen: texts always marshal
		return call, false
	}
	status := p.State
	if status == Overtaken {
		status = Cancelled
	}
	return ToolCall{ID: p.ID, Tool: p.Tool, Params: params, Status: string(status)}, true
}

func (b *Board) proposal(id string) *Proposal {
	i := slices.IndexFunc(b.Proposals, func(p Proposal) bool { return p.ID == id })
	if i < 0 {
		return nil
	}
	return &b.Proposals[i]
}
