package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/internal/language"
)

// Limits of a result, in characters.
const (
	MaxRead   = 16_000  // what a model reads at a time
	MaxResult = 200_000 // what is stored
)

// Texts reads the texts of a turn, by key.
type Texts interface {
	Texts(ctx context.Context, owner, turnID string) (map[string]string, error)
}

// ReadResultName is the name of the tool that reads the rest of a truncated result. The tool
// is offered once a result was truncated.
const ReadResultName = "read_result"

// Head returns what a model reads of a result: all of it (whole), or its beginning with a note
// how to read the rest.
func Head(callID, content string) (head string, whole bool) {
	head = language.Truncate(content, MaxRead)
	if head == content {
		return content, true
	}
	return head + fmt.Sprintf("\n[Cut after %d of %d characters. Call %s with call %q and offset %d to read on.]",
		MaxRead, utf8.RuneCountInString(content), ReadResultName, callID, MaxRead), false
}

// ReadResult reads the rest of a result of the same turn.
func ReadResult(texts Texts) Tool {
	return Tool{
		Name:        ReadResultName,
		Description: "Read on in a tool's result that was cut because it is long.",
		Schema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"call": {"type": "string", "maxLength": 64, "description": "The call that the note at the cut names"},
				"offset": {"type": "integer", "minimum": 0, "description": "The character to read on from"}
			},
			"required": ["call", "offset"],
			"additionalProperties": false
		}`),
		Approval: Never,
		Run: With("read_result", func(ctx context.Context, c Call, in struct {
			Call   string `json:"call"`
			Offset int    `json:"offset"`
		}) (Result, error) {
			all, err := texts.Texts(ctx, c.Owner, c.TurnID)
			if err != nil {
				return Result{}, err
			}
			content, ok := all[chat.ResultKey(in.Call)]
			if !ok {
				return Failed(messages.ToolNoCall), nil
			}
			return Result{Content: window(in.Call, content, in.Offset)}, nil
		}),
	}
}

func window(callID, content string, offset int) string {
	rest := content[len(language.Truncate(content, offset)):]
	if rest == "" {
		return "The result ends before that."
	}
	const note = 200 // room for the note, so that the output is not truncated again
	part := language.Truncate(rest, MaxRead-note)
	if part == rest {
		return part
	}
	return part + fmt.Sprintf("\n[%d characters follow. Read on at offset %d of call %q.]",
		utf8.RuneCountInString(rest)-utf8.RuneCountInString(part), offset+utf8.RuneCountInString(part), callID)
}
