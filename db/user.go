package db

import "context"

// UserDeleter forgets a user.
type UserDeleter interface {
	// UserData is what is kept of owner now; nothing, without an error, for
	// somebody unknown.
	UserData(ctx context.Context, owner string) (UserData, error)
	// DeleteUser removes all of it and returns what it removed, so that whatever
	// is at work on that can be ended. As after DeleteConversation, nothing can
	// be inserted for the conversations' ids any more. It need not be one
	// transaction: on an error the rest is removed by calling it again.
	// ErrForbidden for PublicOwner, who is nobody.
	DeleteUser(ctx context.Context, owner string) (UserData, error)
}

// UserData is what a store keeps of one user.
type UserData struct {
	Threads   []string // ids of conversations, listed or not
	Documents []string // ids
	Turns     int
	Messages  int
	Sets      int
	Profiles  int // 0 or 1
	Cancels   int // tombstones of turns to be cancelled
	// Attachments are pictures, those of the threads included; Repos the
	// clients' message repositories of the threads.
	Attachments, Repos int
}

// Empty reports whether nothing is kept.
func (d UserData) Empty() bool {
	return len(d.Threads)+len(d.Documents)+d.Turns+d.Messages+d.Sets+d.Profiles+d.Cancels+d.Attachments+d.Repos == 0
}
