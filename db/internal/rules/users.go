package rules

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
)

func (s *Store) UserData(ctx context.Context, owner string) (d db.UserData, err error) {
	ctx, end := s.long(ctx, "count a user's data")
	defer end(&err)
	err = s.db.View(ctx, func(q Queries) error {
		d, err = userData(ctx, q, owner)
		return err
	})
	return d, err
}

func userData(ctx context.Context, q Queries, owner string) (db.UserData, error) {
	threads, err := q.UserThreads(ctx, owner)
	if err != nil {
		return db.UserData{}, err
	}
	documents, err := q.UserDocuments(ctx, owner)
	if err != nil {
		return db.UserData{}, err
	}
	imports, err := q.UserImports(ctx, owner)
	if err != nil {
		return db.UserData{}, err
	}
	n, err := q.CountUserData(ctx, owner)
	return db.UserData{
		Threads: threads, Documents: documents, Imports: imports, Turns: int(n.Turns), Messages: int(n.Messages),
		Sets: int(n.Sets), Profiles: int(n.Profiles), Cancels: int(n.Cancels),
		Attachments: int(n.Attachments), Repos: int(n.Repos), Connections: int(n.Connections), Keys: int(n.AccessKeys), Shares: int(n.Shares), Feedback: int(n.Feedback), Boards: int(n.Boards),
	}, err
}

// DeleteUser deletes conversations and documents one by one, each in its own
// transaction, so that it never blocks other writers for long, and the rest in one.
func (s *Store) DeleteUser(ctx context.Context, owner string) (db.UserData, error) {
	return s.deleteUser(ctx, owner, time.Time{})
}

func (s *Store) DeleteUnused(ctx context.Context, owner string, before time.Time) (db.UserData, error) {
	return s.deleteUser(ctx, owner, before)
}

// deleteUser ends with db.ErrNotFound when a time is given and the owner was seen since then.
func (s *Store) deleteUser(ctx context.Context, owner string, before time.Time) (d db.UserData, err error) {
	ctx, end := s.Call(ctx, "delete user", Bulk)
	defer end(&err)
	defer s.members.drop()
	if owner == chat.PublicOwner {
		return db.UserData{}, db.ErrForbidden
	}
	if d, err = s.UserData(ctx, owner); err != nil {
		return db.UserData{}, err
	}
	cameBack := func() error {
		if before.IsZero() {
			return nil
		}
		seen, err := s.db.Read.AnonymousSeen(ctx, owner)
		if errors.Is(err, sql.ErrNoRows) || err == nil && seen >= record.Micros(before) {
			return db.ErrNotFound
		}
		return err
	}
	for _, id := range d.Threads {
		if err := cameBack(); err != nil {
			return db.UserData{}, err
		}
		if err := s.DeleteConversation(ctx, owner, id); err != nil && !errors.Is(err, db.ErrNotFound) {
			return db.UserData{}, err
		}
	}
	for _, id := range d.Documents {
		if err := cameBack(); err != nil {
			return db.UserData{}, err
		}
		if err := s.DeleteDocument(ctx, owner, id); err != nil && !errors.Is(err, db.ErrNotFound) {
			return db.UserData{}, err
		}
	}
	err = s.db.Update(ctx, func(q Queries) error {
		if !before.IsZero() { // a visit comes before or after all of this
			if err := record.Found(q.LockUnused(ctx, sqlcgen.LockUnusedParams{Owner: owner, BeforeAt: record.Micros(before)})); err != nil {
				return err
			}
		}
		imports, err := q.UserImports(ctx, owner)
		if err != nil {
			return err
		}
		// First, so that no import stores a document after it: PutImport locks its import.
		if err := q.DeleteUserImports(ctx, owner); err != nil {
			return err
		}
		late, err := userData(ctx, q, owner) // inserted meanwhile
		if err != nil {
			return err
		}
		d.Imports = slices.Compact(slices.Sorted(slices.Values(slices.Concat(d.Imports, imports))))
		for _, id := range late.Threads {
			if err := deleteConversation(ctx, q, owner, id); err != nil {
				return err
			}
		}
		d.Threads, d.Documents = slices.Concat(d.Threads, late.Threads), slices.Concat(d.Documents, late.Documents)
		d.Turns, d.Messages = d.Turns+late.Turns, d.Messages+late.Messages
		d.Repos, d.Boards, d.Shares, d.Feedback = d.Repos+late.Repos, max(d.Boards, late.Boards), d.Shares+late.Shares, d.Feedback+late.Feedback
		if err := dropOwnSpaces(ctx, q, owner); err != nil {
			return err
		}
		if err := endSessionsOfDeleted(ctx, q, owner); err != nil {
			return err
		}
		for _, remove := range []func(context.Context, string) error{
			q.DeleteUserDocuments, q.DeleteUserSets, q.DeleteUserAttachments, q.DeleteUserProfile, q.DeleteUserCancels, q.DeleteUserConnections, q.DeleteUserAccessKeys, q.DeleteUserBoards,
			q.ClearOwnerOfDeleted, q.UnmarkAnonymous, q.DeleteUserClaims, q.DeleteUserMemberships, q.ClearPersonGroups, q.ForgetAdder, q.ForgetContributor, q.ForgetAuthor,
		} {
			if err := remove(ctx, owner); err != nil {
				return err
			}
		}
		if before.IsZero() { // anonymous people are in no space
			if err := forgetSigner(ctx, q, owner); err != nil {
				return err
			}
		}
		return q.DeleteUserSpending(ctx, ownerSubject(owner))
	})
	return d, err
}

// forgetSigner replaces a person in what boards of spaces say of who has changed what, as
// ForgetAuthor does in copies of messages.
func forgetSigner(ctx context.Context, q Queries, owner string) error {
	named, err := record.JSON(owner)
	if err != nil {
		return err
	}
	return q.ForgetSigner(ctx, sqlcgen.ForgetSignerParams{Named: `"who":` + named, Unnamed: `"who":"-"`})
}
