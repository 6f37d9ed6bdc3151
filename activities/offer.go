package activities

import (
	"context"
	"errors"
	"slices"

	"github.com/palaver-chat/palaver/agents/prompt"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/tools"
)

// maxEarlierPictures bounds the pictures of earlier messages in a prompt, in bytes.
const maxEarlierPictures = 8 << 20

// toolsOf returns the tools that an agent may call for an owner now: in a space, those of MCP
// servers that the space allows, and of none while that cannot be read.
func (k *Kit) toolsOf(ctx context.Context, owner string, agent chat.AgentInfo) []tools.Tool {
	all := k.Tools.Tools(ctx, owner, agent)
	if db.SpaceOf(ctx) == "" || !slices.ContainsFunc(all, func(t tools.Tool) bool { return t.Server != "" }) {
		return all
	}
	space, err := k.Store.ThisSpace(ctx, owner)
	if err != nil {
		k.Logger().Warn("reading a space failed; no tool of an MCP server is offered there", "space", db.SpaceOf(ctx), "error", err)
	}
	return slices.DeleteFunc(all, func(t tools.Tool) bool { return t.Server != "" && (err != nil || !space.MayUse(t.Server)) })
}

// OfferedTools are the tools for a model call. The tool that reads on in a long
// result is offered only when a result was truncated, and those that reach the web only
// when the person has not forbidden it. In a space nothing is imported. A small window has room for few tools.
func (k *Kit) OfferedTools(ctx context.Context, owner string, agent chat.Agent, cut, noWeb bool) []tools.Tool {
	var out []tools.Tool
	size, window := 0, k.Model.Info().ContextTokens
	info, _ := k.Agents.Find(agent)
	for _, t := range k.toolsOf(ctx, owner, info) {
		if !cut && t.Name == tools.ReadResultName || noWeb && t.Web || t.Name == tools.ImportDocumentName && chat.Home(db.SpaceOf(ctx)) != "" {
			continue
		}
		n := llm.EstimateTools([]llm.Tool{{Name: t.Name, Description: t.Description, Schema: t.Schema}})
		if window > 0 && size+n > ToolTokens(window) {
			continue
		}
		size += n
		out = append(out, t)
	}
	return out
}

// Images are the pictures of a message, for a model that takes them; model is TurnRef.Model.
func (k *Kit) Images(ctx context.Context, owner, model string, ids []string) (out []llm.Image, err error) {
	if k.CannotSeeImages(model, ids) {
		return nil, nil
	}
	for _, id := range ids[:min(len(ids), chat.MaxAttachments)] {
		at, data, err := k.picture(ctx, owner, id)
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

// picture reads a picture of the owner's, or, in a space, of a message that the owner has copied.
func (k *Kit) picture(ctx context.Context, owner, id string) (chat.Attachment, []byte, error) {
	at, data, err := k.Store.Attachment(ctx, owner, id)
	if !errors.Is(err, db.ErrNotFound) || chat.Home(db.SpaceOf(ctx)) == "" {
		return at, data, err
	}
	author, err := k.Store.AttachmentInSpace(ctx, owner, id)
	if err != nil {
		return chat.Attachment{}, nil, err
	}
	return k.Store.Attachment(ctx, author, id)
}

// CannotSeeImages reports whether there are pictures that the model cannot see.
func (k *Kit) CannotSeeImages(model string, ids []string) bool {
	return len(ids) > 0 && !k.Model.Info().Sees(model)
}

// UnseenImagesNote is the prompt's note about pictures that the model cannot see.
func (k *Kit) UnseenImagesNote(model string, ids []string) string {
	if !k.CannotSeeImages(model, ids) {
		return ""
	}
	return prompt.UnseenPicturesNote(len(ids))
}

// EarlierMessages are the branch's earlier messages for the prompt, with the tool
// calls and results of each answer, and with the newest pictures, at most room.
func (k *Kit) EarlierMessages(ctx context.Context, owner, model string, recent []chat.Message, room int) ([]llm.Message, error) {
	seen, bytes := map[int][]llm.Image{}, 0
	for i := len(recent) - 1; i >= 0 && room > 0 && bytes < maxEarlierPictures; i-- {
		ids := attachmentsOf(recent[i].Metadata)
		images, err := k.Images(ctx, owner, model, ids[:min(len(ids), room)])
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

// ToolTokens is the room for the definitions of tools in a window.
func ToolTokens(window int) int { return window / 8 }
