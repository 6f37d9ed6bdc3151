// Package export writes everything that the store keeps of a person into one archive.
package export

import (
	"archive/zip"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/palaver-chat/palaver/boards/board"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
)

// Store is the part of db.Store that an export reads.
type Store interface {
	db.Conversations
	db.Turns
	db.Documents
	db.Imports
	db.Files
	Connections(ctx context.Context, owner string) ([]db.Connection, error)
	Keys(ctx context.Context, owner string) ([]db.Key, error)
	Shares(ctx context.Context, owner string) ([]db.Share, error)
	Feedback(ctx context.Context, owner, threadID string) ([]db.Feedback, error)
	db.Boards
	UserData(ctx context.Context, owner string) (db.UserData, error)
}

// Manifest is the last file of an archive, manifest.json. An archive without it is not
// complete.
type Manifest struct {
	Format        string    `json:"format"`
	User          string    `json:"user"`
	Space         string    `json:"space,omitempty"` // of the archive of a space
	ExportedAt    time.Time `json:"exported_at"`
	Conversations int       `json:"conversations"`
	Turns         int       `json:"turns"`
	Documents     int       `json:"documents"`
	Sets          int       `json:"sets"`
	Attachments   int       `json:"attachments"`
	Repos         int       `json:"repos"`
	Connections   int       `json:"connections"`
	Keys          int       `json:"keys"`
	Shares        int       `json:"shared_links"`
	Feedback      int       `json:"feedback"`
	Boards        int       `json:"discoveries"`
}

const format = "palaver-export/1"

// Limits of one read.
const (
	turnsAtOnce = 50
	listAtOnce  = 200
)

// archive is an archive that is being written.
type archive struct {
	Manifest
	store   Store
	zip     *zip.Writer
	library string // owner of its documents
	shared  bool   // other people read it, so it has no feedback and no open turn
}

// Write streams the archive of an owner to w. It holds one conversation's page of turns,
// one document or one picture in memory at a time. It leaves out data that is deleted while
// it runs.
func Write(ctx context.Context, store Store, owner string, at time.Time, w io.Writer) error {
	a := &archive{store: store, zip: zip.NewWriter(w), library: owner, Manifest: Manifest{Format: format, User: owner, ExportedAt: at}}
	have, err := store.UserData(ctx, owner)
	if err != nil {
		return err
	}
	return a.write(ctx, have, a.profile, a.conversations, a.documents, a.imports, a.sets, a.attachments, a.connections, a.keys, a.shares, a.boards)
}

// write writes the parts of an archive, and its end.
func (a *archive) write(ctx context.Context, have db.UserData, parts ...func(context.Context, db.UserData) error) error {
	for _, part := range parts {
		if err := part(ctx, have); err != nil {
			return err
		}
	}
	if err := a.json("manifest.json", a.Manifest); err != nil {
		return err
	}
	return a.zip.Close()
}

func (a *archive) profile(ctx context.Context, _ db.UserData) error {
	p, err := a.store.Profile(ctx, a.User)
	if err != nil {
		return err
	}
	return a.json("profile.json", struct {
		ID string `json:"id"`
		chat.Profile
	}{a.User, p})
}

func (a *archive) documents(ctx context.Context, have db.UserData) error {
	for _, id := range have.Documents {
		if err := db.IgnoreNotFound(a.document(ctx, id)); err != nil {
			return fmt.Errorf("document %s: %w", id, err)
		}
	}
	return nil
}

// importJSON describes an import.
type importJSON struct {
	ID           string           `json:"id"`
	Conversation string           `json:"conversation_id,omitempty"`
	URL          string           `json:"url"`
	SourceType   chat.SourceType  `json:"source_type"`
	Name         string           `json:"name,omitempty"`
	State        chat.ImportState `json:"state"`
	DocumentID   string           `json:"document_id,omitempty"`
	Error        string           `json:"error,omitempty"`
	CreatedAt    time.Time        `json:"created_at"`
}

