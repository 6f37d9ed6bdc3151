package export

import (
	"archive/zip"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// spaceJSON describes a space.
type spaceJSON struct {
	ID           string       `json:"id"`
	Name         string       `json:"name"`
	Instructions string       `json:"instructions,omitempty"`
	Agent        chat.Agent   `json:"agent,omitempty"`
	Effort       chat.Effort  `json:"effort,omitempty"`
	ToolServers  []string     `json:"tool_servers"`
	CreatedAt    time.Time    `json:"created_at"`
	Members      []memberJSON `json:"members"`
}

type memberJSON struct {
	Group   bool      `json:"group,omitempty"`
	ID      string    `json:"id"`
	Role    string    `json:"role"`
	AddedAt time.Time `json:"added_at"`
}

// WriteSpace streams the archive of a space to w: its settings and members, its documents,
// sets and boards, and the conversations that are shared there. Each read checks that the manager still
// reads the space. It leaves out what its members keep to themselves, such as feedback.
func WriteSpace(ctx context.Context, store Store, manager string, space chat.Space, members []chat.SpaceMember, at time.Time, w io.Writer) error {
	ctx = db.ReadBy(db.InSpace(ctx, space.ID), manager)
	a := &archive{store: store, zip: zip.NewWriter(w), library: chat.SpaceOwner(space.ID), shared: true, Manifest: Manifest{Format: format, User: manager, Space: space.ID, ExportedAt: at}}
	about := spaceJSON{ID: space.ID, Name: space.Name, Instructions: space.Instructions, Agent: space.Agent, Effort: space.Effort, ToolServers: space.ToolServers, CreatedAt: space.CreatedAt, Members: []memberJSON{}}
	for _, m := range members {
		about.Members = append(about.Members, memberJSON{m.Group, m.ID, m.Role.String(), m.AddedAt})
	}
	if err := a.json("space.json", about); err != nil {
		return err
	}
	var have db.UserData
	err := each(ctx, manager, store.ListDocuments, func(d chat.Document) error {
		have.Documents = append(have.Documents, d.ID)
		return nil
	})
	if err != nil {
		return err
	}
	return a.write(ctx, have, a.documents, a.sets, a.boards, a.sharedConversations)
}

func (a *archive) sharedConversations(ctx context.Context, _ db.UserData) error {
	manager := a.User
	defer func() { a.User = manager }()
	for _, list := range []func(context.Context, string, string, int) (db.Page[chat.Conversation], error){
		func(ctx context.Context, owner, cursor string, n int) (db.Page[chat.Conversation], error) {
			return a.store.ListConversations(ctx, owner, "", cursor, n)
		},
		a.store.ArchivedConversations,
	} {
		err := each(ctx, manager, list, func(v chat.Conversation) error {
			if a.User = v.Owner; !v.Shared {
				return nil
			}
			if err := db.IgnoreNotFound(a.conversation(ctx, v.ID)); err != nil {
				return fmt.Errorf("conversation %s: %w", v.ID, err)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
