package rules

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
)

func (s *Store) BeginClaim(ctx context.Context, from, to string, at time.Time) (account string, err error) {
	ctx, end := s.short(ctx, "begin claim")
	defer end(&err)
	if from == chat.PublicOwner || to == chat.PublicOwner {
		return "", db.ErrForbidden
	}
	err = s.db.Update(ctx, func(q Queries) error {
		if err := q.InsertClaim(ctx, sqlcgen.InsertClaimParams{Owner: from, Account: to, BeganAt: record.Micros(at)}); err != nil {
			return err
		}
		account, err = q.ClaimAccount(ctx, from)
		return err
	})
	return account, err
}

func (s *Store) EndClaim(ctx context.Context, c db.Claim) (err error) {
	ctx, end := s.short(ctx, "end claim")
	defer end(&err)
	return s.db.Write.DeleteClaim(ctx, sqlcgen.DeleteClaimParams{Owner: c.Owner, Account: c.Account})
}

func (s *Store) Claims(ctx context.Context, before time.Time, after string, limit int) (_ []db.Claim, err error) {
	ctx, end := s.short(ctx, "list claims")
	defer end(&err)
	rows, err := s.db.Read.Claims(ctx, sqlcgen.ClaimsParams{BeforeAt: record.Micros(before), AfterOwner: after, MaxRows: int64(limit)})
	return rowsTo(rows, err, func(r sqlcgen.Claim) db.Claim {
		return db.Claim{Owner: r.Owner, Account: r.Account, Began: record.Time(r.BeganAt)}
	})
}

func (s *Store) ClaimThread(ctx context.Context, from, to, threadID string) (err error) {
	ctx, end := s.long(ctx, "claim conversation")
	defer end(&err)
	if from == chat.PublicOwner || to == chat.PublicOwner {
		return db.ErrForbidden
	}
	if from == to {
		_, err := s.Conversation(ctx, from, threadID)
		return err
	}
	return s.db.Update(ctx, func(q Queries) error {
		if err := q.LockThread(ctx, threadID); err != nil {
			return err
		}
		// An insert of a turn has the same lock: either it comes first and is seen here, or it
		// finds the new owner.
		runs, err := q.TurnRunsInThread(ctx, sqlcgen.TurnRunsInThreadParams{
			Owner: from, ThreadID: threadID, SentAfter: sentAfter()})
		if err != nil {
			return err
		}
		if runs {
			return db.ErrTurnRuns
		}
		moved, err := q.MoveConversation(ctx, sqlcgen.MoveConversationParams{NewOwner: to, ID: threadID, Owner: from})
		switch {
		case err != nil:
			return err
		case moved == 0:
			return db.ErrNotFound
		}
		// Stream runs and feedback first: they are found through turns of the former owner.
		if err := q.MoveThreadStreamRuns(ctx, sqlcgen.MoveThreadStreamRunsParams{NewOwner: to, Owner: from, ThreadID: threadID}); err != nil {
			return err
		}
		if err := q.MoveThreadFeedback(ctx, sqlcgen.MoveThreadFeedbackParams{NewOwner: to, Owner: from, ThreadID: threadID}); err != nil {
			return err
		}
		if err := q.MoveThreadTurns(ctx, sqlcgen.MoveThreadTurnsParams{NewOwner: to, ThreadID: threadID, Owner: from}); err != nil {
			return err
		}
		return moveOfThread(ctx, q, from, to, threadID)
	})
}

// sentAfter is the time from which a message that no thread has accepted counts as being sent.
func sentAfter() int64 { return record.Micros(time.Now().Add(-db.UnsentAfter)) }

