package tools

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// Pictures stores pictures that tools make.
type Pictures interface {
	PutAttachment(ctx context.Context, a chat.Attachment, data []byte) error
	AttachmentsByID(ctx context.Context, owner string, ids []string) ([]chat.Attachment, error)
}

// pictureNamespace is the UUID namespace of PictureID.
var pictureNamespace = uuid.MustParse("0b0c6f0e-4b8e-5d53-8f0a-3c1c7be1a2d4")

// PictureID derives a picture's id from its call, so that retries get the same id.
func PictureID(callID string) string { return uuid.NewSHA1(pictureNamespace, []byte(callID)).String() }

const keepAgain = 250 * time.Millisecond

// KeepPicture stores the picture of a call. Such a call must not run again, so KeepPicture
// retries until the call's timeout while the database is unavailable.
func KeepPicture(ctx context.Context, pictures Pictures, a chat.Attachment, data []byte) error {
	for {
		err := pictures.PutAttachment(ctx, a, data)
		if !errors.Is(err, db.ErrUnavailable) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(keepAgain):
		}
	}
}
