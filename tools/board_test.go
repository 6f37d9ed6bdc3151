package tools

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the first client of boards gives its model.
const documentTools = `[
  {
    "name": "add_item",
    "description": "Add a new item to the Discovery pipeline. Always use this tool when the analyst asks to add a fact, insight, recommendation, or output. Propose the item with pre-filled fields for the analyst to confirm.",
    "input_schema": {
      "type": "object",
      "required": ["entity_type", "text"],
      "properties": {
        "entity_type": {
          "type": "string",
          "enum": ["fact", "insight", "recommendation", "output"],
          "description": "The type of entity to add"
        },
        "text": {
          "type": "string",
          "description": "The content text for the new item"
        },
        "related_ids": {
          "type": "array",
          "items": { "type": "string" },
          "description": "IDs of related upstream items (e.g., input IDs for a fact, fact IDs for an insight)"
        },
        "output_type": {
          "type": "string",
          "enum": ["report", "presentation", "action_plan", "brief"],
          "description": "Required only when entity_type is 'output'"
        }
      }
    }
  },
  {
    "name": "delete_item",
    "description": "Delete an item from the Discovery pipeline. Always use this tool when the analyst asks to remove an item. Show the item details and downstream impact for confirmation.",
    "input_schema": {
      "type": "object",
      "required": ["entity_type", "item_id"],
      "properties": {
        "entity_type": {
          "type": "string",
          "enum": ["input", "fact", "insight", "recommendation", "output"],
          "description": "The type of entity to delete"
        },
        "item_id": {
          "type": "string",
          "description": "The ID of the item to delete"
        }
      }
    }
  },
  {
    "name": "edit_item",
    "description": "Edit an existing item in the Discovery pipeline. Always use this tool when the analyst asks to modify an item's text. Show a before/after comparison for confirmation.",
    "input_schema": {
      "type": "object",
      "required": ["entity_type", "item_id", "new_text"],
      "properties": {
        "entity_type": {
          "type": "string",
          "enum": ["input", "fact", "insight", "recommendation", "output"],
          "description": "The type of entity to edit"
        },
        "item_id": {
          "type": "string",
          "description": "The ID of the item to edit"
        },
        "new_text": {
          "type": "string",
          "description": "The proposed new text for the item"
        }
      }
    }
  }
]`

// Rule K10.
func TestTheBoardOfARequestHasTheThreeToolsOfItsClient(t *testing.T) {
	t.Parallel()
	type shape struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"input_schema"`
	}
	var got []shape
	for _, tool := range ClientBoardTools(BoardTools(nil)) {
		require.NoError(t, tool.Validate())
		got = append(got, shape{tool.Name, tool.Description, tool.Schema})
	}
	raw, err := json.Marshal(got)
	require.NoError(t, err)
	require.JSONEq(t, documentTools, string(raw))
}