func moveOfThread(ctx context.Context, q Queries, from, to, threadID string) error {
	if err := q.MoveThreadAttachments(ctx, sqlcgen.MoveThreadAttachmentsParams{NewOwner: to, ThreadID: threadID, Owner: from}); err != nil {
		return err
	}
	if err := q.MoveThreadShares(ctx, sqlcgen.MoveThreadSharesParams{NewOwner: to, ThreadID: threadID, Owner: from}); err != nil {
		return err
	}
	if err := q.MoveThreadRepo(ctx, sqlcgen.MoveThreadRepoParams{NewOwner: to, ThreadID: threadID, Owner: from}); err != nil {
		return err
	}
	if err := q.MoveThreadImports(ctx, sqlcgen.MoveThreadImportsParams{NewOwner: to, ThreadID: threadID, Owner: from}); err != nil {
		return err
	}
	return q.MoveThreadBoard(ctx, sqlcgen.MoveThreadBoardParams{NewOwner: to, ThreadID: threadID, Owner: from})
}

func (s *Store) Unfinished(ctx context.Context, owner string) (n int, err error) {
	ctx, end := s.short(ctx, "count what is unfinished")
	defer end(&err)
	n, err = unfinished(ctx, s.db.Read, owner)
	return n, err
}

func unfinished(ctx context.Context, q Queries, owner string) (int, error) {
	open, err := q.CountUnfinished(ctx, sqlcgen.CountUnfinishedParams{Owner: owner, SentAfter: sentAfter()})
	return int(open.Documents + open.Imports + open.Messages), err
}

func (s *Store) ClaimRest(ctx context.Context, from, to string) (documents int, done bool, err error) {
	ctx, end := s.long(ctx, "claim documents")
	defer end(&err)
	if from == chat.PublicOwner || to == chat.PublicOwner {
		return 0, false, db.ErrForbidden
	}
	if from == to {
		return 0, true, nil
	}
	err = s.db.Update(ctx, func(q Queries) error {
		if open, err := unfinished(ctx, q, from); err != nil || open > 0 {
			return err
		}
		if err := q.DetachSameDocuments(ctx, sqlcgen.DetachSameDocumentsParams{Owner: from, NewOwner: to}); err != nil {
			return err
		}
		n, err := q.MoveDocuments(ctx, sqlcgen.MoveDocumentsParams{NewOwner: to, Owner: from})
		if err != nil {
			return err
		}
		documents, done = int(n), true
		if err := moveRest(ctx, q, from, to); err != nil {
			return err
		}
		return moveProfile(ctx, q, from, to)
	})
	return documents, done && err == nil, err
}

func moveRest(ctx context.Context, q Queries, from, to string) error {
	if err := q.MoveSets(ctx, sqlcgen.MoveSetsParams{NewOwner: to, Owner: from}); err != nil {
		return err
	}
	if err := q.MoveAttachments(ctx, sqlcgen.MoveAttachmentsParams{NewOwner: to, Owner: from}); err != nil {
		return err
	}
	if err := q.MoveBoards(ctx, sqlcgen.MoveBoardsParams{NewOwner: to, Owner: from}); err != nil {
		return err
	}
	if err := q.MoveImports(ctx, sqlcgen.MoveImportsParams{NewOwner: to, Owner: from}); err != nil {
		return err
	}
	if err := q.MoveDeletedConversations(ctx, sqlcgen.MoveDeletedConversationsParams{NewOwner: to, Owner: from}); err != nil {
		return err
	}
	for _, remove := range []func(context.Context, string) error{q.DeleteUserCancels, q.DeleteUserAccessKeys, q.UnmarkAnonymous} {
		if err := remove(ctx, from); err != nil {
			return err
		}
	}
	return nil
}

// moveProfile moves the profile unless the account has one. The row of from stays, without
// the profile, because it has the session generation, which says which cookies are valid.
func moveProfile(ctx context.Context, q Queries, from, to string) error {
	said, err := q.Profile(ctx, from)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	own, err := q.Profile(ctx, to)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if own == (sqlcgen.ProfileRow{}) && said != own {
		if err := q.PutProfile(ctx, sqlcgen.PutProfileParams{Owner: to, Industry: said.Industry, Location: said.Location, HideSamples: said.HideSamples, Instructions: said.Instructions}); err != nil {
			return err
		}
	}
	return q.PutProfile(ctx, sqlcgen.PutProfileParams{Owner: from})
}
