package rules

import (
	"cmp"
	"context"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
)

func (w within) PutAttachment(ctx context.Context, a chat.Attachment, data []byte) (err error) {
	ctx, end := w.s.long(ctx, "store attachment")
	defer end(&err)
	now := time.Now()
	return w.s.db.Update(ctx, func(q Queries) error {
		if a.ThreadID != "" {
			if err := q.LockThread(ctx, a.ThreadID); err != nil {
				return err
			}
			if _, err := q.Conversation(ctx, sqlcgen.ConversationParams{Owner: a.Owner, ID: a.ThreadID}); err != nil {
				return err
			}
		}
		if err := q.PruneAttachments(ctx, record.Micros(now.Add(-db.UnusedFor))); err != nil {
			return err
		}
		rows, err := q.InsertAttachment(ctx, sqlcgen.InsertAttachmentParams{
			ID: a.ID, Owner: a.Owner, ThreadID: a.ThreadID, Mime: a.MIME,
			Bytes: int64(len(data)), At: record.Micros(now), Data: record.Bytes(data), Address: w.address(), SpaceID: a.Space})
		if err != nil {
			return err
		}
		if rows > 0 {
			return w.checkPictureBounds(ctx, q, a)
		}
		_, err = q.Attachment(ctx, sqlcgen.AttachmentParams{Owner: a.Owner, ID: a.ID})
		return err
	})
}

// checkPictureBounds checks the bounds of a picture that was just inserted. The bound Unused
// applies only to a picture that no message uses yet.
func (w within) checkPictureBounds(ctx context.Context, q Queries, a chat.Attachment) error {
	if err := w.checkBounds(ctx, q, a.Owner, aPicture); err != nil || a.ThreadID != "" || w.bounds.Unused == (db.Quota{}) {
		return err
	}
	of := scope{of: db.OfOwner, key: a.Owner, quota: w.bounds.Unused}
	if err := lockScopes(ctx, q, aPicture, []scope{of}); err != nil {
		return err
	}
	unused, err := q.UnusedAttachments(ctx, a.Owner)
	if err != nil {
		return err
	}
	if aPicture.exceeded(db.Stored{Pictures: unused.Number, Bytes: unused.Bytes}, of) != nil {
		return &db.Exceeded{Bound: db.BoundUnused, Scope: db.OfOwner, Limit: float64(w.bounds.Unused.Pictures)}
	}
	return nil
}

func (s *Store) Attachment(ctx context.Context, owner, id string) (_ chat.Attachment, _ []byte, err error) {
	ctx, end := s.long(ctx, "read attachment")
	defer end(&err)
	row, err := s.db.Read.Attachment(ctx, sqlcgen.AttachmentParams{Owner: owner, ID: id})
	if err != nil {
		return chat.Attachment{}, nil, err
	}
	// Neither changes under its id, so this need not be the same transaction.
	data, err := s.db.Read.AttachmentData(ctx, sqlcgen.AttachmentDataParams{Owner: owner, ID: id})
	if err != nil {
		return chat.Attachment{}, nil, err
	}
	return attachment(row), data, nil
}

// AttachmentInSpace implements db.Files.
func (s *Store) AttachmentInSpace(ctx context.Context, reader, id string) (owner string, err error) {
	ctx, end := s.short(ctx, "find a shared picture")
	defer end(&err)
	if _, err := s.Library(ctx, reader); err != nil {
		return "", err
	}
	return s.db.Read.AttachmentInSpace(ctx, sqlcgen.AttachmentInSpaceParams{ID: id, Reader: reader, SpaceID: db.SpaceOf(ctx)})
}

func (s *Store) AttachmentsByID(ctx context.Context, owner string, ids []string) (_ []chat.Attachment, err error) {
	ctx, end := s.short(ctx, "read attachments")
	defer end(&err)
	rows, err := s.db.Read.AttachmentsByID(ctx, owner, ids)
	return inOrder(ids, rows, func(r sqlcgen.AttachmentsByIDRow) string { return r.ID },
		func(r sqlcgen.AttachmentsByIDRow) chat.Attachment { return attachment(sqlcgen.AttachmentRow(r)) }), err
}

