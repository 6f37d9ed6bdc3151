package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/palaver-chat/palaver/boards"
	"github.com/palaver-chat/palaver/boards/board"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
)

// Boards is the part of a store that the tools of a discovery board need.
type Boards interface {
	boards.Reader
	boards.Writer
	boards.Library
	Turn(ctx context.Context, owner, id string) (chat.Turn, error)
}

// BoardTools returns the tools that propose changes to the thread's discovery board. A person
// decides about each proposal.
func BoardTools(store Boards) []Tool {
	propose := proposer{store, time.Now}
	tool := func(name, description, schema string) Tool {
		return Tool{Name: name, Description: description, Schema: json.RawMessage(schema), Approval: Never, Only: chat.AgentDiscovery,
			Run: func(ctx context.Context, c Call) (Result, error) { return propose.run(ctx, name, c) }}
	}
	withSource := fmt.Sprintf(addSchema, `,
			"document": {"type": "string", "maxLength": 300, "description": "Title or id of the document that says it; with quote"},
			"quote": {"type": "string", "maxLength": 1000, "description": "The words of the document that say it, word for word, as short as they suffice; with document"}`)
	return []Tool{
		tool(board.ToolAdd, addDescription+" A fact that a document says has the document and its words.", withSource),
		tool(board.ToolAddDocument, "Propose a document of the person's library as a new input of the board.",
			`{
			"type": "object",
			"required": ["document"],
			"properties": {
				"document": {"type": "string", "minLength": 1, "maxLength": 300, "description": "The document's title or id"}
			}
		}`),
		tool(board.ToolDelete, "Delete an item from the Discovery pipeline. Always use this tool when the analyst asks to remove an item. Show the item details and downstream impact for confirmation.",
			`{
			"type": "object",
			"required": ["entity_type", "item_id"],
			"properties": {
				"entity_type": {"type": "string", "enum": ["input", "fact", "insight", "recommendation", "output"], "description": "The type of entity to delete"},
				"item_id": {"type": "string", "description": "The ID of the item to delete"}
			}
		}`),
		tool(board.ToolEdit, "Edit an existing item in the Discovery pipeline. Always use this tool when the analyst asks to modify an item's text. Show a before/after comparison for confirmation.",
			`{
			"type": "object",
			"required": ["entity_type", "item_id", "new_text"],
			"properties": {
				"entity_type": {"type": "string", "enum": ["input", "fact", "insight", "recommendation", "output"], "description": "The type of entity to edit"},
				"item_id": {"type": "string", "description": "The ID of the item to edit"},
				"new_text": {"type": "string", "description": "The proposed new text for the item"}
			}
		}`),
	}
}

const (
	addDescription = "Add a new item to the Discovery pipeline. Always use this tool when the analyst asks to add a fact, insight, recommendation, or output. Propose the item with pre-filled fields for the analyst to confirm."
	// addSchema has a place for the fields about a passage of a document.
	addSchema = `{
		"type": "object",
		"required": ["entity_type", "text"],
		"properties": {
			"entity_type": {"type": "string", "enum": ["fact", "insight", "recommendation", "output"], "description": "The type of entity to add"},
			"text": {"type": "string", "description": "The content text for the new item"},
			"related_ids": {"type": "array", "items": {"type": "string"}, "description": "IDs of related upstream items (e.g., input IDs for a fact, fact IDs for an insight)"},
			"output_type": {"type": "string", "enum": ["report", "presentation", "action_plan", "brief"], "description": "Required only when entity_type is 'output'"}%s
		}
	}`
)

// ClientBoardTools returns those of the offered tools that fit a board which a client keeps:
// they read no documents, and have the shapes that its client knows.
func ClientBoardTools(offered []Tool) []Tool {
	var out []Tool
	for _, t := range offered {
		if !slices.Contains(board.Tools, t.Name) {
			continue
		}
		if t.Name == board.ToolAdd {
			t.Description, t.Schema = addDescription, json.RawMessage(fmt.Sprintf(addSchema, ""))
		}
		out = append(out, t)
	}
	return out
}

