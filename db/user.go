package db

import "context"

// UserDeleter deletes all data of a user.
type UserDeleter interface {
	// UserData counts what is stored for owner now; empty, without an error, for an
	// unknown owner.
	UserData(ctx context.Context, owner string) (UserData, error)
	// DeleteUser deletes all of it and returns what it deleted, so that the caller
	// can end the workflows. As after DeleteConversation, nothing can be inserted for
	// the conversations any more. It is not one transaction: after an error, call it
	// again to delete the rest. ErrForbidden for PublicOwner, who is not a user.
	DeleteUser(ctx context.Context, owner string) (UserData, error)
}

// UserData counts what a store keeps of one user.
type UserData struct {
	Threads   []string // ids of conversations, listed or not
	Documents []string // ids
	Imports   []string // keys of imports, for their workflows
	Turns     int
	Messages  int
	Sets      int
	Profiles  int // 0 or 1
	Cancels   int // tombstones of turns to be cancelled
	// Attachments are pictures, those of the threads included; Repos the
	// clients' message repositories of the threads.
	Attachments, Repos int
	Connections        int // accounts of other services
	Keys               int // personal keys
	Shares             int // links with which anybody can read a conversation
	Feedback           int // answers that they have rated
	Boards             int // deleted ones that can be restored included
}

// Empty reports whether nothing is kept.
func (d UserData) Empty() bool {
	return len(d.Threads)+len(d.Documents)+len(d.Imports)+d.Turns+d.Messages+d.Sets+d.Profiles+d.Cancels+d.Attachments+d.Repos+d.Connections+d.Keys+d.Shares+d.Feedback+d.Boards == 0
}