// imports writes the newest imports, if there are any.
func (a *archive) imports(ctx context.Context, _ db.UserData) error {
	list, err := a.store.ListImports(ctx, a.User, "", "", listAtOnce)
	if err != nil || len(list) == 0 {
		return err
	}
	return writeList(a, "imports.json", list, func(i chat.Import) importJSON {
		return importJSON{i.ID, i.ThreadID, i.URL, i.Source, cmp.Or(i.Title, i.Name), i.State, i.DocID, i.Message, i.CreatedAt}
	})
}

// documentJSON describes a document.
type documentJSON struct {
	ID         string          `json:"id"`
	Title      string          `json:"title"`
	Name       string          `json:"name,omitempty"` // of its file
	Status     chat.DocStatus  `json:"status"`
	SourceType chat.SourceType `json:"source_type"`
	Format     string          `json:"format"`
	ExternalID string          `json:"external_id,omitempty"`
	SourceURL  string          `json:"source_url,omitempty"`
	Bytes      int64           `json:"bytes"`
	Error      string          `json:"error,omitempty"`
	CreatedAt  time.Time       `json:"created_at"`
}

// document writes the description and the file of a document, and its text once it is ready.
func (a *archive) document(ctx context.Context, id string) error {
	d, err := a.store.Document(ctx, a.User, id)
	if err != nil || d.Owner != a.library {
		return err
	}
	text, err := a.store.DocumentText(ctx, a.User, id)
	if err := db.IgnoreNotFound(err); err != nil {
		return err
	}
	raw, err := a.store.Original(ctx, a.User, id)
	if d.Status != chat.DocReady {
		_, raw, err = a.store.RawDocument(ctx, a.User, id)
	}
	if err := db.IgnoreNotFound(err); err != nil {
		return err
	}
	a.Documents++
	err = a.json("documents/"+id+".json", documentJSON{d.ID, d.Title, d.Name, d.Status, d.SourceType, d.Format, d.ExternalID, d.SourceURL, d.Bytes, messages.Read(d.Error).Text, d.CreatedAt})
	if err == nil && d.Status == chat.DocReady {
		err = a.file("documents/"+id+".txt", []byte(text))
	}
	if err == nil && len(raw) > 0 {
		err = a.file("documents/"+id+".original."+extension(d.Format), raw)
	}
	return err
}

// extension makes a safe file name extension of a document's type.
func extension(kind string) string {
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(kind))
	if clean == "" {
		return "bin"
	}
	return clean
}

func (a *archive) sets(ctx context.Context, _ db.UserData) error {
	type setJSON struct {
		ID        string   `json:"id"`
		Name      string   `json:"name"`
		Documents []string `json:"document_ids"`
	}
	all := []setJSON{}
	err := each(ctx, a.User, a.store.ListSets, func(s chat.DocumentSet) error {
		all = append(all, setJSON{s.ID, s.Name, s.DocIDs})
		return nil
	})
	if err != nil {
		return err
	}
	a.Sets = len(all)
	return a.json("document-sets.json", all)
}

func (a *archive) attachments(ctx context.Context, _ db.UserData) error {
	ids, err := a.store.AttachmentIDs(ctx, a.User)
	if err != nil {
		return err
	}
	for _, id := range ids {
		at, data, err := a.store.Attachment(ctx, a.User, id)
		if errors.Is(err, db.ErrNotFound) {
			continue
		}
		if err != nil {
			return fmt.Errorf("picture %s: %w", id, err)
		}
		_, kind, _ := strings.Cut(at.MIME, "/")
		if err := a.file("attachments/"+id+"."+extension(kind), data); err != nil {
			return err
		}
		a.Attachments++
	}
	return nil
}