// paramsOf returns the arguments of a call as the parameters of a proposal.
func paramsOf(tool string, arguments json.RawMessage) (params board.Params, err error) {
	if err := json.Unmarshal(arguments, &params); err != nil {
		return params, err
	}
	var from struct{ Document, Quote string }
	if err := json.Unmarshal(arguments, &from); err != nil {
		return params, err
	}
	params.DocumentID, params.Citation = "", nil // a model names documents only in document and quote
	switch {
	case tool == board.ToolAddDocument:
		params.EntityType, params.DocumentID, params.OutputType = board.Input, from.Document, ""
	case tool == board.ToolAdd && from.Document+from.Quote != "":
		params.Citation = &board.Citation{DocumentID: from.Document, Quote: from.Quote}
	}
	return params, nil
}

type proposer struct {
	store Boards
	now   func() time.Time
}

// proposalResult is what a model reads about its proposal.
type proposalResult struct {
	Proposal string      `json:"proposal"`
	Status   board.State `json:"status"`
	Note     string      `json:"note"`
	Next     string      `json:"next,omitempty"` // what the model should do
	Tool     string      `json:"tool,omitempty"` // of the proposal
	// Params are the parameters of the proposal, with ids as the board has them.
	Params json.RawMessage `json:"params,omitempty"`
}

func (p proposer) run(ctx context.Context, tool string, c Call) (Result, error) {
	params, err := paramsOf(tool, c.Arguments)
	if err != nil {
		return Failed(messages.ToolUnreadable), nil
	}
	if tool == board.ToolAddDocument {
		tool = board.ToolAdd
	}
	call, wrong, err := p.propose(ctx, tool, c, params)
	var invalid *board.Invalid
	switch {
	case errors.As(wrong, &invalid) && c.Failed:
		return said(true, proposalResult{Proposal: c.ID, Status: board.Failed, Note: "It was not proposed: " + invalid.Error() + ".", Next: "The person sees that. Do not try again."})
	case errors.As(wrong, &invalid):
		return said(true, proposalResult{Proposal: c.ID, Status: board.Failed, Note: "It was not proposed: " + invalid.Error() + ".", Next: "Correct the call once, or ask the person."})
	case errors.Is(err, boards.ErrTooLarge), errors.Is(err, boards.ErrBusy):
		return Failed(messages.Plain("It was not proposed: " + err.Error() + ".")), nil
	case err != nil || wrong != nil:
		return Result{}, fmt.Errorf("%s: %w", tool, errors.Join(err, wrong))
	}
	return said(false, proposalResult{Proposal: c.ID, Status: board.Pending, Note: "The person sees the proposal and decides. The board has not changed.", Tool: call.Tool, Params: call.Params})
}

func said(isError bool, p proposalResult) (Result, error) {
	b, err := json.Marshal(p)
	return Result{Content: string(b), IsError: isError}, err
}

// propose saves a proposal with the thread's board. If the message brought a board, propose
// only checks the proposal against that board. wrong says why the board cannot take it. If
// an earlier call of the turn failed, too, the failed proposal is saved, so that the person
// sees it.
func (p proposer) propose(ctx context.Context, tool string, c Call, params board.Params) (call board.ToolCall, wrong, err error) {
	turn, err := p.store.Turn(ctx, c.Owner, c.TurnID)
	if err != nil {
		return call, nil, err
	}
	at := p.now().UTC()
	wrong = boards.Source(ctx, p.store, c.Owner, &params)
	if invalid := (*board.Invalid)(nil); wrong != nil && !errors.As(wrong, &invalid) {
		return call, nil, wrong
	}
	propose := func(b *board.Board) error {
		if wrong != nil {
			return wrong
		}
		return b.Propose(c.ID, c.TurnID, tool, params, at)
	}
	if raw := turn.Content.Board; len(raw) > 0 {
		var b board.Board
		if err := json.Unmarshal(raw, &b); err != nil {
			return call, nil, err
		}
		wrong = propose(&b)
		call, _ = b.ToolCall(c.ID)
		return call, wrong, nil
	}
	_, wrong, err = boards.Change(ctx, p.store, p.store, c.Owner, c.ThreadID, nil, func(b *board.Board) (bool, error) {
		wrong := propose(b)
		if wrong != nil && c.Failed {
			params.Citation, params.DocumentID = nil, "" // not checked
			b.ProposeFailed(c.ID, c.TurnID, tool, params, wrong, at)
		}
		call, _ = b.ToolCall(c.ID)
		return wrong == nil || c.Failed, wrong
	})
	return call, wrong, err
}