func (s *Store) UseAttachments(ctx context.Context, owner, threadID string, ids []string) (err error) {
	ctx, end := s.short(ctx, "use attachments")
	defer end(&err)
	return s.db.Update(ctx, func(q Queries) error {
		if err := q.LockThread(ctx, threadID); err != nil {
			return err
		}
		if _, err := q.Conversation(ctx, sqlcgen.ConversationParams{Owner: owner, ID: threadID}); err != nil {
			return err
		}
		return useAttachments(ctx, q, owner, threadID, ids)
	})
}

func useAttachments(ctx context.Context, q Queries, owner, threadID string, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	return q.UseAttachments(ctx, owner, threadID, ids)
}

func (s *Store) AttachmentIDs(ctx context.Context, owner string) (_ []string, err error) {
	ctx, end := s.long(ctx, "list a user's pictures")
	defer end(&err)
	return s.db.Read.UserAttachments(ctx, owner)
}

func (s *Store) UnusedAttachments(ctx context.Context, owner string) (number int, bytes int64, err error) {
	ctx, end := s.short(ctx, "count unused attachments")
	defer end(&err)
	row, err := s.db.Read.UnusedAttachments(ctx, owner)
	return int(row.Number), row.Bytes, err
}

func (s *Store) Repo(ctx context.Context, owner, threadID string) (_ db.Repo, err error) {
	ctx, end := s.long(ctx, "read repo")
	defer end(&err)
	row, err := s.db.Read.Repo(ctx, sqlcgen.RepoParams{Owner: owner, ThreadID: threadID})
	if err != nil {
		return db.Repo{}, err
	}
	if show, err := s.shows(ctx, owner, row.Scope); err != nil || !show && !s.keeps(ctx, owner, "") {
		return db.Repo{}, cmp.Or(err, db.ErrNotFound)
	}
	return db.Repo{Version: int(row.Version), SHA256: row.Sha256, Gzipped: row.Gzipped, UpdatedAt: record.Time(row.UpdatedAt)}, nil
}

func (w within) PutRepo(ctx context.Context, owner, threadID string, gzipped []byte, sha256 string, match *int) (repo db.Repo, err error) {
	ctx, end := w.s.long(ctx, "store repo")
	defer end(&err)
	now := time.Now()
	err = w.s.db.Update(ctx, func(q Queries) error {
		kind, err := kindOf(ctx, q, owner, threadID)
		if err != nil {
			return err
		}
		if err := w.createListed(ctx, q, chat.Conversation{ID: threadID, Owner: owner, CreatedAt: now, Kind: kind}, listed); err != nil {
			return err
		}
		version, err := q.RepoVersion(ctx, sqlcgen.RepoVersionParams{Owner: owner, ThreadID: threadID})
		if err != nil {
			return err
		}
		if !db.VersionFits(match, int(version)) {
			return db.ErrVersion
		}
		repo = db.Repo{Version: int(version) + 1, SHA256: sha256, Gzipped: gzipped, UpdatedAt: record.Time(record.Micros(now))}
		err = q.PutRepo(ctx, sqlcgen.PutRepoParams{
			Owner: owner, ThreadID: threadID, Version: version + 1, Sha256: sha256,
			At: record.Micros(now), Gzipped: record.Bytes(gzipped), Bytes: int64(len(gzipped)), Address: w.address()})
		if err != nil {
			return err
		}
		return w.checkBounds(ctx, q, owner, aRepo)
	})
	if err != nil {
		return db.Repo{}, err
	}
	return repo, nil
}

func attachment(row sqlcgen.AttachmentRow) chat.Attachment {
	return chat.Attachment{ID: row.ID, Owner: row.Owner, ThreadID: row.ThreadID, Space: row.SpaceID, MIME: row.Mime, Bytes: int(row.Bytes)}
}
