package outage

import (
	"context"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// Within makes no call.
func (o *store) Within(b db.Bounds) db.Inserter { return &inserter{o, o.Store.Within(b)} }

type inserter struct {
	o    *store
	real db.Inserter
}

func (i *inserter) CreateConversation(ctx context.Context, c chat.Conversation) (chat.Conversation, error) {
	return one(i.o, func() (chat.Conversation, error) { return i.real.CreateConversation(ctx, c) })
}

func (i *inserter) InsertTurn(ctx context.Context, t chat.Turn) (chat.Turn, bool, bool, error) {
	return three(i.o, func() (chat.Turn, bool, bool, error) { return i.real.InsertTurn(ctx, t) })
}

func (i *inserter) PutAttachment(ctx context.Context, a chat.Attachment, data []byte) error {
	return i.o.none(func() error { return i.real.PutAttachment(ctx, a, data) })
}

func (i *inserter) PutRepo(ctx context.Context, owner, threadID string, gzipped []byte, sha256 string, match *int) (db.Repo, error) {
	return one(i.o, func() (db.Repo, error) { return i.real.PutRepo(ctx, owner, threadID, gzipped, sha256, match) })
}

func (i *inserter) CreateDocument(ctx context.Context, d chat.Document, raw []byte) error {
	return i.o.none(func() error { return i.real.CreateDocument(ctx, d, raw) })
}

func (i *inserter) PutImport(ctx context.Context, d chat.Document, raw []byte) (string, error) {
	return one(i.o, func() (string, error) { return i.real.PutImport(ctx, d, raw) })
}

func (i *inserter) CreateImport(ctx context.Context, m chat.Import) (chat.Import, error) {
	return one(i.o, func() (chat.Import, error) { return i.real.CreateImport(ctx, m) })
}

func (i *inserter) CreateSet(ctx context.Context, s chat.DocumentSet) error {
	return i.o.none(func() error { return i.real.CreateSet(ctx, s) })
}

func (i *inserter) CreateBoard(ctx context.Context, b db.Board) error {
	return i.o.none(func() error { return i.real.CreateBoard(ctx, b) })
}

func (i *inserter) PutBoard(ctx context.Context, b db.Board) (int, error) {
	return one(i.o, func() (int, error) { return i.real.PutBoard(ctx, b) })
}