// keys lists the personal keys, without their digests.
func (a *archive) keys(ctx context.Context, _ db.UserData) error {
	type keyJSON struct {
		ID        string    `json:"id"`
		Name      string    `json:"name"`
		CreatedAt time.Time `json:"created_at"`
		UsedAt    time.Time `json:"used_at,omitzero"`
		ExpiresAt time.Time `json:"expires_at,omitzero"`
		Space     string    `json:"space_id,omitempty"` // it works there only
	}
	rows, err := a.store.Keys(ctx, a.User)
	if err != nil {
		return err
	}
	a.Manifest.Keys = len(rows)
	return writeList(a, "keys.json", rows, func(k db.Key) keyJSON {
		return keyJSON{k.ID, k.Name, k.CreatedAt, k.UsedAt, k.ExpiresAt, k.Space}
	})
}

// shares lists the links to conversations, without their tokens and without the copies of
// conversations that they show.
func (a *archive) shares(ctx context.Context, _ db.UserData) error {
	type shareJSON struct {
		ID           string    `json:"id"`
		Conversation string    `json:"conversation_id"`
		Title        string    `json:"title"`
		CreatedAt    time.Time `json:"created_at"`
	}
	rows, err := a.store.Shares(ctx, a.User)
	if err != nil || len(rows) == 0 {
		return err
	}
	a.Manifest.Shares = len(rows)
	return writeList(a, "shared-links.json", rows, func(s db.Share) shareJSON {
		return shareJSON{s.ID, s.ThreadID, s.Title, s.CreatedAt}
	})
}

// connections lists the connected accounts, without their tokens.
func (a *archive) connections(ctx context.Context, _ db.UserData) error {
	type connectionJSON struct {
		Provider    string    `json:"provider"`
		Account     string    `json:"account,omitempty"`
		Scope       string    `json:"scope"`
		ConnectedAt time.Time `json:"connected_at"`
	}
	rows, err := a.store.Connections(ctx, a.User)
	if err != nil {
		return err
	}
	a.Manifest.Connections = len(rows)
	return writeList(a, "connections.json", rows, func(c db.Connection) connectionJSON {
		return connectionJSON{c.Provider, c.Account, c.Scope, c.CreatedAt}
	})
}

func (a *archive) boards(ctx context.Context, _ db.UserData) error {
	return each(ctx, a.User, a.store.ListBoards, func(b db.Board) error {
		if err := db.IgnoreNotFound(a.board(ctx, b.ID)); err != nil {
			return fmt.Errorf("discovery board %s: %w", b.ID, err)
		}
		return nil
	})
}

// board writes a board in the form in which people export it.
func (a *archive) board(ctx context.Context, id string) error {
	stored, err := a.store.Board(ctx, a.User, id)
	if err != nil {
		return err
	}
	var b board.Board
	if err := json.Unmarshal(stored.Content, &b); err != nil {
		return err
	}
	a.Boards++
	return a.json("discoveries/"+id+".json", b.File())
}

// each calls do with the items of a list, page by page.
func each[T any](ctx context.Context, owner string, list func(_ context.Context, owner, cursor string, limit int) (db.Page[T], error), do func(T) error) error {
	for cursor := ""; ; {
		page, err := list(ctx, owner, cursor, listAtOnce)
		if err != nil {
			return err
		}
		for _, item := range page.Items {
			if err := do(item); err != nil {
				return err
			}
		}
		if cursor = page.Next; cursor == "" {
			return nil
		}
	}
}

func writeList[R, J any](a *archive, name string, rows []R, show func(R) J) error {
	all := make([]J, len(rows))
	for i, r := range rows {
		all[i] = show(r)
	}
	return a.json(name, all)
}

func (a *archive) json(name string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return a.file(name, b)
}

func (a *archive) file(name string, content []byte) error {
	w, err := a.create(name)
	if err != nil {
		return err
	}
	_, err = w.Write(content)
	return err
}

func (a *archive) create(name string) (io.Writer, error) {
	return a.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: a.ExportedAt})
}
